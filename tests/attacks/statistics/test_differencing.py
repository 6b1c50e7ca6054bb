"""Differencing gives secrets away where answers are exact; noise hides them."""

import math

import pytest
from playing_tools import scored
from statistics_tools import disclosure_rate, newcomer_table, rng

from attacks import Averaging, Differencing
from defenses import Curator, ExactCurator
from defenses.base.queries import Mean
from scenarios import Newcomer, VisitingHours, load, play


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
