"""How much discrete Gaussian noise (epsilon, delta) takes."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from defenses.dp.composition import zcdp_rho
from defenses.dp.continuous_gaussian import SMALLEST_DELTA, unit_sigma
from metrics.arrays import Floats

ROUNDING = 3.0
"""Variance of the rounding to integers that turns Gaussian noise into discrete Gaussian noise."""
ENUMERATED = ((1,), (2,), (1, 1), (1, 1, 1), (1, 1, 1, 1))
"""Every difference of integers of a squared length up to 4, up to order, signs and zeros."""
FINE = 20.0
"""Sigma from which the rounding costs less than half a percent, so that nothing is enumerated."""
SLACK = 1e-9
"""Share of delta that is left to errors of floating-point arithmetic, which are far smaller."""


def discrete_gaussian_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """Return a small sigma for which discrete Gaussian noise is (epsilon, delta)-private, for numbers and arrays.

    The least of three, each of which is enough:

    1. s / sqrt(2 rho) with the largest rho whose zero-concentrated privacy gives (epsilon, delta) (`zcdp_rho`).
    2. sqrt(c^2 + 3) with c the standard deviation at which Gaussian noise has (epsilon, delta). Proof: round
       x + N(0, c^2) to integers y with chances proportional to e^(-(y - .)^2 / (2 t^2)), t^2 = 3. That is
       post-processing, and by Poisson's summation formula the weights sum to t sqrt(2 pi) up to a factor of about
       1 +- 2 e^(-2 pi^2 t^2), within 1 +- 10^-25. So y - x has the law of discrete Gaussian noise of parameter
       sqrt(c^2 + t^2) up to such factors, together below e^(10^-12) for up to 2^40 numbers, for which c leaves room.
    3. Where s^2 < 5 and sigma is small, the least sigma whose exact delta is small enough for each of the few vectors v
       of integers by which neighbours may then differ: the loss of an answer is linear in W = v . noise, so that
       delta is the sum over w of P(W = w) (1 - e^(epsilon - (|v|^2 + 2 w) / (2 sigma^2)))+. W has one law for all
       vectors that agree up to order, signs and zeros.

    Parameters
    ----------
    epsilon : float
        At least 2^-20.
    delta : float
        In (0, 1).
    sensitivity : float
        Largest L2 distance s between integers of neighbouring tables, positive.

    References
    ----------
    Canonne, Kamath and Steinke (2020), The discrete Gaussian for differential privacy, theorems 4 and 7; Peikert
    (2010), An efficient and parallel Gaussian sampler for lattices, theorem 3.1, for the rounding.
    """
    return _sigma(float(epsilon), float(delta), float(sensitivity))


@lru_cache(maxsize=1024)
def _sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    enough = sensitivity / math.sqrt(2 * zcdp_rho(epsilon, delta)) * (1 + 1e-9)
    if delta >= SMALLEST_DELTA:
        normal = sensitivity * unit_sigma(epsilon - 2e-12, delta * (1 - SLACK))
        enough = min(enough, math.sqrt(normal**2 + ROUNDING) * (1 + 1e-9))
        # Integers64 that differ do so by 1 at least.
        if sensitivity**2 < 5 and enough < FINE:
            enough = _least(epsilon, delta * (1 - SLACK), max(1, math.floor(sensitivity**2 + 1e-9)), enough)
    return enough


def _least(epsilon: float, delta: float, longest: int, enough: float) -> float:
    """Smaller sigma than `enough` found by bisection; whatever is returned was checked, or is `enough`."""
    low, high = enough / 100, enough
    for _ in range(50):
        middle = math.sqrt(low * high)
        if all(
            discrete_gaussian_delta(middle, epsilon, v) <= delta
            for v in ENUMERATED
            if sum(part * part for part in v) <= longest
        ):
            high = middle
        else:
            low = middle
    return high


def discrete_gaussian_delta(sigma: float, epsilon: float, difference: tuple[int, ...] = (1,)) -> float:
    """Return the least delta of discrete Gaussian noise between tables whose integers have this difference.

    Noise of more than 40 sigma is left out; it has probability below 10^-340.
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
