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


@pytest.mark.parametrize("plays", [5, pytest.param(10, marks=pytest.mark.long), 50])
@pytest.mark.parametrize("trials", [20, pytest.param(100, marks=pytest.mark.long), 1000])
@pytest.mark.parametrize("variation", [0, 0.5])
def test_coverage_of_rare_and_frequent_success(plays, trials, variation):
    # Rates from .002 to .998, whose plays vary by a share of the rate, or of its distance to 1. A coverage of .94 is
    # seen as less than .94 - 4.5 deviations with probability 4e-6, in each of 144 cases.
    runs = 400
    bound = 0.94 - 4.5 * np.sqrt(0.94 * 0.06 / runs)
    for mean in (0.002, 0.01, 0.1, 0.5, 0.7, 0.97, 0.99, 0.998):
        rng = np.random.default_rng([plays, trials, round(10 * variation), round(1000 * mean)])
        rare = min(mean, 1 - mean)
        strength = (1 - rare) / (rare * variation**2) - 1 if variation else np.inf
        truth = rng.beta(rare * strength, (1 - rare) * strength, (runs, plays)) if variation else rare
        rates = rng.binomial(trials, truth, (runs, plays)) / trials
        rates = 1 - rates if mean > 0.5 else rates
        estimates = [across_plays(play_rates, trials=trials) for play_rates in rates]
        covered = np.mean([estimate.low <= mean <= estimate.high for estimate in estimates])
        assert covered >= bound, (mean, covered)


def test_students_interval_alone_would_miss_rare_success():
    # One success in one of five plays of 100: Student's interval alone is [-.0036, .0076].
    estimate = across_plays([0, 0, 0.01, 0, 0], trials=100)
    assert estimate.low == 0
    assert estimate.high >= wilson(1, 500).high > 0.011
    # Two plays with one success each vary less than independent trials would: no design effect.
    assert across_plays([0, 0.01, 0.01, 0, 0], trials=100).high == wilson(2, 500).high
    # Plays that vary far more than 100 independent trials would.
    estimate = across_plays([0.1, 0.9, 0.2, 0.8, 0.5], trials=100)
    assert estimate.high - estimate.low > 0.8


@pytest.mark.parametrize("arguments", [(5, 4), (-1, 4), (0, 0), (1, 2, 1.0)])
def test_bad_rates_are_refused(arguments):
    with pytest.raises(ValueError, match=r"successes|confidence"):
        wilson(*arguments)


@pytest.mark.parametrize("bad", [0, 1, -0.1, 2.0, float("nan"), float("inf"), "0.95", True, None])
def test_a_confidence_is_a_number_above_0_and_below_1(bad):
    with pytest.raises(ValueError, match="confidence must be a number above 0 and below 1, got"):
        wilson(1, 2, bad)


def test_bad_trials_are_refused():
    with pytest.raises(ValueError, match="trials"):
        across_plays([0.5, 0.6], trials=0)


@pytest.mark.parametrize("rates", [[], [np.nan], [1.1], [-0.1], [[0.5]]])
def test_bad_plays_are_refused(rates):
    with pytest.raises(ValueError, match="rates"):
        across_plays(rates)


@pytest.mark.parametrize(
    ("successes", "trials", "centre", "half"),
    [
        (850, 1000, 0.849, 0.022),
        (0, 1000, 0.002, 0.002),
        (1000, 1000, 0.998, 0.002),
        (100, 100, 0.9815032508965071, 0.01849674910349284),
        (23, 100, 0.23998824451588613, 0.08155558571285167),
        (11, 100, 0.1244274643007244, 0.06188550073007873),
    ],
)
def test_wilsons_interval_is_that_of_anonymeter(successes, trials, centre, half):
    # Expected values of anonymeter's own tests, printed with 3 decimals or all.
    estimate = wilson(successes, trials)
    digits = 5e-4 if trials == 1000 else 1e-14
    assert (estimate.low + estimate.high) / 2 == pytest.approx(centre, abs=digits)
    assert (estimate.high - estimate.low) / 2 == pytest.approx(half, abs=digits)
