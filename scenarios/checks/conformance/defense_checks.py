"""Conformance checks of defenses on tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from defenses import Channel, Defense, Guarantee, Microdata, MicrodataDefense, MicrodataRelease, released_frame
from defenses.base import Parametrized
from metrics import (
    CategoricalDomain,
    entropy_l_diversity,
    k_anonymity,
    l_diversity,
    read_cells,
    recursive_l_diversity,
    t_closeness_equal,
    t_closeness_ordered,
)
from metrics.columns import Booleans, Integers
from scenarios.checks.audits.tables import dependence, false_declaration
from scenarios.checks.conformance.findings import Check, Prerequisite, check_memory, require
from scenarios.running.methods import defined_at, example, people, user_code_location
from scenarios.running.workers.differences import difference, released_difference
from scenarios.tables.seeds import generator

# Releases of a defense under test.


def release_of(
    method: type[Defense], records: Microdata, *names: str | int, defense: Defense | None = None
) -> MicrodataRelease:
    """Check the records and release them, as a run does.

    If `apply` returns no table, an AssertionError is raised.

    - records: Invented people.
    - *names: Names of which the seed is made.
    - defense: The instance; by default a new example of the class.
    """
    defense = defense or example(method)
    defense.check(records)
    release = defense.apply(records, generator(0, *names))
    if not isinstance(release, MicrodataRelease):
        got = "None" if release is None else type(release).__name__
        right = "apply must return a MicrodataRelease, e.g. rowwise_release(frame, channel=None)"
        raise AssertionError(f"{right}; got {got}{defined_at(method.apply)}")
    return release


# Guarantees of a defense on tables: what a release shows of them, and what it cannot show.

# A limit that is met exactly is not failed for a rounding error.
ROUNDING = 1e-9
UNTESTED = {"epsilon": "epsilon", "pk": "Pk"}
"""Parts of a guarantee that a few releases cannot show, as they are written."""

_RECURSIVE = re.compile(r"recursive \(([0-9.eE+-]+), *[0-9.]+\)")


def check_guarantees(method: type[Defense]) -> None:
    """Measure the k, l and t that a defense guarantees on releases of 20 tables.

    Raises AssertionError if a release has a smaller k or l, or a larger t, than is guaranteed.
    """
    for number in range(20):
        records = people(30 + 5 * number, generator(number, "promise"), missing=number % 3 == 0)
        guaranteed = example(method).guarantee(records)
        frame = release_of(method, records, "promise", number).frame
        check_guarantee(guaranteed, records, frame, method.guarantee)


def check_guarantee(
    guaranteed: Guarantee, records: Microdata, frame: pd.DataFrame, at: Callable[..., Any] | None = None
) -> None:
    """Measure the k, l and t of a guarantee on one release.

    The statement of the guarantee names the form, as the built-in defenses write it. For l this is "entropy" or
    "recursive (c, l)", and otherwise the number of distinct values. For t it is "ordered", and otherwise equal
    distances.

    An AssertionError is raised if the release has a smaller k or l, or a larger t, than is guaranteed. It says where
    the code of `at` stands, which makes the guarantee.
    """
    if guaranteed.k is not None:
        k = k_anonymity(frame, records.quasi_identifiers)
        require(k >= guaranteed.k, f"k = {guaranteed.k} is guaranteed and {k} measured", at=at)
    for name in records.sensitive:
        if guaranteed.l is not None:
            diversity, form = _diversity(guaranteed.statement, records, frame, name)
            met = diversity >= guaranteed.l - ROUNDING
            require(met, f"l = {guaranteed.l:g} is guaranteed and {diversity:.4g} measured in {name!r} ({form})", at=at)
        if guaranteed.t is not None:
            closeness, form = _closeness(guaranteed.statement, records, frame, name)
            met = closeness <= guaranteed.t + ROUNDING
            require(met, f"t = {guaranteed.t:g} is guaranteed and {closeness:.4g} measured in {name!r} ({form})", at=at)


def untested_guarantees(method: type[Parametrized]) -> list[str]:
    """Parts of a defense's guarantee that its conformance checks do not test: epsilon and Pk."""
    if not issubclass(method, Defense):
        return []
    try:
        guaranteed = example(method).guarantee(people(60, generator(0, "people")))
        return [shown for part, shown in UNTESTED.items() if getattr(guaranteed, part) is not None]
    except Exception:  # a method under test may raise anything, which its checks report
        return []


