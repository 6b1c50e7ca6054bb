"""Statistics games: secrets, scores, utility and refusals.

Seeds are fixed; where a rate over plays is asserted, its distance from the expected value is given in standard errors.
"""

import math

import numpy as np
import pandas as pd
import pytest
from statistics_tools import rng

from attacks import Averaging, Differencing, Distinguishing, Reconstruction, ValueClaims
from attacks.base.claims import Decisions
from defenses import Curator, ExactCurator, Microdata
from defenses.base.queries import Mean
from metrics.domains import CategoricalDomain
from scenarios import (
    Indistinguishability,
    Newcomer,
    SecretBits,
    SecretNumbers,
    VisitingHours,
    load,
    play,
    read_plan,
)
from scenarios.games.newcomer import best_guess


@pytest.fixture(scope="module")
def bits(bank):
    return SecretBits(records=bank, column="housing", category="yes", persons=60)


def test_best_guess():
    assert best_guess(np.array([10.0, 10.0, 11.0, 100.0]), 0.0) == 0.5
    assert best_guess(np.array([10.0, 10.0, 11.0, 100.0]), 0.05) == 0.75
    assert best_guess(np.array([0.0]), 0.5) == 1
    values = rng().lognormal(size=200)
    brute = max(np.mean(np.abs(values - guess) <= 0.1 * values + 1e-12) for guess in np.linspace(0.01, 3, 20_000))
    assert best_guess(values, 0.1) == pytest.approx(brute)


def test_who_is_not_answered_is_not_found(bits):
    secret = bits.draw(rng())
    truth = secret.truths[0]
    claims = ValueClaims(pd.DataFrame({"value": pd.Series([truth, 1 - secret.truths[1], *[None] * 58])}), np.ones(60))
    scores = bits.score(secret, None, claims, rng())
    assert scores["disclosure"].rate == 1 / 60
    assert scores["disclosure"].trials == 60
    assert scores.measures["answered"] == 2 / 60
    assert scores.measures["precision"] == 1 / 2


@pytest.mark.parametrize("query", ["Sum", "Mean"])
def test_what_solves_for_a_sum_is_the_sum_of_the_numbers(query):
    game = SecretNumbers(records=load("bank").records, column="age", above=39.5, query=query, persons=5, workload=1)
    secret = game.draw(rng())
    group = np.array([True, False, True, True, False])
    total = secret.known.total(group)
    answer = total.queries[0].exact(secret.records)
    assert total.weights[0] * answer == pytest.approx(secret.records.frame["age"][group].sum())
    for person, target in enumerate(secret.known.targets):
        found = sum(w * q.exact(secret.records) for w, q in zip(target.weights, target.queries, strict=True))
        assert found == pytest.approx(secret.records.frame["age"][person])


def test_utility_falls_with_epsilon(bits):
    utility = [
        play(Curator(epsilon=epsilon), Differencing(), bits, rng()).utility["utility_answers"]
        for epsilon in (0.01, 1.0, 1000.0)
    ]
    assert utility[0] == 0
    assert utility[0] <= utility[1] < utility[2]
    assert utility[2] > 0.95


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
        (lambda r: Newcomer(records=r, column="district"), "column"),
        (lambda r: Newcomer(records=r, column="nothing"), "column"),
        (lambda r: Newcomer(records=r, residents=0), "residents"),
        (lambda r: Newcomer(records=r, residents=5000), "residents"),
        (lambda r: Newcomer(records=r, tolerance=math.nan), "tolerance"),
        (lambda r: VisitingHours(records=r, column="spending"), "column"),
        (lambda r: VisitingHours(records=r.take([]), column="district"), "no value"),
        (lambda r: VisitingHours(records=r, column="district", weeks=0), "weeks"),
        (lambda r: VisitingHours(records=r, column="district", crowd=math.inf), "crowd"),
        (lambda r: SecretBits(records=r, column="spending", category="yes"), "column"),
        (lambda r: SecretBits(records=r, column="district", category="moon"), "category"),
        (lambda r: SecretBits(records=r, column="district", category="east", persons=1), "persons"),
        (lambda r: SecretBits(records=r.take([0]), column="district", category="east", persons=2), "persons"),
        (lambda r: SecretBits(records=r, column="district", category="east", workload=0), "workload"),
        (lambda r: SecretNumbers(records=r, column="district", above=1), "column"),
        (lambda r: SecretNumbers(records=r, column="spending", above=math.nan), "above"),
        (lambda r: SecretNumbers(records=r, column="spending", above=1e9), "above"),
        (lambda r: SecretNumbers(records=r, column="spending", above=1, query="Median"), "query"),
        (lambda r: SecretNumbers(records=r, column="spending", above=1, persons=1), "persons"),
        (lambda r: SecretNumbers(records=r, column="spending", above=1, workload=0), "workload"),
        (lambda r: Indistinguishability(records=r, column="district", query="Sum"), "column"),
        (lambda r: Indistinguishability(records=r, column="nothing"), "column"),
        (lambda r: Indistinguishability(records=r, column="spending", query="Guess"), "query"),
        (lambda r: Indistinguishability(records=r, column="spending", size=6000), "size"),
        (lambda r: Indistinguishability(records=r, column="spending", challenges=1), "challenges"),
        (lambda r: Indistinguishability(records=r, column="spending", delta=1.0), "delta"),
        (lambda r: Indistinguishability(records=r, column="spending", confidence=math.nan), "confidence"),
        (lambda r: Averaging(repeats=0), "repeats"),
        (lambda r: Averaging(repeats=1.5), "repeats"),
        (lambda r: Reconstruction(queries_per_person=0), "queries_per_person"),
        (lambda r: Reconstruction(solver="guess"), "solver"),
        (lambda r: Distinguishing(runs=3), "runs"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ValueError, match=name):
        make(load("city").records)


