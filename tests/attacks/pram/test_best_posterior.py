"""The adversary with the exact posterior: its worst table, and wins at the rate of its posteriors."""

import numpy as np
import pytest
from pk_tools import game, played

from attacks import BestPosterior
from attacks.base.sides import column_matrix
from attacks.pram.best_posterior import most_informative_pair
from defenses import (
    OptimalRetentionWithPrior,
    RetentionReplacement,
)
from defenses.pram import pk
from scenarios.games.playing import play_alone
from scenarios.tables.seeds import generator


def test_the_worst_table_is_found_where_categories_are_not_alike():
    defense = OptimalRetentionWithPrior(prior={"x": [60, 30, 1]}, epsilon=1.0)
    rules = game(5, ("a", "b", "c"))
    secret, release, scores = play_alone(defense, BestPosterior(), rules, generator(1))
    matrix = column_matrix(release.channel, "x", rules.records.domain("x"))
    a, b, ratio = most_informative_pair(matrix)
    table = secret.records.frame["x"].tolist()
    assert table == ["abc"[a]] + ["abc"[b]] * 4
    assert scores.measures["bound"] == pytest.approx(1 / (1 + 4 / ratio)) == pytest.approx(1 / pk(matrix, 5))


@pytest.mark.long
@pytest.mark.parametrize(("k", "plays"), [(1.2, 100), pytest.param(2, 400, marks=pytest.mark.long)])
def test_best_posterior_wins_as_often_as_it_says(k, plays):
    # The mean posterior and the win rate differ by less than 4 standard errors: 1 in 16,000 for a random seed.
    summary = played(RetentionReplacement(k=k), BestPosterior(), 4, plays)
    assert summary.answered.value == 1.0
    assert abs(summary.win.value - summary.typical) < 4 * np.sqrt(0.25 / plays)
