"""Staircase noise: its law and its epsilon.

Statistical tests have fixed seeds; unless said otherwise the false-alarm probability of each is 1 in 10,000 seeds.
"""

import math

import numpy as np
import pytest
from chance_tools import ALARM, chi_square, rng
from scipy import stats

from defenses.dp import (
    Staircase,
)


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 6.0])
def test_staircase_follows_its_law(epsilon):
    mechanism = Staircase(epsilon=epsilon)
    steps = np.rint(mechanism.sample(300_000, rng(12)) / mechanism.resolution).astype(int)
    s, m = mechanism.steps
    q = math.exp(-epsilon)
    # Cells: sign, stair and part; within a part places are even.
    stair, second = np.abs(steps) // s, np.abs(steps) % s >= m
    most = 80
    cell = np.minimum(stair, most) * 4 + second * 2 + (steps < 0)
    total = 2 * (m + (s - m) * q) / (1 - q) - 1
    weight = np.array([[q**k * m, q**k * m, q ** (k + 1) * (s - m), q ** (k + 1) * (s - m)] for k in range(most + 1)])
    weight[-1] /= 1 - q
    probabilities = weight.ravel() / total
    assert chi_square(np.bincount(cell, minlength=4 * most + 4), probabilities) > ALARM
    first = np.abs(steps)[(stair == 0) & ~second]
    assert stats.kstest(first / m, "uniform").pvalue > ALARM


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_staircase_keeps_its_epsilon_and_spends_it(epsilon):
    noise = Staircase(epsilon=epsilon)
    s, _ = noise.steps
    at = rng(18).integers(-5 * s, 5 * s, 20_000)
    for shift in (1, s // 3, s):
        loss = np.log(noise.probability(at) / noise.probability(at - shift))
        assert np.abs(loss).max() <= epsilon + 1e-9
    assert np.abs(loss).max() == pytest.approx(epsilon)
