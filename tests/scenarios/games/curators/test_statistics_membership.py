"""Membership inference on statistics: draws, utility of histograms, what is known, and misfits."""

import numpy as np
import pytest

from attacks import HomerByQueries
from attacks.base.attack import NotApplicable
from defenses import Curator, ExactCurator, Identity
from scenarios import StatisticsMembership, load, play
from scenarios.games.playing import make_release
from scenarios.tables.seeds import generator


@pytest.fixture(scope="module")
def game():
    return StatisticsMembership(records=load("bank").records, members=20, auxiliary=30, held_out=10)


def test_exact_answers_are_worth_everything():
    game = StatisticsMembership(records=load("adult").records, members=50, held_out=0)
    outcome = play(ExactCurator(), HomerByQueries(), game, np.random.default_rng(0))
    assert outcome.utility["utility_answers"] == 1
    with pytest.raises(NotApplicable, match="statistics"):
        play(Identity(), HomerByQueries(), game, np.random.default_rng(0))


def test_half_of_the_candidates_are_members(game):
    secret = game.draw(generator(1))
    assert (len(secret.records), len(secret.candidates), len(secret.auxiliary)) == (20, 40, 30)
    members = secret.candidates[secret.member].sort_values(list(secret.candidates)).to_numpy()
    records = secret.records.frame[list(secret.candidates)].sort_values(list(secret.candidates)).to_numpy()
    assert (members == records).all()
    known = game.knowledge(secret, Curator(epsilon=1.0))
    assert known.candidates.equals(secret.candidates)
    assert known.simulate is None


def test_utility_falls_with_epsilon_and_is_the_same_at_every_measurement(game):
    secret = game.draw(generator(2))
    worth = []
    for epsilon in (1e-3, 20.0, 1e5):
        release, published = make_release(Curator(epsilon=epsilon), game, secret, generator(3))
        assert published is release
        first = game.utility(secret, release)
        assert game.utility(secret, release) == first
        worth.append(first["utility_answers"])
    assert worth[0] == 0 < worth[1] < worth[2] <= 1


def test_only_statistics_have_a_utility(game):
    secret = game.draw(generator(4))
    with pytest.raises(TypeError, match="publishes statistics, got a microdata release"):
        game.utility(secret, Identity().apply(secret.records, generator(4)))
