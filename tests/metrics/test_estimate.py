"""Confidence intervals of rates."""

import numpy as np
import pytest

from metrics import across_plays, wilson


def test_wilsons_interval_by_hand():
    # 76 of 100: the interval that the literature gives is .668 to .833.
    estimate = wilson(76, 100)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((0.76, 0.6677, 0.8331), abs=1e-4)


def test_students_interval_by_hand():
    # Mean .5, deviation .1, n = 4: .5 +- 3.1824 x .1 / 2.
    rates = [0.4, 0.6, 0.4, 0.6]
    half = 3.182446 * np.std(rates, ddof=1) / 2
    estimate = across_plays(rates)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((0.5, 0.5 - half, 0.5 + half), abs=1e-6)


def test_equal_plays_count_their_trials():
    assert across_plays([1.0] * 20, trials=100).low == pytest.approx(wilson(2000, 2000).low)
    assert across_plays([0.3], trials=50).high == pytest.approx(wilson(15, 50).high)


def test_coverage_of_the_interval_across_plays():
    # 2,000 simulated boards of 20 plays whose rate varies: 95 % are covered, and the share that this test sees has
    # deviation .005; it fails by chance less than once in 10,000 runs at four deviations.
    rng = np.random.default_rng(1)
    truth = rng.beta(20, 30, size=(2000, 20))
    rates = rng.binomial(100, truth) / 100
    covered = [estimate.low <= 0.4 <= estimate.high for estimate in map(across_plays, rates)]
    assert abs(np.mean(covered) - 0.95) < 0.02


@pytest.mark.parametrize("arguments", [(5, 4), (-1, 4), (0, 0), (1, 2, 1.0)])
def test_bad_rates_are_refused(arguments):
    with pytest.raises(ValueError, match=r"successes|confidence"):
        wilson(*arguments)


@pytest.mark.parametrize("rates", [[], [np.nan], [1.1], [-0.1], [[0.5]]])
def test_bad_plays_are_refused(rates):
    with pytest.raises(ValueError, match="rates"):
        across_plays(rates)
