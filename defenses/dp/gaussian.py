"""Gaussian mechanisms: discrete Gaussian noise on integers, and Gaussian noise on a fine lattice."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.base.parameters import check_integer
from defenses.dp.bulk import drawn_in_bulk
from defenses.dp.continuous_gaussian import SMALLEST_DELTA, unit_sigma
from defenses.dp.discrete_gaussian_calibration import discrete_gaussian_sigma
from defenses.dp.discrete_gaussian_sampling import discrete_gaussian
from defenses.dp.mechanism import (
    NoiseMechanism,
    check_delta,
    check_privacy,
    checked_number,
    lattice_step,
    on_lattice,
    steps_between,
)
from defenses.dp.noise import IntegerNoise
from metrics.arrays import Floats, Integers64
from metrics.estimate import check_confidence

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

    norm = "L2"

    def __init__(self, *, epsilon: float = 1.0, delta: float = 1e-6, sensitivity: float = 1) -> None:
        check_privacy(epsilon, sensitivity)
        check_delta(delta)
        self.epsilon = epsilon
        self.delta = delta
        self.sensitivity = sensitivity
        if self.sigma > 2.0**44:
            raise ValueError(f"sensitivity must not make sigma exceed 2^44, got {sensitivity!r}")

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

    def __init__(self, *, epsilon: float = 1.0, delta: float = 1e-6, sensitivity: float = 1.0) -> None:
        check_privacy(epsilon, sensitivity)
        check_real_delta(delta)
        self.epsilon = epsilon
        self.delta = delta
        self.sensitivity = sensitivity

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
        noisy = on_lattice(number, step) * step + self.sample(1, rng)
        return float(noisy[0])


def check_real_delta(delta: float) -> None:
    """Raise ValueError unless delta lies in [10^-300, 1)."""
    check_delta(delta)
    if delta < SMALLEST_DELTA:
        raise ValueError(f"delta must be at least 1e-300, got {delta!r}")
