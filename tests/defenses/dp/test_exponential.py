"""The exponential mechanism: closed forms, extreme scores and refusals."""

import math

import numpy as np
import pytest
from chance_tools import ALARM, chi_square, rng

from defenses.dp import Exponential, exponential


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
    monkeypatch.setattr("defenses.dp.exponential.MOST_PROPOSALS", 8)
    mechanism, scores = Exponential(epsilon=2.0), [0.0, 1.0, 2.0, 3.0]
    observed = np.bincount(mechanism.repeated(scores, 4000, rng(26)), minlength=4)
    assert observed.sum() == 4000
    assert chi_square(observed, mechanism.probabilities(scores)) > ALARM


def test_options_of_the_best_score_fill_their_whole_range(monkeypatch):
    """Each option of weight 1 adds 2^GROUP_BITS to the range, a worse one its floor and one more."""
    asked = []
    monkeypatch.setattr(exponential, "integer_below", lambda end, rng: asked.append(end) or 0)
    mechanism = Exponential(epsilon=2.0)
    assert mechanism.release_grouped([1.0, 1.0], np.array([1, 2]), rng()) == (0, 0)
    mechanism.release_grouped([1.0, 0.0], np.array([3, 1]), rng())
    whole, both = asked
    assert whole == 3 * 2**exponential.GROUP_BITS
    # The rate is rounded down by up to a millionth.
    assert (both - whole - 1) / 2**exponential.GROUP_BITS == pytest.approx(math.exp(-1), rel=1e-6)
