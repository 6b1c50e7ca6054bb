"""Distributed discrete Gaussian noise for secure sums in fixed point."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.random import Generator

from defenses.dp.discrete_gaussian_sampling import discrete_gaussian
from metrics.arrays import Floats

SMOOTHING = 4.0
"""From this deviation on, in steps, a Gaussian sum over the integers equals its integral up to 1 part in 10^136."""


def party_noise_parameter(multiplier: float, sensitivity: float, length: int, step: float, parties: int) -> float:
    r"""Parameter of each party's share of distributed discrete Gaussian noise, in steps of the grid.

    Let s = multiplier (sensitivity / step + sqrt(length)). The second term covers rounding, which moves two
    neighbouring vectors apart by at most one step in each coordinate. Each party's parameter is
    sqrt((s^2 + 4^2) / parties). The sum of their noise is as private as continuous Gaussian noise of that multiplier.
    Proof, with phi_a the Gaussian density of deviation a:

    1. By Poisson summation, for a >= 4 and any c, the sum of phi_a(z - c) over integers z lies within 1 +- e, with
       e = 3 exp(-2 pi^2 a^2) < 10^-136.
    2. Take two discrete Gaussians with parameters a, b and ab / sqrt(a^2 + b^2) >= 4. Their sum is a discrete Gaussian
       with parameter sqrt(a^2 + b^2), up to a factor within (1 +- e)^3 in the probabilities. The reason is the
       convolution: phi_a(z) phi_b(y - z) is phi_sqrt(a^2 + b^2)(y) times a Gaussian density in z of deviation
       ab / sqrt(a^2 + b^2). By induction the parties' sum has parameter S = sqrt(s^2 + 4^2), if each party has at
       least 4 sqrt(2).
    3. Add Gaussian noise of deviation s to an integer x. Replace the result t by an integer y with probability
       proportional to phi_4(y - t). By 1, y is distributed as x plus discrete noise of parameter S, up to a factor
       within (1 +- e)^2. This is Gaussian noise, at distances measured in steps, followed by post-processing.

    All factors together, over coordinates, rounds and parties, change a privacy loss by less than 10^-100.

    Parameters
    ----------
    multiplier : float
        Noise multiplier of the sum: standard deviation / sensitivity.
    sensitivity : float
        L2 sensitivity of the sum.
    length : int
        Length of a vector.
    step : float
        Step of the grid.
    parties : int
        Number of parties that add noise.

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
    total = multiplier * (sensitivity / step + np.sqrt(length))
    part = float(np.sqrt((total**2 + SMOOTHING**2) / parties))
    if part < SMOOTHING * np.sqrt(2):
        raise ValueError(f"fraction_bits: a grid of step {step:g} is too coarse for the noise; take more bits")
    return part


def noisy_on_grid(values: Floats, part: float, step: float, rng: Generator) -> Floats:
    """Values rounded to the grid, with independent discrete Gaussian noise; multiples of the step.

    Parameters
    ----------
    values : ndarray
        Any shape.
    part : float
        Parameter of the noise, in steps.
    step : float
        Step of the grid, a power of two.
    rng : Generator
        Draws the noise.
    """
    noise = discrete_gaussian(Fraction(part) ** 2, values.size, rng).reshape(values.shape)
    return np.asarray((np.rint(values / step) + noise) * step)
