"""The report game: scores, utility, draws and refusals."""

import numpy as np
import pandas as pd
import pytest
from report_tools import city_table

from attacks import RankedAnswers, ValueGuess
from defenses import LocalReports, Microdata, ReportsRelease
from defenses.base.hierarchy import TableHierarchy
from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios import Pool, Reports, play
from scenarios.games.reports import utility_frequencies
from scenarios.studies.emoji_measures import emoji
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


def test_pool_game_draws_whole_persons_apart(pools):
    secret = pools.draw(np.random.default_rng(0))
    assert np.bincount(secret.records.frame["person"]).tolist() == [32] * 200
    others = secret.auxiliary.frame["person"].nunique()
    assert others == 600
    assert (secret.auxiliary.frame["person"].value_counts() == 40).all()


def test_pool_game_refuses_bad_input():
    records = emoji(20, 4, np.random.default_rng(0))
    number = Microdata(
        pd.DataFrame({"person": [1, 1, 2], "age": [3, 4, 5]}), domains={"age": NumericDomain(0, 9)}, person="person"
    )
    frame = records.frame.copy()
    frame.loc[0, "emoji"] = None
    alike = records.frame.assign(emoji=records.frame["emoji"].iloc[0])
    for parameters, message in (
        ({"records": city_table(["Nara", "Uji"] * 9), "column": "city"}, "hierarchy"),
        ({"records": city_table(["Nara", "Uji"] * 9, person=None), "column": "city"}, "whose item"),
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


def test_claims_of_another_size_are_refused_of_pool(pools):
    rng = np.random.default_rng(0)
    secret = pools.draw(rng)
    release = LocalReports().apply(secret.records, rng)
    with pytest.raises(ValueError, match="the answers are about 3 persons"):
        pools.score(secret, release, RankedAnswers(3, 6, [0], [0], [1.0]), rng)
    with pytest.raises(TypeError, match="ranked answers"):
        pools.score(secret, release, object(), rng)


def test_the_preferred_pool_is_that_of_most_items():
    items = {"0": "aac", "1": "ccb", "2": "ddd", "3": "abb"}
    frame = pd.DataFrame([(person, item) for person, used in items.items() for item in used], columns=["who", "item"])
    records = Microdata(
        frame,
        identifiers=("who",),
        domains={"item": CategoricalDomain(tuple("abcd"))},
        hierarchies={"item": TableHierarchy([["a", "left"], ["b", "left"], ["c", "right"], ["d", "right"]])},
        person="who",
    )
    game = Pool(records=records, column="item", persons=3, reports=3)
    side = {"aac": "left", "bcc": "right", "ddd": "right", "abb": "left"}
    pools = set()
    for seed in range(5):
        secret = game.draw(np.random.default_rng(seed))
        reported = secret.records.frame.groupby("who")["item"].apply(lambda used: "".join(sorted(used)))
        pools |= {(side[used], int(pool)) for used, pool in zip(reported, secret.truths, strict=True)}
    # Either side has one number, and the two numbers differ.
    assert sorted(name for name, _ in pools) == ["left", "right"]
    assert len({pool for _, pool in pools}) == 2
    answers = RankedAnswers(3, 2, [0, 1, 2], secret.truths, np.ones(3))
    assert game.score(secret, None, answers, np.random.default_rng(0))["pool"].chance == 1 / 2


def test_scores_by_hand(pools):
    rng = np.random.default_rng(2)
    secret = pools.draw(rng)
    everybody = np.arange(200)
    right = RankedAnswers(200, 6, everybody, secret.truths, np.ones(200))
    scores = pools.score(secret, None, right, rng)
    assert (scores["pool"].rate, scores["pool"].trials, scores.measures["answered"]) == (1, 200, 1)
    half = RankedAnswers(200, 6, everybody[:100], secret.truths[:100], np.ones(100))
    scores = pools.score(secret, None, half, rng)
    assert (scores["pool"].rate, scores.measures["answered"]) == (0.5, 0.5)
    nobody = pools.score(secret, None, RankedAnswers(200, 6, [], [], []), rng)
    assert (nobody["pool"].rate, nobody.measures["answered"]) == (0, 0)


def test_the_adversary_knows_senders_and_all_other_people(pools):
    secret = pools.draw(np.random.default_rng(3))
    known = pools.knowledge(secret, LocalReports())
    assert list(known.candidates.columns) == ["person"]
    assert known.candidates["person"].tolist() == secret.records.frame["person"].tolist()
    assert len(known.auxiliary) == 600 * 40
    assert known.simulate is not None
