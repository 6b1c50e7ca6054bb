"""The game on sparse ratings: what is known, pseudonyms, scores by hand, and refusals."""

import numpy as np
import pandas as pd
import pytest
from rating_tools import DOMAINS, TABLE

from attacks import Decisions, NearestNeighbour, RankedAnswers, ScoreboardDeanonymization
from attacks.base.attack import NotApplicable
from defenses import (
    Identity,
    Microdata,
    MicrodataRelease,
)
from scenarios import SparseRatings, play


def test_what_is_known_is_as_described(ratings):
    game = SparseRatings(records=ratings, targets=100, known=6, wrong=2, days=5)
    secret = game.draw(np.random.default_rng(0))
    known = secret.known
    assert known["person"].value_counts().tolist() == [6] * 100
    own = [
        set(zip(frame["item"], frame["rating"], strict=True))
        for _, frame in ratings.frame.groupby(pd.factorize(ratings.frame["person"], sort=True)[0])
    ]
    for number, group in known.groupby("person"):
        mine = own[secret.targets[number]]
        right = [pair in mine for pair in zip(group["item"], group["rating"], strict=True)]
        assert right == [False, False, True, True, True, True]
        assert not {item for item, _ in mine} & set(group["item"][:2])
    true = known.iloc[2:6].merge(ratings.frame[secret.person == secret.targets[0]], on=["item", "rating"])
    assert (true["day_x"] - true["day_y"]).abs().max() <= 5
    assert "day" not in SparseRatings(records=ratings, targets=5, dates=False).draw(np.random.default_rng(0)).known


@pytest.mark.thorough
def test_pseudonyms_are_uninformative_and_seeds_reproduce_draws(ratings):
    game = SparseRatings(records=ratings, targets=50)
    release = Identity().apply(ratings, np.random.default_rng(0))
    published = game.publish(release, np.random.default_rng(0))
    assert sorted(published.frame["person"].unique()) == list(range(300))
    assert set(release.frame["person"]).isdisjoint(published.frame["person"].astype(str))
    first, second = (play(Identity(), ScoreboardDeanonymization(), game, np.random.default_rng(3)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"targets": 0}, "targets"),
        ({"targets": 301}, "targets"),
        ({"known": 0}, "known"),
        ({"known": 2, "wrong": 3}, "wrong"),
        ({"days": float("nan")}, "days"),
        ({"days": -1}, "days"),
        ({"dates": 1}, "dates"),
        ({"item": "film"}, "item"),
        ({"rating": "item"}, "rating"),
        ({"attacker_knows": "all"}, "attacker_knows"),
    ],
)
def test_bad_parameters(ratings, change, word):
    with pytest.raises(ValueError, match=word):
        SparseRatings(records=ratings, **{"targets": 50, **change})


def test_bad_games(ratings):
    with pytest.raises(ValueError, match="whose row"):
        SparseRatings(records=Microdata(ratings.frame, domains=ratings.domains), targets=5)
    small = Microdata(TABLE[TABLE["person"] != "c"], domains=DOMAINS, person="person")
    everything = SparseRatings(records=small.take([0, 1, 2, 3]), targets=1, known=2, wrong=1)
    with pytest.raises(ValueError, match="nearly every item"):
        everything.draw(np.random.default_rng(0))
    game = SparseRatings(records=ratings, targets=50)
    secret = game.draw(np.random.default_rng(0))
    published = game.publish(Identity().apply(ratings, np.random.default_rng(0)), np.random.default_rng(0))
    with pytest.raises(TypeError, match="ranked answers"):
        game.score(secret, published, Decisions(np.zeros(50)), np.random.default_rng(0))
    with pytest.raises(NotApplicable, match="deanonymization"):
        play(Identity(), NearestNeighbour(), game, np.random.default_rng(0))


def test_a_pseudonym_belongs_to_whom_most_of_its_rows_stem_from():
    records = Microdata(TABLE, domains=DOMAINS, person="person")
    game = SparseRatings(records=records, targets=2, known=2, wrong=0)
    secret = game.draw(np.random.default_rng(1))
    # Only a and b have two ratings.
    assert sorted(secret.targets) == [0, 1]
    # Rows 0 and 1 are a's, rows 2 to 4 are b's, and row 5 is c's; the second pseudonym has two rows of b and one of a.
    frame = TABLE.assign(person=[1, 0, 1, 1, 2, 2])
    published = MicrodataRelease(frame, np.arange(6))
    owner = {0: 0, 1: 1}
    right = [{person: pseudonym for pseudonym, person in owner.items()}[target] for target in secret.targets]
    scores = game.score(secret, published, RankedAnswers(2, 3, [0, 1], right, [1.0, 1.0]), np.random.default_rng(1))
    assert (scores["deanonymization"].rate, scores["deanonymization"].chance) == (1, 1 / 3)
    assert (scores.measures["wrong"], scores.measures["answered"]) == (0, 1)
    half = RankedAnswers(2, 3, [0], [2], [1.0])
    scores = game.score(secret, published, half, np.random.default_rng(1))
    assert (scores["deanonymization"].rate, scores.measures["wrong"], scores.measures["answered"]) == (0, 0.5, 0.5)
    with pytest.raises(ValueError, match="3 people and 3 pseudonyms, but there are 2 and 3"):
        game.score(secret, published, RankedAnswers(3, 3, [], [], []), np.random.default_rng(1))
    # A release without the column of persons has one pseudonym.
    alone = MicrodataRelease(TABLE.drop(columns="person"), np.arange(6))
    nobody = game.score(secret, alone, RankedAnswers(2, 1, [], [], []), np.random.default_rng(1))
    assert nobody.measures["answered"] == 0
