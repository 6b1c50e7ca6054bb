"""Time left of a run, by what each kind of result has cost so far."""

import pytest

from leaderboard import Result
from scenarios.running.display import TimeLeft


def result(defense, play, seconds):
    return Result(key="", scenario="s", defense=defense, play=play, attack="A", seconds=seconds)


def test_kinds_of_results_count_with_their_own_cost():
    pace = TimeLeft()
    assert pace.seconds(3.0, 4, 2) == 0
    pace.add([result("cheap", 0, 1.0)])
    # Only one of two kinds is known: the other is taken to cost as much. Two processes need half the time.
    assert pace.seconds(0.5, 3, 2) == pytest.approx(1.5)
    pace.add([result("dear", 0, 9.0)])
    assert pace.seconds(5.0, 2, 2) == pytest.approx(5.0)
    pace.add([result("cheap", 1, 1.0)])
    assert pace.seconds(5.5, 1, 2) == pytest.approx(4.5)


def test_results_without_a_cost_count_alike():
    pace = TimeLeft()
    pace.add([result("cheap", 0, 0.0), result("dear", 0, 0.0)])
    assert pace.seconds(4.0, 6, 2) == pytest.approx(12.0)


def test_a_run_that_goes_on_counts_only_what_it_plays():
    pace = TimeLeft()
    # Of ten plays eight were there, and of the ninth one kind.
    pace.add([result("dear", 8, 9.0)])
    assert pace.seconds(9.0, 2, 2) == pytest.approx(18.0)
    pace.add([result("cheap", 9, 1.0)])
    assert 4.0 < pace.seconds(10.0, 1, 2) < 9.1
