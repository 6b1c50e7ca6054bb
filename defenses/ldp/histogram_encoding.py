"""Histogram encoding: the one-hot vector of the value, with Laplace noise on every entry."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.ldp.bit_vectors import UnaryEncoding
from defenses.ldp.frequency_oracle import FrequencyOracle, Part, ReportBatch
from metrics.columns import Floats, Integers64, chunks

# Number of entries whose noise is drawn at a time.
_AT_ONCE = 1 << 21


class SummationHistogramEncoding(FrequencyOracle):
    """Summation with histogram encoding: a noisy number for each value, 1 for the own value and 0 for others.

    The server sums the reports. Two values differ by 1 in two numbers, an L1 distance of 2, so that Laplace noise of
    scale 2/epsilon on each number gives epsilon. The noise is discrete, on a grid of 1/units that contains 0 and 1. So
    there are no low digits of a double that could leak the value. With t = units 2/epsilon >= 1024 the variance
    2 e^(-1/t)/(1 - e^(-1/t))^2 / units^2 is 8/epsilon^2 up to 1/(12 t^2). The variance of an estimated count is n times
    that, whatever the counts.

    Parameters
    ----------
    epsilon : float
        Privacy of one report, in [1e-6, 100].
    d : int
        Number of values, at least 2.

    Notes
    -----
    The geometric variables are NumPy's, which invert a double. Their probabilities are not exact, and values far in the
    tail never occur. So epsilon holds up to a small delta, for which there is no proven bound. `defenses.dp` draws the
    same noise exactly, at ten times the cost.

    References
    ----------
    Wang et al. (2017), section 4.2; Mironov (2012) for the low digits; Canonne, Kamath and Steinke (2020), section 3.
    """

    called = ("SHE",)

    @property
    def units(self) -> int:
        """Number of grid steps between 0 and 1, a power of two that makes the noise's scale at least 1,024 steps."""
        return 1 << max(0, int(np.ceil(np.log2(512 * self.epsilon))))

    @property
    def scale(self) -> float:
        """Scale of the noise, in grid steps."""
        return 2 * self.units / self.epsilon

    @property
    def parts(self) -> dict[str, Part]:
        """The noisy numbers, in grid steps."""
        return {"number": Part(np.int32, columns=int(self.d), bits=32 * int(self.d))}

    def _randomized(self, values: Integers64, rng: Generator) -> dict[str, NDArray[Any]]:
        numbers = np.empty((values.size, self.d), dtype=np.int32)
        success = -np.expm1(-1 / self.scale)
        for rows in chunks(values.size, self.d, _AT_ONCE):
            own = values[rows]
            shape = (own.size, self.d)
            # The difference of two geometric variables has the discrete Laplace distribution.
            noisy = rng.geometric(success, shape) - rng.geometric(success, shape)
            noisy[np.arange(own.size), own] += self.units
            numbers[rows] = noisy
        return {"number": numbers}

    def _estimated(self, reports: ReportBatch) -> Floats:
        return np.asarray(reports.parts["number"].sum(axis=0, dtype=np.int64) / self.units)

    def _variance(self, n: int, shares: Floats) -> Floats:
        ratio = np.exp(-1 / self.scale)
        return np.full(self.d, n * 2 * ratio / (1 - ratio) ** 2 / self.units**2)

    def log_likelihood(self, reports: ReportBatch) -> Floats:
        """Log-likelihood of each value up to a constant for each report: (|x| - |x - 1|) epsilon/2 for its number x."""
        self.check_reports(reports)
        numbers = reports.parts["number"] / self.units
        return np.asarray((np.abs(numbers) - np.abs(numbers - 1)) * self.epsilon / 2)

    def indicators(self, reports: ReportBatch) -> Floats:
        """Return the noisy numbers, shape (n, d)."""
        self.check_reports(reports)
        return np.asarray(reports.parts["number"] / self.units)


class ThresholdedHistogramEncoding(UnaryEncoding):
    """Thresholding with histogram encoding: one bit for each noisy number, set if the number exceeds a threshold.

    With Laplace noise of scale 2/epsilon, a 1 exceeds theta in (1/2, 1) with p = 1 - e^(epsilon(theta - 1)/2)/2 and a
    0 with q = e^(-epsilon theta/2)/2. The numbers are independent, so that drawing bits with p and q is the same
    mechanism and needs no doubles. Thresholding is post-processing, so that epsilon holds. The exact privacy of the
    bits, the logarithm of p(1 - q)/((1 - p) q), is smaller.

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

    called = ("THE",)

    @cached_property
    def threshold(self) -> float:
        """Threshold theta in (1/2, 1) of least variance q(1 - q)/(p - q)^2 for rare values."""
        from scipy.optimize import minimize_scalar

        def log_variance(theta: float) -> float:
            unset, q = self._unset_and_q(theta)
            return float(np.log(q) + np.log1p(-q) - 2 * np.log(1 - unset - q))

        result = minimize_scalar(log_variance, bounds=(0.5, 1), method="bounded", options={"xatol": 1e-9})
        return float(result.x)

    def _unset_and_q(self, theta: float) -> tuple[float, float]:
        """Probabilities that a 1 stays below theta and that a 0 exceeds it."""
        return float(np.exp(self.epsilon * (theta - 1) / 2) / 2), float(np.exp(-self.epsilon * theta / 2) / 2)

    @property
    def unset(self) -> float:
        """Probability that a 1 stays below the threshold."""
        return self._unset_and_q(self.threshold)[0]

    @property
    def p(self) -> float:
        """Probability that a 1 exceeds the threshold."""
        return 1 - self.unset

    @property
    def q(self) -> float:
        """Probability that a 0 exceeds the threshold."""
        return self._unset_and_q(self.threshold)[1]
