"""The summary of many plays of the Pk-anonymity game: shares, posteriors and refusals."""

import pytest

from metrics.estimate import wilson
from scenarios import summarize_pk


def measures(win, answered, posterior, bound=0.5):
    return {"win": win, "answered": answered, "posterior": posterior, "bound": bound}


def test_shares_and_posteriors_by_hand():
    plays = [measures(1.0, 1.0, 0.5), measures(0.0, 1.0, 0.4), measures(0.0, 0.0, 0.3), measures(0.0, 0.0, 0.2, 0.6)]
    summary = summarize_pk(plays)
    assert (summary.win, summary.answered, summary.win_answered) == (wilson(1, 4), wilson(2, 4), wilson(1, 2))
    assert summary.win.value == 1 / 4
    assert (summary.worst, summary.typical, summary.bound) == pytest.approx((0.5, 0.35, 0.6))


def test_an_adversary_who_never_answers_has_no_share_of_correct_answers():
    summary = summarize_pk([measures(0.0, 0.0, 0.25)] * 3)
    assert summary.win_answered is None
    assert (summary.win.value, summary.answered.value) == (0, 0)


def test_missing_counts_are_none_and_missing_bounds_are_zero():
    summary = summarize_pk([measures(None, None, 0.25, None)])
    assert (summary.win.value, summary.answered.value, summary.bound) == (0, 0, 0)


@pytest.mark.parametrize("plays", [[], [measures(1.0, 1.0, None)], [measures(1.0, 1.0, 0.5), measures(0.0, 0.0, None)]])
def test_plays_without_a_posterior_are_refused(plays):
    with pytest.raises(ValueError, match="plays: at least one is needed, and each must have a posterior"):
        summarize_pk(plays)
