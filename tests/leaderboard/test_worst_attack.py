"""The advantage of the worst attack is not biased by the choice of the worst."""

import numpy as np
import pytest

from leaderboard.board import cross_fitted_advantage
from leaderboard.pairs import Success

BOARDS = 2000


def successes(rates):
    return [Success("membership", tuple(row), trials=100, chance=0.5) for row in rates]


@pytest.mark.parametrize("plays", [5, 20])
def test_no_leakage_shows_no_advantage(plays):
    # Six attacks that guess. Five standard errors of the mean over the boards: false alarm below 1e-6.
    rng = np.random.default_rng(plays)
    boards = [successes(rng.binomial(100, 0.5, (6, plays)) / 100) for _ in range(BOARDS)]
    largest = np.array([max(one.advantage for one in board) for board in boards])
    fitted = np.array([cross_fitted_advantage(board) for board in boards])
    assert largest.mean() > 0.02
    assert abs(fitted.mean()) < 5 * fitted.std() / np.sqrt(BOARDS) < 0.01


def test_a_clear_worst_attack_keeps_its_estimate():
    clear = successes([[0.9, 0.8, 0.85, 0.95], [0.5, 0.6, 0.4, 0.5]])
    assert cross_fitted_advantage(clear) == clear[0].advantage


def test_halves_that_disagree_judge_each_other():
    # Even plays name the first attack, odd plays the second; each is then taken from the other half.
    torn = successes([[0.9, 0.5, 0.9, 0.5], [0.5, 0.7, 0.5, 0.7]])
    assert cross_fitted_advantage(torn) == pytest.approx(0)


@pytest.mark.parametrize("rates", [[[0.7], [0.6]], [[0.7, 0.7], [0.6]]])
def test_plays_that_cannot_be_split_leave_the_largest_estimate(rates):
    assert cross_fitted_advantage(successes(rates)) == pytest.approx(0.4)
