"""Selections, sparse vectors and randomized response: their laws and refusals.

Statistical tests have fixed seeds; unless said otherwise each raises a false alarm once in 10,000 seeds.
"""

import math

import numpy as np
import pytest
from chance_tools import ALARM, chi_square, rng
from scipy import stats

from defenses.base.queries import BudgetSpent
from defenses.dp import (
    Exponential,
    RandomizedResponse,
    ReportNoisyMax,
    SparseVector,
)

# Selections


@pytest.mark.parametrize("mechanism", [Exponential, ReportNoisyMax])
@pytest.mark.parametrize("scores", [[0.0, 1.0, 2.0, 3.0], [5.0], [1.0, 1.0], [0.0, -1e6, 0.5]])
def test_selections_follow_their_law(mechanism, scores):
    choose = mechanism(epsilon=1.5)
    generator = rng(20)
    observed = np.bincount([choose.release(scores, generator) for _ in range(8_000)], minlength=len(scores))
    probabilities = choose.probabilities(scores)
    assert probabilities.sum() == pytest.approx(1)
    if len(scores) > 1:
        assert chi_square(observed, probabilities) > ALARM
    chosen = np.repeat(scores, observed)
    error = 4.5 * math.sqrt(choose.variance(scores) / 8_000) + 1e-9
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


def test_noisy_maximum_falls_short_of_no_exponential_mechanism():
    generator = rng(22)
    for _ in range(50):
        scores = generator.normal(size=6) * 3
        assert ReportNoisyMax().bias(scores) >= Exponential().bias(scores) - 1e-12


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


# The sparse vector technique, randomized response


def test_sparse_vector_stops_and_then_refuses():
    stream = SparseVector(epsilon=20.0, threshold=100.0, count=2).start(rng(30))
    assert [stream.above(value) for value in (0.0, 200.0, 0.0, 200.0)] == [False, True, False, True]
    with pytest.raises(BudgetSpent):
        stream.above(0.0)
    answers = SparseVector(epsilon=20.0, threshold=100.0, count=2).release(
        [0.0, 200.0, 0.0, 200.0, 0.0, 200.0], rng(30)
    )
    assert answers.tolist() == [False, True, False, True]


def test_sparse_vector_bound_holds_at_its_rate():
    mechanism = SparseVector(epsilon=1.0, threshold=0.0, count=1)
    bound = mechanism.error_bound(0.9, values=10)
    generator = rng(31)
    low = np.full(10, -bound)
    wrong = sum(mechanism.release(low, generator).any() for _ in range(2000))
    wrong_high = sum(not mechanism.release([bound], generator)[0] for _ in range(2000))
    assert wrong <= stats.binom.isf(ALARM, 2000, 0.1)
    assert wrong_high <= stats.binom.isf(ALARM, 2000, 0.1)


def test_sparse_vector_keeps_its_epsilon_on_a_worst_stream():
    # Values fall by 1 for "below" and rise by 1 for "above": the stream (no, no, yes) has the largest loss.
    mechanism = SparseVector(epsilon=2.0, threshold=0.0, count=1)
    generator = rng(32)

    def rate(values):
        return np.mean([mechanism.release(values, generator).tolist() == [False, False, True] for _ in range(4_000)])

    assert 0.2 < math.log(rate([0.0, 0.0, 1.0]) / rate([1.0, 1.0, 0.0])) < 2.0


@pytest.mark.parametrize("bad", [math.nan, math.inf, "1", None])
def test_bad_thresholds_and_values_are_refused(bad):
    with pytest.raises(ValueError, match="threshold"):
        SparseVector(threshold=bad)
    with pytest.raises(ValueError, match="value"):
        SparseVector().start(rng(1)).above(bad)


@pytest.mark.parametrize("d", [2, 5])
def test_randomized_response_is_unbiased_on_theory_and_within_its_bound(d):
    mechanism = RandomizedResponse(epsilon=1.0, d=d)
    truth = np.repeat(np.arange(d), np.arange(1, d + 1) * 200)
    shares = np.bincount(truth) / truth.size
    generator = rng(33)
    estimates = np.array([mechanism.estimate(mechanism.release(truth, generator)) for _ in range(1000)])
    errors = estimates - np.bincount(truth)
    variance = mechanism.variance(truth.size, shares)
    assert (np.abs(errors.mean(axis=0)) < 4.5 * np.sqrt(variance / 1000)).all()
    assert np.allclose((errors**2).mean(axis=0) / variance, 1, atol=4.5 * math.sqrt(2 / 1000))
    outside = (np.abs(errors[:, 0]) > mechanism.error_bound(0.9, truth.size)).sum()
    assert outside <= stats.binom.isf(ALARM, 1000, 0.1)
    p, q = mechanism.probabilities
    assert p / q == pytest.approx(math.e)


@pytest.mark.parametrize("bad", [2, -1, 0.5, math.nan, "a"])
def test_randomized_response_refuses_what_is_no_category(bad):
    with pytest.raises(ValueError, match="value"):
        RandomizedResponse(d=2).release(bad, rng(1))
    with pytest.raises(ValueError, match=r"reports|value"):
        RandomizedResponse(d=2).estimate([0, 1, bad])
    with pytest.raises(ValueError, match="reports"):
        RandomizedResponse(d=2).estimate([])
