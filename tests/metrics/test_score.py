"""Scores are checked, and advantage is 0 for guessing and 1 for certainty."""

import numpy as np
import pytest

from metrics import Score, Scores, advantage


@pytest.mark.parametrize("chance", [0.0, 0.005, 0.5, 0.9])
def test_advantage_is_anchored(chance):
    assert advantage(chance, chance) == 0
    assert advantage(1.0, chance) == 1
    assert advantage(0.0, chance) <= 0


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (("membership", 1.5, 0.5, 1), "rate of membership must lie between 0 and 1, got 1.5"),
        (("membership", -0.1, 0.5, 1), "rate of membership must lie between"),
        (("membership", 0.5, 2.0, 1), "chance of membership must lie between"),
        (("membership", float("nan"), 0.5, 1), "rate of membership must be finite"),
        (("membership", 0.5, float("inf"), 1), "chance of membership must be finite"),
        (("membership", 0.5, 0.5, -3), "trials of membership must not be negative"),
        (("membership", 0.5, 0.5, 1, -3), "control_trials of membership must not be negative"),
        (("membership", 0.5, 0.5, 1.5), "trials of membership must be an integer"),
        (("membership", 0.5, 0.5, None), "trials of membership must be a number"),
        (("membership", "high", 0.5, 1), "rate of membership must be a number, got str"),
        (("", 0.5, 0.5, 1), "goal must be a name"),
    ],
)
def test_scores_that_are_nonsense(values, says):
    with pytest.raises((TypeError, ValueError), match=says):
        Score(*values)


def test_numbers_of_numpy_become_plain_ones():
    score = Score("membership", np.float32(0.5), np.float64(0.25), np.int64(3), np.int64(4))
    assert {type(value) for value in (score.rate, score.chance)} == {float}
    assert {type(value) for value in (score.trials, score.control_trials)} == {int}


def test_nothing_to_find_out_has_no_advantage():
    assert Score("membership", None, 0.5, 0).advantage is None
    assert Score("membership", 1.0, 1.0, 3).advantage is None


def test_scores_are_found_by_goal():
    scores = Scores.of(Score("membership", 0.5, 0.5, 2), hits=0.1).with_measures(top3=None)
    assert scores["membership"].trials == 2
    assert scores.measures == {"hits": 0.1, "top3": None}
    with pytest.raises(KeyError):
        scores["reidentification"]