def test_claims_are_checked(bits):
    secret = bits.draw(rng())
    with pytest.raises(TypeError, match="values"):
        bits.score(secret, None, Decisions(np.zeros(60)), rng())
    with pytest.raises(ValueError, match="persons"):
        bits.score(secret, None, ValueClaims(pd.DataFrame({"value": [1.0]}), np.ones(1)), rng())
    game = Indistinguishability(records=load("city").records, column="spending", challenges=4)
    with pytest.raises(TypeError, match="decisions"):
        game.score(game.draw(rng()), None, ValueClaims(pd.DataFrame({"value": [1.0]}), np.ones(1)), rng())
    with pytest.raises(ValueError, match="challenges"):
        game.score(game.draw(rng()), None, Decisions(np.zeros(3)), rng())


def test_a_shop_with_missing_hours_and_one_constant_hour():
    records = Microdata(
        pd.DataFrame({"hour": ["12:00", None, "12:00"]}), domains={"hour": CategoricalDomain(("11:00", "12:00"))}
    )
    outcome = play(ExactCurator(), Differencing(), VisitingHours(records=records), rng())
    assert outcome.scores["disclosure"].rate == outcome.scores["disclosure"].chance == 1


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
    assert play(plan.defenses[0].method, plan.attacks[0].method, plan.games[0], rng()).scores["disclosure"].rate == 1


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
    hidden = [
        play(Curator(epsilon=1.0), Differencing(), game, rng(seed)).scores["disclosure"].rate for seed in range(20)
    ]
    # The mean's noise of scale 2,000,000 / 101 / 0.5 moves the claim by millions: it hits within 5 % in few plays.
    assert np.mean(hidden) <= 0.3


def test_the_newcomer_may_be_the_last_record():
    records = load("x-city").records
    with pytest.raises(ValueError, match="newcomer must be drawn or last"):
        Newcomer(records=records, newcomer="first")
    fewer = Newcomer(records=records, residents=50, newcomer="last").draw(rng())
    assert fewer.truths.tolist() == [1_020_000]
    assert len(fewer.records) == 51


def test_the_ramen_shop_as_told_gives_the_hour_away_in_one_week():
    plan = read_plan("ramen-shop-told")
    (game,) = plan.games
    assert (game.weeks, game.crowd) == (1, 0.0)
    secret = game.draw(rng(1))
    # Only the regular visits the shop, once.
    assert len(secret.records) == 1
    assert secret.records.frame["hour"].tolist() == secret.truths.tolist()
    rates = [play(ExactCurator(), Differencing(), game, rng(seed)).scores["disclosure"].rate for seed in range(10)]
    assert rates == [1.0] * 10
    hidden = [
        play(Curator(epsilon=0.1), Differencing(), game, rng(seed)).scores["disclosure"].rate for seed in range(40)
    ]
    # 12 hours at epsilon 0.1: close to the best guess of 17 %; 5 standard errors of 40 plays.
    assert np.mean(hidden) <= 0.18 + 5 * np.sqrt(0.18 * 0.82 / 40)
