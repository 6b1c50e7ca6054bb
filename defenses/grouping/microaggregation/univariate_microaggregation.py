"""Optimal univariate microaggregation."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base import (
    Guarantee,
    Microdata,
    MicrodataRelease,
    check_enough,
    chosen_columns,
    filled,
    is_numeric,
    k_anonymity_over,
)
from defenses.grouping.microaggregation.representatives import (
    GroupedNumbers,
    RepresentativeDefense,
    read_grouped_column,
    release_replaced,
)
from metrics.columns import Floats, Integers, require

# Optimal univariate grouping: groups of at least k numbers with the least sum of squares.


def optimal_groups(numbers: ArrayLike, k: int) -> Integers:
    """Group numbers with the least within-group sum of squares, at least k per group.

    - numbers of shape (n,): Finite numbers.
    - k: Smallest group size, 1 <= k <= n.
    - returns shape (n,): Group of each number, from 0 in ascending order of the numbers. Each group holds k to 2k - 1
      numbers, or all of them if n < 2k.

    Raises ValueError if `k` lies outside 1..n, or the numbers are not a one-dimensional array of finite values.

    Notes
    -----
    In an optimum, groups are runs of the sorted numbers, and a run of 2k or more splits in two without loss. Let
    w(i, m) be the sum of squares within the run of m numbers that ends at the i-th. The least sum for the first i
    numbers is

        c(i) = min over k <= m < 2k of c(i - m) + w(i, m),    c(0) = 0.

    c(i) depends on no value after c(i - k). Therefore k values are computed at once, in n / k steps over blocks of k
    by k. Sums of squares are taken about the last number of a run, which avoids cancellation. Memory: about 8 k n
    bytes.

    References
    ----------
    Hansen and Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation.
    """
    values = np.asarray(numbers, dtype=float)
    require(values.ndim == 1 and np.isfinite(values).all(), "numbers must be a one-dimensional array of finite values")
    n = values.size
    require(1 <= k <= n, f"k must lie between 1 and the number of values, got k = {k} for n = {n}")
    order = np.argsort(values, kind="stable")
    ends = _last_ends(_run_sums(values[order], k), k)
    groups = np.empty(n, dtype=np.intp)
    groups[order] = np.repeat(np.arange(ends.size), np.diff(ends, prepend=0))
    return groups


def _run_sums(ordered: Floats, k: int) -> Floats:
    """Sums of squares w(i, m), shape (n, k), in row i - 1 for m = 2k - 1, …, k; infinite for m > i."""
    n = ordered.size
    sums = np.full((n, k), np.inf)
    total, squares = np.zeros(n), np.zeros(n)
    for back in range(min(2 * k - 1, n)):
        difference = ordered[: n - back] - ordered[back:]
        total[back:] += difference
        squares[back:] += difference**2
        size = back + 1
        if size >= k:
            sums[back:, 2 * k - 1 - size] = np.maximum(squares[back:] - total[back:] ** 2 / size, 0.0)
    return sums


def _last_ends(sums: Floats, k: int) -> Integers:
    """End of each group of an optimum, ascending: the number of values up to and including its last one."""
    n = len(sums)
    # cost[2k - 1 + i] is c(i); the entries before it stand for runs that start before the first number.
    cost = np.full(2 * k - 1 + n + 1, np.inf)
    cost[2 * k - 1] = 0.0
    before = sliding_window_view(cost, k)
    choice = np.empty(n + 1, dtype=np.intp)
    row = np.arange(k)
    for start in range(1, n + 1, k):
        stop = min(start + k, n + 1)
        candidates = before[start:stop] + sums[start - 1 : stop - 1]
        best = candidates.argmin(axis=1)
        choice[start:stop] = best
        cost[2 * k - 1 + start : 2 * k - 1 + stop] = candidates[row[: stop - start], best]
    previous = np.arange(n + 1) - (2 * k - 1 - choice)
    previous[0] = 0
    return _chain(previous)


def _chain(previous: Integers) -> Integers:
    """Positions on the path from the last one back to 0, without 0, ascending; found by pointer doubling."""
    reached = np.array([previous.size - 1])
    # No optimum passes through an impossible start, so the pointers of these positions do not matter.
    jump = np.maximum(previous, 0)
    while jump[-1] > 0:
        reached = np.union1d(reached, jump[reached])
        jump = jump[jump]
    reached = np.union1d(reached, jump[reached])
    return reached[reached > 0]


class UnivariateMicroaggregation(RepresentativeDefense):
    """Optimal univariate microaggregation: each numeric column on its own, with the least squared change.

    - k: Smallest group size, at least 1.
    - columns, optional: Numeric columns; by default all numeric quasi-identifiers.
    - representative, {"mean", "median", "mode"}: What a group releases; the groups are optimal for the mean.

    Raises ValueError if `k` is not an integer of at least 1, or the representative is unknown. On `apply` and
    `guarantee`: if `k` exceeds the number of records, or a column is unknown or not numeric. On `apply`: if a number is
    infinite.

    Notes
    -----
    Numbers, representatives and the channel are those of `Microaggregation`. Missing numbers form a group of their own
    if there are at least k of them and at least k others. Otherwise they are grouped as if they were the mean.

    Guarantee: every released number of a column occurs at least k times. This is k-anonymity over the
    quasi-identifiers only if there is a single one.

    References
    ----------
    Hansen and Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation.
    """

    called = ("Univariate microaggregation", "Hansen-Mukherjee")

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the representatives of every column."""
        replaced = {}
        for name in filled(records, self._checked_columns(records)):
            column = read_grouped_column(records, name)
            if isinstance(column, GroupedNumbers):
                replaced[name] = column.replaced(self._groups(column.numbers), self.representative)
        return release_replaced(records, replaced)

    def guarantee(self, records: Microdata) -> Guarantee:
        """Return k-anonymity if there is a single column, and otherwise k-anonymity over each column alone."""
        names = self._checked_columns(records)
        if len(names) == 1:
            return k_anonymity_over(self.k, records, names)
        return Guarantee(
            statement=f"{self.k}-anonymity over each of {', '.join(names) or 'no column'} alone", kept_in_parts=True
        )

    def _groups(self, numbers: NDArray[np.float64]) -> NDArray[np.intp]:
        missing = np.isnan(numbers)
        if 0 < missing.sum() < self.k or missing.sum() > missing.size - self.k:
            return optimal_groups(np.where(missing, np.nanmean(numbers), numbers), self.k)
        groups = np.zeros(numbers.size, dtype=np.intp)
        groups[~missing] = 1 + optimal_groups(numbers[~missing], self.k)
        return groups if missing.any() else groups - 1

    def _checked_columns(self, records: Microdata) -> tuple[str, ...]:
        check_enough(self.k, len(records))
        default = [name for name in records.quasi_identifiers if is_numeric(records, name)]
        names = chosen_columns(records, self.columns, default)
        for name in names:
            require(is_numeric(records, name), f"columns: column {name!r} holds no numbers, which this method needs")
        return names
