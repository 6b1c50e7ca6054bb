"""Laplace noise, discrete and on a lattice: its law, its epsilon, and the figures of the lecture, corrected.

Statistical tests have fixed seeds; unless said otherwise the false-alarm probability of each is 1 in 10,000 seeds.
"""

import numpy as np
import pytest
from chance_tools import ALARM, chi_square, rng

from defenses.dp import (
    DiscreteLaplace,
    Laplace,
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
