"""Which cuts leave both sides with the sensitive values that constraints demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from defenses.grouping.constraints import Constraint, SensitiveColumn
from metrics.arrays import Booleans, Integers

_CELLS = 1 << 23
"""Counts laid out at a time, as long as one class needs no more."""


@dataclass(frozen=True)
class SideDemand:
    """What both sides of a cut must hold besides their size.

    Attributes
    ----------
    constraints : sequence of Constraint
        The demands.
    columns : sequence of SensitiveColumn
        What they are about, with a code for each record.
    """

    constraints: Sequence[Constraint]
    columns: Sequence[SensitiveColumn]

    def __bool__(self) -> bool:
        return bool(self.constraints)

    def hold(self, rows: Integers, classes: Integers, keys: Integers, groups: Integers, left: Integers) -> Booleans:
        """Whether both sides of each cut meet every demand.

        Parameters
        ----------
        rows, classes, keys : ndarray of int, shape (n,)
            The records, class by class, the class of each, ascending without gaps from 0, and a number that ascends
            by class and then by value.
        groups, left : ndarray of int, shape (cuts,)
            Class of each cut, ascending, and how many of its records, by value and then in the given order, go to
            the left side; ascending within a class, and at least one record stays on either side.

        Returns
        -------
        ndarray of bool, shape (cuts,)
        """
        in_order = rows[np.argsort(keys, kind="stable")]
        begins = np.searchsorted(classes, np.arange(classes[-1] + 2))
        holds = np.ones(groups.size, dtype=bool)
        for column in self.columns:
            codes = column.codes[in_order]
            for cuts in _blocks(groups, column.table.size):
                first, last = groups[cuts.start], groups[cuts.stop - 1]
                inside = slice(begins[first], begins[last + 1])
                ends = begins[groups[cuts]] + left[cuts] - inside.start
                starts = begins[first : last + 2] - inside.start
                one_side, whole = _prefix_counts(codes[inside], column.table.size, ends, starts)
                one_side -= whole[groups[cuts] - first]
                other = np.diff(whole, axis=0)[groups[cuts] - first] - one_side
                for constraint in self.constraints:
                    holds[cuts] &= constraint.holds(one_side, column.table) & constraint.holds(other, column.table)
        return holds


def _prefix_counts(codes: Integers, size: int, ends: Integers, starts: Integers) -> tuple[Integers, Integers]:
    """How often each code stands before each of these positions, shapes (ends, size) and (starts, size)."""
    edges = np.union1d(ends, starts)
    segment = np.searchsorted(edges, np.arange(codes.size), side="right")
    counts = np.bincount(segment * size + codes, minlength=(edges.size + 1) * size).reshape(-1, size)
    before = np.cumsum(counts, axis=0)
    return before[np.searchsorted(edges, ends)], before[np.searchsorted(edges, starts)]


def _blocks(groups: Integers, size: int) -> Iterator[slice]:
    """Slices of the cuts, each of whole classes and with about as many counts as are laid out at a time."""
    step = max(1, _CELLS // size)
    start = 0
    while start < groups.size:
        stop = int(np.searchsorted(groups, groups[min(start + step, groups.size) - 1], side="right"))
        yield slice(start, stop)
        start = stop
