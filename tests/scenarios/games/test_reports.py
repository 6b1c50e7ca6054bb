"""The report game: scores, utility, draws and refusals."""

import numpy as np
import pytest
from report_tools import city_table

from attacks import RankedAnswers, ValueGuess
from defenses import LocalReports, ReportsRelease
from scenarios import Reports, play
from scenarios.games.reports import utility_frequencies
from scenarios.tables.seeds import generator


def test_scores_and_utility(report_game):
    outcome = play(LocalReports(epsilon=1.0), ValueGuess(), report_game, generator(1, "play"))
    assert (set(outcome.scores.goals), set(outcome.scores.measures)) == ({"value"}, {"answered"})
    assert outcome.scores["value"].chance == pytest.approx(10_501 / 32_561)
    assert outcome.scores["value"].trials == 1000
    assert outcome.scores.measures["answered"] == 1.0
    assert set(outcome.utility) == {"utility_frequencies"}
    assert 0 <= outcome.utility["utility_frequencies"] <= 1
    same = play(LocalReports(epsilon=1.0), ValueGuess(), report_game, generator(1, "play"))
    assert same == outcome
    worth = [
        play(LocalReports(epsilon=level), ValueGuess(), report_game, generator(1, "play")).utility[
            "utility_frequencies"
        ]
        for level in (0.01, 2.0, 20.0)
    ]
    assert worth[0] < 0.2 < 0.5 < worth[1] < worth[2]
    assert worth[2] >= 0.999


def test_utility_is_anchored():
    class Exact:
        d = 3

        def estimate(self, reports):
            return np.asarray(reports, dtype=float)

    counts = np.array([6, 3, 0])

    def worth(*estimates):
        return utility_frequencies(ReportsRelease(estimates, Exact()), counts)

    assert worth([6, 3, 0]) == 1
    assert worth([3, 3, 3]) == 0
    assert worth([0, 0, 9]) == 0
    assert worth([8, 3, -2], [4, 3, 2]) == 1
    assert worth([4.5, 3, 1.5]) == pytest.approx(0.5)
    assert utility_frequencies(ReportsRelease(([1],), Exact()), np.array([2, 2, 2])) is None
    assert utility_frequencies(ReportsRelease(([1],), Exact()), np.zeros(3, dtype=int)) is None


def test_claims_of_another_size_are_refused(report_game):
    rng = np.random.default_rng(0)
    secret = report_game.draw(rng)
    release = LocalReports().apply(secret.records, rng)
    with pytest.raises(ValueError, match="the answers are about 3 persons"):
        report_game.score(secret, release, RankedAnswers(3, 16, [0], [0], [1.0]), rng)
    with pytest.raises(TypeError, match="ranked answers"):
        report_game.score(secret, release, object(), rng)


def test_report_game_refuses_bad_input():
    records = city_table(["Nara", "Uji", None] * 4)
    assert len(Reports(records=records, column="city", persons=8).draw(np.random.default_rng(0)).truths) == 8
    for parameters, message in (
        ({"column": "no such"}, "no released column"),
        ({"column": "person"}, "no released column"),
        ({"persons": 9}, "9 are needed, but only 8"),
        ({"persons": 0}, "persons"),
        ({"persons": np.nan}, "persons"),
        ({"auxiliary": -1}, "auxiliary"),
        ({"records": city_table(["Nara"] * 9)}, "fewer than two values"),
        ({"records": city_table([None] * 9)}, "are needed, but only 0"),
    ):
        with pytest.raises(ValueError, match=message):
            Reports(**{"records": records, "column": "city", "persons": 5, **parameters})
