"""Statistics games: exact answers give secrets away, noise hides them, and only an account keeps them hidden.

Seeds are fixed; where a rate over plays is asserted, its distance from what is expected is given in standard errors.
"""

import math

import numpy as np
import pandas as pd
import pytest

from attacks import Averaging, Differencing, Distinguishing, NotApplicable, Reconstruction, ValueClaims
from attacks.base.claims import Decisions
from attacks.statistics.query_budget import ask, even_share
from defenses import Curator, ExactCurator, Microdata, UnaccountedCurator
from defenses.base.queries import Mean
from metrics.domains import CategoricalDomain, NumericDomain
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


def rng(seed=0):
    return np.random.default_rng(seed)


def city(spending, high=2_000_000):
    return Microdata(
        pd.DataFrame({"spending": spending}), sensitive=("spending",), domains={"spending": NumericDomain(0, high)}
    )


def rate(defense, attack, game, plays, seed=0):
    return float(
        np.mean([play(defense, attack, game, rng(seed + number)).scores["disclosure"] for number in range(plays)])
    )


@pytest.fixture(scope="module")
def bits(bank):
    return SecretBits(records=bank, column="housing", category="yes", persons=60)


# The newcomer


def table():
    """100 residents who spend 10,000 on average, and a newcomer with whom the mean is 20,000."""
    residents = 10_000 + np.tile([-5000, 5000], 50)
    return city(np.append(residents, 1_020_000))


def test_the_newcomers_1_020_000():
    records = table()
    assert Mean("spending").exact(records) == 20_000
    game = Newcomer(records=records)
    secret = game.table(records)
    session = ExactCurator().apply(records, rng()).open(rng())
    claims = Differencing().run(session, secret.known, rng())
    assert claims.values["value"][0] == 1_020_000
    assert game.score(secret, None, claims, rng())["disclosure"] == 1


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_noise_hides_the_newcomer(epsilon):
    game = Newcomer(records=table())
    secret = game.table(table())
    hits = 0
    for seed in range(40):
        session = Curator(epsilon=epsilon).apply(secret.records, rng()).open(rng(seed))
        claims = Differencing().run(session, secret.known, rng())
        hits += game.right(claims.values["value"][0], 1_020_000)
    # The noise is hundreds of times wider than the tolerated 5 %, but claims are clipped to 0..2,000,000.
    assert hits <= 4


def test_city_scenario_finds_everybody_without_noise():
    game = Newcomer(records=load("city").records)
    outcome = play(ExactCurator(), Differencing(), game, rng())
    assert outcome.scores["disclosure"] == 1
    assert outcome.scores["disclosure_trials"] == 1
    assert outcome.utility["utility_answers"] == 1
    assert 0 < outcome.scores["disclosure_chance"] < 0.1


def test_best_guess():
    assert best_guess(np.array([10.0, 10.0, 11.0, 100.0]), 0.0) == 0.5
    assert best_guess(np.array([10.0, 10.0, 11.0, 100.0]), 0.05) == 0.75
    assert best_guess(np.array([0.0]), 0.5) == 1
    values = rng().lognormal(size=200)
    brute = max(np.mean(np.abs(values - guess) <= 0.1 * values + 1e-12) for guess in np.linspace(0.01, 3, 20_000))
    assert best_guess(values, 0.1) == pytest.approx(brute)


# The regular


@pytest.mark.parametrize("attack", [Differencing(), Averaging(repeats=2)])
def test_an_empty_shop_gives_its_regular_away(attack):
    game = VisitingHours(records=load("visits").records, crowd=0.0, weeks=1)
    assert rate(ExactCurator(), attack, game, 20) == 1


def test_noise_hides_the_regular():
    game = VisitingHours(records=load("visits").records, crowd=0.0)
    chance = play(ExactCurator(), Differencing(), game, rng()).scores["disclosure_chance"]
    # Three standard errors of a share of 60 above chance.
    assert rate(Curator(epsilon=0.1), Differencing(), game, 60) <= chance + 3 * math.sqrt(chance * (1 - chance) / 60)


