"""Diversity of a sensitive column over equivalence classes that are counted in parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from metrics.arrays import Floats, Integers
from metrics.classes import group_starts


@dataclass(frozen=True)
class ClassDiversity:
    """Worst values of l, alpha and t over some classes, which are measured together.

    Attributes
    ----------
    distinct : int
        Distinct l-diversity; see `metrics.l_diversity`.
    entropy : float
        Least entropy of a class in nats, whose exponential is `metrics.entropy_l_diversity`.
    alpha : float
        Largest share of a value in a class; see `metrics.alpha_anonymity`.
    t_equal : float
        Largest distance of a class from the table; see `metrics.t_closeness_equal`.
    one_value : int
        Number of records in classes that hold one value; classes of one record count.

    Examples
    --------
    Two classes: one with the values 0, 0, 1, and one with the value 1.

    >>> table = np.array([0.5, 0.5])
    >>> first = ClassDiversity.of_pairs(np.array([0, 0]), np.array([0, 1]), np.array([2, 1]), table)
    >>> other = ClassDiversity.of_pairs(np.array([0]), np.array([1]), np.array([1]), table)
    >>> worst = first.worst(other)
    >>> worst.distinct, worst.alpha, worst.t_equal, worst.one_value
    (1, 1.0, 0.5, 1)
    """

    distinct: int
    entropy: float
    alpha: float
    t_equal: float
    one_value: int

    @classmethod
    def of_pairs(cls, groups: Integers, values: Integers, counts: Integers, table: Floats) -> Self:
        """Measure classes by the pairs of a class and a value that occur.

        Parameters
        ----------
        groups : ndarray of int, shape (pairs,)
            Class of each pair, ascending, from 0 without a gap.
        values, counts : ndarray of int, shape (pairs,)
            Value of each pair, and its number of records.
        table : ndarray of float, shape (values,)
            Share of each value in the whole table.

        Notes
        -----
        The formulas are those of `metrics.diversity`, where their sources are.
        """
        starts = group_starts(groups)
        sizes = np.add.reduceat(counts, starts)
        present = np.diff(np.append(starts, groups.size))
        shares = counts / sizes[groups]
        entropy = np.bincount(groups, weights=-shares * np.log(shares))
        excess = np.bincount(groups, weights=np.maximum(shares - table[values], 0))
        return cls(
            int(present.min()),
            float(entropy.min()),
            float(shares.max()),
            float(excess.max()),
            int(sizes[present == 1].sum()),
        )

    def worst(self, other: ClassDiversity) -> ClassDiversity:
        """Measures of the classes of both."""
        return ClassDiversity(
            min(self.distinct, other.distinct),
            min(self.entropy, other.entropy),
            max(self.alpha, other.alpha),
            max(self.t_equal, other.t_equal),
            self.one_value + other.one_value,
        )
