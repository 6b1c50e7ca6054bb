"""Student's t on few plays: false alarms and power by simulation, and which tests can reject at all."""

import numpy as np
import pytest
from scipy.special import stdtr
from scipy.stats import binom

from leaderboard.statistics.significance import (
    able_to_reject,
    holm,
    plays_for,
    signed_rank_floor,
    signed_rank_test,
    student_floor,
    student_test,
)

LEVELS = (1e-2, 1e-3, 1e-4)


def p_values(differences):
    """P-values of `student_test` without tolerance, for differences of shape (runs, plays)."""
    n = differences.shape[1]
    mean, deviation = differences.mean(axis=1), differences.std(axis=1, ddof=1) / np.sqrt(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(mean == 0, 1.0, 2 * stdtr(n - 1, -np.abs(mean) / deviation))
    return np.maximum(p, student_floor(n))


def rates(rng, rate, correlation, trials, shape):
    """Success rates of plays whose trials are correlated within a play (beta-binomial)."""
    if correlation == 0:
        return rng.binomial(trials, rate, shape) / trials
    strength = 1 / correlation - 1
    return rng.binomial(trials, rng.beta(rate * strength, (1 - rate) * strength, shape)) / trials


@pytest.mark.parametrize("plays", [2, 3, 4, 5, 8, 20])
def test_vectorized_p_values_are_those_of_the_test(plays):
    differences = np.random.default_rng(plays).normal(0.1, 0.1, (20, plays))
    for row, p in zip(differences, p_values(differences), strict=True):
        tested = student_test(row.mean(), row.std(ddof=1) / np.sqrt(plays), plays, 0.0, 0.01)
        assert tested.p == pytest.approx(p)


@pytest.mark.parametrize(
    "plays", [4, pytest.param(5, marks=pytest.mark.long), pytest.param(8, marks=pytest.mark.long), 20]
)
@pytest.mark.parametrize("correlation", [0, 0.2, 0.95])
@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("trials", [1, pytest.param(20, marks=pytest.mark.long), 400])
def test_equal_methods_raise_few_false_alarms(plays, correlation, rate, trials):
    rng = np.random.default_rng([plays, round(100 * correlation), round(100 * rate), trials])
    runs = 20_000
    base, head = (rates(rng, rate, correlation, trials, (runs, plays)) for _ in range(2))
    p = p_values(base - head)
    for level in LEVELS:
        # A test that rejects 1.3 times as often as its level exceeds this bound with probability 1e-6, in each of 324.
        assert (p <= level).sum() <= binom.isf(1e-6, runs, 1.3 * level)


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("plays", [4, 5, 8])
def test_the_floor_is_the_false_alarm_rate_of_all_or_nothing(plays):
    rng = np.random.default_rng(plays)
    runs = 400_000
    difference = rng.integers(0, 2, (runs, plays)) - rng.integers(0, 2, (runs, plays))
    alike = np.abs(difference.sum(axis=1)) == plays
    # With the floor's probability each, a count outside these bounds has probability 1e-6.
    low, high = binom.ppf([5e-7, 1 - 5e-7], runs, student_floor(plays))
    assert low <= alike.sum() <= high
    assert p_values(difference[alike]) == pytest.approx(student_floor(plays))


@pytest.mark.parametrize(
    ("plays", "measures", "gain", "power"),
    [(4, 1, 0.3, 0.5), (5, 5, 0.3, 0.5), (8, 60, 0.3, 0.9), (20, 600, 0.15, 0.9)],
)
def test_power(plays, measures, gain, power):
    # Rates of 100 rows; without the sign test's floor, 4 to 8 plays can alarm.
    rng = np.random.default_rng(plays)
    runs = 4000
    base, head = rng.binomial(100, 0.4, (runs, plays)) / 100, rng.binomial(100, 0.4 + gain, (runs, plays)) / 100
    assert (p_values(head - base) <= 0.01 / measures).mean() >= power
    assert signed_rank_floor(plays) > 0.01 / measures or plays == 20


def test_equal_moves_need_as_many_plays_as_their_evidence():
    for plays in (2, 4, 8):
        assert student_test(0.5, 0.0, plays, 0.0, 0.01).p == student_floor(plays) == 2 * 4.0**-plays
        assert student_test(0.5, 0.0, plays, 0.5, 0.01).p == 1
        assert student_test(0.5, 0.0, plays, 0.0, 0.01).smallest_p == student_floor(plays)
    assert signed_rank_test(np.full(6, 0.3), 0.0, 0.01).smallest_p == signed_rank_floor(6)


def test_tests_that_cannot_reject_need_no_correction():
    # At .01, the last can never reject; without it the others are corrected for three.
    assert able_to_reject([1e-9, 1e-4, 0.003, 0.02], 0.01).tolist() == [True, True, True, False]
    assert able_to_reject([0.5, 0.5], 0.01).tolist() == [False, False]
    assert able_to_reject([], 0.01).tolist() == []
    assert holm([0.002, 0.004, 0.02], 0.01) == [True, True, False]


def test_plays_for_every_measure():
    for measures in (["utility"] * 60, ["utility"] * 30 + ["time"] * 30, ["time"]):
        plays = plays_for(measures, 0.01)
        floor = signed_rank_floor if "time" in measures else student_floor
        assert floor(plays) * len(measures) <= 0.01 < floor(plays - 1) * len(measures)


@pytest.mark.parametrize(("plays", "level"), [(6, 0.01), (9, 0.2), (30, 0.05)])
def test_exchanging_the_two_runs_mirrors_the_interval_of_time_ratios(plays, level):
    ratios = np.random.default_rng(plays).normal(0.2, 0.5, plays)
    change, mirrored = (signed_rank_test(sign * ratios, 0.0, level) for sign in (1, -1))
    assert np.log1p(change.low) == pytest.approx(-np.log1p(mirrored.high))
    assert np.log1p(change.high) == pytest.approx(-np.log1p(mirrored.low))
    assert change.low < change.estimate < change.high
    # Six plays cannot exclude anything at .01, so that the interval reaches from the least ratio to the largest.
    if plays == 6:
        assert (change.low, change.high) == pytest.approx((np.expm1(ratios.min()), np.expm1(ratios.max())))
