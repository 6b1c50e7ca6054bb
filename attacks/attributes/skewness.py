"""The skewness attack: what a class has far more of than the table."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import ValueClaims
from attacks.base.released_classes import claims_from_scores, match
from defenses.base.parameters import check_real
from defenses.base.release import MicrodataRelease


class Skewness(Attack):
    """Bets on the value whose share in the target's class exceeds its share in the table by the most.

    It answers only where the class is further than `distance` from the table, as t-closeness measures it (total
    variation); t-closeness with a smaller t leaves it no answer. The class is that of the nearest rows, as for
    `MajorityInClass`, so that strangers are answered too. Because it prefers what is unusual to what is
    frequent and abstains elsewhere, it names fewer values than `MajorityInClass`; it shows what is peculiar to
    a class, for which l-diversity has no eye.

    Parameters
    ----------
    distance : float
        Smallest distance of class and table, in [0, 1].

    References
    ----------
    Li, Li and Venkatasubramanian (2007), t-closeness, section 3.
    """

    goal: ClassVar[str] = "attribute"

    def __init__(self, *, distance: float = 0.2) -> None:
        self.distance = distance
        check_real("distance", distance, low=0, high=1)

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Claim the most over-represented values."""
        matching = match(release, knowledge)
        counts = matching.near_counts
        size = counts.sum(axis=1, keepdims=True)
        excess = np.maximum(np.divide(counts, size, out=np.zeros_like(counts), where=size > 0) - matching.table, 0)
        far = (excess.sum(axis=1) > self.distance) & (size[:, 0] > 0)
        return claims_from_scores(excess * far[:, None], matching.column, matching.domain, excess.sum(axis=1))
