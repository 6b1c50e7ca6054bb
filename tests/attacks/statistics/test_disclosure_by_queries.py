"""Membership inference from the histograms of a curator."""

import math

import numpy as np
import pytest
from membership_tools import mean_score
from playing_tools import scored
from statistics_tools import disclosure_rate, newcomer_table, rng

from attacks import Averaging, Differencing, HomerByQueries, Reconstruction
from attacks.base.attack import Knowledge, NotApplicable
from defenses import Curator, ExactCurator, UnaccountedCurator
from defenses.base.queries import Mean
from scenarios import Newcomer, StatisticsMembership, VisitingHours, load, play


def test_the_newcomers_1_020_000():
    records = newcomer_table()
    assert Mean("spending").exact(records) == 20_000
    game = Newcomer(records=records)
    secret = game.table(records)
    session = ExactCurator().apply(records, rng()).open(rng())
    claims = Differencing().run(session, secret.known, rng())
    assert claims.values["value"][0] == 1_020_000
    assert game.score(secret, None, claims, rng())["disclosure"].rate == 1


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_noise_hides_the_newcomer(epsilon):
    game = Newcomer(records=newcomer_table())
    secret = game.table(newcomer_table())
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
    assert outcome.scores["disclosure"].rate == 1
    assert outcome.scores["disclosure"].trials == 1
    assert outcome.utility["utility_answers"] == 1
    assert 0 < outcome.scores["disclosure"].chance < 0.1


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("attack", [Differencing(), Averaging(repeats=2)])
def test_an_empty_shop_gives_its_regular_away(attack):
    game = VisitingHours(records=load("visits").records, crowd=0.0, weeks=1)
    assert disclosure_rate(ExactCurator(), attack, game, 20) == 1


@pytest.mark.thorough
def test_noise_hides_the_regular():
    game = VisitingHours(records=load("visits").records, crowd=0.0)
    chance = scored(ExactCurator(), Differencing(), game, rng())["disclosure"].chance
    # Three standard errors of a share of 60 above chance.
    assert disclosure_rate(Curator(epsilon=0.1), Differencing(), game, 60) <= chance + 3 * math.sqrt(
        chance * (1 - chance) / 60
    )


@pytest.mark.parametrize("attack", [Differencing(), Averaging(repeats=1)])
def test_differences_give_every_bit(bits, attack):
    outcome = play(ExactCurator(), attack, bits, rng())
    assert outcome.scores["disclosure"].rate == 1
    assert outcome.scores["disclosure"].trials == 60


@pytest.mark.thorough
@pytest.mark.parametrize("solver", ["least_squares", "linear_program"])
def test_disclosure_by_queries(bits, solver):
    attack = Reconstruction(solver=solver)
    assert disclosure_rate(ExactCurator(), attack, bits, 3) >= 0.95
    assert disclosure_rate(UnaccountedCurator(epsilon=1.0), attack, bits, 3) >= 0.95
    # 3 plays of 60 bits each at chance a half: three standard errors are 0.11; the larger share of bits is higher.
    assert disclosure_rate(Curator(epsilon=0.1), attack, bits, 3) <= 0.62


def test_reconstruction_from_no_answer(bits):
    secret = bits.draw(rng())
    session = Curator(epsilon=1.0, queries=1).apply(secret.records, rng()).open(rng())
    session.answer(secret.known.targets[0].queries[0])
    claims = Reconstruction().run(session, secret.known, rng())
    assert claims.values["value"].isna().all()


@pytest.mark.parametrize("change", [{"queries_per_person": 0}, {"solver": "guess"}])
def test_bad_parameters_are_named(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        Reconstruction(**change)


@pytest.mark.thorough
def test_statistics_give_members_away_where_they_are_few():
    # Chance .5; over 4 plays of 50 members the standard error is .035; measured .75.
    game = StatisticsMembership(records=load("adult").records, members=50, held_out=0)
    assert mean_score(ExactCurator(), HomerByQueries(), game, plays=4) > 0.62


def test_a_curator_that_refuses_gives_nobody_away():
    from defenses.base.queries import BudgetSpent

    class Silent:
        remaining, refused = 0.0, 0

        def answer(self, query, epsilon=None):
            raise BudgetSpent("nothing is left")

    game = StatisticsMembership(records=load("adult").records, members=50, held_out=0)
    secret = game.draw(np.random.default_rng(0))
    knowledge = game.knowledge(secret, ExactCurator())
    assert set(HomerByQueries().run(Silent(), knowledge, np.random.default_rng(0)).scores) == {0.0}
    with pytest.raises(NotApplicable, match="people of its own"):
        HomerByQueries().run(
            Silent(), Knowledge(secret.candidates, secret.auxiliary.take([])), np.random.default_rng(0)
        )
    with pytest.raises(ValueError, match="age"):
        HomerByQueries().run(
            Silent(), Knowledge(secret.candidates.drop(columns="age"), secret.auxiliary), np.random.default_rng(0)
        )
