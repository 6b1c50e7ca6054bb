"""Skewness attack: claims the value that is most over-represented in the target's class."""

from __future__ import annotations

import numpy as np

from attacks.base import ClassInference, ReleasedClasses, ValueClaims, claims_from_scores
from metrics.columns import check_real


class Skewness(ClassInference):
    """Claims the value whose share in the target's class exceeds its share in the table the most.

    It answers only where the total variation distance of class and table, as t-closeness measures it, exceeds
    `distance`. A t-close table with a smaller t leaves it no answer. The class consists of the nearest rows, as in
    `MajorityInClass`, so strangers are answered too.

    The attack assumes only the target's quasi-identifiers. It prefers unusual values to frequent ones and abstains
    elsewhere, so it names fewer values than the baseline `MajorityInClass`. It shows what is peculiar to a class, which
    l-diversity does not limit.

    Parameters
    ----------
    distance : float
        Smallest distance between class and table for an answer, in [0, 1].

    References
    ----------
    Li, Li and Venkatasubramanian (2007), t-closeness, section 3.
    """

    def __init__(self, *, distance: float = 0.2) -> None:
        self.distance = check_real("distance", distance, low=0, high=1)

    def claims(self, matching: ReleasedClasses) -> ValueClaims:
        """Claim each target's most over-represented value."""
        counts = matching.near_counts
        size = counts.sum(axis=1, keepdims=True)
        excess = np.maximum(np.divide(counts, size, out=np.zeros_like(counts), where=size > 0) - matching.table, 0)
        far = (excess.sum(axis=1) > self.distance) & (size[:, 0] > 0)
        return claims_from_scores(excess * far[:, None], matching.column, matching.domain, excess.sum(axis=1))
