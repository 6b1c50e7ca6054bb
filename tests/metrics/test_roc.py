"""True positive rates at a given false positive rate."""

import numpy as np
import pytest
from scipy.stats import beta, norm

from metrics import pooled_true_positive_rate, true_positive_rate
from metrics.ranking import resolves_rate


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


@pytest.mark.thorough
def test_ties_are_averaged_over_their_orders():
    rng = np.random.default_rng(0)
    scores, positive = rng.integers(0, 4, 60).astype(float), rng.random(60) < 0.5
    broken = [true_positive_rate(scores + 1e-6 * rng.random(60), positive, 0.1) for _ in range(4000)]
    assert true_positive_rate(scores, positive, 0.1) == pytest.approx(np.mean(broken), abs=0.01)


@pytest.mark.thorough
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


def pooled_by_brute_force(scores, positive, rate):
    """Share of all plays' positives above the negative of rank f (N + 1) among all plays' negatives."""
    negatives = np.sort(scores[~positive])[::-1]
    return np.mean(scores[positive] > negatives[round(rate * (negatives.size + 1)) - 1])


def expected_rate(negatives, rate, distance):
    """Mean of the rate of normal scores, whose threshold is an order statistic of the negatives, by quadrature."""
    rank = rate * (negatives + 1)
    shares = (np.arange(200_000) + 0.5) / 200_000
    means = [
        norm.sf(norm.isf(beta.ppf(shares, k, negatives + 1 - k)) - distance).mean() for k in (int(rank), int(rank) + 1)
    ]
    return means[0] + (rank - int(rank)) * (means[1] - means[0])


@pytest.mark.long_for("1-300-0.1", "20-300-0.1")
@pytest.mark.parametrize(
    ("negatives", "rate"),
    [(99, 0.01), pytest.param(500, 0.01, marks=pytest.mark.long), (1000, 0.001), (300, 0.1)],
)
@pytest.mark.parametrize(
    "distance", [pytest.param(0, marks=pytest.mark.long), 1, pytest.param(3, marks=pytest.mark.long), 20]
)
def test_plays_together_give_the_rate_of_pooled_scores(negatives, rate, distance):
    # Scores of one scale in all plays. Each rate fails by chance once in 150,000 runs, at 4.5 standard errors.
    rng = np.random.default_rng([negatives, distance])
    plays = 200
    positive = np.arange(2 * negatives) < negatives
    scores = rng.normal(size=(plays, 2 * negatives)) + distance * positive
    single = [true_positive_rate(row, positive, rate) for row in scores]
    pooled = pooled_true_positive_rate(single, [negatives] * plays, rate).value
    error = 4.5 * np.std(single, ddof=1) / np.sqrt(plays) + 1e-5
    assert pooled == pytest.approx(expected_rate(negatives, rate, distance), abs=error)
    # Averages of a concave curve lie below it, most at rank 1.
    brute = pooled_by_brute_force(scores.ravel(), np.tile(positive, plays), rate)
    assert brute - (0.085 if negatives * rate < 5 else 0.02) - error <= pooled <= brute + error


def test_no_rate_is_shown_where_it_would_be_capped():
    # 500 copies among 1,000 candidates: no score could give more than .501 at .1 %.
    positive = np.arange(1000) < 500
    assert true_positive_rate(positive, positive, 0.001) == pytest.approx(0.501)
    assert not resolves_rate(500, 0.001)
    assert pooled_true_positive_rate([0.501] * 40, [500] * 40, 0.001) is None
    assert resolves_rate(999, 0.001)
    assert pooled_true_positive_rate([1.0] * 40, [999] * 40, 0.001).value == 1
    # One play with too few negatives would pull the mean down.
    assert pooled_true_positive_rate([1.0] * 40, [*[999] * 39, 500], 0.001) is None
    assert all(resolves_rate(round(1 / rate) - 1, rate) for rate in (0.001, 0.01, 0.05, 0.1, 0.5))
