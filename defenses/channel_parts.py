"""The kinds of channel part beyond containment."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from defenses.channel import ChannelPart, ColumnPart, Floats, Likelihood
from defenses.columns import is_number_column, plain_codes, plain_numbers
from defenses.rank_window import RankWindow as RankWindow
from defenses.retention_vector import RetentionVector as RetentionVector
from metrics.cells import escape_column


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
class Rounded(ValuePart):
    """Numbers are rounded to the nearest multiple of a base, half-way ones to the even multiple.

    The log-likelihood is 0 where the rounded original is the released number and -inf elsewhere. A missing value
    stays missing.

    Parameters
    ----------
    base : float
        What numbers become multiples of, in the column's unit.
    """

    kind: ClassVar[str] = "rounded"
    base: float

    def publish(self, numbers: Floats) -> Floats:
        """Round numbers, shape (n,), to multiples that are written with the base's decimals; missing ones stay."""
        exponent = Decimal(repr(float(self.base))).as_tuple().exponent
        decimals = max(0, -exponent) if isinstance(exponent, int) else 0
        return np.asarray(np.round(np.rint(numbers / self.base) * self.base, decimals))

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        rounded = self.publish(plain_numbers(original[self.column]))
        return Likelihood((plain_numbers(released[self.column]),), (rounded,), _equal)


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
        return np.asarray(np.clip(np.rint(sums) if self.whole else sums, self.low, self.high))

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
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            left, right = (lower - original) / self.deviation, (upper - original) / self.deviation
            # Both distributions are symmetric, and the lower tail is the one that keeps its digits.
            mirrored = left + right > 0
            left, right = np.where(mirrored, -right, left), np.where(mirrored, -left, right)
            top = self._log_cdf(right)
            inside = np.log(-np.expm1(self._log_cdf(left) - top))
            mass = np.where(np.isneginf(top), top, top + inside)
            density = self._log_density(left) - np.log(self.deviation)
        result = np.where(left == right, density, mass)
        both = np.isnan(lower) & np.isnan(original)
        return np.where(np.isnan(left), np.where(both, 0.0, -np.inf), result)

    def _log_cdf(self, z: Floats) -> Floats:
        """Log of the distribution function of the noise at `z` standard deviations."""
        if self.distribution == "gaussian":
            return np.asarray(special.log_ndtr(z))
        tail = -np.sqrt(2) * np.abs(z) - np.log(2)
        return np.asarray(np.where(z <= 0, tail, np.log1p(-np.exp(tail))))

    def _log_density(self, z: Floats) -> Floats:
        """Log of the density of the noise of standard deviation 1."""
        if self.distribution == "gaussian":
            return np.asarray(-0.5 * z**2 - 0.5 * np.log(2 * np.pi))
        return np.asarray(-np.sqrt(2) * np.abs(z) - 0.5 * np.log(2))


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

    Raises
    ------
    ValueError
        If the probability lies outside [0, 1].
    """

    kind: ClassVar[str] = "group_mode"
    agreement: float

    def __post_init__(self) -> None:
        _check_probability("agreement", self.agreement)

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        same, other = _logs(self.agreement, (1 - self.agreement) / self.domain.size)
        cells = plain_codes(released[self.column], self.domain)
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

    Raises
    ------
    ValueError
        If the probability lies outside [0, 1].
    """

    kind: ClassVar[str] = "retention"
    retention: float
    categories: int

    def __post_init__(self) -> None:
        _check_probability("retention", self.retention)

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        same, other = _logs(self.retention, (1 - self.retention) / max(1, self.categories - 1))
        cells = plain_codes(released[self.column], self.domain)

        def kernel(cell: NDArray[np.intp], value: NDArray[np.intp]) -> Floats:
            known = (cell < self.categories) & (value < self.categories)
            return np.where(known, np.where(cell == value, same, other), -np.inf)

        return Likelihood((cells,), (self.domain.codes(original[self.column]),), kernel)


@dataclass(frozen=True)
class Independent(ValuePart):
    """The released cell says nothing of the record it stems from; the log-likelihood is 0 for every pair."""

    kind: ClassVar[str] = "independent"

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        return Likelihood((np.zeros(len(released)),), (np.zeros(len(original)),), np.add)


@dataclass(frozen=True)
class Presence(ValuePart):
    """The column's cells are released in random order: a record's cell is any of them alike.

    The log-likelihood of every released row under an original value is that of drawing the value from the released
    column, log(count / rows), which is -inf for a value that does not occur there.
    """

    kind: ClassVar[str] = "presence"

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        if is_number_column(original[self.column]):
            cells, values = plain_numbers(released[self.column]), plain_numbers(original[self.column])
        else:
            cells = released[self.column].to_numpy(dtype=object)
            values = escape_column(original[self.column]).to_numpy(dtype=object)
        codes, distinct = pd.factorize(np.concatenate([cells, values]), use_na_sentinel=False)
        count = np.bincount(codes[: cells.size], minlength=len(distinct))
        with np.errstate(divide="ignore"):
            table = np.log(count / max(1, cells.size))
        return Likelihood((np.zeros(len(released)),), (table[codes[cells.size :]],), np.add)


def _check_probability(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {value}")


def _equal(cell: Floats, value: Floats) -> Floats:
    same = (cell == value) | (np.isnan(cell) & np.isnan(value))
    return np.where(same, 0.0, -np.inf)


def _logs(*probabilities: float) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.array(probabilities)))
