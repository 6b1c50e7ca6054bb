"""Private selection: the laws, epsilon, bounds and refusals of both mechanisms.

Statistical tests have fixed seeds; unless said otherwise the false-alarm probability of each is 1 in 10,000 seeds.
"""

import math
from itertools import permutations

import numpy as np
import pytest
from chance_tools import ALARM, chi_square, rng

from defenses.dp import Exponential, ReportNoisyMax, selection


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


def test_mode_of_the_lecture():
    mechanism = Exponential(epsilon=0.1, sensitivity=1)
    assert mechanism.error_bound(1 - math.exp(-3), options=4) == pytest.approx(87.7, abs=0.05)
    # The second category is not chosen with 5 % but with 1.2 %.
    second = mechanism.probabilities([40_000, 39_912, 10_088, 10_000])[1]
    assert second == pytest.approx(0.012, abs=0.0005)


@pytest.mark.parametrize("scores", [[0.0, -1e300, 1e-300], [1.0] * 500, [*([0.0] * 3000), 40.0], [1e308, -1e308]])
def test_selection_is_drawn_for_any_scores(scores):
    generator = rng(23)
    for epsilon in (2.0**-20, 1.0, 2.0**20):
        assert 0 <= Exponential(epsilon=epsilon).release(scores, generator) < len(scores)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("sensitivity", [0.5, 1.0, 3.0])
def test_two_options_have_their_closed_form(epsilon, sensitivity):
    mechanism, gap = Exponential(epsilon=epsilon, sensitivity=sensitivity), 2.0
    best = 1 / (1 + math.exp(-epsilon * gap / (2 * sensitivity)))
    assert mechanism.probabilities([1.0 + gap, 1.0]) == pytest.approx([best, 1 - best])
    assert mechanism.bias([1.0 + gap, 1.0]) == pytest.approx(-gap * (1 - best))
    assert mechanism.variance([1.0 + gap, 1.0]) == pytest.approx(gap**2 * best * (1 - best))


def test_equal_scores_are_equally_likely_and_one_option_is_certain():
    mechanism = Exponential(epsilon=3.0)
    assert mechanism.probabilities([-7.0] * 5) == pytest.approx([0.2] * 5)
    assert mechanism.probabilities([1e9]) == pytest.approx([1])
    assert (mechanism.repeated([1e9], 20, rng(24)) == 0).all()
    assert (mechanism.bias([2.0]), mechanism.variance([2.0])) == (0, 0)


def test_a_shift_of_all_scores_changes_nothing():
    mechanism, scores = Exponential(epsilon=0.7), np.array([0.0, 3.0, 1.0])
    assert mechanism.probabilities(scores - 1e6) == pytest.approx(mechanism.probabilities(scores))
    assert (mechanism.repeated(scores, 50, rng(25)) == mechanism.repeated(scores + 1024, 50, rng(25))).all()


@pytest.mark.thorough
def test_runs_of_many_proposals_are_drawn_in_parts(monkeypatch):
    """A run makes one proposal or more; the parts give the same law as one draw."""
    monkeypatch.setattr("defenses.dp.selection.MOST_PROPOSALS", 8)
    mechanism, scores = Exponential(epsilon=2.0), [0.0, 1.0, 2.0, 3.0]
    observed = np.bincount(mechanism.repeated(scores, 4000, rng(26)), minlength=4)
    assert observed.sum() == 4000
    assert chi_square(observed, mechanism.probabilities(scores)) > ALARM


def test_options_of_the_best_score_fill_their_whole_range(monkeypatch):
    """Each option of weight 1 adds 2^GROUP_BITS to the range, a worse one its floor and one more."""
    asked = []
    monkeypatch.setattr(selection, "integer_below", lambda end, rng: asked.append(end) or 0)
    mechanism = Exponential(epsilon=2.0)
    assert mechanism.release_grouped([1.0, 1.0], np.array([1, 2]), rng()) == (0, 0)
    mechanism.release_grouped([1.0, 0.0], np.array([3, 1]), rng())
    whole, both = asked
    assert whole == 3 * 2**selection.GROUP_BITS
    # The rate is rounded down by up to a millionth.
    assert (both - whole - 1) / 2**selection.GROUP_BITS == pytest.approx(math.exp(-1), rel=1e-6)


def test_noisy_maximum_falls_short_of_no_exponential_mechanism():
    generator = rng(22)
    for _ in range(50):
        scores = generator.normal(size=6) * 3
        assert ReportNoisyMax().bias(scores) >= Exponential().bias(scores) - 1e-12


def permute_and_flip(scores, epsilon, sensitivity):
    """Law of permute-and-flip by enumeration: options in random order, each accepted with its own probability."""
    accept = np.exp(epsilon * (np.asarray(scores) - max(scores)) / (2 * sensitivity))
    law = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order in orders:
        rejected = 1.0
        for option in order:
            law[option] += rejected * accept[option] / len(orders)
            rejected *= 1 - accept[option]
    return law


@pytest.mark.parametrize("scores", [[0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 0.5], [4.0], [0.0, -50.0, 0.0, -1.0, -1.0]])
@pytest.mark.parametrize(("epsilon", "sensitivity"), [(0.1, 1.0), (1.5, 1.0), (6.0, 2.5)])
def test_probabilities_are_those_of_permute_and_flip(scores, epsilon, sensitivity):
    mechanism = ReportNoisyMax(epsilon=epsilon, sensitivity=sensitivity)
    assert mechanism.probabilities(scores) == pytest.approx(permute_and_flip(scores, epsilon, sensitivity))


def test_two_options_have_their_closed_form_of_report_noisy_max():
    # The worse of two options wins half of the times at which its coin of e^(-epsilon gap / 2) shows heads.
    mechanism, worse = ReportNoisyMax(epsilon=1.5), math.exp(-1.5 * 2.0 / 2) / 2
    assert mechanism.probabilities([3.0, 1.0]) == pytest.approx([1 - worse, worse])
    assert mechanism.bias([3.0, 1.0]) == pytest.approx(-2 * worse)
    assert mechanism.variance([3.0, 1.0]) == pytest.approx(4 * worse * (1 - worse))


def test_equal_scores_are_equally_likely():
    mechanism = ReportNoisyMax(epsilon=1.0)
    # The lattice of 2^-20 makes ties of noise rare; without it the first of equal options would win more often.
    assert chi_square(np.bincount(mechanism.repeated([2.0] * 3, 9000, rng(27))), np.full(3, 1 / 3)) > ALARM


def test_a_winner_by_far_always_wins():
    assert (ReportNoisyMax(epsilon=1.0).repeated([0.0, 1e9, 1.0], 100, rng(28)) == 1).all()
