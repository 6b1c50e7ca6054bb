"""Calibration of discrete Gaussian noise: the exact delta for numbers and arrays."""

import math
from itertools import product

import numpy as np
import pytest

from defenses.dp import (
    DiscreteGaussian,
)
from defenses.dp.composition import unit_sigma
from defenses.dp.gaussian import ENUMERATED, discrete_gaussian_delta


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("delta", [0.01, 1e-6])
def test_discrete_gaussian_agrees_with_privacy_loss_distributions(epsilon, delta):
    from dp_accounting.pld import privacy_loss_mechanism

    noise = DiscreteGaussian(epsilon=epsilon, delta=delta)
    peer = privacy_loss_mechanism.DiscreteGaussianPrivacyLoss(noise.sigma, sensitivity=1)
    assert peer.get_delta_for_epsilon(epsilon) == pytest.approx(discrete_gaussian_delta(noise.sigma, epsilon), rel=1e-6)
    assert discrete_gaussian_delta(noise.sigma, epsilon) <= delta
    if noise.sigma < 20:
        assert discrete_gaussian_delta(noise.sigma, epsilon) > 0.98 * delta


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("squared", "differences"), [(2, [(1, 1)]), (3, [(1, 1, 1)]), (4, [(2,), (1, 1, 1, 1)])])
def test_arrays_of_discrete_gaussians_keep_their_delta(squared, differences):
    for epsilon, delta in ((0.5, 1e-3), (4.0, 1e-2), (2.0, 1e-9)):
        noise = DiscreteGaussian(epsilon=epsilon, delta=delta, sensitivity=math.sqrt(squared))
        for difference in [(1,), *differences]:
            assert discrete_gaussian_delta(noise.sigma, epsilon, difference) <= delta
        assert noise.sigma <= 1.06 * math.sqrt(squared) * unit_sigma(epsilon, delta) + 0.05


def test_delta_of_two_numbers_is_that_of_every_pair_of_noises():
    sigma, epsilon = 1.3, 0.7
    at = np.arange(-20, 21)
    law = np.exp(-((at / sigma) ** 2) / 2)
    law /= law.sum()
    first, second = np.meshgrid(at, at)
    loss = (2 - 2 * (first + second)) / (2 * sigma**2)
    expected = (np.outer(law, law) * np.maximum(0, 1 - np.exp(epsilon - loss))).sum()
    assert discrete_gaussian_delta(sigma, epsilon, (1, 1)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("sensitivity", [math.sqrt(5), 3.0, 7.0, 40.0])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (4.0, 1e-2), (2.0, 1e-9)])
def test_longer_differences_keep_their_delta_by_the_rounding_argument(sensitivity, epsilon, delta):
    sigma = DiscreteGaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity).sigma
    most = math.floor(sensitivity)
    for difference in ((most,), (2, 1)) if sensitivity < 3 else ((most,),):
        assert discrete_gaussian_delta(sigma, epsilon, difference) <= delta


@pytest.mark.parametrize(("epsilon", "delta"), [(2.0**-20, 0.5), (2.0**20, 1e-6), (1.0, 1e-310), (1.0, 1 - 1e-9)])
def test_discrete_gaussian_at_extremes(epsilon, delta):
    sigma = DiscreteGaussian(epsilon=epsilon, delta=delta).sigma
    assert 0 < sigma < math.inf
    if sigma < 20:
        assert discrete_gaussian_delta(sigma, epsilon) <= delta


def test_every_short_vector_is_enumerated():
    vectors = {tuple(sorted(filter(None, map(abs, one)), reverse=True)) for one in product(range(-2, 3), repeat=4)}
    assert set(ENUMERATED) == {one for one in vectors if 0 < sum(part * part for part in one) <= 4}
