"""Probabilities of noise on a grid, and their most likely scale."""

import numpy as np
import pytest

from attacks.linkage.fitting.column_tables import GAUSSIAN, LAPLACE, Noise


@pytest.mark.parametrize("family", [GAUSSIAN, LAPLACE])
@pytest.mark.parametrize("scale", [0.05, 0.3, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("offset", [0.0, 2.0])
def test_probabilities_add_up_to_one_on_a_grid(family, scale, offset):
    grid = np.arange(-60, 61).astype(float)
    assert Noise(family, scale, offset).probability(grid, np.ones(grid.size)).sum() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("family", [GAUSSIAN, LAPLACE])
def test_scale_is_that_of_the_sample(family):
    rng = np.random.default_rng(0)
    sample = rng.normal(3, 2, 20_000) if family == GAUSSIAN else rng.laplace(3, 2, 20_000)
    fitted = Noise(family, 9.0, 3.0).refitted(sample, np.ones(sample.size), 0.1)
    assert fitted.scale == pytest.approx(2, rel=0.03)


def test_no_weight_leaves_the_noise_and_small_scales_are_bounded():
    noise = Noise(GAUSSIAN, 2.0)
    assert noise.refitted(np.zeros(3), np.zeros(3), 0.1) is noise
    assert noise.refitted(np.zeros(3), np.ones(3), 0.1).scale == 0.1


def test_missing_numbers_are_impossible():
    assert Noise(LAPLACE, 1.0).probability(np.array([np.inf, 0.0]), np.ones(2)).tolist()[0] == 0
