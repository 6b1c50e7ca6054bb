"""Repetitions of the defense on the attacker's own people."""

import numpy as np
import pandas as pd
import pytest
from playing_tools import secret_of

from attacks import DensityRatioMembership, DistanceToClosestRecord, Knowledge
from attacks.base.simulation import simulation
from defenses import Mondrian, RetentionReplacement
from scenarios import MemberQuestion, RowQuestion, SharedPeople, load
from scenarios.games.playing import attack_release, make_release


@pytest.fixture(scope="module")
def game():
    return SharedPeople(records=load("bank").records, question=MemberQuestion(), originals=40, others=40, auxiliary=90)


def knowledge_of(game, secret, published, defense):
    return game.view(published, np.random.default_rng(0)), game.knowledge(secret, defense)


def drawn(game, defense, seed=1):
    secret = secret_of(game, np.random.default_rng(seed))
    return secret, make_release(defense, game, secret, np.random.default_rng(seed))[1]


@pytest.mark.thorough
def test_attacks_on_one_release_share_a_simulation(game):
    defense = Mondrian(k=3)
    secret, published = drawn(game, defense)
    first = simulation(*knowledge_of(game, secret, published, defense), 40, 0)
    assert simulation(*knowledge_of(game, secret, published, Mondrian(k=3)), 40, 0) is first
    rows = SharedPeople(records=game.records, question=RowQuestion(), originals=40, others=40, auxiliary=90)
    assert simulation(*knowledge_of(rows, secret, published, defense), 40, 0) is first


@pytest.mark.thorough
def test_numbers_rows_and_releases_draw_anew(game):
    defense = RetentionReplacement(retention=0.5)
    secret, published = drawn(game, defense)
    view = knowledge_of(game, secret, published, defense)
    first, second, fewer = simulation(*view, 40, 0), simulation(*view, 40, 1), simulation(*view, 10, 0)
    assert len(first.release.frame) == 40
    assert len(fewer.release.frame) == 10
    assert not first.release.frame.equals(second.release.frame)
    other_secret, other = drawn(game, defense, seed=2)
    other_view = game.view(other, np.random.default_rng(0)), game.knowledge(secret, defense)
    assert not (simulation(*other_view, 40, 0).order == first.order).all()
    assert other_secret is not secret


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("change", ["people", "mechanism"])
def test_other_people_or_another_mechanism_get_no_stale_simulation(game, change):
    defense = RetentionReplacement(retention=0.5)
    secret, published = drawn(game, defense)
    view, knowledge = knowledge_of(game, secret, published, defense)
    first = simulation(view, knowledge, 40, 0)
    if change == "people":
        knowledge = Knowledge(knowledge.candidates, knowledge.auxiliary.take(np.arange(50)), knowledge.simulate)
    else:
        knowledge = game.knowledge(secret, RetentionReplacement(retention=0.6))
    assert simulation(view, knowledge, 40, 0) is not first


def test_released_people_are_the_first_in_order(game):
    defense = RetentionReplacement(retention=1.0)
    secret, published = drawn(game, defense)
    view, knowledge = knowledge_of(game, secret, published, defense)
    one = simulation(view, knowledge, 30, 0)
    assert sorted(one.release.origin) == list(range(30))
    people = knowledge.auxiliary.frame.iloc[one.order[:30]].reset_index(drop=True)
    assert (one.release.frame["job"].to_numpy() == people["job"].to_numpy()[one.release.origin]).all()


@pytest.mark.thorough
def test_results_do_not_depend_on_the_order_of_attacks(game):
    defense = RetentionReplacement(retention=0.5)
    secret, published = drawn(game, defense)
    _, again = drawn(game, defense)
    attacks = [DistanceToClosestRecord(), DensityRatioMembership()]

    def rate(attack, release):
        return attack_release(defense, attack, game, secret, release, np.random.default_rng(5)).goals["membership"].rate

    forward = [rate(attack, published) for attack in attacks]
    backward = [rate(attack, again) for attack in reversed(attacks)]
    assert forward == backward[::-1]


def test_an_unknown_mechanism_is_refused():
    from defenses import Microdata, MicrodataRelease

    people = pd.DataFrame({"age": [1, 2]})
    with pytest.raises(TypeError, match="does not know the mechanism"):
        simulation(MicrodataRelease(people, [0, 1]), Knowledge(people, Microdata(people)), 1, 0)
