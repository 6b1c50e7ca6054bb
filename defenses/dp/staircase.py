"""The staircase mechanism."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.dp.exact import LogisticChance, categories, fraction, geometric
from defenses.dp.mechanism import PureLatticeNoise, checked_number, drawn_in_bulk, on_lattice, steps_between
from metrics.columns import Floats, Integers64, check_integer
from metrics.estimate import check_confidence


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
