"""Numbers of equivalence classes by size, from which measures of whole classes follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from metrics.arrays import Integers


@dataclass(frozen=True)
class SizeCounts:
    """Number of equivalence classes of each size.

    Parameters
    ----------
    sizes : ndarray of int, shape (distinct sizes,)
        Sizes that occur, ascending, at least one.
    counts : ndarray of int, shape (distinct sizes,)
        Number of classes of each size.

    Examples
    --------
    >>> sizes = SizeCounts.of_classes(np.array([2, 1, 1, 5]))
    >>> sizes.rows, sizes.classes, sizes.uniques
    (9, 4, 2)
    """

    sizes: Integers
    counts: Integers

    @classmethod
    def of_classes(cls, class_sizes: Integers) -> Self:
        """Count the sizes of some classes, shape (classes,)."""
        sizes, counts = np.unique(class_sizes, return_counts=True)
        return cls(sizes, counts)

    @property
    def rows(self) -> int:
        """Number of records."""
        return int((self.sizes * self.counts).sum())

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.counts.sum())

    @property
    def uniques(self) -> int:
        """Number of classes of one record."""
        return int(self.counts[self.sizes == 1].sum())
