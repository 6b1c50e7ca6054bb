"""The kinds of channel part beyond containment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from defenses.channel import ChannelPart, ColumnPart, Floats, Likelihood
from metrics.cells import escape_column, read_cells
from metrics.domains import CategoricalDomain, Domain


@dataclass(frozen=True)
class ValuePart(ChannelPart):
    """A part for one column whose cells are plain values and need no domain to be read.

    Parameters
    ----------
    column : str
        Its name.
    """

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)


@dataclass(frozen=True)
class Clipping(ValuePart):
    """Numbers beyond two thresholds are replaced by the threshold.

    The log-likelihood is 0 where the clipped original is the released number and -inf elsewhere. A missing value
    stays missing.

    Parameters
    ----------
    low, high : float
        The thresholds, in the column's unit; infinite where an end is left as it is.
    """

    kind: ClassVar[str] = "clipping"
    low: float
    high: float

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        clipped = np.clip(plain_numbers(original[self.column]), self.low, self.high)
        return Likelihood((plain_numbers(released[self.column]),), (clipped,), _equal)


@dataclass(frozen=True)
class Noise(ValuePart):
    """Noise of mean zero is added, then the sum is rounded (whole numbers only) and clamped to the bounds.

    With the noise's distribution function F, original x and released y, the likelihood is

    - F(y + 1/2 - x) - F(y - 1/2 - x) where sums are rounded, the density F'(y - x) where they are not;
    - at a bound everything beyond it as well: F(low + 1/2 - x) or F(low - x) below, and likewise above.

    For one released value the same measure serves all originals, so likelihoods compare. A missing value stays
    missing.

    Parameters
    ----------
    distribution : {"gaussian", "laplace"}
        Of the noise.
    deviation : float
        Its standard deviation, in the column's unit; 0 adds none.
    whole : bool
        Whether sums are rounded to whole numbers.
    low, high : float
        The bounds, in the column's unit; infinite where there is none.

    Raises
    ------
    ValueError
        If the distribution is unknown or the deviation is negative or not finite.
    """

    kind: ClassVar[str] = "noise"
    distribution: str
    deviation: float
    whole: bool
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.distribution not in ("gaussian", "laplace"):
            raise ValueError(f"distribution must be 'gaussian' or 'laplace', got {self.distribution!r}")
        if not 0 <= self.deviation < np.inf:
            raise ValueError(f"deviation must be finite and at least 0, got {self.deviation}")

    def publish(self, sums: Floats) -> Floats:
        """Round and clamp noisy numbers, shape (n,); missing ones stay missing."""
        return np.clip(np.rint(sums) if self.whole else sums, self.low, self.high)

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows; densities where sums are not rounded."""
        cells, values = plain_numbers(released[self.column]), plain_numbers(original[self.column])
        if self.deviation == 0:
            return Likelihood((cells,), (self.publish(values),), _equal)
        # What is published as y lies between two ends; equal ends stand for a density, infinite ones for nothing.
        half = 0.5 if self.whole else 0.0
        possible = np.isnan(cells) | (self.publish(cells) == cells)
        lower = np.where(possible, np.where(cells == self.low, -np.inf, cells - half), np.inf)
        upper = np.where(possible, np.where(cells == self.high, np.inf, cells + half), np.inf)
        return Likelihood((lower, upper), (values,), self._log_likelihood)

    def _log_likelihood(self, lower: Floats, upper: Floats, original: Floats) -> Floats:
        left, right = (lower - original) / self.deviation, (upper - original) / self.deviation
        with np.errstate(divide="ignore", invalid="ignore"):
            # Both distributions are symmetric, and the lower tail is the one that keeps its digits.
            mirrored = left + right > 0
            left, right = np.where(mirrored, -right, left), np.where(mirrored, -left, right)
            top = self._log_cdf(right)
            mass = top + np.log(-np.expm1(self._log_cdf(left) - top))
        density = self._log_density(left) - np.log(self.deviation)
        result = np.where(left == right, density, mass)
        both = np.isnan(lower) & np.isnan(original)
        return np.where(np.isnan(left), np.where(both, 0.0, -np.inf), result)

    def _log_cdf(self, z: Floats) -> Floats:
        """Log of the distribution function of the noise at `z` standard deviations."""
        if self.distribution == "gaussian":
            return np.asarray(special.log_ndtr(z))
        tail = -np.sqrt(2) * np.abs(z) - np.log(2)
        return np.where(z <= 0, tail, np.log1p(-np.exp(tail)))

    def _log_density(self, z: Floats) -> Floats:
        """Log of the density of the noise of standard deviation 1."""
        if self.distribution == "gaussian":
            return -0.5 * z**2 - 0.5 * np.log(2 * np.pi)
        return -np.sqrt(2) * np.abs(z) - 0.5 * np.log(2)


