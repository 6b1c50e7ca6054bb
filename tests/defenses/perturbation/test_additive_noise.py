"""Additive noise."""

import numpy as np
import pytest
from defense_tools import AGE, apply, people, table
from scipy import stats

from defenses.perturbation.additive_noise import AdditiveNoise


@pytest.mark.parametrize("distribution", ["gaussian", "laplace"])
def test_noise_has_the_deviation_it_says(distribution):
    numbers = np.random.default_rng(1).normal(100, 20, 40_000)
    release = apply(AdditiveNoise(scale={"x": 0.5}, distribution=distribution), table(x=numbers))
    noise = release.frame["x"].to_numpy() - numbers
    spread = 0.5 * numbers.std()
    assert release.channel.parts[0].deviation == pytest.approx(spread)
    law = stats.norm(0, spread) if distribution == "gaussian" else stats.laplace(0, spread / np.sqrt(2))
    # Kolmogorov-Smirnov at level 1e-4, with a fixed seed.
    assert stats.kstest(noise, law.cdf).pvalue > 1e-4
    assert abs(np.corrcoef(noise, numbers)[0, 1]) < 5 / np.sqrt(noise.size)


def test_noise_respects_whole_numbers_bounds_and_missing_values():
    numbers = [np.nan, *range(17, 91)] * 20
    domain = {"x": AGE}
    release = apply(AdditiveNoise(scale=2.0), table(domain, x=numbers))
    released = release.frame["x"].to_numpy()
    present = ~np.isnan(released)
    np.testing.assert_array_equal(present, ~np.isnan(numbers))
    assert released[present].min() == 17
    assert released[present].max() == 90
    np.testing.assert_array_equal(released[present], np.rint(released[present]))
    free = apply(AdditiveNoise(scale=2.0), table(x=numbers)).frame["x"]
    assert free.min() < 17
    assert free.max() > 90
    assert str(AdditiveNoise().guarantee(people())) == "none"


def test_constant_columns_get_no_noise():
    release = apply(AdditiveNoise(scale=5.0), table(x=[0.1] * 7))
    assert (release.frame["x"] == 0.1).all()
    assert release.channel.parts[0].deviation == 0
