"""The homogeneity attack: a class in which everybody has the same sensitive value gives it away."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import ValueClaims
from attacks.base.released_classes import claims_from_scores, match
from defenses.base.release import MicrodataRelease


class Homogeneity(Attack):
    """Answers only where all released rows nearest to the target show one sensitive value.

    k-anonymity does not stop it, l-diversity does. The nearest rows are those that cover the target, if any do: its
    answers are then certain if the target is in the table and cells hold the truth. Strangers whom no class covers are
    answered by the nearest one (Gower): if they were left out, answers that are right by luck, because a value is
    frequent, would count as a leak. That it abstains elsewhere costs it: it finds fewer values than `MajorityInClass`.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007), l-diversity, section 2.
    """

    goal: ClassVar[str] = "attribute"

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Claim the values of targets in homogeneous classes."""
        matching = match(release, knowledge)
        counts = matching.near_counts
        alone = (counts > 0).sum(axis=1) == 1
        confidence = np.ones(len(counts))
        return claims_from_scores(counts * alone[:, None], matching.column, matching.domain, confidence)