@dataclass(frozen=True)
class GroupMean(ColumnPart):
    """A number is replaced by the mean of its group, taken as normal around the original number.

    The log-likelihood is that of a normal density with the published deviation. A missing value stays missing.

    Parameters
    ----------
    deviation : float
        Root mean square difference between numbers and the means of their groups, in the column's unit; 0 where
        every number is its group's mean.
    """

    kind: ClassVar[str] = "group_mean"
    deviation: float

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows: densities unless the deviation is 0."""
        return Noise(self.column, "gaussian", self.deviation, False, -np.inf, np.inf).bind(released, original)


@dataclass(frozen=True)
class GroupMode(ColumnPart):
    """A category is replaced by the most frequent one of its group, a missing value counting as a category.

    The log-likelihood is log(agreement) where both are the same; what is left is spread evenly over the others.

    Parameters
    ----------
    agreement : float
        Share of the records whose group's most frequent category is their own, in [0, 1].
    """

    kind: ClassVar[str] = "group_mode"
    agreement: float

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        same, other = _logs(self.agreement, (1 - self.agreement) / self.domain.size)
        cells = _released_codes(released[self.column], self.domain)
        return Likelihood(
            (cells,), (self.domain.codes(original[self.column]),), lambda a, b: np.where(a == b, same, other)
        )


@dataclass(frozen=True)
class Retention(ColumnPart):
    """A category or bin is kept with one probability and otherwise replaced by each of the others alike.

    Parameters
    ----------
    retention : float
        Probability of being kept, in [0, 1].
    categories : int
        How many there are: the domain's, and one more where a missing value counts as one.
    """

    kind: ClassVar[str] = "retention"
    retention: float
    categories: int

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        same, other = _logs(self.retention, (1 - self.retention) / max(1, self.categories - 1))
        cells = _released_codes(released[self.column], self.domain)

        def kernel(cell: NDArray[np.intp], value: NDArray[np.intp]) -> Floats:
            known = (cell < self.categories) & (value < self.categories)
            return np.where(known, np.where(cell == value, same, other), -np.inf)

        return Likelihood((cells,), (self.domain.codes(original[self.column]),), kernel)


@dataclass(frozen=True)
class RankWindow(ColumnPart):
    """Values are swapped in pairs inside blocks of `window` + 1 successive ranks, cut at a random offset.

    Write B = window + 1. Blocks start at the ranks that leave remainder o when divided by B, with o uniform on
    0..B-1; the first and the last block may be shorter. In a block of m ranks a random matching pairs two given
    ranks with probability q(m) = 1/(m - 1) for even m and 1/m for odd m, and leaves a rank alone with probability
    s(m) = 0 or 1/m. Two ranks i < j of n fall into one block for B - (j - i) of the offsets; where that is the
    first block, its m takes each value from j + 1 to B - 1 once instead of B, and so from the other end:

    - B P(i -> j) = q(B) max(B - |j - i|, 0) + C(max(i, j)) + C(n - 1 - min(i, j)), C(t) = sum_{t<m<B} q(m) - q(B);
    - B P(i -> i) = B s(B) + D(i) + D(n - 1 - i), D(t) = sum_{t<m<B} s(m) - s(B).

    A value holds successive ranks, among which ties are broken at random: the likelihood of y under x is the mean
    over the ranks of x of the sum over the ranks of y. The values' counts survive swapping and so are public; a
    value that does not occur has likelihood 0. A missing value stays missing.

    Parameters
    ----------
    values : tuple of float
        The distinct numbers, or positions of categories in the domain, ascending.
    counts : tuple of int
        How often each occurs.
    window : int
        Largest difference of rank between two values that are swapped.
    """

    kind: ClassVar[str] = "rank_window"
    values: tuple[float, ...]
    counts: tuple[int, ...]
    window: int

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        if isinstance(self.domain, CategoricalDomain):
            cells = _or_missing(_released_codes(released[self.column], self.domain), self.domain.size)
            values = _or_missing(self.domain.codes(original[self.column]), self.domain.size)
        else:
            cells, values = plain_numbers(released[self.column]), plain_numbers(original[self.column])
        return Likelihood((self._position(cells),), (self._position(values),), self._kernel())

    def _position(self, values: Floats) -> NDArray[np.intp]:
        """Place among the distinct values; their number for a missing value, -1 for one that does not occur."""
        known = np.asarray(self.values, dtype=float)
        place = np.searchsorted(known, values)
        found = np.append(known, np.nan)[place] == values
        return np.where(np.isnan(values), known.size, np.where(found, place, -1))

    def _kernel(self) -> Any:
        """Build the log-likelihood of one place among the distinct values under another."""
        block = self.window + 1
        count = np.array([*self.counts, 1], dtype=np.int64)
        first = np.cumsum(count) - count
        total = int(first[-1])
        sizes = np.arange(1, block + 1)
        pair = np.where(sizes % 2 == 0, 1 / np.maximum(sizes - 1, 1), 1 / sizes)
        stay = np.where(sizes % 2 == 0, 0.0, 1 / sizes)
        # Sums of max(B - |d|, 0) over d <= t, summed again over t: a rectangle of ranks is four look-ups away.
        tent = block - np.abs(np.arange(-block, block + 1))
        twice = np.cumsum(np.cumsum(tent))

        def summed(t: NDArray[np.int64]) -> NDArray[np.int64]:
            inside = np.where(t < -block, 0, twice[np.clip(t + block, 0, 2 * block)])
            return np.asarray(inside + block**2 * np.maximum(t - block, 0))

        def ends(excess: Floats) -> tuple[Floats, Floats]:
            """Sums over ranks below t of the correction at the low end, and of that times the rank."""
            correction = np.zeros(total)
            tail = np.cumsum((excess - excess[-1])[::-1])[::-1][1:]
            correction[: tail.size] = tail[:total]
            ranks = np.arange(total)
            return np.append(0.0, np.cumsum(correction)), np.append(0.0, np.cumsum(correction * ranks))

        swaps, weighted = ends(pair)
        leaves, _ = ends(stay)

        def across(sums: Floats, start: NDArray[np.int64], stop: NDArray[np.int64]) -> Floats:
            return np.asarray(sums[stop] - sums[start])

        def kernel(cell: NDArray[np.intp], value: NDArray[np.intp]) -> Floats:
            a, b, size = first[value], first[value] + count[value] - 1, count[value]
            c, d = first[cell], first[cell] + count[cell] - 1
            near = summed(d - a) - summed(d - b - 1) - summed(c - 1 - a) + summed(c - b - 2)
            low, high = np.minimum(a, c), np.maximum(b, d)
            a_stop, total_low = np.minimum(b, d) + 1, np.maximum(a, c)
            fewer = np.where(a < c, size, count[cell])
            more = np.where(a < c, count[cell], size)
            return low, high, a_stop, total_low, fewer, more, near  # replaced below

        return kernel


def plain_numbers(column: pd.Series[Any]) -> Floats:
    """Numbers of a column, original or released, shape (n,); NaN where missing.

    Raises
    ------
    ValueError
        If a cell is no plain number; names column, row (from 0) and cell.
    """
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=float, na_value=np.nan)
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    wrong = np.flatnonzero(np.isnan(numbers) & column.notna().to_numpy())
    if wrong.size:
        cell = str(column.iloc[wrong[0]])
        raise ValueError(f"column {column.name!r}, row {wrong[0]}: {cell!r} is no plain number")
    return numbers
