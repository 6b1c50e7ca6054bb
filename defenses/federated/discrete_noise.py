"""Exact discrete Gaussian noise for numbers that are added up in fixed point."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.random import Generator

from defenses.dp.discrete_gaussian_sampling import discrete_gaussian
from metrics.arrays import Floats

SMOOTHING = 4.0
"""Steps of the grid beyond which a Gaussian sum over integers is its integral, up to 1 part in 10^136."""


def part_of_noise(multiplier: float, sensitivity: float, length: int, step: float, parties: int) -> float:
    r"""Parameter of the discrete Gaussian noise that each of some parties adds, in steps of the grid.

    Let s = multiplier (sensitivity / step + sqrt(length)): rounding moves two neighbouring vectors apart by at most
    one step in each coordinate. Each party's parameter is sqrt((s^2 + 4^2) / parties), and the sum of their noise is as
    private as continuous Gaussian noise of that multiplier. Proof, with phi_a the normal density of deviation a:

    1. By Poisson summation, for a >= 4 and any c, the sum of phi_a(z - c) over whole z lies within 1 +- e, with
       e = 3 exp(-2 pi^2 a^2) < 10^-136.
    2. So the sum of two discrete Gaussians with parameters a, b and ab / sqrt(a^2 + b^2) >= 4 is one with parameter
       sqrt(a^2 + b^2), its probabilities up to a factor within (1 +- e)^3: in the convolution, phi_a(z) phi_b(y - z) is
       phi_sqrt(a^2 + b^2)(y) times a normal density in z of deviation ab / sqrt(a^2 + b^2). By induction the parties'
       sum is one with parameter S = sqrt(s^2 + 4^2), if each has at least 4 sqrt(2).
    3. Add Gaussian noise of deviation s to an integer x and replace the result t by an integer y with probability
       proportional to phi_4(y - t). By 1, y has the law of x plus discrete noise of parameter S, up to a factor within
       (1 +- e)^2. That is Gaussian noise, at distances measured in steps, and post-processing.

    All factors together, over coordinates, rounds and parties, change a loss by less than 10^-100.

    Parameters
    ----------
    multiplier : float
        Standard deviation over sensitivity that the sum is to have.
    sensitivity : float
        Largest L2 distance between neighbours' vectors.
    length : int
        Length of a vector.
    step : float
        Step of the grid.
    parties : int
        How many add their part.

    Raises
    ------
    ValueError
        If the grid is too coarse for the noise.

    References
    ----------
    Canonne, Kamath and Steinke (2020), The discrete Gaussian for differential privacy; Kairouz, Liu and Steinke (2021),
    The distributed discrete Gaussian mechanism for federated learning with secure aggregation, section 4, for sums;
    Peikert (2010), An efficient and parallel Gaussian sampler for lattices, theorem 3.1, for step 3.
    """
    whole = multiplier * (sensitivity / step + np.sqrt(length))
    part = float(np.sqrt((whole**2 + SMOOTHING**2) / parties))
    if part < SMOOTHING * np.sqrt(2):
        raise ValueError(f"fraction_bits: a grid of step {step:g} is too coarse for the noise; take more bits")
    return part


def noisy_on_grid(values: Floats, part: float, step: float, rng: Generator) -> Floats:
    """Values rounded to the grid, each with its own discrete Gaussian noise; multiples of the step.

    Parameters
    ----------
    values : ndarray
        Of any shape.
    part : float
        Parameter of the noise, in steps.
    step : float
        Step of the grid, a power of two.
    rng : Generator
        Draws the noise.
    """
    noise = discrete_gaussian(Fraction(part) ** 2, values.size, rng).reshape(values.shape)
    return np.asarray((np.rint(values / step) + noise) * step)
