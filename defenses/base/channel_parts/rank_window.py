"""Channel part of rank swapping."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base.channel_parts.part import ColumnPart, Likelihood
from defenses.base.columns import plain_codes, plain_numbers
from metrics.columns import CategoricalDomain, Floats

Ranks = NDArray[np.int64]


class SwapLaw:
    """Transition probabilities of ranks that are swapped in pairs inside blocks cut at a random offset.

    Write B = window + 1, and let o be uniform on 0, …, B - 1. A block starts at rank 0, and at each of the ranks 0, …,
    n - 1 that leaves remainder o when divided by B. The first and the last block may be shorter. A random matching
    inside a block of m ranks pairs two given ranks with probability q(m), and leaves a given rank unmatched with
    probability s(m): for even m, q(m) = 1/(m - 1) and s(m) = 0; for odd m, q(m) = s(m) = 1/m.

    Ranks i < j share a block under max(B - (j - i), 0) of the offsets. If that is a short first block, its
    size is o, which takes each of the values j + 1, …, B - 1 once. If it is a short last block, its size takes
    each of the values n - i, …, B - 1 once. With C(t) the sum of q(m) - q(B) over t < m < B, and D(t) that of s(m) -
    s(B):

    - B P(i, j) = B P(j, i) = q(B) max(B - (j - i), 0) + C(j) + C(n - 1 - i),
    - B P(i, i) = B s(B) + D(i) + D(n - 1 - i).

    - window: Largest difference of rank, below n.
    """

    def __init__(self, total: int, window: int) -> None:
        self.total, self.block = total, window + 1
        size = np.arange(2, self.block + 1)
        pair = np.append(0.0, np.where(size % 2 == 0, 1 / (size - 1), 1 / size))
        stay = np.append(1.0, np.where(size % 2 == 0, 0.0, 1 / size))
        self.pair, self.stay = pair[-1], stay[-1]
        swaps = self._short_blocks(pair)
        self._swaps = _cumulative(swaps)
        self._ramps = _cumulative(swaps * np.arange(total))
        self._stays = _cumulative(self._short_blocks(stay))
        tent = self.block - np.abs(np.arange(-self.block, self.block + 1))
        self._near = np.cumsum(np.cumsum(tent))

    def between(self, low: Ranks, low_count: Ranks, high: Ranks, high_count: Ranks) -> Floats:
        """Sum of P(i, j) over ranks i of a run from `low` on, and higher ranks j of a run from `high` on."""
        low_end, high_end = low + low_count, high + high_count
        swapped = self.pair * self._offsets(low, low_end, high, high_end)
        first = low_count * (self._swaps[high_end] - self._swaps[high])
        last = high_count * (self._swaps[self.total - low] - self._swaps[self.total - low_end])
        return np.asarray((swapped + first + last) / self.block)

    def within(self, start: Ranks, count: Ranks) -> Floats:
        """Sum of P(i, j) over all i and j of one run of ranks."""
        end, n = start + count, self.total
        swapped = self.pair * (self._offsets(start, end, start, end) - self.block * count)
        short = 2 * (self._ramp(start, end) + self._ramp(n - end, n - start))
        alone = self.block * self.stay * count
        alone = alone + self._stays[end] - self._stays[start] + self._stays[n - start] - self._stays[n - end]
        return np.asarray((swapped + short + alone) / self.block)

    def _short_blocks(self, chance: Floats) -> Floats:
        """Sum of chance(m) - chance(B) over t < m < B for each t = 0, …, n - 1."""
        sums = np.zeros(max(self.total, self.block))
        sums[: self.block - 1] = np.cumsum((chance - chance[-1])[-2::-1])[::-1]
        return sums[: self.total]

    def _offsets(self, low: Ranks, low_end: Ranks, high: Ranks, high_end: Ranks) -> Ranks:
        """Sum of max(B - |j - i|, 0) over two runs of ranks."""

        def upto(t: Ranks) -> Ranks:
            """Sum over d <= t of the sums of max(B - |e|, 0) over e <= d."""
            inside = self._near[np.clip(t + self.block, 0, 2 * self.block)]
            return np.asarray(inside + self.block**2 * np.maximum(t - self.block, 0))

        return upto(high_end - 1 - low) - upto(high_end - 1 - low_end) - upto(high - 1 - low) + upto(high - 1 - low_end)

    def _ramp(self, start: Ranks, end: Ranks) -> Floats:
        """Sum of C(t) (t - start) over start <= t < end."""
        swaps = self._swaps[end] - self._swaps[start]
        return np.asarray(self._ramps[end] - self._ramps[start] - start * swaps)


@dataclass(frozen=True)
class RankWindow(ColumnPart):
    """Values are swapped in pairs inside blocks of `window` + 1 successive ranks (see `SwapLaw`).

    Ties are broken at random, so that equal values hold successive ranks. The likelihood of y under x is the sum of
    P(i, j) over the ranks j of y, averaged over the ranks i of x. Swapping preserves how often each value occurs, and
    so these counts are public; a value that does not occur has likelihood 0. A missing value stays missing.

    - values: The distinct numbers, or positions of categories in the domain, ascending.
    - counts: How often each value occurs.
    - window: Largest difference of rank between two values that are swapped.
    """

    kind: ClassVar[str] = "rank_window"
    values: tuple[float, ...]
    counts: tuple[int, ...]
    window: int

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        if isinstance(self.domain, CategoricalDomain):
            codes = plain_codes(released[self.column], self.domain), self.domain.codes(original[self.column])
            cells, values = (np.where(side < self.domain.size, side, np.nan) for side in codes)
        else:
            cells, values = plain_numbers(released[self.column]), plain_numbers(original[self.column])
        return Likelihood((self._positions(cells),), (self._positions(values),), self._log_likelihood)

    @cached_property
    def _law(self) -> SwapLaw:
        return SwapLaw(sum(self.counts), self.window)

    def _positions(self, values: Floats) -> NDArray[np.intp]:
        """Position among the distinct values; -1 for a missing value, -2 for one that does not occur."""
        distinct = np.asarray(self.values, dtype=float)
        positions = np.searchsorted(distinct, values)
        occurs = np.append(distinct, np.nan)[positions] == values
        return np.where(np.isnan(values), -1, np.where(occurs, positions, -2))

    @np.errstate(divide="ignore")
    def _log_likelihood(self, cell: NDArray[np.intp], value: NDArray[np.intp]) -> Floats:
        counts = np.asarray(self.counts, dtype=np.int64)
        starts = np.cumsum(counts) - counts
        below, above = np.minimum(cell, value), np.maximum(cell, value)
        low, high, own = np.maximum(below, 0), np.maximum(above, 0), np.maximum(value, 0)
        swapped = self._law.between(starts[low], counts[low], starts[high], counts[high])
        unswapped = self._law.within(starts, counts)[own]
        present = np.log(np.where(cell == value, unswapped, swapped) / counts[own])
        return np.where(below >= 0, present, np.where((cell == -1) & (value == -1), 0.0, -np.inf))


def _cumulative(values: Floats) -> Floats:
    """Sum of the first t values, for t = 0, 1, …."""
    return np.append(0.0, np.cumsum(values))
