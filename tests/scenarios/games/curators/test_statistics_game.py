"""Statistics games: secrets, scores, utility and refusals.

Seeds are fixed; where a rate over plays is asserted, its distance from the expected value is given in standard errors.
"""

import math

import numpy as np
import pandas as pd
import pytest
from playing_tools import scored
from statistics_tools import rng

from attacks import Differencing, ValueClaims
from attacks.base.attack import Decisions
from defenses import Curator, ExactCurator
from defenses.base.queries import Mean
from scenarios import (
    Newcomer,
    load,
    play,
    read_plan,
)
from scenarios.games.curators.statistics_game import best_guess


def test_who_is_not_answered_is_not_found(bits):
    secret = bits.draw(rng())
    truth = secret.truths[0]
    claims = ValueClaims(pd.DataFrame({"value": pd.Series([truth, 1 - secret.truths[1], *[None] * 58])}), np.ones(60))
    scores = bits.score(secret, None, claims, rng())
    assert scores["disclosure"].rate == 1 / 60
    assert scores["disclosure"].trials == 60
    assert scores.measures["answered"] == 2 / 60
    assert scores.measures["precision"] == 1 / 2


@pytest.mark.thorough
def test_utility_falls_with_epsilon(bits):
    utility = [
        play(Curator(epsilon=epsilon), Differencing(), bits, rng()).utility["utility_answers"]
        for epsilon in (0.01, 1.0, 1000.0)
    ]
    assert utility[0] == 0
    assert utility[0] <= utility[1] < utility[2]
    assert utility[2] > 0.95


def test_claims_are_checked(bits):
    secret = bits.draw(rng())
    with pytest.raises(TypeError, match="values"):
        bits.score(secret, None, Decisions(np.zeros(60)), rng())
    with pytest.raises(ValueError, match="persons"):
        bits.score(secret, None, ValueClaims(pd.DataFrame({"value": [1.0]}), np.ones(1)), rng())


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize(
    "name",
    ["city-spending", "x-city", "ramen-shop", "ramen-shop-told", "statistics", "statistics-sums", "statistics-means"],
)
def test_scenarios_read_and_play(name):
    plan = read_plan(name)
    assert any(entry.name == "ExactCurator" for entry in plan.defenses)
    assert any(entry.name == "UnaccountedCurator" for entry in plan.defenses)
    assert len({entry.method.epsilon for entry in plan.defenses if entry.name == "Curator"}) >= 3
    for entry in plan.attacks:
        assert plan.games[0].misfit(plan.defenses[0].method, entry.method) is None
    assert scored(plan.defenses[0].method, plan.attacks[0].method, plan.games[0], rng())["disclosure"].rate == 1


@pytest.mark.thorough
def test_best_guess():
    assert best_guess(np.array([10.0, 10.0, 11.0, 100.0]), 0.0) == 0.5
    assert best_guess(np.array([10.0, 10.0, 11.0, 100.0]), 0.05) == 0.75
    assert best_guess(np.array([0.0]), 0.5) == 1
    values = rng().lognormal(size=200)
    brute = max(np.mean(np.abs(values - guess) <= 0.1 * values + 1e-12) for guess in np.linspace(0.01, 3, 20_000))
    assert best_guess(values, 0.1) == pytest.approx(brute)


@pytest.mark.thorough
def test_city_x_has_the_numbers_of_the_story():
    plan = read_plan("x-city")
    (game,) = plan.games
    secret = game.draw(rng(3))
    residents = np.arange(101) < 100
    before, after = (Mean("spending", members=residents), Mean("spending"))
    # Ours, theirs: both means, and what follows from them.
    assert before.exact(secret.records) == 10_000
    assert after.exact(secret.records) == 20_000
    assert secret.truths.tolist() == [101 * 20_000 - 100 * 10_000] == [1_020_000]
    outcome = play(ExactCurator(), Differencing(), game, rng())
    assert outcome.scores["disclosure"].rate == 1
    hidden = [scored(Curator(epsilon=1.0), Differencing(), game, rng(seed))["disclosure"].rate for seed in range(20)]
    # The mean's noise of scale 2,000,000 / 101 / 0.5 moves the claim by millions: it hits within 5 % in few plays.
    assert np.mean(hidden) <= 0.3


def test_the_newcomer_may_be_the_last_record():
    records = load("x-city").records
    with pytest.raises(ValueError, match="newcomer must be drawn or last"):
        Newcomer(records=records, newcomer="first")
    fewer = Newcomer(records=records, residents=50, newcomer="last").draw(rng())
    assert fewer.truths.tolist() == [1_020_000]
    assert len(fewer.records) == 51


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda r: Newcomer(records=r, column="district"), "column"),
        (lambda r: Newcomer(records=r, column="nothing"), "column"),
        (lambda r: Newcomer(records=r, residents=0), "residents"),
        (lambda r: Newcomer(records=r, residents=5000), "residents"),
        (lambda r: Newcomer(records=r, tolerance=math.nan), "tolerance"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make(load("city").records)


@pytest.mark.parametrize("residents", [1, 7])
def test_two_means_determine_the_newcomers_value(residents):
    records = load("city").records
    game = Newcomer(records=records, residents=residents)
    secret = game.draw(rng(2))
    (target,) = secret.known.targets
    solved = sum(w * q.exact(secret.records) for w, q in zip(target.weights, target.queries, strict=True))
    assert solved == pytest.approx(secret.truths[0])
    assert secret.truths.tolist() == secret.records.frame["spending"].tolist()[-1:]
    assert len(secret.records) == residents + 1


def test_the_tolerance_is_relative():
    game = Newcomer(records=load("city").records, tolerance=0.1)
    assert game.right(110.0, 100.0)
    assert game.right(-90.0, -100.0)
    assert not game.right(110.1, 100.0)
    assert not game.right(0.1, 0.0)
    assert not game.right(math.nan, 100.0)
    exact = Newcomer(records=load("city").records, tolerance=0.0)
    assert exact.right(100.0, 100.0)
    assert not exact.right(100.0 + 1e-6, 100.0)
