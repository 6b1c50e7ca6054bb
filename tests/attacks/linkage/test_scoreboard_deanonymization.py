"""Scoreboard de-anonymization: scores by hand, abstention, published rates, and bad input."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from playing_tools import scored
from rating_tools import DOMAINS, TABLE

from attacks import ScoreboardDeanonymization
from attacks.base.attack import Knowledge, NotApplicable
from defenses import (
    AdditiveNoise,
    Constant,
    GlobalRecoding,
    Identity,
    Microdata,
    MicrodataRelease,
    RecordReplacement,
    Sampling,
    Shuffle,
)
from scenarios import SparseRatings, load, play


def empty(**changes):
    return Microdata(TABLE.iloc[:0], quasi_identifiers=("rating", "day"), domains=DOMAINS, person="person", **changes)


def answers(known, frame=TABLE, auxiliary=None, **parameters):
    release = MicrodataRelease(frame, np.full(len(frame), -1))
    attack = ScoreboardDeanonymization(**parameters)
    people = empty() if auxiliary is None else auxiliary
    return attack.run(release, Knowledge(known, people), np.random.default_rng(0))


def test_scores_by_hand():
    known = pd.DataFrame({"person": [0, 0], "item": ["x", "y"], "rating": [5.0, 3.5], "day": [40.0, 20.0]})
    claims = answers(known, eccentricity=0.0)
    scores = dict(zip(claims.answer.tolist(), claims.score.tolist(), strict=True))
    weight = 1 / np.log(2)  # both films were rated by two people
    first = weight * (1 + np.exp(-1) + np.exp(-1) + 1)
    second = weight * (1 + np.exp(-260 / 30) + np.exp(-5) + np.exp(-380 / 30))
    assert scores == {0: pytest.approx(first), 1: pytest.approx(second)}
    # The lead in standard deviations of all three people's scores. The third person's score is 0.
    lead = (first - second) / np.std([first, second, 0.0])
    assert answers(known, eccentricity=lead * 0.999).best(np.random.default_rng(0)).tolist() == [0]
    assert answers(known, eccentricity=lead * 1.001).best(np.random.default_rng(0)).tolist() == [-1]


def test_dates_may_be_unknown_and_rare_items_weigh_more():
    known = pd.DataFrame({"person": [0, 1, 1], "item": ["x", "u|v", "x"], "rating": [5.0, 3.0, 5.0]})
    claims = answers(known, eccentricity=0.0, depth=1)
    assert claims.best(np.random.default_rng(0))[1] == 1
    assert set(claims.best(np.random.default_rng(0))) <= {0, 1}


def test_generalized_and_suppressed_cells():
    frame = TABLE.assign(
        item=["x", "*", "{x|y}", "y", r"u\|v", "z"],
        rating=["[4,5]", "*", "5", "1", "[2.5,3.5)", "2"],
        day=["[0,100]", "*", "300", "400", "*", "600"],
    )
    known = pd.DataFrame({"person": [0, 1], "item": ["x", "u|v"], "rating": [4.5, 3.0], "day": [50.0, 1.0]})
    claims = answers(known, frame, eccentricity=0.0)
    scores = {(int(t), int(a)): s for t, a, s in zip(claims.target, claims.answer, claims.score, strict=True)}
    assert scores == {(0, 0): pytest.approx(2 / np.log(2)), (1, 1): pytest.approx(2 / np.log(2))}


def test_it_abstains_if_no_item_is_shared():
    known = pd.DataFrame({"person": [0], "item": ["never released"], "rating": [5.0], "day": [1.0]})
    assert answers(known, eccentricity=0.0).best(np.random.default_rng(0)).tolist() == [-1]


def test_bad_input():
    known = pd.DataFrame({"person": [0], "item": ["x"], "rating": [5.0], "day": [1.0]})
    for column in ("person", "item", "rating"):
        with pytest.raises(ValueError, match=column):
            answers(known.drop(columns=column))
    with pytest.raises(ValueError, match="no rating is known"):
        answers(known.iloc[:0])
    with pytest.raises(NotApplicable, match="'item'"):
        answers(known, TABLE.drop(columns="item"))
    with pytest.raises(NotApplicable, match="whose row"):
        answers(known, auxiliary=Microdata(TABLE.iloc[:0], domains=DOMAINS))
    with pytest.raises(ValueError, match="day"):
        answers(known, TABLE.assign(day="some day"))
    assert answers(known, TABLE.iloc[:0], eccentricity=0.0).answers == 0
    assert answers(known.assign(rating=np.nan, day=np.nan), eccentricity=0.0).target.size == 0
    for change in ({"rating_scale": 0}, {"date_scale": float("nan")}, {"eccentricity": -1}, {"depth": 0}):
        with pytest.raises(ValueError, match=next(iter(change))):
            ScoreboardDeanonymization(**change)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 10))])
def test_movielens_as_published(seed):
    records = load("movielens").records
    assert records.frame["person"].nunique() == 671
    attack = ScoreboardDeanonymization()
    with_dates = SparseRatings(records=records, targets=300, known=8, wrong=2, days=14)
    without = SparseRatings(records=records, targets=300, known=8, wrong=0, dates=False)
    scores = scored(Identity(), attack, with_dates, np.random.default_rng(seed))
    assert scores["deanonymization"].rate >= 0.95
    assert scores.measures["wrong"] < 0.01
    scores = scored(Identity(), attack, without, np.random.default_rng(seed))
    assert scores["deanonymization"].rate >= 0.93
    assert scores.measures["wrong"] < 0.01
    assert scores["deanonymization"].trials == 300
    assert scores["deanonymization"].chance == 1 / 671


@pytest.mark.thorough
def test_success_falls_as_ratings_are_replaced(ratings):
    game = SparseRatings(records=ratings, targets=200)
    outcomes = [
        play(RecordReplacement(share=share), ScoreboardDeanonymization(), game, np.random.default_rng(0))
        for share in (0.0, 0.4, 0.7, 1.0)
    ]
    rates = [outcome.scores["deanonymization"].rate for outcome in outcomes]
    pairs = [outcome.utility["utility_pairs"] for outcome in outcomes]
    assert rates[0] > 0.97
    assert all(later < earlier - 0.1 for earlier, later in pairwise(rates))
    # 200 targets with chance level 1/300: the probability of five or more hits by chance is 1/1000.
    assert rates[-1] * 200 < 5
    assert pairs[0] == 1
    assert pairs[-1] < 0.1


@pytest.mark.thorough
def test_less_is_found_in_less(ratings):
    game = SparseRatings(records=ratings, targets=200)
    rate = {
        type(defense).__name__: scored(defense, ScoreboardDeanonymization(), game, np.random.default_rng(0))
        for defense in (Sampling(rate=0.1), AdditiveNoise(scale=1.0), GlobalRecoding(levels=2), Shuffle(), Constant())
    }
    assert rate["Sampling"]["deanonymization"].rate < 0.5
    assert rate["AdditiveNoise"]["deanonymization"].rate < 0.9
    assert rate["GlobalRecoding"]["deanonymization"].rate > 0.8
    # The columns of a row are no longer linked: 200 targets, chance level 1/300.
    assert rate["Shuffle"]["deanonymization"].rate * 200 < 5
    assert rate["Constant"]["deanonymization"].rate * 200 < 5
