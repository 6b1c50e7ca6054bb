"""Exact sampling of the discrete Gaussian distribution."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.random import Generator

from defenses.dp.exact import ExponentialChance, settle_below, two_sided_geometric, words
from metrics.arrays import Integers64

MARGIN = 2.0**-40
"""Distance from a uniform number at which a floating-point probability decides the comparison with it."""


def discrete_gaussian(variance: Fraction, size: int, rng: Generator) -> Integers64:
    """Draw integers z with probability proportional to e^(-z^2 / (2 variance)), shape (size,); exact.

    Rejection from the discrete Laplace distribution with scale t = floor(sigma) + 1: z is kept with probability
    e^(-(|z| - variance / t)^2 / (2 variance)), since the product of the two is proportional to e^(-z^2/(2 variance)).

    A uniform number, drawn bit by bit, is compared with that probability. Its first 64 bits and the probability in
    floating point decide where the two are 2^-40 apart; otherwise (once in 10^12 draws) the exponential of the exact
    rational exponent is computed to as many bits as it takes. What floating point may be off by: with x = |z| -
    variance / t over sigma, each of a few operations rounds by 2^-53, so that the exponent is off by at most
    2^-53 (|x| + 3 x^2) and e^(-x^2/2) by at most 4 * 2^-53, and an exponential function that is wrong in its last 8
    bits adds 2^-45. Both are below a thirtieth of the margin, so the comparison is always the exact one.

    Parameters
    ----------
    variance : Fraction
        Positive, at most 2^88.

    Notes
    -----
    Source: Canonne, Kamath and Steinke (2020), The discrete Gaussian for differential privacy, algorithm 3.
    """
    sigma = float(variance) ** 0.5
    scale = int(sigma) + 1
    middle = float(variance / scale)
    kept: list[Integers64] = []
    missing = size
    while missing > 0:
        # At least 0.4 of the proposals are kept.
        proposed = two_sided_geometric(Fraction(1, scale), int(missing * 1.6) + 32, rng)
        drawn = words(proposed.size, rng)
        x = (np.abs(proposed) - middle) / sigma
        gap = drawn.astype(float) * 2.0**-64 - np.exp(-x * x / 2)
        keep = gap < 0
        for row in np.flatnonzero(np.abs(gap) < MARGIN):
            exponent = (abs(int(proposed[row])) - variance / scale) ** 2 / (2 * variance)
            # At exponent 0 the probability is 1, which every number in [0, 1) lies below.
            keep[row] = exponent == 0 or settle_below(ExponentialChance(exponent), int(drawn[row]), rng)
        accepted = proposed[keep][:missing]
        kept.append(accepted)
        missing -= accepted.size
    return np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)
