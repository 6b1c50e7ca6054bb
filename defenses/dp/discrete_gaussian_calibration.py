"""Calibration of discrete Gaussian noise to (epsilon, delta)."""

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
"""All integer vectors of squared length at most 4, up to order, signs and zeros."""
FINE = 20.0
"""Sigma from which the rounding argument costs less than half a percent, so that no vectors are enumerated."""
SLACK = 1e-9
"""Share of delta reserved for errors of floating-point arithmetic, which are far smaller."""


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
    low, high = sufficient / 100, sufficient
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
