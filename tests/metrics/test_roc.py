"""True positive rates at a given false positive rate."""

import numpy as np
import pytest

from metrics import pooled_true_positive_rate, true_positive_rate


def test_hand_made_scores():
    scores = [9, 8, 7, 6, 5, 4, 3]
    positive = [True, True, False, True, False, False, True]
    # Three negatives: ranks are f * 4; above the first negative stand 2 of 4, above the second 3, above the third 3.
    assert true_positive_rate(scores, positive, 0.25) == 0.5
    assert true_positive_rate(scores, positive, 0.5) == 0.75
    assert true_positive_rate(scores, positive, 0.75) == 0.75
    assert true_positive_rate(scores, positive, 0.375) == pytest.approx(0.625)
    assert true_positive_rate(scores, positive, 0.125) == pytest.approx(0.25)
    assert true_positive_rate(scores, positive, 0) == 0
    assert true_positive_rate(scores, positive, 1) == 1


@pytest.mark.parametrize("rate", [0, 0.01, 0.2, 0.5, 1])
def test_constant_scores_are_chance_exactly(rate):
    positive = np.arange(120) < 50
    assert true_positive_rate(np.zeros(120), positive, rate) == pytest.approx(rate)


def test_ties_are_averaged_over_their_orders():
    rng = np.random.default_rng(0)
    scores, positive = rng.integers(0, 4, 60).astype(float), rng.random(60) < 0.5
    broken = [true_positive_rate(scores + 1e-6 * rng.random(60), positive, 0.1) for _ in range(4000)]
    assert true_positive_rate(scores, positive, 0.1) == pytest.approx(np.mean(broken), abs=0.01)


def test_scores_without_content_have_no_bias():
    # 2,000 plays with 30 negatives: the mean's standard error is below .003; 4 of them fail once in 15,000 runs.
    rng = np.random.default_rng(1)
    positive = np.arange(60) < 30
    rates = [true_positive_rate(rng.random(60), positive, 0.1) for _ in range(2000)]
    assert np.mean(rates) == pytest.approx(0.1, abs=0.012)


def test_infinite_scores():
    assert true_positive_rate([np.inf, np.inf, -np.inf, -np.inf], [True, True, False, False], 0.5) == 1


@pytest.mark.parametrize(
    ("scores", "positive", "rate", "message"),
    [
        ([1, 2], [True, True], 0.1, "needs positives and negatives"),
        ([1, 2], [False, False], 0.1, "needs positives and negatives"),
        ([], [], 0.1, "needs positives and negatives"),
        ([np.nan, 1], [True, False], 0.1, "scores must not be NaN"),
        ([1, 2], [True, False], 1.1, r"false_positive_rate must lie in \[0, 1\], got 1\.1"),
        ([1, 2], [True, False], np.nan, r"false_positive_rate must lie in \[0, 1\], got nan"),
        ([1, 2, 3], [True, False], 0.1, "one-dimensional and of one length"),
    ],
)
def test_bad_input(scores, positive, rate, message):
    with pytest.raises(ValueError, match=message):
        true_positive_rate(scores, positive, rate)


def test_pooling_needs_ten_expected_false_positives():
    assert pooled_true_positive_rate([0.5, 0.7], [400, 400], 0.01) is None
    pooled = pooled_true_positive_rate([0.5, 0.7], [500, 500], 0.01)
    assert pooled.value == pytest.approx(0.6)
    assert pooled.low < 0.6 < pooled.high
