"""Noise on numbers with an epsilon alone: Laplace mechanisms and the staircase mechanism."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.dp.exact import LogisticChance, categories, fraction, geometric, two_sided_geometric
from defenses.dp.mechanism import (
    IntegerNoise,
    PureLatticeNoise,
    PureMechanism,
    checked_number,
    checked_numbers,
    drawn_in_bulk,
    like,
    on_lattice,
    steps_between,
)
from metrics.columns import Floats, Integers64, check_integer, refuse
from metrics.estimate import check_confidence


class DiscreteLaplace(PureMechanism, IntegerNoise):
    """Geometric mechanism: integer noise z with probability proportional to e^(-epsilon |z| / sensitivity).

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

    Sampling is exact (`defenses.dp.exact`): without rounding, the noise has the stated law for the rational numbers
    that epsilon and sensitivity store. The variance and the error bound are floating-point numbers.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan (2009), Universally utility-maximizing privacy mechanisms.

    Examples
    --------
    >>> import numpy as np
    >>> from defenses.dp import DiscreteLaplace
    >>> mechanism = DiscreteLaplace(epsilon=0.1, sensitivity=1)
    >>> mechanism.error_bound(0.95)  # |noise| exceeds this with probability at most 5 %
    30.0
    >>> round(mechanism.variance, 2)
    199.83
    >>> mechanism.release([10, 20, 30], np.random.default_rng(0)).shape
    (3,)
    """

    called = ("Geometric mechanism", "Discrete Laplace mechanism")

    norm = "L1"

    def __init__(self, *, epsilon: float = 1.0, sensitivity: float = 1) -> None:
        super().__init__(epsilon=epsilon, sensitivity=sensitivity)
        refuse(sensitivity / epsilon > 2.0**44, f"sensitivity must be at most 2^44 epsilon, got {sensitivity!r}")

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
        """Return the smallest integer t with P(|z| > t) = 2 q^(t + 1) / (1 + q) <= 1 - confidence."""
        check_confidence(confidence)
        rate = float(self.rate)
        tail = (1 - confidence) * (1 + math.exp(-rate)) / 2
        return float(max(0, math.ceil(-math.log(tail) / rate - 1)))

    def probability(self, noise: ArrayLike) -> Floats:
        """Probability (1 - q) / (1 + q) q^|z| of each integer as noise, in the shape of `noise`."""
        rate = float(self.rate)
        return np.asarray(math.tanh(rate / 2) * np.exp(-rate * np.abs(np.asarray(noise, dtype=float))))

    def sample(self, size: int, rng: Generator) -> Integers64:
        """Draw noise, shape (size,)."""
        check_integer("size", size, low=0)
        return two_sided_geometric(self.rate, int(size), rng)


class Laplace(PureLatticeNoise):
    """Laplace mechanism: noise with density proportional to e^(-epsilon |x| / sensitivity), on a lattice.

    The lattice's step is at most 2^-20 of the sensitivity and of the noise's scale.

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
    Textbook noise on floating-point numbers leaks values by its lowest bits (Mironov 2012). Here the value is rounded
    to the lattice and receives noise of `DiscreteLaplace` in steps. Rounding moves two values apart by at most one more
    step in each of d coordinates. So the noise is scaled to a sensitivity of ceil(sensitivity / step) + d steps. The
    proof and the exact sampling are those of `DiscreteLaplace`.

    P(|noise| > (sensitivity / epsilon) ln(1 / beta)) = beta up to the lattice's 10^-6.

    The lattice ends at 2^40 times the smaller of sensitivity and scale, at least. A value beyond is clamped to its end,
    and the bound on the error does not hold for it.

    References
    ----------
    Dwork, McSherry, Nissim and Smith (2006), Calibrating noise to sensitivity, section 3; Mironov (2012), On
    significance of the least significant bits for differential privacy.

    Examples
    --------
    >>> from defenses.dp import Laplace
    >>> mechanism = Laplace(epsilon=0.5, sensitivity=1.0)
    >>> round(mechanism.error_bound(0.95), 3)  # ln(20) / 0.5
    5.991
    >>> mechanism.guarantee.epsilon
    0.5
    """

    called = ("Laplace mechanism",)

    norm = "L1"

    @property
    def variance(self) -> float:
        """Variance of the noise on one number, 2 (sensitivity / epsilon)^2 up to the lattice's 10^-6."""
        return self._steps(1).variance * self.resolution**2

    def error_bound(self, confidence: float) -> float:
        """Return the error bound for one number: that of the noise, and half a step for rounding."""
        return (self._steps(1).error_bound(confidence) + 0.5) * self.resolution

    def sample(self, size: int, rng: Generator) -> Floats:
        """Draw `size` independent noises of one number, shape (size,)."""
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
        """Return the mechanism on integer numbers of steps, for arrays of `dimensions` numbers."""
        return DiscreteLaplace(
            epsilon=self.epsilon, sensitivity=steps_between(self.sensitivity, self.resolution, dimensions)
        )


