"""Staircase noise: its law and its epsilon.

Statistical tests have fixed seeds; unless said otherwise the false-alarm probability of each is 1 in 10,000 seeds."""

import math

import numpy as np
import pytest
from chance_tools import ALARM, chi_square, rng
from scipy import stats

from defenses.dp import (
    DiscreteLaplace,
    Laplace,
    Staircase,
)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0])
def test_discrete_laplace_follows_its_law(epsilon):
    mechanism = DiscreteLaplace(epsilon=epsilon, sensitivity=1)
    drawn = mechanism.sample(300_000, rng(10))
    width = int(mechanism.error_bound(1 - 1e-4))
    values = np.arange(-width, width + 1)
    observed = np.bincount(np.clip(drawn, -width - 1, width + 1) + width + 1, minlength=2 * width + 3)
    inside = mechanism.probability(values)
    rest = (1 - inside.sum()) / 2
    assert chi_square(observed, np.concatenate([[rest], inside, [rest]])) > ALARM


def test_textbook_noise_gives_values_away_and_lattice_noise_does_not():
    # Released doubles that value 0 can give and value 1 cannot: those with bits below 2^-53.
    def fine(numbers):
        return (numbers * 2.0**53 != np.rint(numbers * 2.0**53)).mean()

    textbook = rng(17).laplace(size=100_000)
    assert fine(textbook) > 0.01
    assert fine(1.0 + textbook) == 0
    noise = Laplace(epsilon=1.0)
    assert fine(noise.sample(100_000, rng(17))) == 0


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_discrete_laplace_keeps_its_epsilon_and_spends_it(epsilon, sensitivity):
    noise = DiscreteLaplace(epsilon=epsilon, sensitivity=sensitivity)
    at = np.arange(-40, 41)
    loss = np.log(noise.probability(at) / noise.probability(at - sensitivity))
    assert np.abs(loss).max() == pytest.approx(epsilon)


@pytest.mark.parametrize(("n", "bound"), [(100, 29.96), (100_000, 0.030)])
def test_mean_age_of_the_lecture(n, bound):
    assert Laplace(epsilon=0.1, sensitivity=100 / n).error_bound(0.95) == pytest.approx(bound, abs=0.005)


def test_maximum_age_of_the_lecture():
    assert Laplace(epsilon=0.1, sensitivity=100).error_bound(0.95) == pytest.approx(2995.7, abs=0.05)


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