def _diversity(statement: str, records: Microdata, frame: pd.DataFrame, name: str) -> tuple[float, str]:
    """The l of a released column in the form that the statement names, and that form."""
    names = records.quasi_identifiers
    if "entropy" in statement:
        return entropy_l_diversity(frame, names, name), "entropy"
    if "recursive" in statement:
        found = _RECURSIVE.search(statement)
        if found is None:
            right = "the statement of recursive diversity must name c, as 'recursive (2, 3)-diversity' does"
            raise AssertionError(f"{right}; got {statement!r}")
        return recursive_l_diversity(frame, names, name, float(found[1])), f"recursive, c = {found[1]}"
    return l_diversity(frame, names, name), "distinct"


def _closeness(statement: str, records: Microdata, frame: pd.DataFrame, name: str) -> tuple[float, str]:
    """The t of a released column with the distances that the statement names, and these."""
    if "ordered" not in statement:
        return t_closeness_equal(frame, records.quasi_identifiers, name), "equal distances"
    domain = records.domain(name)
    order = domain.categories if isinstance(domain, CategoricalDomain) else None
    return t_closeness_ordered(frame, records.quasi_identifiers, name, order=order), "ordered distances"


# Check that the origin of each released row is the record that the row copies.

RECORDS = 40
"""Few enough that no two of the invented people are equal in all columns but one."""


def check_origins(method: type[Defense]) -> None:
    """Compare released rows with all records.

    The origins are wrong if some columns copy other records throughout and agree with the origins less. These columns
    must tell the records apart, and no column may agree with the origins better. So perturbed columns, and columns that
    move apart from others, are not taken for wrong origins. The numbers of a frame's rows are compared, too. Raises
    AssertionError if an origin is wrong; names the row by its position, and the line.
    """
    records = people(RECORDS, generator(0, "origins", 2))
    release = release_of(method, records, "release")
    copied = _copied(release, released_frame(records))
    wrong = np.flatnonzero(copied != release.origin)
    if wrong.size:
        row = wrong[0]
        raise AssertionError(
            f"row {row} stems from record {copied[row]}, but its origin is {release.origin[row]}; if apply leaves rows "
            f"out or moves them, return rowwise_release(frame, channel).take(positions){defined_at(method.apply)}"
        )


def _copied(release: MicrodataRelease, originals: pd.DataFrame) -> Integers:
    """The record from which each row stems by its number or its cells, shape (rows,); else its origin."""
    numbers, in_order = release.frame.index, pd.RangeIndex(len(release.frame))
    is_numbered = pd.api.types.is_integer_dtype(numbers) and not numbers.equals(in_order)
    if is_numbered and np.array_equal(release.origin, in_order):
        return numbers.to_numpy(dtype=np.intp)
    rows = np.flatnonzero(release.origin >= 0)
    columns = [name for name in originals.columns if name in release.frame.columns]
    copied = release.origin.copy()
    if not rows.size or not columns:
        return copied
    # Per column: whether each row agrees with each record, shape (columns, rows, records).
    agrees = np.array([_agreement(release.frame[name].iloc[rows], originals[name]) for name in columns])
    position, origin = np.arange(rows.size), release.origin[rows]
    # Among equally similar records the stated one counts.
    similarity = agrees.sum(axis=0, dtype=float)
    similarity[position, origin] += 0.5
    nearest = similarity.argmax(axis=1)
    of_nearest, of_origin = (agrees[:, position, chosen].mean(axis=1) for chosen in (nearest, origin))
    throughout = [name for name, share in zip(columns, of_nearest, strict=True) if share == 1]
    better = (of_nearest[of_nearest == 1] > of_origin[of_nearest == 1]).any()
    if better and (of_nearest >= of_origin).all() and not originals.duplicated(throughout).any():
        copied[rows] = nearest
    return copied


