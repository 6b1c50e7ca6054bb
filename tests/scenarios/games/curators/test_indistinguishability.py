"""The distinguishing game: neighbouring tables, the bound on epsilon, and refusals."""

import math

import numpy as np
import pandas as pd
import pytest
from statistics_tools import rng

from attacks import ValueClaims
from attacks.base.attack import Decisions
from defenses import ExactCurator
from scenarios import (
    Indistinguishability,
    load,
)


def test_neighbours_differ_in_one_record():
    game = Indistinguishability(records=load("city").records, column="spending", size=3, challenges=2)
    frame = pd.DataFrame({"spending": [1, 2, 3]})
    assert len(game.draw(rng(), (frame, frame)).records) == 3
    with pytest.raises(ValueError, match="one record"):
        game.draw(rng(), (frame, frame + 1))
    with pytest.raises(ValueError, match="rows"):
        game.draw(rng(), (frame.iloc[:2], frame.iloc[:2]))
    with pytest.raises(ValueError, match="column"):
        game.draw(rng(), (frame.rename(columns={"spending": "x"}), frame))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda r: Indistinguishability(records=r, column="district", query="Sum"), "column"),
        (lambda r: Indistinguishability(records=r, column="nothing"), "column"),
        (lambda r: Indistinguishability(records=r, column="spending", query="Guess"), "query"),
        (lambda r: Indistinguishability(records=r, column="spending", size=6000), "size"),
        (lambda r: Indistinguishability(records=r, column="spending", challenges=1), "challenges"),
        (lambda r: Indistinguishability(records=r, column="spending", delta=1.0), "delta"),
        (lambda r: Indistinguishability(records=r, column="spending", confidence=math.nan), "confidence"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make(load("city").records)


def test_bad_claims_are_refused():
    game = Indistinguishability(records=load("city").records, column="spending", challenges=4)
    with pytest.raises(TypeError, match="decisions"):
        game.score(game.draw(rng()), None, ValueClaims(pd.DataFrame({"value": [1.0]}), np.ones(1)), rng())
    with pytest.raises(ValueError, match="challenges"):
        game.score(game.draw(rng()), None, Decisions(np.zeros(3)), rng())


@pytest.fixture(scope="module")
def game():
    return Indistinguishability(records=load("city").records, column="spending", size=5, challenges=200)


def test_drawn_tables_differ_in_the_first_record_alone(game):
    secret = game.draw(rng(1))
    first, second = (table.frame["spending"].tolist() for table in (secret.records, secret.neighbour))
    assert first[1:] == second[1:]
    assert first[0] != second[0]
    assert secret.second.sum() == 100
    assert secret.second[:50].sum() not in (0, 50)


def test_scores_and_the_bound_on_epsilon_are_those_of_the_decisions(game):
    secret = game.draw(rng(2))
    right = game.score(secret, None, Decisions(np.where(secret.second, 1.0, -1.0)), rng())
    assert (right["distinguishing"].rate, right["distinguishing"].chance, right.measures["auc"]) == (1, 0.5, 1)
    # The error of 0.001 is shared by two events, and by two limits of each: a tail of 0.00025. All 100 challenges of
    # either table are right, so that p and 1 - q are at least tail^(1/100) (Clopper and Pearson).
    limit = (1e-3 / 4) ** (1 / 100)
    assert right.measures["epsilon_bound"] == pytest.approx(math.log(limit / (1 - limit)))
    wrong = game.score(secret, None, Decisions(np.where(secret.second, -1.0, 1.0)), rng())
    assert (wrong["distinguishing"].rate, wrong.measures["auc"], wrong.measures["epsilon_bound"]) == (0, 0, 0)
    silent = game.score(secret, None, Decisions(np.zeros(200)), rng())
    assert silent.measures["epsilon_bound"] == 0
    assert silent.measures["auc"] == 0.5


def test_missing_values_are_equal_to_each_other():
    game = Indistinguishability(records=load("city").records, column="spending", size=2, challenges=2)
    frame = pd.DataFrame({"spending": [np.nan, 1.0]})
    assert len(game.draw(rng(), (frame, frame)).records) == 2
    assert len(game.draw(rng(), (frame, pd.DataFrame({"spending": [np.nan, np.nan]}))).neighbour) == 2


def test_the_adversary_may_run_the_curator_on_either_table(game):
    secret = game.draw(rng(3))
    known = game.knowledge(secret, ExactCurator())
    (query,) = known.queries
    totals = [table.frame["spending"].sum() for table in (secret.records, secret.neighbour)]
    assert [known.practise(which, rng()).answer(query) for which in (0, 1)] == pytest.approx(totals)
    answers = np.array([challenge.answer(query) for challenge in known.challenges])
    assert answers == pytest.approx(np.where(secret.second, totals[1], totals[0]))