# Averaging


def test_averaging_breaks_an_unaccounted_curator_and_no_accounted_one():
    game = VisitingHours(records=load("visits").records, crowd=0.0, weeks=1)
    # The noise of a difference has a standard deviation of 4; of the mean of 300, of 0.23.
    averaging = Averaging(repeats=300)
    assert rate(UnaccountedCurator(epsilon=1.0), Differencing(), game, 20) <= 0.6
    assert rate(UnaccountedCurator(epsilon=1.0), averaging, game, 5) == 1
    assert rate(Curator(epsilon=1.0), averaging, game, 40) <= 0.4


def test_noise_falls_with_the_root_of_the_questions():
    records = city(np.full(50, 40.0), 100)
    errors = {}
    for repeats in (1, 100):
        answers = []
        for seed in range(30):
            session = UnaccountedCurator(epsilon=1.0).apply(records, rng()).open(rng(seed))
            answers.append(np.mean([session.answer(Mean("spending")) for _ in range(repeats)]))
        errors[repeats] = np.std(answers)
    # Standard deviations of 30 draws of Laplace noise are off by about 20 %; three standard errors of the ratio: 60 %.
    assert 4 <= errors[1] / errors[100] <= 25


def test_a_spent_budget_is_used_as_far_as_it_goes():
    game = VisitingHours(records=load("visits").records, weeks=1)
    secret = game.draw(rng())
    session = Curator(epsilon=1e6, queries=4).apply(secret.records, rng()).open(rng())
    claims = Averaging(repeats=50).run(session, secret.known, rng())
    assert session.refused == 96
    assert claims.values["value"][0] is not None
    spent = Curator(epsilon=1.0, queries=1).apply(secret.records, rng()).open(rng())
    spent.answer(secret.known.targets[0].queries[0])
    assert even_share(spent, 2) is None
    assert ask(spent, secret.known.targets[0].queries[0], 1.0) is None
    claims = Averaging(repeats=2).run(spent, secret.known, rng())
    assert claims.values["value"][0] is None
    scores = game.score(secret, None, claims, rng())
    assert scores["disclosure"] == scores["answered"] == 0
    assert scores["precision"] is None


def test_who_is_not_answered_is_not_found(bits):
    secret = bits.draw(rng())
    truth = secret.truths[0]
    claims = ValueClaims(pd.DataFrame({"value": pd.Series([truth, 1 - secret.truths[1], *[None] * 58])}), np.ones(60))
    scores = bits.score(secret, None, claims, rng())
    assert scores["disclosure"] == 1 / 60
    assert scores["disclosure_trials"] == 60
    assert scores["answered"] == 2 / 60
    assert scores["precision"] == 1 / 2


# Reconstruction


@pytest.mark.parametrize("solver", ["least_squares", "linear_program"])
def test_reconstruction(bits, solver):
    attack = Reconstruction(solver=solver)
    assert rate(ExactCurator(), attack, bits, 3) >= 0.95
    assert rate(UnaccountedCurator(epsilon=1.0), attack, bits, 3) >= 0.95
    # 3 plays of 60 bits each at chance a half: three standard errors are 0.11; the larger share of bits is higher.
    assert rate(Curator(epsilon=0.1), attack, bits, 3) <= 0.62


@pytest.mark.parametrize("attack", [Differencing(), Averaging(repeats=2), Reconstruction()])
@pytest.mark.parametrize("query", ["Sum", "Mean"])
def test_sums_and_means_give_numbers_away(query, attack):
    game = SecretNumbers(records=load("bank").records, column="age", above=39.5, query=query, persons=60)
    outcome = play(ExactCurator(), attack, game, rng())
    assert outcome.scores["disclosure"] == 1
    assert outcome.utility["utility_answers"] == 1
    hidden = [play(Curator(epsilon=0.1), attack, game, rng(seed)).scores for seed in range(3)]
    # 3 plays of 60 at the larger side's share: three standard errors are 0.11.
    assert np.mean([scores["disclosure"] - scores["disclosure_chance"] for scores in hidden]) <= 0.11


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


