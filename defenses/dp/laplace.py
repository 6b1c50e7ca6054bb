"""Noise e^(-epsilon |z| / sensitivity), on integers and on a fine lattice."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base.parameters import check_integer
from defenses.dp.bulk import drawn_in_bulk
from defenses.dp.exact import fraction, two_sided_geometric
from defenses.dp.mechanism import check_confidence, check_privacy, checked_numbers, like, on_lattice, steps_between
from defenses.dp.noise import IntegerNoise, PureLatticeNoise
from metrics.arrays import Floats, Integers64


class DiscreteLaplace(IntegerNoise):
    """Whole-number noise z with probability proportional to e^(-epsilon |z| / sensitivity): the geometric mechanism.

    Parameters
    ----------
    epsilon : float
        In [2^-20, 2^20].
    sensitivity : float
        Largest L1 distance between the values of neighbouring tables; positive.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    Proof. For values v, w at most s apart in L1, the probabilities of one answer y have the ratio
    e^(epsilon (|y - w| - |y - v|) / s) <= e^epsilon by the triangle inequality.

    Exact: the law of the noise is the stated one for the rational numbers that epsilon and sensitivity store, with no
    rounding anywhere (`defenses.dp.exact`); the variance and the bound are floating-point numbers.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan (2009), Universally utility-maximizing privacy mechanisms.
    """

    norm = "L1"

    def __init__(self, *, epsilon: float = 1.0, sensitivity: float = 1) -> None:
        check_privacy(epsilon, sensitivity)
        if sensitivity / epsilon > 2.0**44:
            raise ValueError(f"sensitivity must be at most 2^44 epsilon, got {sensitivity!r}")
        self.epsilon = epsilon
        self.sensitivity = sensitivity

    @property
    def rate(self) -> Fraction:
        """Epsilon over sensitivity."""
        return fraction(self.epsilon) / fraction(self.sensitivity)

    @property
    def variance(self) -> float:
        """2 q / (1 - q)^2 with q = e^(-epsilon / sensitivity)."""
        rate = float(self.rate)
        return 2 * math.exp(-rate) / math.expm1(-rate) ** 2

    def error_bound(self, confidence: float) -> float:
        """Smallest whole t with P(|z| > t) = 2 q^(t + 1) / (1 + q) <= 1 - confidence."""
        check_confidence(confidence)
        rate = float(self.rate)
        tail = (1 - confidence) * (1 + math.exp(-rate)) / 2
        return float(max(0, math.ceil(-math.log(tail) / rate - 1)))

    def probability(self, noise: ArrayLike) -> Floats:
        """Probability of each integer as noise, any shape: (1 - q) / (1 + q) q^|z|."""
        rate = float(self.rate)
        return np.asarray(math.tanh(rate / 2) * np.exp(-rate * np.abs(np.asarray(noise, dtype=float))))

    def sample(self, size: int, rng: Generator) -> Integers64:
        """Draw noise, shape (size,)."""
        check_integer("size", size, low=0)
        return two_sided_geometric(self.rate, int(size), rng)


class Laplace(PureLatticeNoise):
    """Noise with density proportional to e^(-epsilon |x| / sensitivity), on a lattice of at most 2^-20 of its scale.

    Parameters
    ----------
    epsilon : float
        In [2^-20, 2^20].
    sensitivity : float
        Largest L1 distance between the values of neighbouring tables; positive.

    Attributes
    ----------
    resolution : float
        Step of the lattice, a power of two: every released number is a multiple of it.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    Textbook noise on floating-point numbers gives values away by its lowest bits (Mironov 2012). Here the value is
    rounded to the lattice and integer noise of `DiscreteLaplace` is added, in steps. Rounding moves two values
    apart by one more step at most, in each of d coordinates, so the noise is scaled to a sensitivity of
    ceil(sensitivity / step) + d steps, and the proof is that of `DiscreteLaplace`. Exact like it.

    P(|noise| > (sensitivity / epsilon) ln(1 / beta)) = beta up to the lattice's 10^-6.

    A value beyond 2^40 times the smaller of sensitivity and scale, at least, is clamped to the lattice's end, and the
    bound on the error does not hold for it.

    References
    ----------
    Dwork, McSherry, Nissim and Smith (2006), Calibrating noise to sensitivity, section 3; Mironov (2012), On
    significance of the least significant bits for differential privacy.
    """

    norm = "L1"

    @property
    def variance(self) -> float:
        """Variance of the noise on one number, 2 (sensitivity / epsilon)^2 up to the lattice's 10^-6."""
        return self._steps(1).variance * self.resolution**2

    def error_bound(self, confidence: float) -> float:
        """Bound of the noise and of rounding by half a step, for one number."""
        return (self._steps(1).error_bound(confidence) + 0.5) * self.resolution

    def sample(self, size: int, rng: Generator) -> Floats:
        """Draw noise for one number, `size` times, shape (size,)."""
        return np.multiply(self._steps(1).sample(size, rng), self.resolution, dtype=np.float64)

    @drawn_in_bulk
    def release(self, value: ArrayLike, rng: Generator) -> float | Floats:
        """Return numbers with noise; the sensitivity is that of the array as a whole.

        Raises
        ------
        ValueError
            If a value is NaN or infinite.
        """
        numbers = checked_numbers(value)
        steps = on_lattice(numbers.ravel(), self.resolution)
        noisy = steps + self._steps(max(1, numbers.size)).sample(numbers.size, rng)
        return like(value, noisy * self.resolution)  # type: ignore[no-any-return]

    def _steps(self, dimensions: int) -> DiscreteLaplace:
        """The mechanism on integers of steps, for so many numbers at once."""
        return DiscreteLaplace(
            epsilon=self.epsilon, sensitivity=steps_between(self.sensitivity, self.resolution, dimensions)
        )