class Staircase(PureLatticeNoise):
    """Staircase mechanism: the noise of least expected absolute error for one number with an epsilon alone.

    Its density is a step function that falls by a factor of e^epsilon within each sensitivity.

    Parameters
    ----------
    epsilon : float
        In [2^-20, 2^20].
    sensitivity : float
        Largest distance between the values of neighbouring tables; positive.

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
    On the lattice, rounded values of neighbours are at most s = ceil(sensitivity / step) + 1 steps apart. A stair has s
    steps, of which m are its first part. The probability of noise z is proportional to e^(-epsilon L), where
    |z| = k s + o with o < s has the level L = k for o < m and L = k + 1 otherwise. Proof: L does not fall with |z| and
    rises by exactly 1 over s steps, so that levels of noises at most s apart differ by at most 1.
    m = round(s / (1 + e^(epsilon / 2))) minimizes the expected absolute error (Geng and Viswanath); any m is private.

    Sampling is exact (`defenses.dp.exact`): k is geometric, the first part has probability
    m / (m + (s - m) e^-epsilon), the position in a part is uniform, and the sign is a fair bit. A negative zero is
    drawn again.

    The lattice ends at 2^40 times the smaller of sensitivity and scale, at least. Values beyond are clamped to its end,
    and the bound on the error does not hold for them.

    References
    ----------
    Geng and Viswanath (2016), The optimal noise-adding mechanism in differential privacy, theorem 4, algorithm 1.
    """

    called = ("Staircase mechanism",)

    @property
    def steps(self) -> tuple[int, int]:
        """Number of steps s in a stair, and m in its first part."""
        s = steps_between(self.sensitivity, self.resolution)
        share = math.exp(-float(self.epsilon) / 2) / (1 + math.exp(-float(self.epsilon) / 2))
        return s, min(s, max(1, round(s * share)))

    @property
    def variance(self) -> float:
        """Variance of the noise, summed over the stairs."""
        s, m = self.steps
        q = self._decay
        # The sum of squares of k s + o over a part is quadratic in k, so it takes the first two moments of k.
        k1, k2 = q / (1 - q), q * (1 + q) / (1 - q) ** 2

        def part(low: int, high: int) -> float:
            count, first = high - low, _sum(high) - _sum(low)
            second = _squares(high) - _squares(low)
            return k2 * s**2 * count + 2 * k1 * s * first + second

        mass = (m + (s - m) * q) / (1 - q)
        total = (part(0, m) + q * part(m, s)) / (1 - q)
        # Zero is counted once, other magnitudes with two signs.
        return 2 * total / (2 * mass - 1) * self.resolution**2

    def error_bound(self, confidence: float) -> float:
        """Return the least number of steps that |noise| exceeds with probability at most 1 - confidence, plus a half.

        The half step is for the rounding of the value.
        """
        check_confidence(confidence)
        s, m = self.steps
        q = self._decay
        mass = (m + (s - m) * q) / (1 - q)
        # Largest weight allowed beyond the bound, on each side.
        allowed = (1 - confidence) * (2 * mass - 1) / 2
        k = 0
        if allowed < mass:
            k = max(0, math.floor(math.log(allowed / mass) / -float(self.epsilon)))
            # At least `allowed` lies at k s and beyond, so the bound lies within this stair.
        beyond = mass * q**k
        first = min(m, max(0, math.ceil((beyond - allowed) / q**k)))
        rest = max(0, math.ceil((beyond - first * q**k - allowed) / q ** (k + 1)))
        return (k * s + first + rest - 1 + 0.5) * self.resolution if k or first else 0.5 * self.resolution

    def sample(self, size: int, rng: Generator) -> Floats:
        """Draw noise, shape (size,)."""
        check_integer("size", size, low=0)
        return np.multiply(self._sample_steps(int(size), rng), self.resolution, dtype=np.float64)

    @drawn_in_bulk
    def release(self, value: float, rng: Generator) -> float:
        """Return one number with noise.

        Raises
        ------
        ValueError
            If the value is NaN, infinite, or more than one number.
        """
        number = checked_number(value, "; Laplace takes arrays")
        return float((on_lattice(number, self.resolution) + self._sample_steps(1, rng))[0] * self.resolution)

    def probability(self, steps: ArrayLike) -> Floats:
        """Probability of noise of each number of lattice steps, in the shape of `steps`."""
        s, m = self.steps
        q = self._decay
        magnitude = np.abs(np.asarray(steps, dtype=np.int64))
        level = magnitude // s + (magnitude % s >= m)
        return np.asarray(q**level / (2 * (m + (s - m) * q) / (1 - q) - 1))

    @property
    def _decay(self) -> float:
        """e^-epsilon, at least 1e-300 so that it does not underflow."""
        return max(math.exp(-float(self.epsilon)), 1e-300)

    def _sample_steps(self, size: int, rng: Generator) -> Integers64:
        s, m = self.steps
        rate = fraction(self.epsilon)
        accepted: list[Integers64] = []
        missing = size
        while missing > 0:
            stairs = geometric(rate, missing, rng)
            second = np.zeros(missing, dtype=np.int64)
            if m < s:
                second = categories(LogisticChance(rate, Fraction(m), Fraction(s - m)), missing, rng)
            position = rng.integers(np.where(second, m, 0), np.where(second, s, m))
            magnitude = stairs * s + position
            negative = rng.integers(0, 2, missing).astype(bool)
            drawn = np.where(negative, -magnitude, magnitude)[~(negative & (magnitude == 0))]
            accepted.append(drawn)
            missing -= drawn.size
        return np.concatenate(accepted) if accepted else np.zeros(0, dtype=np.int64)


def _sum(n: int) -> float:
    """0 + 1 + ... + (n - 1)."""
    return n * (n - 1) / 2


def _squares(n: int) -> float:
    """0 + 1 + ... + (n - 1)^2."""
    return (n - 1) * n * (2 * n - 1) / 6
