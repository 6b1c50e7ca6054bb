"""The advantage of the worst attack is not biased by the choice of the worst."""

import re
from dataclasses import replace

import numpy as np
import pytest

from leaderboard import (
    Result,
    Store,
    board_records,
    board_sections,
    history_of,
    history_report,
    matrix,
    rank,
    record_run,
    render_page,
    report_to_latex,
    report_to_markdown,
    report_to_terminal,
)
from leaderboard.statistics.board import cross_fitted_advantage
from leaderboard.statistics.pairs import Success
from metrics import Score

BOARDS = 1000


def successes(rates):
    return [Success("membership", tuple(row), trials=100, chance=0.5) for row in rates]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("plays", [5, pytest.param(20, marks=pytest.mark.long)])
def test_no_leakage_shows_no_advantage(plays):
    # Six attacks that guess. Five standard errors of the mean over the boards: false alarm below 1e-6.
    rng = np.random.default_rng(plays)
    boards = [successes(rng.binomial(100, 0.5, (6, plays)) / 100) for _ in range(BOARDS)]
    largest = np.array([max(one.advantage for one in board) for board in boards])
    fitted = np.array([cross_fitted_advantage(board)[0] for board in boards])
    assert largest.mean() > 0.02
    assert abs(fitted.mean()) < 5 * fitted.std() / np.sqrt(BOARDS) < 0.01


def test_a_clear_worst_attack_keeps_its_estimate():
    clear = successes([[0.9, 0.8, 0.85, 0.95], [0.5, 0.6, 0.4, 0.5]])
    assert cross_fitted_advantage(clear) == (clear[0].advantage, True)


def test_halves_that_disagree_judge_each_other():
    # Even plays name the first attack, odd plays the second; each is then taken from the other half.
    torn = successes([[0.9, 0.5, 0.9, 0.5], [0.5, 0.7, 0.5, 0.7]])
    assert cross_fitted_advantage(torn) == (pytest.approx(0), True)


@pytest.mark.parametrize("rates", [[[0.7], [0.6]], [[0.7, 0.7], [0.6]]])
def test_plays_that_cannot_be_split_leave_the_largest_estimate(rates):
    assert cross_fitted_advantage(successes(rates)) == (pytest.approx(0.4), False)


def trial(attack, play, rate, status="ok"):
    scores = {"membership": Score("membership", rate, 0.5, 100)} if status == "ok" else {}
    common = {"scenario": "bank", "defense": "Mondrian", "status": status}
    return Result(key=f"{attack} {play}", attack=attack, play=play, scores=scores, **common)


EQUAL = [trial(attack, play, rate) for attack, rate in (("A", 0.6), ("B", 0.7)) for play in range(3)]
ONE = [one for one in EQUAL if one.play == 0]
UNEQUAL = [replace(one, status="timeout", scores={}) if one.key == "A 2" else one for one in EQUAL]
UNMEASURED = [trial("Release", play, 0.7) for play in range(3)]


@pytest.mark.parametrize(
    ("results", "unbiased"), [(EQUAL, True), (ONE, False), (UNEQUAL, False), (UNMEASURED, True), (ONE[:1], True)]
)
def test_the_largest_advantage_is_marked_where_no_play_is_left_to_estimate_it(results, unbiased):
    rows = rank(results)
    assert rows[0].advantage_unbiased is unbiased
    writers = (report_to_terminal, report_to_markdown, report_to_latex)
    terminal, markdown, latex = (write(board_sections(rows)) for write in writers)
    page = render_page(rows, matrix(results), {}, {})
    for text in (terminal, markdown, latex, page):
        assert bool(re.search(r"\.[24]0 max\b", text)) is not unbiased
        assert ("largest advantage measured" in text) is not unbiased
    assert f'"advantage_unbiased": {str(unbiased).lower()}' in board_records(rows).json()
    assert board_records(rows).csv().splitlines()[1].endswith(f",{str(unbiased).lower()}")


def test_the_history_marks_the_largest_advantage(tmp_path):
    with Store(tmp_path / "one.db") as store:
        store.add(ONE)
        record_run(store, "2026-11-01T10:00:00+00:00", {"scenarios": ["bank"]}, [one.key for one in ONE])
        [section] = history_report(history_of(store, "Mondrian"))
    [table] = section.tables
    assert table.rows[0][table.columns.index("advantage")] == ".400 max"
    assert "largest advantage measured" in table.note
