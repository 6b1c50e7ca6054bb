"""Exact sampling of the discrete Gaussian distribution."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.random import Generator

from defenses.dp.exact import ExponentialChance, settle_below, two_sided_geometric, words
from metrics.columns.arrays import Integers64

MARGIN = 2.0**-40
"""Least distance between a uniform number and a floating-point probability at which their comparison is certain."""


def discrete_gaussian(variance: Fraction, size: int, rng: Generator) -> Integers64:
    """Exact draws from the discrete Gaussian distribution: P(z) is proportional to e^(-z^2 / (2 variance)).

    Parameters
    ----------
    variance : Fraction
        Positive, at most 2^88.
    size : int
        Number of draws.
    rng : Generator
        Source of random bits.

    Returns
    -------
    ndarray of int64, shape (size,)

    Notes
    -----
    The sampler rejects proposals from the discrete Laplace distribution with scale t = floor(sigma) + 1. It accepts z
    with probability e^(-(|z| - variance / t)^2 / (2 variance)): the product of the two is proportional to
    e^(-z^2/(2 variance)).

    A uniform number, drawn bit by bit, is compared with that probability. Its first 64 bits and the floating-point
    probability decide where the two are 2^-40 apart. Otherwise (once in 10^12 draws) the exponential of the exact
    rational exponent is computed to as many bits as needed.

    Error of floating point: let x = (|z| - variance / t) / sigma. Each of a few operations rounds by 2^-53, so that
    the exponent is off by at most 2^-53 (|x| + 3 x^2) and e^(-x^2/2) by at most 4 * 2^-53. An exponential function that
    is wrong in its last 8 bits adds 2^-45. Both are below a thirtieth of the margin, so the comparison is always exact.

    References
    ----------
    Canonne, Kamath and Steinke (2020), The discrete Gaussian for differential privacy, algorithm 3.
    """
    sigma = float(variance) ** 0.5
    scale = int(sigma) + 1
    middle = float(variance / scale)
    accepted: list[Integers64] = []
    missing = size
    while missing > 0:
        # At least 0.4 of the proposals are accepted.
        proposed = two_sided_geometric(Fraction(1, scale), int(missing * 1.6) + 32, rng)
        drawn = words(proposed.size, rng)
        x = (np.abs(proposed) - middle) / sigma
        gap = drawn.astype(float) * 2.0**-64 - np.exp(-x * x / 2)
        accepts = gap < 0
        for row in np.flatnonzero(np.abs(gap) < MARGIN):
            exponent = (abs(int(proposed[row])) - variance / scale) ** 2 / (2 * variance)
            # At exponent 0 the probability is 1, and every number in [0, 1) lies below it.
            accepts[row] = exponent == 0 or settle_below(ExponentialChance(exponent), int(drawn[row]), rng)
        accepted.append(proposed[accepts][:missing])
        missing -= accepted[-1].size
    return np.concatenate(accepted) if accepted else np.zeros(0, dtype=np.int64)
