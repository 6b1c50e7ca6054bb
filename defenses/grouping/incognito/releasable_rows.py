"""Upper bounds on the rows of a class that finer classes can release under constraints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, singledispatch

import numpy as np

from defenses.grouping.constraints import (
    ROUNDING,
    Constraint,
    EntropyDiversity,
    EqualCloseness,
    LargestShare,
    OrderedCloseness,
    RecursiveDiversity,
)
from metrics.arrays import Floats, Integers

_SLACK = 1e-9
"""Relative slack of each bound, so that rounding errors never exclude an allowed node."""

_LEAST_MARGIN = 1e-3
"""Smallest denominator of a bound; smaller ones amplify rounding errors and exclude little."""

_RANKS = 8
"""Largest number of most frequent values whose joint share is bounded."""


def releasable_rows(constraints: Sequence[Constraint], counts: Integers, table: Floats) -> Integers:
    """Upper bound on the rows of each class that finer classes can release under all constraints.

    If the classes of a node can release too few rows, all finer nodes are rejected without a test.

    Parameters
    ----------
    constraints : sequence of Constraint
        The constraints.
    counts : ndarray of int, shape (classes, values)
        Counts of each sensitive value in each class; no class is empty.
    table : ndarray of float, shape (values,)
        Share of each value in the whole table.

    Returns
    -------
    ndarray of int, shape (classes,)

    Notes
    -----
    Split a class of n rows with counts n_v in any way, and release the parts that satisfy a constraint. Merged, these
    parts satisfy it too (see `Constraint`). They form a class of s rows with counts x_v <= n_v.

    - Suppose that the j most frequent values of every allowed class have at most a share P_j < 1 of it. The other
      values then have at least (1 - P_j) s rows. Hence s <= (n minus the j largest n_v) / (1 - P_j).
    - Suppose that sum w_v x_v >= m s for weights w_v >= 0 and some m > 0. Then s <= sum w_v n_v / m.

    The functions below name P_j, or the weights and m, for each constraint. With two values, the bounds are exact
    except for rounding to integers.
    """
    most = counts.sum(axis=1).astype(float)
    for constraint in constraints:
        most = np.minimum(most, _bound(constraint, counts, table))
    return np.asarray(np.floor(most * (1 + _SLACK) + _SLACK).astype(np.intp))


@singledispatch
def _bound(constraint: Constraint, counts: Integers, table: Floats) -> Floats:
    """Bound for one constraint; by default, all rows unless the class fails and so do all its parts."""
    rows = counts.sum(axis=1).astype(float)
    return np.where(constraint.holds(counts, table), rows, 0.0) if constraint.spoils_all else rows


@_bound.register
def _(constraint: LargestShare, counts: Integers, table: Floats) -> Floats:
    alpha = constraint.alpha + 2 * ROUNDING
    return _by_largest_shares(counts, [j * alpha for j in range(1, _ranks(table) + 1)])


@_bound.register
def _(constraint: EntropyDiversity, counts: Integers, table: Floats) -> Floats:
    return _by_largest_shares(counts, _shares_of_entropy(constraint.l, int((table > 0).sum()), _ranks(table)))


@_bound.register
def _(constraint: RecursiveDiversity, counts: Integers, table: Floats) -> Floats:
    """No x_v exceeds c (r_l + … + r_m), and this sum is at most that of the whole class."""
    ranked = -np.sort(-counts, axis=1)
    cap = constraint.c * ranked[:, constraint.l - 1 :].sum(axis=1) * (1 + _SLACK)
    return np.asarray(np.minimum(counts, cap[:, None]).sum(axis=1))


@_bound.register
def _(constraint: EqualCloseness, counts: Integers, table: Floats) -> Floats:
    """For every set V of values, q(V) - x(V) / s <= t; sets of values with the least n_v / q_v are used."""
    ratios = np.divide(counts, table, out=np.full(counts.shape, np.inf), where=table > 0)
    order = np.argsort(ratios, axis=1, kind="stable")
    rows = np.take_along_axis(counts, order, axis=1).cumsum(axis=1)
    return _least_quotient(rows, table[order].cumsum(axis=1) - (constraint.t + 2 * ROUNDING))


@_bound.register
def _(constraint: OrderedCloseness, counts: Integers, table: Floats) -> Floats:
    """For every j, sum_{i <= j} (Q_i - P_i) <= t (m - 1), with P and Q cumulative from either end of m values."""
    cost = (constraint.t + 2 * ROUNDING) * max(1, table.size - 1)
    bounds = [
        _least_quotient(n.cumsum(axis=1).cumsum(axis=1)[:, :-1], (q.cumsum().cumsum() - cost)[:-1])
        for n, q in ((counts, table), (counts[:, ::-1], table[::-1]))
    ]
    return np.minimum(*bounds)


def _by_largest_shares(counts: Integers, shares: Sequence[float]) -> Floats:
    """Bound by the largest shares P_j of the j most frequent values, for j = 1, 2, and so on."""
    ranked = -np.sort(-counts, axis=1)
    others = counts.sum(axis=1, keepdims=True) - ranked[:, : len(shares)].cumsum(axis=1)
    return _least_quotient(others, 1 - np.asarray(shares, dtype=float))


def _least_quotient(rows: Integers, margins: Floats) -> Floats:
    """Smallest quotient of rows and margin of each class, over the margins that are clearly positive."""
    quotients = np.full(rows.shape, np.inf)
    np.divide(rows, margins, out=quotients, where=np.broadcast_to(margins > _LEAST_MARGIN, rows.shape))
    return np.asarray(quotients.min(axis=1, initial=np.inf))


def _ranks(table: Floats) -> int:
    return min(_RANKS, table.size)


@lru_cache(256)
def _shares_of_entropy(l: float, values: int, ranks: int) -> list[float]:  # noqa: E741
    """Largest joint share of the j most frequent of m values at an entropy of log l, for j from 1 to `ranks`.

    A joint share P allows an entropy of at most h(P) + P log j + (1 - P) log(m - j); h is the binary entropy. This
    bound falls in P from j / m on.
    """
    least = math.log(l - ROUNDING) - _SLACK if l > ROUNDING else -math.inf
    return [_largest_share(least, j, values) for j in range(1, ranks + 1)]


def _largest_share(least: float, j: int, values: int) -> float:
    if j >= values:
        return 1.0

    def entropy(share: float) -> float:
        return -share * math.log(share / j) - (1 - share) * math.log((1 - share) / (values - j))

    low, high = j / values, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if entropy(middle) >= least else (low, middle)
    return high
