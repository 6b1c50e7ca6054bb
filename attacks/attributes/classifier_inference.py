"""A classifier that learns the sensitive column from the release."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import ValueClaims
from attacks.base.released_classes import claims_from_scores, features, sensitive_mass
from attacks.base.sides import shared_columns
from defenses.base.parameters import check_integer
from defenses.base.release import MicrodataRelease


class ClassifierInference(Attack):
    """Trains extremely randomized trees on the released rows and predicts the targets' sensitive values.

    The trees are grown to the end on all rows: on people of the table they remember what they have seen, on strangers
    they say what is usual for people like them, and the game subtracts the one from the other. A row whose sensitive
    cell covers several values counts for each of them in part. On k-anonymous tables, whose rows are alike within a
    class, it names no more values of the table's people than `MajorityInClass` and more of the strangers'.

    Parameters
    ----------
    trees : int
        Number of trees, at least 1.

    References
    ----------
    Geurts, Ernst and Wehenkel (2006), Extremely randomized trees; Stadler, Oprisanu and Troncoso (2022), Synthetic
    data: anonymisation groundhog day, section 5 (attribute inference beside a control).
    """

    goal: ClassVar[str] = "attribute"

    def __init__(self, *, trees: int = 50) -> None:
        self.trees = trees
        check_integer("trees", trees, low=1)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Train and predict."""
        from sklearn.ensemble import ExtraTreesClassifier

        columns = shared_columns(release, knowledge)
        name, domain, mass = sensitive_mass(release, knowledge)
        row, label = np.nonzero(mass)
        if not row.size:
            raise NotApplicable(f"column {name!r} of the release has no value")
        released, targets = features(columns)
        model = ExtraTreesClassifier(self.trees, random_state=int(rng.integers(1 << 31)))
        model.fit(released[row], label, sample_weight=mass[row, label])
        scores = np.zeros((len(targets), domain.size))
        scores[:, model.classes_] = model.predict_proba(targets)
        return claims_from_scores(scores, name, domain)
