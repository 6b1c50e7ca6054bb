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
    """A small game with a defense and an attack that fit it, the parameters of the game and those of the attack.

    Without a name, the attack is the first one that pursues a goal of the game.
    """

    attack: str = ""
    data: str = "bank"
    defense: object = field(default_factory=Identity)
    parameters: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)


SIZES = {
    **dict.fromkeys(("originals", "strangers", "others", "members", "patients"), 20),
    **dict.fromkeys(("candidates", "register", "auxiliary", "held_out"), 40),
}
"""Sizes of a small game by their names, unless a trial gives others."""
FEW_RUNS = {"runs": 10}
TRIALS = {
    "AttributeInference": Trial("NearestRowInference", parameters={"sensitive": "job"}),
    "CandidateFile": Trial("NearestNeighbour"),
    "ClassifierMembership": Trial("LossThreshold"),
    "CellDowncoding": Trial("Downcoding", defense=Mondrian(k=5)),
    "Indistinguishability": Trial(
        "Distinguishing", defense=Curator(epsilon=1.0), parameters={"column": "age", "challenges": 20}, options=FEW_RUNS
    ),
    "GraphNeighbours": Trial("Distinguishing", "friends", GraphCurator(epsilon=1.0), {"challenges": 20}, FEW_RUNS),
    "Intersection": Trial("NearestRowInference", parameters={"sensitive": "job", "overlap": 10, "strangers": 10}),
    "Join": Trial("NearestNeighbour"),
    "Linkability": Trial("NearestRowLinkability"),
    "Membership": Trial("DistanceToClosestRecord"),
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
    "SinglingOut": Trial("UnivariateSinglingOut"),
    "SparseRatings": Trial("ScoreboardDeanonymization", "ratings", parameters={"targets": 5}),
    "StatisticsMembership": Trial("HomerByQueries", defense=Curator(epsilon=1.0)),
    "SharedPeople": Trial("NearestNeighbour", parameters={"question": RowQuestion()}),
    "Training": Trial(
        "UpdateMembership",
        defense=FederatedAveraging(rounds=2),
        parameters={"members": 24},
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
    game, trial = exported("scenarios")[name], trial_of(name)
    sizes = {parameter: size for parameter, size in SIZES.items() if parameter in game.parameter_names()}
    return game(records=records_of(trial.data), **{**sizes, **trial.parameters})


def trial_of(name):
    """The trial of an exported game: one that is listed, or one with the sizes and an attack that fit."""
    return TRIALS.get(name, Trial())


def attack_of(game, trial):
    """The attack of a trial."""
    fitting = (one for one, cls in exported("attacks").items() if cls.kind == game.kind and str(cls.goal) in game.takes)
    return getattr(attacks, trial.attack or next(fitting))(**trial.options)


def test_trials_are_of_exported_games():
    assert set(TRIALS) <= set(exported("scenarios"))


@pytest.mark.parametrize("name", sorted(exported("scenarios")))
def test_utility_and_scores_do_not_depend_on_earlier_calls(name):
    game, trial = game_of(name), trial_of(name)
    attack = attack_of(game, trial)
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
