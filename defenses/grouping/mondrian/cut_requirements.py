"""Constraints on both sides of a cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from defenses.grouping.constraints import Constraint, SensitiveColumn
from metrics.columns.arrays import Booleans, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_CELLS = 1 << 23
"""Largest table of counts held at a time; a single class may need a larger one."""


@dataclass(frozen=True)
class CutRequirements:
    """Constraints that both sides of a cut must satisfy, besides their size.

    Attributes
    ----------
    constraints : sequence of Constraint
        The constraints.
    columns : sequence of SensitiveColumn
        The columns that they constrain, with a code for each record.
    histograms : sequence of csr_array, each of shape (rows, values)
        Number of records of each row with each value of a column, for rows of several records. The columns then have no
        codes.
    """

    constraints: Sequence[Constraint]
    columns: Sequence[SensitiveColumn]
    histograms: Sequence[csr_array] = ()

    def __bool__(self) -> bool:
        return bool(self.constraints)

    def hold(self, rows: Integers, begins: Integers, groups: Integers, left: Integers) -> Booleans:
        """Tell for each cut whether both sides satisfy every constraint.

        Parameters
        ----------
        rows : ndarray of int, shape (n,)
            The rows, class by class and within a class in the order of the cuts.
        begins : ndarray of int, shape (classes + 1,)
            Position where each class begins, and n.
        groups : ndarray of int, shape (cuts,)
            Class of each cut, ascending.
        left : ndarray of int, shape (cuts,)
            Number of the first rows of the class on the left side of each cut. The numbers ascend within a class, and
            each side keeps at least one row.

        Returns
        -------
        ndarray of bool, shape (cuts,)
        """
        holds = np.ones(groups.size, dtype=bool)
        for index, column in enumerate(self.columns):
            for cuts in _blocks(groups, column.table.size):
                first, last = groups[cuts.start], groups[cuts.stop - 1]
                inside = slice(begins[first], begins[last + 1])
                ends = begins[groups[cuts]] + left[cuts] - inside.start
                starts = begins[first : last + 2] - inside.start
                values = self._values(index, rows[inside])
                left_counts, before = _prefix_counts(values, column.table.size, ends, starts)
                left_counts -= before[groups[cuts] - first]
                right_counts = np.diff(before, axis=0)[groups[cuts] - first] - left_counts
                for constraint in self.constraints:
                    for counts in (left_counts, right_counts):
                        holds[cuts] &= constraint.holds(counts, column.table)
        return holds

    def _values(self, index: int, rows: Integers) -> _Values:
        """Values of a column in these rows."""
        if not self.histograms:
            return _Values(np.arange(rows.size), self.columns[index].codes[rows], None)
        histogram = self.histograms[index][rows]
        return _Values(
            np.repeat(np.arange(rows.size), np.diff(histogram.indptr)),
            histogram.indices.astype(np.intp),
            histogram.data,
        )


@dataclass(frozen=True)
class _Values:
    """Sensitive values of rows: the position of the row, the code and the number of records of each."""

    positions: Integers
    codes: Integers
    records: Integers | None


def _prefix_counts(values: _Values, size: int, ends: Integers, starts: Integers) -> tuple[Integers, Integers]:
    """Counts of each code before each of these positions, shapes (ends, size) and (starts, size)."""
    edges = np.union1d(ends, starts)
    segment = np.searchsorted(edges, values.positions, side="right")
    keys = segment * size + values.codes
    flat = np.bincount(keys, weights=values.records, minlength=(edges.size + 1) * size).astype(np.intp, copy=False)
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
