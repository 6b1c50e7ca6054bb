"""Channel parts for additive noise, and for group means, which are modelled as noise."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

import numpy as np
import pandas as pd

from defenses.base.channel_parts.part import ColumnPart, Likelihood, ValuePart, equal
from defenses.base.columns import plain_numbers
from metrics.columns import Floats, check_choice, require

# Channel parts for numbers that are clipped or rounded.


@dataclass(frozen=True)
class Clipping(ValuePart):
    """Numbers outside two thresholds are replaced by the nearer threshold.

    The log-likelihood is 0 where the released number is the clipped original, and -inf elsewhere. A missing value stays
    missing.

    - low, high: The thresholds, in the column's unit; infinite where that end is not clipped.
    """

    kind: ClassVar[str] = "clipping"
    low: float
    high: float

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        clipped = np.clip(plain_numbers(original[self.column]), self.low, self.high)
        return Likelihood((plain_numbers(released[self.column]),), (clipped,), equal)


@dataclass(frozen=True)
class Rounded(ValuePart):
    """Numbers are rounded to the nearest multiple of a base; ties go to the even multiple.

    The log-likelihood is 0 where the released number is the rounded original, and -inf elsewhere. A missing value stays
    missing.

    - base: The base, in the column's unit.
    """

    kind: ClassVar[str] = "rounded"
    base: float

    def publish(self, numbers: Floats) -> Floats:
        """Round numbers, shape (n,), to multiples with the base's number of decimals; missing values stay missing."""
        exponent = Decimal(repr(float(self.base))).as_tuple().exponent
        decimals = max(0, -exponent) if isinstance(exponent, int) else 0
        return np.asarray(np.round(np.rint(numbers / self.base) * self.base, decimals))

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        rounded = self.publish(plain_numbers(original[self.column]))
        return Likelihood((plain_numbers(released[self.column]),), (rounded,), equal)


@dataclass(frozen=True)
class AddedNoise(ValuePart):
    """Noise of mean zero is added; the sum is rounded (integers only) and clamped to the bounds.

    With the noise's distribution function F, original x and released y, the likelihood is

    - F(y + 1/2 - x) - F(y - 1/2 - x) where sums are rounded, and the density F'(y - x) where they are not;
    - at a bound, the whole tail beyond it: F(low + 1/2 - x) or F(low - x) at the lower one, and likewise at the upper
      one.

    For one released value, the likelihoods of all originals are of the same kind (masses or densities) and can be
    compared. A missing value stays missing.

    - distribution, {"gaussian", "laplace"}: Distribution of the noise.
    - deviation: Standard deviation of the noise, in the column's unit; 0 adds none.
    - whole: Whether sums are rounded to integers.
    - low, high: The bounds, in the column's unit; infinite where there is none.

    Raises ValueError if the distribution is unknown, or the deviation is negative or not finite.
    """

    kind: ClassVar[str] = "noise"
    distribution: str
    deviation: float
    whole: bool
    low: float
    high: float

    def __post_init__(self) -> None:
        check_choice("distribution", self.distribution, ("gaussian", "laplace"))
        require(0 <= self.deviation < np.inf, f"deviation must be finite and at least 0, got {self.deviation}")

    def publish(self, sums: Floats) -> Floats:
        """Round and clamp noisy numbers, shape (n,); missing values stay missing."""
        return np.asarray(np.clip(np.rint(sums) if self.whole else sums, self.low, self.high))

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows; densities where sums are not rounded."""
        cells, values = plain_numbers(released[self.column]), plain_numbers(original[self.column])
        if self.deviation == 0:
            return Likelihood((cells,), (self.publish(values),), equal)
        # The sum behind a released y lies between two ends. Equal ends mark a density; ends at +inf have no mass.
        half = 0.5 if self.whole else 0.0
        possible = np.isnan(cells) | (self.publish(cells) == cells)
        lower = np.where(possible, np.where(cells == self.low, -np.inf, cells - half), np.inf)
        upper = np.where(possible, np.where(cells == self.high, np.inf, cells + half), np.inf)
        return Likelihood((lower, upper), (values,), self._log_likelihood)

    @np.errstate(divide="ignore", invalid="ignore", over="ignore")
    def _log_likelihood(self, lower: Floats, upper: Floats, original: Floats) -> Floats:
        left, right = (lower - original) / self.deviation, (upper - original) / self.deviation
        # Both distributions are symmetric; the lower tail is numerically accurate.
        mirrored = left + right > 0
        left, right = np.where(mirrored, -right, left), np.where(mirrored, -left, right)
        top = self._log_cdf(right)
        inside = np.log(-np.expm1(self._log_cdf(left) - top))
        mass = np.where(np.isneginf(top), top, top + inside)
        density = self._log_density(left) - np.log(self.deviation)
        result = np.where(left == right, density, mass)
        both_missing = np.isnan(lower) & np.isnan(original)
        return np.where(np.isnan(left), np.where(both_missing, 0.0, -np.inf), result)

    def _log_cdf(self, z: Floats) -> Floats:
        """Logarithm of the noise's distribution function at `z` standard deviations."""
        if self.distribution == "gaussian":
            from scipy import special

            return np.asarray(special.log_ndtr(z))
        tail = -np.sqrt(2) * np.abs(z) - np.log(2)
        return np.asarray(np.where(z <= 0, tail, np.log1p(-np.exp(tail))))

    def _log_density(self, z: Floats) -> Floats:
        """Logarithm of the density of the noise with standard deviation 1."""
        if self.distribution == "gaussian":
            return np.asarray(-0.5 * z**2 - 0.5 * np.log(2 * np.pi))
        return np.asarray(-np.sqrt(2) * np.abs(z) - 0.5 * np.log(2))


@dataclass(frozen=True)
class GroupMean(ColumnPart):
    """Each number is replaced by the mean of its group, modelled as Gaussian around the original number.

    The log-likelihood is that of a Gaussian density with the published deviation. A missing value stays missing.

    - deviation: Root mean square difference between numbers and the means of their groups, in the column's unit; 0
      where every number is its group's mean.
    """

    kind: ClassVar[str] = "group_mean"
    deviation: float

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows: densities unless the deviation is 0."""
        return AddedNoise(self.column, "gaussian", self.deviation, False, -np.inf, np.inf).bind(released, original)
