"""Gaussian noise, discrete and on a lattice: its law and its delta.

Statistical tests have fixed seeds; unless said otherwise the false-alarm probability of each is 1 in 10,000 seeds.
"""

import math

import numpy as np
import pytest
from chance_tools import ALARM, chi_square, rng

from defenses.dp import (
    DiscreteGaussian,
    Gaussian,
)
from defenses.dp.composition import gaussian_delta


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_discrete_gaussian_follows_its_law(epsilon):
    mechanism = DiscreteGaussian(epsilon=epsilon, delta=1e-5)
    drawn = mechanism.sample(300_000, rng(11))
    width = int(6 * mechanism.sigma) + 2
    observed = np.bincount(np.clip(drawn, -width, width) + width, minlength=2 * width + 1)
    assert chi_square(observed, mechanism.probability(np.arange(-width, width + 1))) > ALARM


@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 1e-3), (1.0, 1e-5), (4.0, 1e-8)])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_discrete_gaussian_keeps_its_delta(epsilon, delta, sensitivity):
    noise = DiscreteGaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    at = np.arange(-int(30 * noise.sigma) - 10, int(30 * noise.sigma) + 10)
    for shift in range(1, sensitivity + 1):
        exceeds = noise.probability(at - shift) - math.exp(epsilon) * noise.probability(at)
        assert np.maximum(exceeds, 0).sum() <= delta
    # Not by throwing accuracy away: sigma is near the least of Gaussian noise.
    assert gaussian_delta(noise.sigma / 1.08, epsilon, sensitivity) > delta


@pytest.mark.thorough
def test_gaussian_keeps_its_delta_on_the_lattice():
    noise = Gaussian(epsilon=1.0, delta=1e-5)
    sigma, step = noise.sigma, noise.resolution
    moved = math.ceil(1.0 / step) + 1
    # Every lattice point at which the loss exceeds epsilon, out to 8 standard deviations, where 1e-15 is left.
    start = math.floor(sigma**2 / (moved * step**2) - moved / 2) - 2
    total = 0.0
    for low in range(start, int(8 * sigma / step), 500_000):
        at = np.arange(low, low + 500_000, dtype=float) * (step / sigma)
        p, q = (np.exp(-np.square(points) / 2) for points in (at, at + moved * step / sigma))
        total += np.maximum(p - math.e * q, 0).sum() * step / (sigma * math.sqrt(2 * math.pi))
    assert 0.99 * 1e-5 < total <= 1e-5
    assert gaussian_delta(sigma * 0.999, 1.0) > 0.99e-5


def test_analytic_gaussian_needs_less_noise_than_the_classical_formula():
    assert Gaussian(epsilon=0.9, delta=1e-5).sigma < 0.8 * math.sqrt(2 * math.log(1.25e5)) / 0.9
    assert Gaussian(epsilon=1.0, delta=1e-5).sigma == pytest.approx(3.7306, abs=0.002)