def _agreement(released: pd.Series, originals: pd.Series) -> Booleans:
    """Whether each released cell is the value of each record; numbers may be written in any way."""
    if pd.api.types.is_numeric_dtype(originals):
        numbers = pd.to_numeric(released, errors="coerce").to_numpy(dtype=float)
        return np.asarray(numbers[:, None] == originals.to_numpy(dtype=float))
    return np.asarray(released.astype(str).to_numpy(dtype=str)[:, None] == originals.astype(str).to_numpy(dtype=str))


FirstRelease = Callable[[], tuple[Microdata, MicrodataRelease, str]]
"""Sixty records, a release of them, and the part of the records that it changed."""


def defense_checks(method: type[Defense]) -> Iterator[Check]:
    """Checks of a defense on tables, each with its title."""
    # Four checks look at the same release.
    first = cache(partial(_first_release, method))
    tables: dict[str, Callable[[], Microdata]] = {
        "sixty records": lambda: people(60, generator(0, "people")),
        "missing values": lambda: people(60, generator(0, "missing"), missing=True),
        "constant columns": lambda: people(60, generator(0, "constant"), constant=True),
        "one record": lambda: people(1, generator(0, "one")),
        "no record": lambda: people(0, generator(0, "none")),
    }
    independent = Check("randomizes records independently, as it declares", partial(_independent, method))
    yield from (
        Prerequisite("its guarantee is a Guarantee", partial(_guarantee, method)),
        Prerequisite("releases an ordinary table", first),
        Check("does not modify its records", partial(_records_unmodified, method, first)),
        Check("same seed, same release", partial(_same_release, method, first)),
        Check("earlier releases change no release", partial(_unremembering, method)),
        Check("each row's origin is the record that it copies", partial(check_origins, method)),
        *(
            Check(f"releases {title}, or gives a reason", partial(_releases, method, records))
            for title, records in tables.items()
        ),
        Check("meets its k, l and t on 20 tables", partial(check_guarantees, method)),
        *([independent] if method.randomizes_records_independently else []),
        Check("changes columns by themselves, if it declares that", partial(_columnwise, method)),
        Check(
            "its channel gives the truth a positive likelihood, and round-trips through TOML", partial(_channel, first)
        ),
        Check("handles unseen categories", partial(_unseen, method)),
    )


def _guarantee(method: type[Defense]) -> None:
    guaranteed = example(method).guarantee(people(60, generator(0, "people")))
    wrong, got = "guarantee must return a Guarantee, e.g. Guarantee(k=5)", f"got {type(guaranteed).__name__}"
    require(isinstance(guaranteed, Guarantee), wrong, got, method.guarantee)


def _first_release(method: type[Defense]) -> tuple[Microdata, MicrodataRelease, str]:
    """Release sixty records."""
    records = people(60, generator(0, "people"))
    before = records.frame.copy()
    release = release_of(method, records, "release")
    return records, release, difference(before, records.frame)


def _records_unmodified(method: type[Defense], first: FirstRelease) -> None:
    *_, changed = first()
    right = "copy it: released_frame(records) does"
    require(not changed, f"apply changes {changed} of the records", right, method.apply)


def _same_release(method: type[Defense], first: FirstRelease) -> None:
    records, release, _ = first()
    changed = released_difference(release, release_of(method, records, "release"))
    right = "draw from rng, not from np.random, and keep nothing between releases"
    require(not changed, f"two runs with one seed differ in {changed}", right, method.apply)


