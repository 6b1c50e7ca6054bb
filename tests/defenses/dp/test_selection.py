"""Private selection: the laws, epsilon, bounds and refusals of both mechanisms.

Statistical tests have fixed seeds; unless said otherwise the false-alarm probability of each is 1 in 10,000 seeds.
"""

import math

import numpy as np
import pytest
from chance_tools import ALARM, chi_square, rng

from defenses.dp import (
    Exponential,
    ReportNoisyMax,
)


@pytest.mark.parametrize("mechanism", [Exponential, ReportNoisyMax])
@pytest.mark.parametrize("scores", [[0.0, 1.0, 2.0, 3.0], [5.0], [1.0, 1.0], [0.0, -1e6, 0.5]])
@pytest.mark.parametrize("plays", [1000, pytest.param(8000, marks=pytest.mark.long)])
def test_selections_follow_their_law(mechanism, scores, plays):
    choose = mechanism(epsilon=1.5)
    generator = rng(20)
    observed = np.bincount([choose.release(scores, generator) for _ in range(plays)], minlength=len(scores))
    probabilities = choose.probabilities(scores)
    assert probabilities.sum() == pytest.approx(1)
    if len(scores) > 1:
        assert chi_square(observed, probabilities) > ALARM
    chosen = np.repeat(scores, observed)
    error = 4.5 * math.sqrt(choose.variance(scores) / plays) + 1e-9
    assert abs(chosen.mean() - max(scores) - choose.bias(scores)) < error


@pytest.mark.parametrize("mechanism", [Exponential, ReportNoisyMax])
def test_selections_keep_their_epsilon(mechanism):
    choose = mechanism(epsilon=0.7)
    generator = rng(21)
    for _ in range(200):
        scores = generator.integers(0, 6, 5).astype(float)
        moved = scores + generator.choice([-1.0, 1.0], 5)
        loss = np.log(choose.probabilities(scores) / choose.probabilities(moved))
        assert np.abs(loss).max() <= 0.7 + 1e-9


@pytest.mark.parametrize("mechanism", [Exponential, ReportNoisyMax])
def test_selection_bound_holds_at_its_rate(mechanism):
    choose = mechanism(epsilon=1.0)
    scores = np.linspace(0, 30, 40)
    bound = choose.error_bound(0.9, options=40)
    short = choose.probabilities(scores)[scores < scores.max() - bound].sum()
    assert short <= 0.1


@pytest.mark.parametrize("mechanism", [Exponential, ReportNoisyMax])
@pytest.mark.parametrize("bad", [[], [math.nan, 1.0], [math.inf], "ab", [[1.0]], 3.0])
def test_bad_scores_are_refused(mechanism, bad):
    with pytest.raises(ValueError, match=r"scores|value"):
        mechanism().release(bad, rng(1))


@pytest.mark.parametrize("mechanism", [Exponential, ReportNoisyMax])
def test_bad_runs_and_bad_bounds_are_refused(mechanism):
    choose = mechanism()
    for runs in (0, -1, 1.5, math.nan, True):
        with pytest.raises(ValueError, match="runs must"):
            choose.repeated([1.0, 2.0], runs, rng(1))
    for confidence in (0, 1, math.nan, "x"):
        with pytest.raises(ValueError, match="confidence"):
            choose.error_bound(confidence, options=2)
    with pytest.raises(ValueError, match="options must"):
        choose.error_bound(0.9, options=0)
    with pytest.raises(ValueError, match="best must be at most the 2 options, got 3"):
        choose.error_bound(0.9, options=2, best=3)
