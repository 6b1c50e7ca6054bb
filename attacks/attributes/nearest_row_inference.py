"""The sensitive value of the nearest released row: the third of the GDPR's criteria, inference."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import ValueClaims
from attacks.base.released_classes import match, value_claims
from defenses.base.release import MicrodataRelease


class NearestRowInference(Attack):
    """Answers with the sensitive value of the released row nearest to the target in the known columns (Gower).

    Of equally near rows one is drawn, which the claims say with its probability, so that a rate is exact and not one
    of the draws. Rows need not stem from records: this is how synthetic data are asked what they tell about a person.
    Where several rows are equally near, in k-anonymous tables always, `MajorityInClass` names more values.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    section 4.3; Article 29 Data Protection Working Party (2014), Opinion 05/2014 on anonymisation techniques.
    """

    goal: ClassVar[str] = "attribute"

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Claim the nearest rows' values."""
        matching = match(release, knowledge)
        counts = matching.near_counts
        rows = np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
        # Rows without a value answer nothing: their share is an abstention.
        return value_claims(counts / rows, matching.column, matching.domain, (counts / rows).max(axis=1))
