"""The conformance suite: what every defense and every attack must hold, checked without knowing what it does.

`checks` yields named checks for a class; each raises `AssertionError` with a reason where it fails. The tests run them
on every export, and ``tokumei check module:Class`` on anybody's own.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.attack import Attack
from defenses.channel import Channel
from defenses.defense import Defense
from defenses.hierarchy import Hierarchy, TableHierarchy
from defenses.microdata import Microdata
from defenses.parameters import Parametrized
from defenses.release import MicrodataRelease
from metrics.cells import read_cells
from metrics.classes import k_anonymity
from metrics.diversity import l_diversity
from metrics.domains import CategoricalDomain, NumericDomain
from scenarios.attack_conformance import attack_checks
from scenarios.seeds import generator

Check = tuple[str, Callable[[], None]]
CITIES = ("Kyōto", "Nara|Uji", "Ōsaka", "{Kōbe}", "*")


def checks(method: type[Parametrized]) -> Iterator[Check]:
    """Checks that apply to a class, each with its title."""
    yield "parameters round-trip", partial(_parameters, method)
    yield "parameters that are no numbers are refused", partial(_refused, method)
    yield "pickles", partial(_pickles, method)
    if issubclass(method, Defense) and method.kind == "microdata":
        yield from _defense_checks(method)
    if issubclass(method, Attack):
        yield from attack_checks(method, people)


def people(count: int, rng: Generator, *, missing: bool = False, constant: bool = False) -> Microdata:
    """Invented people: an identifier, numbers and categories as quasi-identifiers, something sensitive.

    Parameters
    ----------
    count : int
        Number of records.
    rng : Generator
        Draws them.
    missing : bool
        Whether a tenth of the quasi-identifying cells is missing.
    constant : bool
        Whether every record is the same but for its identifier.
    """
    ages = rng.integers(18, 96, count)
    frame = pd.DataFrame(
        {
            "name": [f"person {number}" for number in range(count)],
            "age": ages,
            "income": np.round(rng.lognormal(8, 1, count), 2).clip(0, 1e6),
            "city": rng.choice(np.array(CITIES, dtype=object), count),
            "grade": rng.choice(np.array(["low", "middle", "high"], dtype=object), count),
            "illness": rng.choice(np.array(["none", "flu", "cold"], dtype=object), count),
        }
    )
    if constant and count:
        frame.iloc[:, 1:] = frame.iloc[[0] * count, 1:].to_numpy()
        frame = frame.infer_objects().astype({"age": np.int64, "income": float})
    if missing:
        for column in ("age", "income", "city", "grade"):
            frame[column] = frame[column].where(rng.random(count) > 0.1)
    decades = list(range(20, 100, 10))
    return Microdata(
        frame,
        identifiers=("name",),
        quasi_identifiers=("age", "income", "city", "grade"),
        sensitive=("illness",),
        domains={
            "age": NumericDomain(18, 95, integer=True, cuts=tuple(decades[:-1])),
            "income": NumericDomain(0, 1e6, cuts=(500, 1000, 2000, 4000, 8000, 16000)),
            "city": CategoricalDomain(CITIES),
            "grade": CategoricalDomain(("low", "middle", "high"), ordered=True),
            "illness": CategoricalDomain(("none", "flu", "cold")),
        },
        hierarchies={
            "age": Hierarchy.from_intervals([decades[:-1], [40, 60, 80], []], 18, 95, integer=True),
            "income": Hierarchy.from_intervals([[1000, 4000, 16000], []], 0, 1e6),
            "city": TableHierarchy([[city, "big" if city == "Ōsaka" else "other", "all"] for city in CITIES]),
            "grade": TableHierarchy([["low", "all"], ["middle", "all"], ["high", "all"]]),
        },
    )


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def _parameters(method: type[Parametrized]) -> None:
    instance = method.example()
    parameters = instance.get_params()
    _require(instance.clone() == instance, "clone() differs from the original")
    _require(method(**parameters) == instance, "the constructor does not restore get_params()")
    _require(instance.clone().set_params(**parameters) == instance, "set_params(get_params()) changes something")
    for name, value in parameters.items():
        _require(getattr(instance, name) is value, f"{name} is not stored as it was given")
    try:
        instance.set_params(no_such_parameter=1)
    except ValueError as error:
        _require("no_such_parameter" in str(error), "the error does not name the unknown parameter")
    else:
        raise AssertionError("an unknown parameter is accepted")


def _refused(method: type[Parametrized]) -> None:
    instance = method.example()
    for name, value in instance.get_params().items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        for bad in (math.nan, math.inf, -math.inf, "1"):
            try:
                instance.clone().set_params(**{name: bad})
            except ValueError as error:
                _require(name in str(error), f"the error about {name}={bad!r} does not name the parameter")
            else:
                raise AssertionError(f"{name}={bad!r} is accepted")


def _pickles(method: type[Parametrized]) -> None:
    instance = method.example()
    _require(pickle.loads(pickle.dumps(instance)) == instance, "a pickled copy differs")  # noqa: S301 (our own bytes)


def _defense_checks(method: type[Defense]) -> Iterator[Check]:
    yield "leaves its records as they are", partial(_records_unmodified, method)
    yield "same seed, same release", partial(_same_release, method)
    tables = {
        "sixty records": people(60, generator(0, "people")),
        "missing values": people(60, generator(0, "missing"), missing=True),
        "constant columns": people(60, generator(0, "constant"), constant=True),
        "one record": people(1, generator(0, "one")),
        "no record": people(0, generator(0, "none")),
    }
    for title, records in tables.items():
        yield f"releases {title}, or says why not", partial(_releases, method, records)
    yield "keeps its promise on 20 tables", partial(_promise, method)
    yield "its channel makes the truth possible, and survives TOML", partial(_channel, method)
    yield "answers unseen categories", partial(_unseen, method)


def _apply(method: type[Defense], records: Microdata, *names: str | int) -> MicrodataRelease:
    release = method.example().apply(records, generator(0, *names))
    if not isinstance(release, MicrodataRelease):
        raise AssertionError(f"a {method.kind} defense makes a {type(release).__name__}")
    return release


def _records_unmodified(method: type[Defense]) -> None:
    records = people(60, generator(0, "people"))
    before = records.frame.copy()
    _apply(method, records, "release")
    pd.testing.assert_frame_equal(records.frame, before)


def _same_release(method: type[Defense]) -> None:
    records = people(60, generator(0, "people"))
    first, second = _apply(method, records, "release"), _apply(method, records, "release")
    pd.testing.assert_frame_equal(first.frame, second.frame)
    _require(bool((first.origin == second.origin).all()), "origins differ between equal seeds")


def _releases(method: type[Defense], records: Microdata) -> None:
    try:
        release = _apply(method, records, "release")
    except ValueError as error:
        message = str(error)
        _require(bool(message) and "\n" not in message, "the refusal is no single line")
        # Nothing can make one sensitive value diverse.
        ordinary = len(records) >= 60 and all(len(set(records.frame[name])) > 1 for name in records.sensitive)
        _require(not ordinary, f"an ordinary table is refused: {message}")
        return
    original = set(records.frame["name"].dropna())
    for name in release.frame.columns:
        _require(original.isdisjoint(release.frame[name].dropna()), f"column {name!r} releases an identifier")
    _require(bool((release.origin < len(records)).all()), "an origin lies outside the records")
    for name in records.released_columns:
        read_cells(release.frame[name], records.domains[name])


def _promise(method: type[Defense]) -> None:
    for number in range(20):
        records = people(30 + 5 * number, generator(number, "promise"), missing=number % 3 == 0)
        promised = method.example().guarantee(records)
        frame = _apply(method, records, "promise", number).frame
        if promised.k is not None:
            measured = k_anonymity(frame, records.quasi_identifiers)
            _require(measured >= promised.k, f"k = {promised.k} is promised and {measured} measured")
        if promised.l is not None:
            diversity = min(l_diversity(frame, records.quasi_identifiers, name) for name in records.sensitive)
            _require(diversity >= promised.l, f"l = {promised.l} is promised and {diversity} measured")


def _channel(method: type[Defense]) -> None:
    records = people(60, generator(0, "people"))
    release = _apply(method, records, "release")
    if release.channel is None:
        return
    known = release.origin >= 0
    released = release.frame[known].reset_index(drop=True)
    truth = records.frame.iloc[release.origin[known]].reset_index(drop=True)
    domains = dict(records.domains)
    copy = Channel.from_toml(release.channel.to_toml())
    pairs = np.arange(len(released))
    for columns, likelihood in release.channel.likelihoods(released, truth, domains).items():
        own = likelihood.at(pairs, pairs)
        _require(bool((own > -np.inf).all()), f"the channel calls the truth impossible in {', '.join(columns)}")
        table = copy.likelihoods(released, truth, domains)[columns].table()
        _require(np.allclose(table, likelihood.table()), f"the channel of {', '.join(columns)} changes in TOML")
        _require(np.allclose(np.diag(table), own), f"table() and at() differ in {', '.join(columns)}")


def _unseen(method: type[Defense]) -> None:
    records = people(60, generator(0, "people"))
    frame = records.frame.copy()
    frame.loc[3, "city"] = "Atlantis"
    try:
        _apply(method, records.with_frame(frame), "release")
    except ValueError as error:
        _require("Atlantis" in str(error) or "city" in str(error), "the refusal names neither column nor category")
