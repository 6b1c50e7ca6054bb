"""The axis of the advantage."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.pages.advantage_axis import EDGE, SCALES, position, ticks

advantages = st.floats(-0.5, 1.0)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("scale", SCALES)
@given(one=advantages, other=advantages)
def test_a_larger_advantage_is_never_further_left_and_all_lie_on_the_axis(scale, one, other):
    low, high = (position(value, scale, 50, 900) for value in sorted((one, other)))
    assert 50 <= low <= high <= 900


def test_a_logit_axis_tells_large_advantages_apart_that_a_linear_one_piles_up():
    near_one = [0.9, 0.95, 0.98, 0.99]
    spread, linear = ([position(value, scale, 0, 800) for value in near_one] for scale in ("logit", "linear"))
    assert max(linear) - min(linear) < 80
    assert min(after - before for before, after in pairwise(spread)) > 60
    assert position(0.5, "logit", 0, 800) == 400
    assert position(EDGE, "logit", 0, 800) == position(0.0, "logit", 0, 800) == 0


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("width", [200, 290, 330, 900])
def test_labels_of_ticks_stand_side_by_side(scale, width):
    labels = ticks(scale, 40, 40 + width)
    assert len(labels) >= 5
    for (text, x), (after, beside) in pairwise(labels):
        assert beside - x > 6.7 * (len(text) + len(after)) / 2
