"""Every defense, attack and metric on growing tables; the summary fits how each grows.

Attacks on one table run alone on invented people. Others need what their game hands out, and are measured as a whole
play of that game, its release and its scoring included.
"""

import inspect

import numpy as np
import pandas as pd
import pytest

from attacks.base.attack import Knowledge
from attacks.reports.inference_from_reports import PoolInference
from defenses.ldp.local_reports import LocalReports
from defenses.perturbation.reference_releases import Identity
from metrics.fidelity import RangeQueries
from metrics.profile import original_profile, profile
from scenarios.games.playing import play_alone
from scenarios.games.reports import Pool
from scenarios.running.methods.invented_people import example, people
from scenarios.running.methods.methods import exported, metrics
from scenarios.running.plan import read_plan
from scenarios.studies.emoji_measures import emoji
from scenarios.tables.seeds import generator

SIZES = (1000, 4000, 16000)
# An attack may compare every released row with every candidate.
PAIRED = (500, 1000, 2000)
SHARES = (0.25, 0.5, 1)
DEFENSES, EVERY_ATTACK = exported("defenses"), exported("attacks")
PLAYED = {
    "Averaging": ("city-spending", {"residents": 100}),
    "BestPosterior": ("bank-pk", {"size": 8}),
    "ColumnwiseReconstruction": ("reconstruction", {"originals": 500, "others": 500}),
    "CompositionAttack": ("intersection", {"originals": 500, "overlap": 250}),
    "Differencing": ("city-spending", {"residents": 100}),
    "Distinguishing": ("distinguishing", {"size": 20}),
    "Downcoding": ("downcoding", {"originals": 500}),
    "FactorGraphReconstruction": ("reconstruction", {"originals": 500, "others": 500}),
    "GradientInversion": ("federated-adult", {"members": 400}),
    "HomerByQueries": ("statistics-membership", {"members": 50}),
    "LikelihoodRatioAttack": ("models", {"members": 160}),
    "LongitudinalAveraging": ("reports", {"persons": 4000}),
    "LossThreshold": ("models", {"members": 160}),
    "ModelMembership": ("federated-adult", {"members": 400}),
    "NearestRowLinkability": ("linkability", {"originals": 500}),
    "OfflineLikelihoodRatioAttack": ("models", {"members": 160}),
    "Reconstruction": ("statistics", {"persons": 100}),
    "RMIA": ("models", {"members": 160}),
    "ScoreboardDeanonymization": ("ratings", {"targets": 200}),
    "ShadowModels": ("models", {"members": 160}),
    "SweeneyJoin": ("voters", {"patients": 200}),
    "LeakagePosterior": ("bank-pk", {"size": 8}),
    "UpdateMembership": ("federated-adult", {"members": 400}),
    "ValueGuess": ("reports", {"persons": 4000}),
}
"""Attacks that need a game: a shipped scenario with it, and what grows together, up to what."""
ATTACKS = {name: cls for name, cls in EVERY_ATTACK.items() if name not in (*PLAYED, "PoolInference")}
NUMBERS = {
    "clopper_pearson",
    "epsilon_lower_bound",
    "generalization_precision",
    "pooled_true_positive_rate",
    "risk_after_control",
}
"""Metrics that are about a few numbers, which do not grow."""
METRICS = [name for name in metrics() if name not in {"TableUtility", *NUMBERS}]


def run(benchmark, group, size, call, rounds=3):
    benchmark.group = group
    benchmark.extra_info["size"] = size
    return benchmark.pedantic(call, rounds=rounds, warmup_rounds=1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", DEFENSES)
def test_defense(benchmark, name, size):
    method, records = example(DEFENSES[name]), people(size, generator(0, "growth"))
    method.check(records)
    run(benchmark, f"defense {name}", size, lambda: method.apply(records, generator(0, "release")))


@pytest.mark.parametrize("size", PAIRED)
@pytest.mark.parametrize("name", ATTACKS)
def test_attack(benchmark, name, size):
    """Released are half of the candidates; the attacker has as many others to study."""
    method, everybody = example(ATTACKS[name]), people(size, generator(0, "growth"))
    release = Identity().apply(everybody.take(np.arange(size // 2)), generator(0, "release"))

    def simulate(records, rng):
        return Identity().apply(records, rng)

    def attack():
        candidates = everybody.frame[list(everybody.released_columns)]
        knowledge = Knowledge(candidates, people(size, generator(0, "others")), simulate)
        return method.run(release.view(generator(0, "view")), knowledge, generator(0, "attack"))

    run(benchmark, f"attack {name}", size, attack)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", PLAYED)
def test_play(benchmark, name, share):
    """A play against the first defense of the scenario that the attack fits."""
    scenario, largest = PLAYED[name]
    plan = read_plan(scenario)
    sizes = {parameter: round(share * value) for parameter, value in largest.items()}
    game = type(plan.games[0])(**{**plan.games[0].get_params(), **sizes})
    attack = next(entry.method for entry in plan.attacks if type(entry.method).__name__ == name)
    defense = next(entry.method for entry in plan.defenses if not game.misfit(entry.method, attack))
    size = next(iter(sizes.values()))
    run(benchmark, f"play {name}", size, lambda: play_alone(defense, attack, game, generator(0, "play")), rounds=1)


@pytest.mark.parametrize("share", SHARES)
def test_inference_from_reports(benchmark, share):
    """A play of pool inference, which no shipped scenario has."""
    persons = round(share * 400)
    records = emoji(2 * persons, 40, generator(0, "growth"))
    game, defense = Pool(records=records, column="emoji", persons=persons), LocalReports()
    attack = PoolInference()
    run(
        benchmark,
        "play PoolInference",
        persons,
        lambda: play_alone(defense, attack, game, generator(0, "play")),
        rounds=1,
    )


def arguments(function, size):
    """Arguments of a metric by the names of its parameters."""
    records = people(size, generator(0, "growth"))
    released = Identity().apply(records, generator(0, "release")).frame
    domains = {name: records.domain(name) for name in records.released_columns}
    known = {
        "frame": records.frame,
        "quasi_identifiers": records.quasi_identifiers,
        "sensitive": "illness",
        "domains": domains,
        "c": 2.0,
        "cells": 10**6,
    }
    tables = {
        "original": {"Profile": lambda: original_profile(records.frame, domains)},
        "released": {"Profile": lambda: profile(released, domains)},
        "population": {
            "int": lambda: 10 * size,
            "pd.DataFrame": lambda: pd.concat([records.frame, people(4 * size, generator(0, "everybody")).frame]),
        },
        "queries": {"RangeQueries": lambda: RangeQueries.random(domains, 200, generator(0, "queries"))},
        "rng": {"Generator": lambda: generator(0, "metric")},
        "scores": {"ArrayLike": lambda: generator(0, "scores").random(size)},
        "positive": {"ArrayLike": lambda: np.arange(size) % 2 == 0},
    }
    plain = {"original": records.frame, "released": released, "false_positive_rate": 0.1}
    found = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is not parameter.empty:
            continue
        name, kind = parameter.name, str(parameter.annotation)
        if name in known:
            found[name] = known[name]
        elif kind in tables.get(name, {}):
            found[name] = tables[name][kind]()
        else:
            found[name] = plain[name]
    return found


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", METRICS)
def test_metric(benchmark, name, size):
    function = metrics()[name]
    given = arguments(function, size)
    consumed = list if inspect.isgeneratorfunction(function) else (lambda result: result)
    run(benchmark, f"metric {name}", size, lambda: consumed(function(**given)))
