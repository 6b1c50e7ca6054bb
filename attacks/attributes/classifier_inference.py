"""Attribute inference by a classifier trained on the release."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from attacks.base import (
    Attack,
    Knowledge,
    ValueClaims,
    applicable,
    claims_from_scores,
    encode_features,
    sensitive_mass,
    shared_columns,
)
from defenses.base import MicrodataRelease
from metrics.columns import check_integer


class ClassifierInference(Attack):
    """Attribute inference by extremely randomized trees, trained on the released rows.

    The trees are fully grown on all rows. They memorize people of the table and predict typical values for strangers;
    the game subtracts the second rate from the first. A row whose sensitive cell covers several values counts for each
    of them in part.

    The attack assumes nothing but the targets' known columns. Its baseline is `MajorityInClass`. On k-anonymous tables,
    whose rows are equal within a class, it does not beat that baseline on the table's people. It names more of the
    strangers' values.

    Parameters
    ----------
    trees : int
        Number of trees, at least 1.

    References
    ----------
    Geurts, Ernst and Wehenkel (2006), Extremely randomized trees; Stadler, Oprisanu and Troncoso (2022), Synthetic
    data: anonymisation groundhog day, section 5 (attribute inference with a control group).
    """

    called = ("ML inference",)

    goal = "attribute"

    def __init__(self, *, trees: int = 50) -> None:
        self.trees = check_integer("trees", trees, low=1)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Train the classifier and predict the targets' values."""
        from sklearn.ensemble import ExtraTreesClassifier

        columns = shared_columns(release, knowledge)
        name, domain, mass = sensitive_mass(release, knowledge)
        row, label = np.nonzero(mass)
        applicable(row.size, f"column {name!r} of the release has no value")
        released, targets = encode_features(columns)
        model = ExtraTreesClassifier(self.trees, random_state=int(rng.integers(1 << 31)))
        model.fit(released[row], label, sample_weight=mass[row, label])
        scores = np.zeros((len(targets), domain.size))
        scores[:, model.classes_] = model.predict_proba(targets)
        return claims_from_scores(scores, name, domain)
