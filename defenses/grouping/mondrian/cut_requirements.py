"""Constraints on both sides of a cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from defenses.grouping.constraints import Constraint, SensitiveColumn, hold
from defenses.grouping.mondrian.columns import OrderedColumn
from metrics.classes import group_starts
from metrics.columns import Booleans, Floats, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_CELLS = 1 << 23
"""Largest table of counts held at a time; a single class may need a larger one."""


@dataclass(frozen=True)
class CutRules:
    """What a cut must satisfy.

    - k: Smallest number of records on a side.
    - strict: Whether records of equal value stay on one side of a cut.
    - constraints: Further constraints on both sides.
    - columns: The columns that they constrain, with a code for each record.
    - histograms, each of shape (rows, values): Number of records of each row with each value of a column, for rows of
      several records. The columns then have no codes.
    """

    k: int
    strict: bool
    constraints: Sequence[Constraint] = ()
    columns: Sequence[SensitiveColumn] = ()
    histograms: Sequence[csr_array] = ()

    def hold(self, rows: Integers, begins: Integers, groups: Integers, left: Integers) -> Booleans:
        """Tell for each cut whether both sides satisfy every constraint.

        - rows of shape (n,): The rows, class by class and within a class in the order of the cuts.
        - begins of shape (classes + 1,): Position where each class begins, and n.
        - groups of shape (cuts,): Class of each cut, ascending.
        - left of shape (cuts,): Number of the first rows of the class on the left side of each cut. The numbers ascend
          within a class, and each side keeps at least one row.
        - returns shape (cuts,).
        """
        holds = np.ones(groups.size, dtype=bool)
        for index, column in enumerate(self.columns):
            for cuts in _blocks(groups, column.table.size):
                first, last = groups[cuts.start], groups[cuts.stop - 1]
                inside = slice(begins[first], begins[last + 1])
                ends = begins[groups[cuts]] + left[cuts] - inside.start
                starts = begins[first : last + 2] - inside.start
                left_counts, before = _prefix_counts(
                    *self._values(index, rows[inside]), column.table.size, ends, starts
                )
                left_counts -= before[groups[cuts] - first]
                right_counts = np.diff(before, axis=0)[groups[cuts] - first] - left_counts
                for counts in (left_counts, right_counts):
                    holds[cuts] &= hold(self.constraints, counts, column.table)
        return holds

    def _values(self, index: int, rows: Integers) -> tuple[Integers, Integers, Integers | None]:
        """Values of a column in these rows: the position of the row, the code and the number of records of each."""
        if not self.histograms:
            return np.arange(rows.size), self.columns[index].codes[rows], None
        histogram = self.histograms[index][rows]
        positions = np.repeat(np.arange(rows.size), np.diff(histogram.indptr))
        return positions, histogram.indices.astype(np.intp), histogram.data


def _prefix_counts(
    positions: Integers, codes: Integers, records: Integers | None, size: int, ends: Integers, starts: Integers
) -> tuple[Integers, Integers]:
    """Counts of each code before each of these positions, shapes (ends, size) and (starts, size)."""
    edges = np.union1d(ends, starts)
    segment = np.searchsorted(edges, positions, side="right")
    keys = segment * size + codes
    flat = np.bincount(keys, weights=records, minlength=(edges.size + 1) * size).astype(np.intp, copy=False)
    counts = flat.reshape(-1, size)
    before = np.cumsum(counts, axis=0)
    return before[np.searchsorted(edges, ends)], before[np.searchsorted(edges, starts)]


def _blocks(groups: Integers, size: int) -> Iterator[slice]:
    """Slices of the cuts that keep classes whole, each with about `_CELLS` counts."""
    step = max(1, _CELLS // size)
    start = 0
    while start < groups.size:
        stop = int(np.searchsorted(groups, groups[min(start + step, groups.size) - 1], side="right"))
        yield slice(start, stop)
        start = stop


# Classes that Mondrian cuts, and the best cut of each class.


@dataclass(frozen=True)
class OpenClasses:
    """Classes to cut.

    - rows of shape (n,): The rows, class by class: records, or combinations of values that several records share.
    - lengths of shape (classes,): Number of rows in each class, at least 1.
    - begins of shape (classes,): Position of each class's first row.
    - class_of of shape (n,): Class of each row, from 0.
    - weights of shape (n,), optional: Number of records of each row; by default each row is a record.
    - sizes of shape (classes,): Number of records in each class.
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
        self, column: OrderedColumn, group: Integers, left: Integers, allowed: Booleans, rules: CutRules
    ) -> Booleans:
        """Tell which of the allowed cuts satisfy the constraints too, given class and left rows of each cut."""
        if not rules.constraints or not allowed.any():
            return allowed
        in_order = self.rows[np.argsort(self.class_of * column.size + column.codes, kind="stable")]
        begins = np.append(self.begins, in_order.size)
        result = allowed.copy()
        result[allowed] = rules.hold(in_order, begins, group[allowed], left[allowed])
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

    - gain of shape (classes,): Reduction of the certainty penalty, summed over the records; -inf if no cut is allowed.
    - value of shape (classes,): Code of the last value on the left side.
    - left of shape (classes,): Number of records on the left side. It leaves out tied records that go right.
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