def test_reconstruction_from_no_answer(bits):
    secret = bits.draw(rng())
    session = Curator(epsilon=1.0, queries=1).apply(secret.records, rng()).open(rng())
    session.answer(secret.known.targets[0].queries[0])
    claims = Reconstruction().run(session, secret.known, rng())
    assert claims.values["value"].isna().all()


@pytest.mark.parametrize("attack", [Differencing(), Averaging(repeats=1)])
def test_differences_give_every_bit(bits, attack):
    outcome = play(ExactCurator(), attack, bits, rng())
    assert outcome.scores["disclosure"] == 1
    assert outcome.scores["disclosure_trials"] == 60


def test_utility_falls_with_epsilon(bits):
    utility = [
        play(Curator(epsilon=epsilon), Differencing(), bits, rng()).utility["utility_answers"]
        for epsilon in (0.01, 1.0, 1000.0)
    ]
    assert utility[0] == 0
    assert utility[0] <= utility[1] < utility[2]
    assert utility[2] > 0.95


# Distinguishing


@pytest.mark.parametrize(("query", "column"), [("Sum", "spending"), ("Mean", "spending"), ("Histogram", "district")])
def test_distinguishing(query, column):
    game = Indistinguishability(records=load("city").records, column=column, query=query, challenges=200)
    exact = play(ExactCurator(), Distinguishing(runs=100), game, rng())
    assert exact.scores["distinguishing"] == 1
    assert exact.scores["epsilon_bound"] > 2
    hidden = play(Curator(epsilon=0.05), Distinguishing(runs=100), game, rng())
    # 200 challenges at a half (at most 0.513 under this epsilon): three standard errors are 0.106.
    assert hidden.scores["distinguishing"] <= 0.62
    assert hidden.scores["epsilon_bound"] <= 0.05


def test_distinguishing_bound_never_exceeds_the_claim():
    """Each bound holds with 99.9 %."""
    game = Indistinguishability(records=load("city").records, column="spending", challenges=600)
    outcome = play(Curator(epsilon=3.0), Distinguishing(runs=400), game, rng())
    assert 1 < outcome.scores["epsilon_bound"] <= 3
    assert outcome.scores["distinguishing"] > 0.6


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


def test_a_game_without_challenges_is_none_for_distinguishing(bits):
    secret = bits.draw(rng())
    with pytest.raises(NotApplicable, match="challenges"):
        Distinguishing().run(None, secret.known, rng())
    game = Newcomer(records=load("city").records)
    with pytest.raises(NotApplicable, match="groups"):
        play(ExactCurator(), Reconstruction(), game, rng())
    plain = Indistinguishability(records=load("city").records, column="spending").briefing(ExactCurator(), rng())
    with pytest.raises(NotApplicable, match="secret"):
        Differencing().run(None, plain, rng())


# Same seed, same result; bad input


@pytest.mark.parametrize("attack", [Differencing(), Averaging(repeats=2), Reconstruction(queries_per_person=1)])
def test_same_seed_same_result(bits, attack):
    assert play(Curator(), attack, bits, rng(3)) == play(Curator(), attack, bits, rng(3))


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
    assert outcome.scores["disclosure"] == outcome.scores["disclosure_chance"] == 1


@pytest.mark.parametrize("name", ["city-spending", "ramen-shop", "statistics", "statistics-sums", "statistics-means"])
def test_scenarios_read_and_play(name):
    plan = read_plan(name)
    assert any(entry.name == "ExactCurator" for entry in plan.defenses)
    assert any(entry.name == "UnaccountedCurator" for entry in plan.defenses)
    assert len({entry.method.epsilon for entry in plan.defenses if entry.name == "Curator"}) >= 3
    for entry in plan.attacks:
        assert plan.games[0].misfit(plan.defenses[0].method, entry.method) is None
    assert play(plan.defenses[0].method, plan.attacks[0].method, plan.games[0], rng()).scores["disclosure"] == 1