def _unremembering(method: type[Defense]) -> None:
    tables = [people(count, generator(0, "people")) for count in (60, 90)]

    def answer(defense: Defense, other: bool) -> MicrodataRelease:
        return release_of(method, tables[other], "release", defense=defense)

    check_memory(example(method), answer, released_difference, "release", method.apply)


def _releases(method: type[Defense], table: Callable[[], Microdata]) -> None:
    records = table()
    try:
        release = release_of(method, records, "release")
    except ValueError as error:
        message = str(error)
        require(bool(message) and "\n" not in message, "the error message is not a single line")
        # A single sensitive value cannot be made diverse, so such a table may be refused.
        ordinary = len(records) >= 60 and all(len(set(records.frame[name])) > 1 for name in records.sensitive)
        require(not ordinary, f"an ordinary table is refused: {message}{user_code_location(error)}")
        return
    original = set(records.frame["name"].dropna())
    for name in release.frame.columns:
        require(original.isdisjoint(release.frame[name].dropna()), f"column {name!r} releases an identifier")
    require(bool((release.origin < len(records)).all()), "an origin lies outside the records")
    for name in records.released_columns:
        read_cells(release.frame[name], records.domains[name])


def _independent(method: type[Defense]) -> None:
    defense = example(method)
    found = dependence(defense, _rare_people(), range(3), generator(0, "copies"))
    require(not found, false_declaration(defense, found), at=method.apply)


def _columnwise(method: type[Defense]) -> None:
    defense = example(method)
    if not (isinstance(defense, MicrodataDefense) and defense.columnwise):
        return
    records = people(60, generator(0, "people"))
    released = release_of(method, records, "release").frame
    for name in released.columns:
        mixed = records.frame.sample(frac=1, random_state=0).reset_index(drop=True)
        other = release_of(method, records.with_frame(mixed.assign(**{name: records.frame[name]})), "release").frame
        require(
            released[name].equals(other[name]),
            f"columnwise is true, but column {name!r} depends on other columns",
            at=method.apply,
        )


def _rare_people() -> Microdata:
    """Twenty people; the first and the second have values of their own in all columns, and the others are equal."""
    values: dict[str, tuple[Any, Any, Any]] = {
        "age": (20, 50, 80),
        "income": (100.0, 3000.0, 20000.0),
        "city": ("Nara|Uji", "Ōsaka", "Kyōto"),
        "grade": ("low", "middle", "high"),
        "illness": ("flu", "cold", "none"),
    }
    records = people(20, generator(0, "people"))
    frame = records.frame.copy()
    for name, (first, second, other) in values.items():
        frame[name] = [first, second, *[other] * 18]
    return records.with_frame(frame)


def _channel(first: FirstRelease) -> None:
    records, release, _ = first()
    if release.channel is None:
        return
    from_record = release.origin >= 0
    released = release.frame[from_record].reset_index(drop=True)
    truth = records.frame.iloc[release.origin[from_record]].reset_index(drop=True)
    domains = dict(records.domains)
    copy = Channel.from_toml(release.channel.to_toml())
    pairs = np.arange(len(released))
    for columns, likelihood in release.channel.likelihoods(released, truth, domains).items():
        of_truth = likelihood.at(pairs, pairs)
        require(bool((of_truth > -np.inf).all()), f"the channel gives the truth likelihood 0 in {', '.join(columns)}")
        table = copy.likelihoods(released, truth, domains)[columns].table()
        require(np.allclose(table, likelihood.table()), f"the channel of {', '.join(columns)} changes in TOML")
        require(np.allclose(np.diag(table), of_truth), f"table() and at() differ in {', '.join(columns)}")


def _unseen(method: type[Defense]) -> None:
    records = people(60, generator(0, "people"))
    frame = records.frame.copy()
    frame.loc[3, "city"] = "Atlantis"
    try:
        release_of(method, records.with_frame(frame), "release")
    except ValueError as error:
        require("city" in str(error), f"the error message does not name the column{user_code_location(error)}")
