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

from attacks.attack import Attack, Knowledge, NotApplicable
from attacks.claims import Claims, Decisions, RankedAnswers
from defenses.channel import Channel
from defenses.defense import Defense
from defenses.hierarchy import Hierarchy, TableHierarchy
from defenses.identity import Identity
from defenses.microdata import Microdata
from defenses.parameters import Parametrized
from defenses.release import MicrodataRelease
from metrics.cells import read_cells
from metrics.classes import k_anonymity
from metrics.diversity import l_diversity
from metrics.domains import CategoricalDomain, NumericDomain
from scenarios.attribute_conformance import attribute_checks
from scenarios.candidate_file import CandidateFile
from scenarios.playing import play
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
    if issubclass(method, Attack) and method.goal == "reidentification":
        yield from _attack_checks(method)
    if issubclass(method, Attack) and method.goal == "membership" and method.kind == "microdata":
        yield from _membership_checks(method)
    if issubclass(method, Attack) and method.goal == "attribute":
        yield from attribute_checks(method, people)


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


def _attack_checks(method: type[Attack]) -> Iterator[Check]:
    yield "leaves what it is given as it is", partial(_knowledge_unmodified, method)
    yield "same seed, same answers", partial(_same_answers, method)
    yield "finds 90 % of the people in a plain copy", partial(_finds, method)
    for title, records in {
        "missing values": people(40, generator(0, "missing"), missing=True),
        "constant columns": people(40, generator(0, "constant"), constant=True),
        "two candidates": people(2, generator(0, "two")),
    }.items():
        yield f"answers {title}", partial(_answers, method, records)
    yield "answers a wholly suppressed table", partial(_suppressed, method)
    yield "says that there is no common column", partial(_no_common_column, method)


def _membership_checks(method: type[Attack]) -> Iterator[Check]:
    yield "leaves what it is given as it is", partial(_unmodified_by, method, _decide)
    yield "same seed, same decisions", partial(_same_decisions, method)
    for title, records in {
        "missing values": people(40, generator(0, "missing"), missing=True),
        "constant columns": people(40, generator(0, "constant"), constant=True),
        "two candidates": people(2, generator(0, "two")),
    }.items():
        yield f"decides about {title}", partial(_decides, method, records)
    yield "decides by an empty and by a wholly suppressed table", partial(_decides_by_nothing, method)
    yield "says that there is no common column", partial(_no_common_column_for, method, _decide)


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


def _game(records: Microdata) -> CandidateFile:
    # The half that does not play are the attacker's own people, and those on whom classifiers are tried.
    return CandidateFile(records=records, originals=len(records) // 4, candidates=len(records) // 2)


def _handed(records: Microdata) -> tuple[MicrodataRelease, Knowledge]:
    """A plain copy of half of the people, and everybody as candidates."""
    release = Identity().apply(records.take(np.arange(len(records) // 2)), generator(0, "release"))
    candidates = records.frame[list(records.released_columns)]
    return release, Knowledge(candidates, people(50, generator(0, "others")), Identity().apply)


def _run(method: type[Attack], release: MicrodataRelease, knowledge: Knowledge) -> RankedAnswers:
    claims = method.example().run(release, knowledge, generator(0, "attack"))
    if not isinstance(claims, RankedAnswers):
        raise AssertionError(f"a re-identification attack makes {type(claims).__name__}")
    sizes = (claims.targets, claims.answers)
    _require(sizes == (len(release.frame), len(knowledge.candidates)), "it is about other rows or candidates")
    return claims


def _decide(method: type[Attack], release: MicrodataRelease, knowledge: Knowledge) -> Decisions:
    claims = method.example().run(release, knowledge, generator(0, "attack"))
    if not isinstance(claims, Decisions):
        raise AssertionError(f"a membership attack makes {type(claims).__name__}")
    _require(claims.scores.shape == (len(knowledge.candidates),), "it decides about other candidates")
    return claims


def _knowledge_unmodified(method: type[Attack]) -> None:
    _unmodified_by(method, _run)


def _unmodified_by(method: type[Attack], run: Callable[..., Claims]) -> None:
    release, knowledge = _handed(people(60, generator(0, "people")))
    frame, candidates = release.frame.copy(), knowledge.candidates.copy()
    run(method, release, knowledge)
    pd.testing.assert_frame_equal(release.frame, frame)
    pd.testing.assert_frame_equal(knowledge.candidates, candidates)


def _same_answers(method: type[Attack]) -> None:
    first, second = (_run(method, *_handed(people(60, generator(0, "people")))) for _ in range(2))
    for part in ("target", "answer", "score"):
        _require(np.array_equal(getattr(first, part), getattr(second, part)), f"{part} differs between equal seeds")


def _same_decisions(method: type[Attack]) -> None:
    first, second = (_decide(method, *_handed(people(60, generator(0, "people")))).scores for _ in range(2))
    _require(np.array_equal(first, second), "decisions differ between equal seeds")


def _decides(method: type[Attack], records: Microdata) -> None:
    _decide(method, *_handed(records))


def _decides_by_nothing(method: type[Attack]) -> None:
    release, knowledge = _handed(people(60, generator(0, "people")))
    for rows in (release.frame.index, release.frame.index[:0]):
        frame = pd.DataFrame("*", index=rows, columns=release.frame.columns)
        try:
            decided = _decide(method, MicrodataRelease(frame, release.origin[: len(frame)], Channel()), knowledge)
        except NotApplicable:
            continue
        _require(not np.isnan(decided.scores).any(), "a score is NaN")


def _finds(method: type[Attack]) -> None:
    outcome = play(Identity(), method.example(), _game(people(400, generator(0, "people"))), generator(0, "play"))
    rate = outcome.scores["reidentification"]
    _require(rate is not None and rate >= 0.9, f"it finds {rate} of a plain copy")


def _answers(method: type[Attack], records: Microdata) -> None:
    _run(method, *_handed(records))


def _suppressed(method: type[Attack]) -> None:
    release, knowledge = _handed(people(60, generator(0, "people")))
    frame = pd.DataFrame("*", index=release.frame.index, columns=release.frame.columns)
    try:
        _run(method, MicrodataRelease(frame, release.origin, Channel()), knowledge)
    except NotApplicable:
        return


def _no_common_column(method: type[Attack]) -> None:
    _no_common_column_for(method, _run)


def _no_common_column_for(method: type[Attack], run: Callable[..., Claims]) -> None:
    release, knowledge = _handed(people(60, generator(0, "people")))
    stranger = MicrodataRelease(release.frame.add_prefix("other "), release.origin, Channel())
    try:
        run(method, stranger, knowledge)
    except (ValueError, NotApplicable) as error:
        _require("column" in str(error), "the error does not speak of columns")
    else:
        raise AssertionError("tables without a common column are accepted")
