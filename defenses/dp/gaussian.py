"""Gaussian mechanisms: discrete Gaussian noise on integers, and Gaussian noise on a fine lattice."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.dp.composition import SMALLEST_DELTA, unit_sigma, zcdp_rho
from defenses.dp.exact import discrete_gaussian
from defenses.dp.mechanism import (
    IntegerNoise,
    NoiseMechanism,
    check_delta,
    checked_number,
    drawn_in_bulk,
    lattice_step,
    on_lattice,
    steps_between,
)
from metrics.columns import Floats, Integers64, bisect, check_integer, refuse
from metrics.estimate import check_confidence

# Calibration of discrete Gaussian noise to (epsilon, delta).

ROUNDING = 3.0
"""Variance of the rounding to integers that turns Gaussian noise into discrete Gaussian noise."""
ENUMERATED = ((1,), (2,), (1, 1), (1, 1, 1), (1, 1, 1, 1))
"""All integer vectors of squared length at most 4, up to order, signs and zeros."""
FINE = 20.0
"""Sigma from which the rounding argument costs less than half a percent, so that no vectors are enumerated."""
SLACK = 1e-9
"""Share of delta reserved for errors of floating-point arithmetic, which are far smaller."""


@lru_cache(maxsize=1024)
def discrete_gaussian_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """Return a small sigma for which discrete Gaussian noise is (epsilon, delta)-private, for numbers and arrays.

    It is the least of three values, each of which is sufficient:

    1. s / sqrt(2 rho) with the largest rho whose zero-concentrated privacy gives (epsilon, delta) (`zcdp_rho`).
    2. sqrt(c^2 + 3) with c the standard deviation at which Gaussian noise has (epsilon, delta). Proof: round
       x + N(0, c^2) to integers y with probabilities proportional to e^(-(y - .)^2 / (2 t^2)), t^2 = 3. This is
       post-processing. By Poisson's summation formula the weights sum to t sqrt(2 pi) up to a factor of about
       1 +- 2 e^(-2 pi^2 t^2), within 1 +- 10^-25. So y - x has the law of discrete Gaussian noise of parameter
       sqrt(c^2 + t^2) up to such factors. For up to 2^40 numbers they are together below e^(10^-12), for which c leaves
       room.
    3. Where s^2 < 5 and sigma is small: the least sigma whose exact delta is small enough for every integer vector v
       by which neighbours may then differ. The loss of an answer is linear in W = v . noise, so that
       delta is the sum over w of P(W = w) (1 - e^(epsilon - (|v|^2 + 2 w) / (2 sigma^2)))+. The law of W is the same
       for all vectors that agree up to order, signs and zeros.

    - epsilon: At least 2^-20.
    - delta: In (0, 1).
    - sensitivity: Largest L2 distance s between integers of neighbouring tables, positive.

    References
    ----------
    Canonne, Kamath and Steinke (2020), The discrete Gaussian for differential privacy, theorems 4 and 7; Peikert
    (2010), An efficient and parallel Gaussian sampler for lattices, theorem 3.1, for the rounding.
    """
    sufficient = sensitivity / math.sqrt(2 * zcdp_rho(epsilon, delta)) * (1 + 1e-9)
    if delta >= SMALLEST_DELTA:
        continuous = sensitivity * unit_sigma(epsilon - 2e-12, delta * (1 - SLACK))
        sufficient = min(sufficient, math.sqrt(continuous**2 + ROUNDING) * (1 + 1e-9))
        # Different integers are at least 1 apart.
        if sensitivity**2 < 5 and sufficient < FINE:
            longest = max(1, math.floor(sensitivity**2 + 1e-9))
            sufficient = _least(epsilon, delta * (1 - SLACK), longest, sufficient)
    return sufficient


def _least(epsilon: float, delta: float, longest: int, sufficient: float) -> float:
    """Bisect for a sigma below `sufficient`; the result is either checked or `sufficient` itself."""
    differences = [v for v in ENUMERATED if sum(part * part for part in v) <= longest]

    def exceeded(sigma: float) -> bool:
        return not all(discrete_gaussian_delta(sigma, epsilon, v) <= delta for v in differences)

    return bisect(exceeded, sufficient / 100, sufficient, 50, geometric=True)[1]


def discrete_gaussian_delta(sigma: float, epsilon: float, difference: tuple[int, ...] = (1,)) -> float:
    """Return the least delta of discrete Gaussian noise between tables whose integers differ by `difference`.

    Noise beyond 40 sigma is ignored; its probability is below 10^-340.
    """
    reach = math.ceil(40 * sigma) + 2
    law: Floats = np.ones(1)
    for part in difference:
        weights = np.exp(-((np.arange(-reach, reach + 1) / sigma) ** 2) / 2)
        spread = np.zeros(2 * reach * part + 1)
        spread[::part] = weights / weights.sum()
        law = np.convolve(law, spread)
    w = np.arange(law.size) - law.size // 2
    loss = (sum(part * part for part in difference) + 2 * w) / (2 * sigma**2)
    return float(law @ -np.expm1(np.minimum(epsilon - loss, 0.0)))


ON_LATTICE = 1 - 2.0**-10
"""Share of delta to which the continuous noise is calibrated; the rest covers the lattice."""


class DiscreteGaussian(IntegerNoise):
    """Discrete Gaussian mechanism: integer noise z with probability proportional to e^(-z^2 / (2 sigma^2)).

    Parameters
    ----------
    epsilon : float
        In [2^-20, 2^20].
    delta : float
        In (0, 1).
    sensitivity : float
        Largest L2 distance between the values of neighbouring tables; positive.

    Attributes
    ----------
    sigma : float
        Parameter of the noise; its standard deviation is at most sigma.
    rho : float
        Zero-concentrated differential privacy, sensitivity^2 / (2 sigma^2).

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    For values at distance s the Rényi divergence of order a is at most a s^2 / (2 sigma^2), for arrays as for numbers:
    the sum over z of e^(-(z - t)^2 / (2 sigma^2)) is largest at integer t. So the mechanism is rho-zero-concentrated.
    That argument alone requires more noise than (epsilon, delta) does. `discrete_gaussian_sigma` finds and proves a
    sigma near that of the analytic Gaussian mechanism.

    Sampling is exact: the noise has the stated law for the rational number that sigma stores. Sigma itself is a
    floating-point number, rounded up by 10^-9.

    References
    ----------
    Canonne, Kamath and Steinke (2020), The discrete Gaussian for differential privacy, theorem 4, propositions 5, 12.

    Examples
    --------
    >>> import numpy as np
    >>> from defenses.dp import DiscreteGaussian
    >>> mechanism = DiscreteGaussian(epsilon=1.0, delta=1e-6)
    >>> mechanism.release([10, 20, 30], np.random.default_rng(0)).shape
    (3,)
    """

    called = ("Discrete Gaussian mechanism",)

    norm = "L2"

    def __init__(self, *, epsilon: float = 1.0, delta: float = 1e-6, sensitivity: float = 1) -> None:
        super().__init__(epsilon=epsilon, sensitivity=sensitivity)
        self.delta = check_delta(delta)
        refuse(self.sigma > 2.0**44, f"sensitivity must not make sigma exceed 2^44, got {sensitivity!r}")

    @property
    def sigma(self) -> float:
        """Parameter of the noise."""
        return discrete_gaussian_sigma(float(self.epsilon), float(self.delta), float(self.sensitivity))

    @property
    def rho(self) -> float:
        """Zero-concentrated differential privacy."""
        return float(self.sensitivity) ** 2 / (2 * self.sigma**2)

    @property
    def variance(self) -> float:
        """Variance of the noise: summed for sigma up to 20, otherwise sigma^2, to which it is equal in doubles."""
        if self.sigma > 20:
            return self.sigma**2
        z = np.arange(-1000, 1001)
        return float(np.sum(self.probability(z) * z**2))

    def error_bound(self, confidence: float) -> float:
        """Return the smallest integer t with 2 P(N > t) <= 1 - confidence for a normal N of standard deviation sigma.

        P(z >= m) <= P(N >= m - 1) for integers m (Canonne, Kamath and Steinke, proposition 25).
        """
        from scipy.special import ndtri

        check_confidence(confidence)
        return float(math.ceil(-ndtri((1 - confidence) / 2) * self.sigma))

    def probability(self, noise: ArrayLike) -> Floats:
        """Probability of each integer as noise, in the shape of `noise`."""
        width = math.ceil(40 * self.sigma) + 40
        weights = np.exp(-((np.arange(-width, width + 1) / self.sigma) ** 2) / 2)
        return np.asarray(np.exp(-((np.asarray(noise, dtype=float) / self.sigma) ** 2) / 2) / weights.sum())

    def sample(self, size: int, rng: Generator) -> Integers64:
        """Draw noise, shape (size,)."""
        check_integer("size", size, low=0)
        return discrete_gaussian(Fraction(self.sigma) ** 2, int(size), rng)


class Gaussian(NoiseMechanism):
    """Analytic Gaussian mechanism for one number: the least Gaussian noise that (epsilon, delta) allows, on a lattice.

    The lattice's step is at most 2^-20 of the sensitivity and of the noise's standard deviation.

    Parameters
    ----------
    epsilon : float
        In [2^-20, 2^20].
    delta : float
        In (0, 1).
    sensitivity : float
        Largest distance between the values of neighbouring tables; positive.

    Attributes
    ----------
    sigma : float
        Standard deviation.
    resolution : float
        Step of the lattice, a power of two: every released number is a multiple of it.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    Gaussian noise on values at a distance s is (epsilon, delta)-private exactly if
    delta >= Phi(s / (2 sigma) - epsilon sigma / s) - e^epsilon Phi(-s / (2 sigma) - epsilon sigma / s):
    the loss ln(p/p') is linear in the answer, so the worst set is a half-line. Sigma is the least that satisfies this.
    The classical sqrt(2 ln(1.25 / delta)) s / epsilon is larger, and proved for epsilon < 1 only.

    The value is rounded to the lattice and receives discrete Gaussian noise in steps, so that s grows by one step.
    Delta is then a sum over the steps k of f(k) = (p(k) - e^epsilon p'(k))+ in place of the integral of f. As f is
    log-concave, the two differ by at most max f, which is at most the integral divided by the standard deviation of f.
    That deviation is at least sigma / 40 (for delta above 10^-300), or 2^14 steps. Sigma is calibrated to
    delta (1 - 2^-10), which leaves room for the difference.

    The lattice ends at 2^40 times the smaller of sensitivity and sigma, at least. Values beyond are clamped to its end,
    and the bound on the error does not hold for them. The mechanism takes a single number, because rounded noise is not
    spherically symmetric; `DiscreteGaussian` takes arrays.

    References
    ----------
    Balle and Wang (2018), Improving the Gaussian mechanism for differential privacy, theorem 8; log-concave densities:
    Lovász and Vempala (2007), lemma 5.5.

    Examples
    --------
    >>> import math
    >>> from defenses.dp import Gaussian
    >>> mechanism = Gaussian(epsilon=0.5, delta=1e-5)
    >>> round(mechanism.sigma, 2)
    7.03
    >>> round(math.sqrt(2 * math.log(1.25 / 1e-5)) / 0.5, 2)  # the classical calibration
    9.69
    """

    called = ("Analytic Gaussian mechanism", "Gaussian mechanism")

    def __init__(self, *, epsilon: float = 1.0, delta: float = 1e-6, sensitivity: float = 1.0) -> None:
        super().__init__(epsilon=epsilon, sensitivity=sensitivity)
        self.delta = check_delta(delta)
        refuse(delta < SMALLEST_DELTA, f"delta must be at least 1e-300, got {delta!r}")

    @property
    def resolution(self) -> float:
        """Step of the lattice."""
        sensitivity = float(self.sensitivity)
        return lattice_step(sensitivity, sensitivity * unit_sigma(float(self.epsilon), float(self.delta) * ON_LATTICE))

    @property
    def sigma(self) -> float:
        """Standard deviation."""
        steps = steps_between(self.sensitivity, self.resolution)
        return steps * self.resolution * unit_sigma(float(self.epsilon), float(self.delta) * ON_LATTICE)

    @property
    def variance(self) -> float:
        """Variance of the noise."""
        return self.sigma**2

    def error_bound(self, confidence: float) -> float:
        """Return the two-sided quantile of the normal distribution, and a step and a half for the lattice."""
        from scipy.special import ndtri

        check_confidence(confidence)
        return float(-ndtri((1 - confidence) / 2) * self.sigma + 1.5 * self.resolution)

    def sample(self, size: int, rng: Generator) -> Floats:
        """Draw noise, shape (size,)."""
        check_integer("size", size, low=0)
        variance = (Fraction(self.sigma) / Fraction(self.resolution)) ** 2
        return np.multiply(discrete_gaussian(variance, int(size), rng), self.resolution, dtype=np.float64)

    @drawn_in_bulk
    def release(self, value: float, rng: Generator) -> float:
        """Return one number with noise.

        Raises
        ------
        ValueError
            If the value is NaN, infinite, or more than one number.
        """
        number = checked_number(value, "; DiscreteGaussian takes arrays")
        step = self.resolution
        return float((on_lattice(number, step) * step + self.sample(1, rng))[0])
