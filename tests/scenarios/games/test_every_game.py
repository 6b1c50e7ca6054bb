"""Scores and utility of every exported game are functions of the secret, the release and the generator."""

from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest

import attacks
from defenses import Curator, FederatedAveraging, GraphCurator, Identity, LocalReports, Mondrian, RetentionReplacement
from scenarios import RowQuestion, load
from scenarios.games.playing import make_release
from scenarios.running.methods.methods import exported
from scenarios.studies.emoji_measures import emoji
from scenarios.tables.dataset import with_columns
from scenarios.tables.seeds import generator

COLUMNS = ["age", "job", "marital", "education", "balance", "housing", "y"]


@dataclass(frozen=True)
class Trial:
    """A small game with a defense and an attack that fit it, the parameters of the game and those of the attack."""

    attack: str
    data: str = "bank"
    defense: object = field(default_factory=Identity)
    parameters: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)


CONTROL_GROUP = {"originals": 20, "strangers": 20, "auxiliary": 40}
CANDIDATES = {"auxiliary": 40, "held_out": 40}
FEW_RUNS = {"runs": 10}
TRIALS = {
    "AttributeInference": Trial("NearestRowInference", parameters=CONTROL_GROUP | {"sensitive": "job"}),
    "CandidateFile": Trial("NearestNeighbour", parameters=CANDIDATES | {"originals": 20, "candidates": 40}),
    "ClassifierMembership": Trial("LossThreshold", parameters=CANDIDATES | {"members": 20}),
    "CellDowncoding": Trial("Downcoding", defense=Mondrian(k=5), parameters=CONTROL_GROUP),
    "Indistinguishability": Trial(
        "Distinguishing", defense=Curator(epsilon=1.0), parameters={"column": "age", "challenges": 20}, options=FEW_RUNS
    ),
    "GraphNeighbours": Trial("Distinguishing", "friends", GraphCurator(epsilon=1.0), {"challenges": 20}, FEW_RUNS),
    "Intersection": Trial(
        "NearestRowInference", parameters=CONTROL_GROUP | {"sensitive": "job", "overlap": 10, "strangers": 10}
    ),
    "Join": Trial("NearestNeighbour", parameters=CANDIDATES | {"patients": 20, "register": 40}),
    "Linkability": Trial("NearestRowLinkability", parameters=CONTROL_GROUP),
    "Membership": Trial("DistanceToClosestRecord", parameters=CANDIDATES | {"members": 20}),
    "Newcomer": Trial("Differencing", "city", Curator(epsilon=1.0)),
    "PkAnonymity": Trial("BestPosterior", defense=RetentionReplacement(k=2), parameters={"column": "marital"}),
    "Pool": Trial("PoolInference", "emoji", LocalReports(epsilon=1.0), {"column": "emoji", "persons": 20}),
    "Reports": Trial("ValueGuess", defense=LocalReports(epsilon=1.0), parameters={"column": "job", "persons": 50}),
    "SecretBits": Trial(
        "Differencing",
        defense=Curator(epsilon=1.0),
        parameters={"column": "housing", "category": "yes", "persons": 20},
    ),
    "SecretNumbers": Trial(
        "Differencing", defense=Curator(epsilon=1.0), parameters={"column": "age", "above": 39.5, "persons": 20}
    ),
    "SinglingOut": Trial("UnivariateSinglingOut", parameters={"originals": 20, "auxiliary": 40}),
    "SparseRatings": Trial("ScoreboardDeanonymization", "ratings", parameters={"targets": 5}),
    "StatisticsMembership": Trial(
        "HomerByQueries", defense=Curator(epsilon=1.0), parameters=CANDIDATES | {"members": 20}
    ),
    "SharedPeople": Trial(
        "NearestNeighbour",
        parameters={"question": RowQuestion(), "originals": 20, "others": 20, "auxiliary": 40, "held_out": 40},
    ),
    "Training": Trial(
        "UpdateMembership",
        defense=FederatedAveraging(rounds=2),
        parameters={"members": 24, "auxiliary": 40, "held_out": 40},
    ),
    "VisitingHours": Trial("Differencing", "visits", Curator(epsilon=1.0)),
}


@cache
def records_of(data):
    """Records of a data set; the bank's have seven columns of every kind, which are valued in half the time."""
    if data == "emoji":
        return emoji(200, 40, generator(0, "emoji"))
    dataset = load(data)
    return (with_columns(dataset, COLUMNS) if data == "bank" else dataset).records


def game_of(name):
    """A small instance of an exported game."""
    trial = TRIALS[name]
    return exported("scenarios")[name](records=records_of(trial.data), **trial.parameters)


def test_every_exported_game_is_tried():
    assert sorted(TRIALS) == sorted(exported("scenarios"))


@pytest.mark.parametrize("name", sorted(TRIALS))
def test_utility_and_scores_do_not_depend_on_earlier_calls(name):
    game, trial = game_of(name), TRIALS[name]
    attack = getattr(attacks, trial.attack)(**trial.options)
    choice = attack.choose(game.briefing(trial.defense, generator(0)), generator(1)) if game.lets_choose else None
    secret = game.draw(generator(0, "draw"), choice)
    release, published = make_release(trial.defense, game, secret, generator(0, "release"))
    first = game.utility(secret, release)
    claims = attack.run(game.view(published, generator(2)), game.knowledge(secret, trial.defense), generator(3))
    scores = game.score(secret, published, claims, generator(4))
    assert game.score(secret, published, claims, generator(4)) == scores
    # Neither an earlier call nor an attack and its score changes what a release of the same secret is worth.
    assert game.utility(secret, release) == first
    again = game.draw(generator(0, "draw"), deepcopy(choice))
    assert game.utility(again, release) == first
    assert all(value is None or np.isfinite(value) for value in first.values())
