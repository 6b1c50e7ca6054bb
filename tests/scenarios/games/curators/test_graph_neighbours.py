"""The distinguishing game on a graph."""

import numpy as np
import pytest
from playing_tools import scored
from statistics_tools import rng

from attacks import Distinguishing
from defenses import ExactCurator, GraphCurator
from defenses.base.queries import DegreeCounts, EdgeCount
from scenarios import GraphNeighbours, load, read_plan


@pytest.fixture(scope="module")
def network():
    return load("friends").records


def changed(secret):
    first, second = (
        set(map(tuple, EdgeCount().graph(table)[0].tolist())) for table in (secret.records, secret.neighbour)
    )
    return first, second


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("seed", range(5))
def test_graphs_differ_in_one_friendship_or_one_person(network, seed):
    first, second = changed(GraphNeighbours(records=network).draw(rng(seed)))
    assert first < second
    assert len(second - first) == 1
    first, second = changed(GraphNeighbours(records=network, level="node").draw(rng(seed)))
    assert first < second
    assert len(set.intersection(*map(set, second - first))) >= 1
    secret = GraphNeighbours(records=network, level="person").draw(rng(seed))
    # The same person is drawn, and no record of the first graph names it: 29 of 30 persons are left.
    assert changed(secret) == (first, second)
    assert len(secret.neighbour.frame) - len(secret.records.frame) == 29
    present = DegreeCounts(bound=8, present=True)
    assert [present.exact(table).sum() for table in (secret.records, secret.neighbour)] == [29, 30]


@pytest.mark.thorough_beyond(1)
@pytest.mark.usefixtures("tables_are_read_once")
@pytest.mark.parametrize("level", ["edge", "node", "person"])
def test_exact_answers_tell_the_graphs_apart(network, level):
    game = GraphNeighbours(records=network, level=level, challenges=40)
    scores = scored(ExactCurator(), Distinguishing(runs=40), game, rng())
    assert scores["distinguishing"].rate == 1
    assert scores.measures["epsilon_bound"] > 0.5


@pytest.mark.long
@pytest.mark.usefixtures("tables_are_read_once")
def test_edge_privacy_hides_friendships_and_not_persons(network):
    # The bound holds with 99.9 %. At level "edge" it must not exceed the claim; a person of several friends is not
    # covered, and over these fixed seeds the persons are told apart far better.
    curator, rates = GraphCurator(epsilon=4.0, level="edge"), {}
    for level in ("edge", "node"):
        game = GraphNeighbours(records=network, level=level, challenges=100)
        scores = [scored(curator, Distinguishing(runs=100), game, rng(seed)) for seed in range(4)]
        rates[level] = np.mean([one["distinguishing"].rate for one in scores])
        if level == "edge":
            assert max(one.measures["epsilon_bound"] for one in scores) <= 4
    assert rates["node"] > rates["edge"] + 0.05
    game = GraphNeighbours(records=network, level="node", challenges=100)
    hidden = scored(GraphCurator(epsilon=0.5, level="node", bound=8), Distinguishing(runs=100), game, rng())
    # 100 coins: 5 standard deviations.
    assert abs(hidden["distinguishing"].rate - 0.5) < 0.25


def test_refusals(network):
    lonely = network.with_frame(network.frame.assign(friend="no"))
    for parameters, message in (
        ({"level": "triangle"}, "level must be one of 'edge', 'node', 'person'"),
        ({"bound": 0}, "bound"),
        ({"challenges": 1}, "challenges"),
        ({"confidence": 1.0}, "confidence"),
        ({"records": lonely}, "nobody has a friend"),
        ({"records": load("city").records}, "no column 'user' of a graph"),
    ):
        with pytest.raises(ValueError, match=message):
            GraphNeighbours(**{"records": network, **parameters})


def test_shipped_scenario():
    plan = read_plan("graph")
    assert {game.level for game in plan.games} == {"edge", "node", "person"}
