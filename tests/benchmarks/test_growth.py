"""Every defense, attack and metric on growing tables; the summary fits how each grows."""

import inspect

import numpy as np
import pandas as pd
import pytest

from attacks.attack import Knowledge, NotApplicable
from defenses.identity import Identity
from metrics.profile import original_profile, profile
from scenarios.conformance import people
from scenarios.descriptions import metrics
from scenarios.methods import exported
from scenarios.seeds import generator

SIZES = (1000, 4000, 16000)
# An attack may compare every released row with every candidate.
PAIRED = (500, 1000, 2000)
DEFENSES = {name: cls for name, cls in exported("defenses").items() if cls.kind in ("microdata", "reports")}
ATTACKS = {name: cls for name, cls in exported("attacks").items() if cls.kind == "microdata"}


def run(benchmark, group, size, call, *arguments):
    benchmark.group = group
    benchmark.extra_info["size"] = size
    return benchmark.pedantic(call, arguments, rounds=3, warmup_rounds=1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", DEFENSES)
def test_defense(benchmark, name, size):
    method, records = DEFENSES[name].example(), people(size, generator(0, "growth"))
    try:
        method.check(records)
    except ValueError as error:
        pytest.skip(f"does not fit the invented people: {error}")
    run(benchmark, f"defense {name}", size, lambda: method.apply(records, generator(0, "release")))


@pytest.mark.parametrize("size", PAIRED)
@pytest.mark.parametrize("name", ATTACKS)
def test_attack(benchmark, name, size):
    """Released are half of the candidates; the attacker has as many others to study."""
    method, everybody = ATTACKS[name].example(), people(size, generator(0, "growth"))
    release = Identity().apply(everybody.take(np.arange(size // 2)), generator(0, "release"))

    def simulate(records, rng):
        return Identity().apply(records, rng)

    def attack():
        candidates = everybody.frame[list(everybody.released_columns)]
        knowledge = Knowledge(candidates, people(size, generator(0, "others")), simulate)
        return method.run(release.view(generator(0, "view")), knowledge, generator(0, "attack"))

    try:
        attack()
    except (NotApplicable, ValueError, AttributeError, TypeError, KeyError) as reason:
        pytest.skip(f"needs a game of its own: {reason}")
    run(benchmark, f"attack {name}", size, attack)


def arguments(function, size):
    """Arguments of a metric by the names of its parameters; None where it takes something else than tables."""
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
        elif name in plain:
            found[name] = plain[name]
        else:
            return None
    return found


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", [name for name in metrics() if name != "TableUtility"])
def test_metric(benchmark, name, size):
    function = metrics()[name]
    given = arguments(function, size)
    if given is None:
        pytest.skip("is about numbers, not tables")
    consumed = list if inspect.isgeneratorfunction(function) else (lambda result: result)
    run(benchmark, f"metric {name}", size, lambda: consumed(function(**given)))
