"""The report game and the pool game: scores, utility, draws and refusals."""

import numpy as np
import pandas as pd
import pytest

from attacks import RankedAnswers, ValueGuess
from defenses import LocalReports, Microdata, ReportsRelease
from metrics.domains import CategoricalDomain, NumericDomain
from scenarios import Pool, Reports, play
from scenarios.experiments.emoji_population import emoji
from scenarios.games.report_utility import utility_frequencies
from scenarios.seeds import generator


@pytest.fixture(scope="module")
def game(adult):
    return Reports(records=adult, column="education")


@pytest.fixture(scope="module")
def pools():
    return Pool(records=emoji(800, 40, np.random.default_rng(0)), column="emoji", persons=200, reports=32)


def test_scores_and_utility(game):
    outcome = play(LocalReports(epsilon=1.0), ValueGuess(), game, generator(1, "play"))
    assert (set(outcome.scores.goals), set(outcome.scores.measures)) == ({"value"}, {"answered"})
    assert outcome.scores["value"].chance == pytest.approx(10_501 / 32_561)
    assert outcome.scores["value"].trials == 1000
    assert outcome.scores.measures["answered"] == 1.0
    assert set(outcome.utility) == {"utility_frequencies"}
    assert 0 <= outcome.utility["utility_frequencies"] <= 1
    same = play(LocalReports(epsilon=1.0), ValueGuess(), game, generator(1, "play"))
    assert same == outcome
    worth = [
        play(LocalReports(epsilon=level), ValueGuess(), game, generator(1, "play")).utility["utility_frequencies"]
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


def test_pool_game_draws_whole_persons_apart(pools):
    secret = pools.draw(np.random.default_rng(0))
    assert np.bincount(secret.records.frame["person"]).tolist() == [32] * 200
    others = secret.auxiliary.frame["person"].nunique()
    assert others == 600
    assert (secret.auxiliary.frame["person"].value_counts() == 40).all()


def test_claims_of_another_size_are_refused(game, pools):
    rng = np.random.default_rng(0)
    for one, short in ((game, RankedAnswers(3, 16, [0], [0], [1.0])), (pools, RankedAnswers(3, 6, [0], [0], [1.0]))):
        secret = one.draw(rng)
        release = LocalReports().apply(secret.records, rng)
        with pytest.raises(ValueError, match="the answers are about 3 persons"):
            one.score(secret, release, short, rng)
        with pytest.raises(TypeError, match="ranked answers"):
            one.score(secret, release, object(), rng)


def table(values, **more):
    frame = pd.DataFrame({"city": values, "person": np.arange(len(values)) // 2})
    domain = CategoricalDomain(("Nara", "Uji"))
    return Microdata(frame, identifiers=("person",), **{"domains": {"city": domain}, "person": "person", **more})


def test_report_game_refuses_bad_input():
    records = table(["Nara", "Uji", None] * 4)
    assert len(Reports(records=records, column="city", persons=8).draw(np.random.default_rng(0)).values) == 8
    for parameters, message in (
        ({"column": "no such"}, "no released column"),
        ({"column": "person"}, "no released column"),
        ({"persons": 9}, "9 are needed, but only 8"),
        ({"persons": 0}, "persons"),
        ({"persons": np.nan}, "persons"),
        ({"auxiliary": -1}, "auxiliary"),
        ({"records": table(["Nara"] * 9)}, "fewer than two values"),
        ({"records": table([None] * 9)}, "are needed, but only 0"),
    ):
        with pytest.raises(ValueError, match=message):
            Reports(**{"records": records, "column": "city", "persons": 5, **parameters})


def test_pool_game_refuses_bad_input():
    records = emoji(20, 4, np.random.default_rng(0))
    number = Microdata(
        pd.DataFrame({"person": [1, 1, 2], "age": [3, 4, 5]}), domains={"age": NumericDomain(0, 9)}, person="person"
    )
    frame = records.frame.copy()
    frame.loc[0, "emoji"] = None
    alike = records.frame.assign(emoji=records.frame["emoji"].iloc[0])
    for parameters, message in (
        ({"records": table(["Nara", "Uji"] * 9), "column": "city"}, "hierarchy"),
        ({"records": table(["Nara", "Uji"] * 9, person=None), "column": "city"}, "whose item"),
        ({"records": number, "column": "age"}, "hierarchy"),
        ({"records": records.with_frame(frame)}, "missing"),
        ({"records": records.with_frame(alike)}, "fewer than two pools"),
        ({"records": records.take([])}, "fewer than two pools"),
        ({"persons": 20}, "there are 20"),
        ({"reports": 5}, "there are 0"),
        ({"persons": 0}, "persons"),
        ({"reports": np.nan}, "reports"),
    ):
        with pytest.raises(ValueError, match=message):
            Pool(**{"records": records, "column": "emoji", "persons": 5, "reports": 2, **parameters})
