"""Classes that Mondrian cuts, what a cut must satisfy, and the best cut of each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from defenses.grouping.mondrian.columns import OrderedColumn
from defenses.grouping.mondrian.cut_requirements import CutRequirements
from metrics.classes import group_starts
from metrics.columns.arrays import Booleans, Floats, Integers


@dataclass(frozen=True)
class CutRules:
    """What a cut must satisfy.

    Attributes
    ----------
    k : int
        Smallest number of records on a side.
    strict : bool
        Whether records of equal value stay on one side of a cut.
    requirements : CutRequirements
        Further constraints on both sides.
    """

    k: int
    strict: bool
    requirements: CutRequirements


@dataclass(frozen=True)
class OpenClasses:
    """Classes to cut.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        The rows, class by class: records, or combinations of values that several records share.
    lengths : ndarray of int, shape (classes,)
        Number of rows in each class, at least 1.
    begins : ndarray of int, shape (classes,)
        Position of each class's first row.
    class_of : ndarray of int, shape (n,)
        Class of each row, from 0.
    weights : ndarray of int, shape (n,), optional
        Number of records of each row; by default each row is a record.
    sizes : ndarray of int, shape (classes,)
        Number of records in each class.
    """

    rows: Integers
    lengths: Integers
    begins: Integers
    class_of: Integers
    weights: Integers | None
    sizes: Integers

    @classmethod
    def of(cls, rows: Integers, lengths: Integers, weights: Integers | None = None) -> OpenClasses:
        """The classes with these rows and these numbers of rows."""
        begins = np.cumsum(lengths) - lengths
        sizes = lengths if weights is None else np.add.reduceat(weights, begins)
        return cls(rows, lengths, begins, np.repeat(np.arange(lengths.size), lengths), weights, sizes)

    def satisfied(
        self, column: OrderedColumn, group: Integers, left: Integers, allowed: Booleans, requirements: CutRequirements
    ) -> Booleans:
        """Tell which of the allowed cuts satisfy the requirements too, given class and left rows of each cut."""
        if not requirements or not allowed.any():
            return allowed
        in_order = self.rows[np.argsort(self.class_of * column.size + column.codes, kind="stable")]
        begins = np.append(self.begins, in_order.size)
        result = allowed.copy()
        result[allowed] = requirements.hold(in_order, begins, group[allowed], left[allowed])
        return result

    def sorted_codes(self, column: OrderedColumn) -> Integers:
        """Codes of a column, ascending within each class."""
        offset: Integers = np.arange(self.lengths.size) * column.size
        if self.lengths.size * column.size < 1 << 31:
            offset = offset.astype(np.int32)
        offset = np.repeat(offset, self.lengths)
        return np.subtract(np.sort(offset + column.codes), offset)


@dataclass(frozen=True)
class Cuts:
    """The best cut of each class in one column.

    Attributes
    ----------
    gain : ndarray of float, shape (classes,)
        Reduction of the certainty penalty, summed over the records; -inf if no cut is allowed.
    value : ndarray of int, shape (classes,)
        Code of the last value on the left side.
    left : ndarray of int, shape (classes,)
        Number of records on the left side. It leaves out tied records that go right.
    """

    gain: Floats
    value: Integers
    left: Integers

    @classmethod
    def none(cls, count: int) -> Cuts:
        """No allowed cut in any of the classes."""
        nothing = np.zeros(count, dtype=np.intp)
        return cls(np.full(count, -np.inf), nothing, nothing)


def best_of_each_class(gain: Floats, group: Integers, count: int) -> tuple[Floats, Integers]:
    """Largest gain of each class and position of its first cut with this gain, given cuts in order of their classes.

    A class without a cut has the gain -inf and a position without a meaning.
    """
    best, first = np.full(count, -np.inf), np.zeros(count, dtype=np.intp)
    starts = group_starts(group)
    best[group[starts]] = np.maximum.reduceat(gain, starts)
    at = np.flatnonzero(gain == best[group])
    # Of several positions of a class, the assignment in descending order leaves the first.
    first[group[at[::-1]]] = at[::-1]
    return best, first
