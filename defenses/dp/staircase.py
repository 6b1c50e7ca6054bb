"""Noise shaped like a staircase."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base.parameters import check_integer
from defenses.dp.bulk import drawn_in_bulk
from defenses.dp.exact import LogisticChance, categories, fraction, geometric
from defenses.dp.mechanism import check_confidence, checked_number, on_lattice, steps_between
from defenses.dp.noise import PureLatticeNoise
from metrics.arrays import Floats, Integers64


class Staircase(PureLatticeNoise):
    """Noise for one number whose density falls by e^epsilon in steps of one sensitivity: the least expected error.

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
    On the lattice, with s = ceil(sensitivity / step) + 1 steps between neighbours' rounded values and m of them a
    stair's first part, the probability of noise z is proportional to e^(-epsilon L), where |z| = k s + o with o < s
    has the level L = k for o < m and k + 1 otherwise. Proof: L does not fall with |z| and rises by exactly 1 over s
    steps, so levels of noises at most s apart differ by 1 at most. m = round(s / (1 + e^(epsilon / 2))) makes the
    expected absolute error least (Geng and Viswanath); any m would be private.

    Exact: k is geometric, the part is chosen with probability m / (m + (s - m) e^-epsilon), the place in it evenly,
    the sign by a fair bit, and a negative zero is drawn again; all with integers (`defenses.dp.exact`). Values beyond
    2^40 times the smaller of sensitivity and scale, at least, are clamped to the lattice's end, where the bound on the
    error does not hold.

    References
    ----------
    Geng and Viswanath (2016), The optimal noise-adding mechanism in differential privacy, theorem 4, algorithm 1.
    """

    @property
    def steps(self) -> tuple[int, int]:
        """Steps between neighbours, s, and in the first part of a stair, m."""
        s = steps_between(self.sensitivity, self.resolution)
        share = math.exp(-float(self.epsilon) / 2) / (1 + math.exp(-float(self.epsilon) / 2))
        return s, min(s, max(1, round(s * share)))

    @property
    def variance(self) -> float:
        """Mean square of the noise, summed over the stairs."""
        s, m = self.steps
        q = self._fall
        # Sums of the squares of k s + o over a part are quadratic in k; moments of the geometric k.
        k1, k2 = q / (1 - q), q * (1 + q) / (1 - q) ** 2

        def part(low: int, high: int) -> float:
            count, first = high - low, _sum(high) - _sum(low)
            second = _squares(high) - _squares(low)
            return k2 * s**2 * count + 2 * k1 * s * first + second

        mass = (m + (s - m) * q) / (1 - q)
        total = (part(0, m) + q * part(m, s)) / (1 - q)
        # Zero has one sign only.
        return 2 * total / (2 * mass - 1) * self.resolution**2

    def error_bound(self, confidence: float) -> float:
        """Smallest integer of steps that |noise| exceeds with probability 1 - confidence at most, and half one."""
        check_confidence(confidence)
        s, m = self.steps
        q = self._fall
        mass = (m + (s - m) * q) / (1 - q)
        # Weight of magnitudes above t, each with two signs.
        allowed = (1 - confidence) * (2 * mass - 1) / 2
        k = 0
        if allowed < mass:
            k = max(0, math.floor(math.log(allowed / mass) / -float(self.epsilon)))
            # At least `allowed` lies at k s and beyond: look inside this stair.
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
        steps = on_lattice(number, self.resolution) + self._sample_steps(1, rng)
        return float(steps[0] * self.resolution)

    def probability(self, steps: ArrayLike) -> Floats:
        """Probability of noise of so many lattice steps, any shape."""
        s, m = self.steps
        q = self._fall
        magnitude = np.abs(np.asarray(steps, dtype=np.int64))
        level = magnitude // s + (magnitude % s >= m)
        return np.asarray(q**level / (2 * (m + (s - m) * q) / (1 - q) - 1))

    @property
    def _fall(self) -> float:
        """e^-epsilon, where it is not below what floating point holds."""
        return max(math.exp(-float(self.epsilon)), 1e-300)

    def _sample_steps(self, size: int, rng: Generator) -> Integers64:
        s, m = self.steps
        rate = fraction(self.epsilon)
        kept: list[Integers64] = []
        missing = size
        while missing > 0:
            stairs = geometric(rate, missing, rng)
            second = np.zeros(missing, dtype=np.int64)
            if m < s:
                second = categories(LogisticChance(rate, Fraction(m), Fraction(s - m)), missing, rng)
            place = rng.integers(np.where(second, m, 0), np.where(second, s, m))
            magnitude = stairs * s + place
            negative = rng.integers(0, 2, missing).astype(bool)
            drawn = np.where(negative, -magnitude, magnitude)[~(negative & (magnitude == 0))]
            kept.append(drawn)
            missing -= drawn.size
        return np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)


def _sum(n: int) -> float:
    """0 + 1 + ... + (n - 1)."""
    return n * (n - 1) / 2


def _squares(n: int) -> float:
    """0 + 1 + ... + (n - 1)^2."""
    return (n - 1) * n * (2 * n - 1) / 6
