"""Histogram encoding: a 0 or 1 for each value, with Laplace noise on every number."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.ldp.frequency_oracle import FrequencyOracle, Part, ReportBatch
from defenses.ldp.unary_encoding import UnaryEncoding
from metrics.arrays import Floats, Integers64

# Numbers whose noise is drawn at a time.
_AT_ONCE = 1 << 21


class SummationHistogramEncoding(FrequencyOracle):
    """Sends a number for each value: 1 for the own one and 0 for others, each plus Laplace noise; the server adds up.

    Two values differ by 1 in two numbers, an L1 distance of 2, so that noise of scale 2/epsilon on each gives epsilon.
    The noise is discrete, on a grid of 1/units on which 0 and 1 lie: the low digits of a double, which would tell the
    value, do not exist. With t = units 2/epsilon >= 1024 the variance 2 e^(-1/t)/(1 - e^(-1/t))^2 / units^2 is
    8/epsilon^2 up to 1/(12 t^2); that of an estimated count is n times it, whatever the counts.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.

    References
    ----------
    Wang et al. (2017), section 4.2; Mironov (2012) for the low digits; Canonne, Kamath and Steinke (2020), section 3.
    """

    @property
    def units(self) -> int:
        """Grid points in 1: a power of two, so that the noise's scale is at least 1,024 grid points."""
        return 1 << max(0, int(np.ceil(np.log2(512 * self.epsilon))))

    @property
    def scale(self) -> float:
        """Scale of the noise, in grid points."""
        return 2 * self.units / self.epsilon

    @property
    def report_bits(self) -> int:
        """A 32-bit number a value."""
        return 32 * int(self.d)

    @property
    def parts(self) -> dict[str, Part]:
        """The noisy numbers, in grid points."""
        return {"number": Part(np.int32, columns=int(self.d))}

    def _randomized(self, values: Integers64, rng: Generator) -> dict[str, NDArray[Any]]:
        numbers = np.empty((values.size, self.d), dtype=np.int32)
        success, step = -np.expm1(-1 / self.scale), max(1, _AT_ONCE // self.d)
        for start in range(0, values.size, step):
            own = values[start : start + step]
            shape = (own.size, self.d)
            # The difference of two geometric numbers has the discrete Laplace distribution.
            noisy = rng.geometric(success, shape) - rng.geometric(success, shape)
            noisy[np.arange(own.size), own] += self.units
            numbers[start : start + step] = noisy
        return {"number": numbers}

    def _estimated(self, reports: ReportBatch) -> Floats:
        return np.asarray(reports.parts["number"].sum(axis=0, dtype=np.int64) / self.units)

    def _variance(self, n: int, shares: Floats) -> Floats:
        ratio = np.exp(-1 / self.scale)
        return np.full(self.d, n * 2 * ratio / (1 - ratio) ** 2 / self.units**2)

    def log_likelihood(self, reports: ReportBatch) -> Floats:
        """Log-likelihood of each value up to a constant of each report: (|x| - |x - 1|) epsilon/2 for its number x."""
        self.check_reports(reports)
        numbers = reports.parts["number"] / self.units
        return np.asarray((np.abs(numbers) - np.abs(numbers - 1)) * self.epsilon / 2)


class ThresholdedHistogramEncoding(UnaryEncoding):
    """Histogram encoding that sends of each noisy number only whether it exceeds a threshold.

    With Laplace noise of scale 2/epsilon, a 1 exceeds theta in (1/2, 1) with p = 1 - e^(epsilon(theta - 1)/2)/2 and a
    0 with q = e^(-epsilon theta/2)/2. The numbers are independent, so that drawing bits with p and q is the same
    mechanism, without a double in it; thresholding is post-processing, so that epsilon holds (what is left, the
    logarithm of p(1 - q)/((1 - p) q), is smaller).

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.

    References
    ----------
    Wang et al. (2017), section 4.2.
    """

    @cached_property
    def threshold(self) -> float:
        """The theta in (1/2, 1) of least variance q(1 - q)/(p - q)^2 for rare values."""
        from scipy.optimize import minimize_scalar

        def spread(theta: float) -> float:
            unset, q = self._chances(theta)
            return float(np.log(q) + np.log1p(-q) - 2 * np.log(1 - unset - q))

        found = minimize_scalar(spread, bounds=(0.5, 1), method="bounded", options={"xatol": 1e-9})
        return float(found.x)

    def _chances(self, theta: float) -> tuple[float, float]:
        return float(np.exp(self.epsilon * (theta - 1) / 2) / 2), float(np.exp(-self.epsilon * theta / 2) / 2)

    @property
    def unset(self) -> float:
        """Probability that a 1 stays below the threshold."""
        return self._chances(self.threshold)[0]

    @property
    def p(self) -> float:
        """Probability that a 1 exceeds the threshold."""
        return 1 - self.unset

    @property
    def q(self) -> float:
        """Probability that a 0 exceeds the threshold."""
        return self._chances(self.threshold)[1]
