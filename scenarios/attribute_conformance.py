"""What every attack on a sensitive attribute must hold; part of the conformance suite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd

from attacks.attack import Attack, NotApplicable
from attacks.claims import ValueClaims
from attacks.intersection import OtherRelease
from defenses.channel import Channel
from defenses.identity import Identity
from defenses.microdata import Microdata
from defenses.release import MicrodataRelease
from scenarios.intersection_game import Intersection
from scenarios.playing import play
from scenarios.seeds import generator

Check = tuple[str, Callable[[], None]]
Make = Callable[..., Microdata]


def attribute_checks(method: type[Attack], people: Make) -> Iterator[Check]:
    """Checks of an attack on the first sensitive column, each with its title.

    Parameters
    ----------
    method : type of Attack
        What to check.
    people : callable
        ``people(count, rng, missing=..., constant=...)`` invents records.
    """
    sixty = people(60, generator(0, "people"))
    yield "leaves what it is given as it is", partial(_unmodified, method, sixty)
    yield "same seed, same claims", partial(_same_claims, method, sixty)
    yield "names 90 % of the values in a plain copy", partial(_finds, method, people(200, generator(0, "people")))
    for title, records in {
        "missing values": people(40, generator(0, "missing"), missing=True),
        "constant columns": people(40, generator(0, "constant"), constant=True),
        "two people": people(2, generator(0, "two")),
    }.items():
        yield f"answers {title}", partial(_answers, method, records)
    for title, cell in {"a wholly suppressed table": "*", "a table of missing values": None}.items():
        yield f"answers {title}, or says why not", partial(_without_values, method, sixty, cell)
    yield "says that a column is missing", partial(_missing_column, method, sixty)
    yield "says that a table has no row", partial(_no_row, method, sixty)


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def _handed(records: Microdata) -> tuple[MicrodataRelease, OtherRelease]:
    """A plain copy of half of the people, another of all of them, and everybody as targets."""
    half, everybody = (
        Identity().apply(records.take(np.arange(count)), generator(0, "release")).view(generator(0, "view"))
        for count in (max(1, len(records) // 2), len(records))
    )
    targets = records.frame[list(records.quasi_identifiers)]
    return half, OtherRelease(targets, records, None, everybody)


def _run(method: type[Attack], release: MicrodataRelease, knowledge: OtherRelease) -> ValueClaims:
    claims = method.example().run(release, knowledge, generator(0, "attack"))
    if not isinstance(claims, ValueClaims):
        raise AssertionError(f"an attack on an attribute makes {type(claims).__name__}")
    _require(list(claims.values.columns) == [knowledge.auxiliary.sensitive[0]], "it claims other columns")
    about = claims.about
    _require(not about.size or bool(about.max() < len(knowledge.candidates)), "it is about people that there are not")
    return claims


def _unmodified(method: type[Attack], records: Microdata) -> None:
    release, knowledge = _handed(records)
    frame, targets = release.frame.copy(), knowledge.candidates.copy()
    _run(method, release, knowledge)
    pd.testing.assert_frame_equal(release.frame, frame)
    pd.testing.assert_frame_equal(knowledge.candidates, targets)


def _same_claims(method: type[Attack], records: Microdata) -> None:
    first, second = (_run(method, *_handed(records)) for _ in range(2))
    pd.testing.assert_frame_equal(first.values, second.values)
    for part in ("confidence", "about", "weight"):
        _require(np.array_equal(getattr(first, part), getattr(second, part)), f"{part} differs between equal seeds")


def _finds(method: type[Attack], records: Microdata) -> None:
    game = Intersection(records=records, originals=60, overlap=30, strangers=60, auxiliary=50)
    rate = play(Identity(), method.example(), game, generator(0, "play")).scores["attribute"]
    _require(rate is not None and rate >= 0.9, f"it names {rate} of the values in a plain copy")


def _answers(method: type[Attack], records: Microdata) -> None:
    _run(method, *_handed(records))


def _replaced(method: type[Attack], records: Microdata, frame: pd.DataFrame) -> None:
    knowledge = _handed(records)[1]
    stranger = MicrodataRelease(frame, np.full(len(frame), -1), Channel())
    _run(method, stranger, OtherRelease(knowledge.candidates, knowledge.auxiliary, None, stranger))


def _without_values(method: type[Attack], records: Microdata, cell: str | None) -> None:
    frame = _handed(records)[0].frame
    empty = pd.DataFrame({name: pd.Series(cell, index=frame.index, dtype=object) for name in frame.columns})
    try:
        _replaced(method, records, empty)
    except NotApplicable:
        return


def _missing_column(method: type[Attack], records: Microdata) -> None:
    frame = _handed(records)[0].frame
    for lacking in (frame.drop(columns=list(records.sensitive)), frame.add_prefix("other ")):
        try:
            _replaced(method, records, lacking)
        except (ValueError, NotApplicable) as error:
            _require("column" in str(error), "the error does not speak of columns")
        else:
            raise AssertionError("a release without the columns to look at is accepted")


def _no_row(method: type[Attack], records: Microdata) -> None:
    try:
        _replaced(method, records, _handed(records)[0].frame.iloc[:0])
    except (ValueError, NotApplicable) as error:
        _require("row" in str(error), "the error does not speak of rows")
    else:
        raise AssertionError("a release without rows is accepted")
