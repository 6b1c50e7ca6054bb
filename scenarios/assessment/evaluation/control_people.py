"""Control people: people of the same population who were not in the original table, and how many a report needs."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from defenses.base import Microdata
from leaderboard.pages.number_text import exact, number
from metrics.columns import Domain, Integers, NumericDomain, refuse, require
from metrics.score import Score
from scenarios.assessment.evaluation.evaluation_setting import (
    EvaluationSetting,
    MeasuredAttack,
    most_asked,
    most_targets,
    upper_confidence,
)
from scenarios.assessment.evaluation.row_origin import MOST_PAIRS, held_people, kinds_of_rows
from scenarios.tables import (
    Dataset,
    Roles,
    input_path,
    load_table,
    read_bytes,
    read_roles,
    row_hashes,
    with_all_columns,
    with_values_of,
)
from scenarios.tables.reading import TextColumn, read_text_table
from scenarios.tables.review import MOSTLY_DISTINCT, ReviewedTable, RowsOfPeople, refuse_undeclared_identifiers

# Control people who are in the release: rows that no record can have given, and that control people explain.

FEWEST = 20
"""Fewest rows without a record that are taken for evidence."""
MANY = 0.5
"""Share of the control people that must stand for such a row; a synthetic table of few kinds of rows has fewer."""
UNEXPLAINED = 0.05
"""Largest share of these rows that control people may leave unexplained."""
BEYOND_CHANCE = 2.0
"""How many times as many rows control people must explain as further copies of records do."""


def refuse_control_in_release(
    name: str, released: pd.DataFrame, records: Microdata, control: Microdata, domains: Mapping[str, Domain]
) -> None:
    """Refuse a release that holds the control people, with a ValueError that names the release.

    It does so if rows remain that no record can have given. Most control people must explain nearly all of these rows,
    and further copies of records must not.

    Rows of one kind are equal in all cells. A kind has as many rows too many as it has more rows than people whom its
    cells hold. The control people explain the difference of the rows too many without and with them. As many records,
    drawn with replacement, explain what people of the same population explain by chance. Noise and synthesis give rows
    that neither explains.
    """
    kinds, kind = kinds_of_rows(released)
    sizes = np.bincount(kind)
    drawn = np.random.default_rng(0).integers(len(records), size=len(control))
    people = pd.concat(
        [frame[list(kinds.columns)] for frame in (records.frame, control.frame, records.frame.iloc[drawn])],
        ignore_index=True,
    )
    if len(kinds) * len(people) > MOST_PAIRS:
        # Larger tables are not checked.
        return
    of_records, of_control, of_copies = _held(kinds, people, domains, (len(records), len(control), len(control)))
    too_many, with_control, with_copies = (
        int(np.maximum(sizes - held, 0).sum()) for held in (of_records, of_records + of_control, of_records + of_copies)
    )
    explained, by_chance = too_many - with_control, too_many - with_copies
    many = too_many >= FEWEST and explained >= MANY * len(control)
    refuse(
        many and with_control <= UNEXPLAINED * too_many and explained > BEYOND_CHANCE * by_chance,
        f"{name}: {too_many:,} rows stem from no record of the original table, and the control people fit "
        f"{explained:,} of them (copies of records: {by_chance:,}): control people are in the release. Hold them "
        "back before the release is made, as `tokumei split` does",
    )


def _held(
    kinds: pd.DataFrame, people: pd.DataFrame, domains: Mapping[str, Domain], sizes: tuple[int, int, int]
) -> list[Integers]:
    """Number of people of each of three groups whom each kind of row holds, each of shape (kinds,)."""
    return [part.sum(axis=1) for part in np.split(held_people(kinds, people, domains), np.cumsum(sizes)[:-1], axis=1)]


def read_tables(
    table: str, roles: Path | None, reading: Mapping[str, Any], control: str | None
) -> tuple[Dataset, Roles, Microdata | None, str]:
    """Read the original table and the control people, as `EvaluationSetting` takes them.

    Without a roles file, texts that differ in every record are refused. A refused file raises a ValueError.

    - table: File of the table; ``-`` is standard input.
    - reading: How files are read; see `scenarios.tables.roles.read_roles`.
    - control: File of the control people.
    """
    declared = read_roles(roles, reading)
    dataset = load_table(input_path(table), roles, reading=reading)
    refuse_undeclared_identifiers(table, roles, ReviewedTable(dataset).unique_texts, len(dataset.records))
    people, sha256 = read_control(Path(control), dataset, declared) if control else (None, "")
    return dataset, declared, people, sha256


OFTEN = 0.05
"""Share of control people who equal a record, beyond what records do among each other, that brings a warning."""


def read_control(path: Path, dataset: Dataset, roles: Roles) -> tuple[Microdata, str]:
    """Read people of the same population who were not in the table, and the checksum of their file.

    The people get the domains of both tables: those that are inferred, or of columns without a role, are extended.
    Identifiers may be missing.

    A ValueError is raised if the file cannot be read, lacks a column, or holds a value outside a declared domain. It is
    also raised if it holds people of the original table: the same rows, or rows that agree in every column, identifiers
    included.
    """
    data = read_bytes(path)
    columns = read_text_table(path, data, roles).columns
    records = with_all_columns(dataset)
    for name in records.released_columns:
        refuse(
            name not in columns,
            f"{path}: control people need the columns of the original table; there is no {name!r}, "
            f"it has {', '.join(columns)}",
        )
    values, domains = {}, {}
    for name in records.released_columns:
        domain = wide = records.domain(name)
        if domain.inferred or name in dataset.left_out:
            wide = with_values_of(domain, columns[name])
        if isinstance(wide, NumericDomain):
            # Numbers outside the records' range belong to the nearest bin.
            wide = replace(wide, integer=wide.integer and not wide.inferred)
        else:
            domain = wide
        values[name], domains[name] = columns[name].values(wide), domain
    frame = pd.DataFrame(values)
    _check_person(path, columns, records)
    _check_others(path, frame, records)
    _check_identifiers(path, frame, columns, records)
    for name in records.identifiers:
        # Whose the rows are is all that is kept of identifiers.
        frame[name] = columns[name].text_values() if name == records.person and name in columns else None
    people = replace(records.with_frame(frame[list(records.frame.columns)]), domains=domains)
    return people, hashlib.sha256(data).hexdigest()


def records_among(control: Microdata, records: Microdata) -> int:
    """Number of control people who equal a record in every column."""
    first, second = (row_hashes(people.frame[list(people.released_columns)]) for people in (control, records))
    return int(first.isin(second).sum())


def control_warnings(setting: EvaluationSetting) -> Iterator[str]:
    """A warning of control people who may be in the table: many of them equal a record."""
    if setting.control is None or not len(setting.control):
        return
    equal, people = records_among(setting.control, setting.records), len(setting.control)
    who = "control people" if setting.control_size == people else "rows of control people"
    records = row_hashes(setting.records.frame[list(setting.records.released_columns)])
    by_chance = float(records.duplicated(keep=False).mean())
    if equal > (OFTEN + 2 * by_chance) * people:
        yield (
            f"{equal:,} of {people:,} {who} equal a record in every column. If they are people of the table, "
            "every risk is understated: hold others back."
        )
    elif equal > OFTEN * people:
        yield (
            f"{equal:,} of {people:,} {who} equal a record in every column, as {by_chance:.0%} of the records "
            "equal another one. If the control people were in the table, every risk is understated."
        )


def _check_person(path: Path, columns: Mapping[str, TextColumn], records: Microdata) -> None:
    """Refuse control people who cannot be counted, where people of the table have several rows."""
    rows = RowsOfPeople.of(records)
    if rows is not None:
        refuse(
            rows.person not in columns or columns[rows.person].empty,
            f"{path}: lacks the column {rows.person!r}, which says whose row a row is: people of the table have up to "
            f"{rows.most} rows, and control people are counted like them. Add it, with any name for each person",
        )


def _check_others(path: Path, control: pd.DataFrame, records: Microdata) -> None:
    """Refuse control people whose rows are those of the original table, in any order."""
    first, second = (np.sort(row_hashes(frame[list(control.columns)]).to_numpy()) for frame in (control, records.frame))
    refuse(
        np.array_equal(first, second) and np.unique(first).size > 1,
        f"{path}: holds the people of the original table; control people are those who were not in it",
    )


def _check_identifiers(
    path: Path, control: pd.DataFrame, columns: Mapping[str, TextColumn], records: Microdata
) -> None:
    """Refuse control people who agree with a record in every column, where the identifiers tell people apart."""
    names = [name for name in records.identifiers if name in columns and not columns[name].empty]
    texts = records.frame[names].dropna()
    if not names or texts.drop_duplicates().shape[0] < MOSTLY_DISTINCT * len(records):
        return
    whole = control.assign(**{name: columns[name].text_values() for name in names})
    same = int(row_hashes(whole).isin(row_hashes(records.frame[list(whole.columns)])).sum())
    refuse(
        same,
        f"{path}: {same:,} of its {len(control):,} rows are in the original table, too: they agree in every "
        f"column, {', '.join(names)} included. Control people were not in it; leave these rows out of one of the "
        "two files",
    )


# How many control people a report needs, so that its intervals are narrow enough for a threshold.


STATED = (0.2, 0.09)
"""Thresholds about which `control_words` speaks: a contract with known users, and publication."""
CHANCE = 0.5
"""Chance level for which sizes are planned: half of all guesses are right. A more common value needs more people."""
MOST = 10**7
"""Largest number of people that is considered."""


def upper_bound(asked: int, risk: float = 0.0) -> float:
    """Upper bound of the risk that a report finds if it measures an advantage of `risk`, in [0, 1].

    - asked: Number of control people about whom attacks are asked, at least 1; as many people of the table are asked
      about.
    """
    score = Score("attributes", CHANCE + risk * (1 - CHANCE), CHANCE, asked, asked)
    return _upper(MeasuredAttack(attack="", goal="attributes", knows="everything", score=score), 1)


def people_needed(threshold: float, risk: float = 0.0) -> int:
    """Smallest number of control people with which a report shows that a risk is within a threshold.

    The number holds for a chance level of `CHANCE`, and if the report's number of targets is half of it.

    - threshold: Largest acceptable risk, in (0, 1), or a ValueError is raised.
    - risk: Advantage that the report will measure, at least 0 and below the threshold, or a ValueError is raised.

    Examples
    --------
    >>> people_needed(0.2), people_needed(0.2, 0.1)
    (307, 1233)
    """
    require(0 < threshold < 1, f"threshold must lie between 0 and 1, got {threshold}")
    require(0 <= risk < threshold, f"risk must be at least 0 and below the threshold {threshold}, got {risk}")
    # The other half are the attacker's people.
    return 2 * _smallest(lambda asked: upper_bound(asked, risk) <= threshold) - 1


def largest_risk(asked: int, threshold: float) -> float | None:
    """Largest measured risk that a report on so many control people still shows to be within a threshold.

    It is a multiple of 0.01, or None if even a risk of 0 is not shown.
    """
    shown = [percent for percent in range(100) if asked and upper_bound(asked, percent / 100) <= threshold]
    return shown[-1] / 100 if shown else None


def trials_needed(outcome: MeasuredAttack, threshold: float, number: int = 1) -> int | None:
    """Number of trials that would show an attack to be within a threshold, if its rates stay as measured.

    It is None if the measured advantage is not below the threshold, or more than `MOST` trials are needed.

    - threshold: Largest acceptable risk, in (0, 1).
    - number: Number of the release among those that are judged on the same people.
    """
    score, estimate = outcome.score, outcome.advantage()
    if score is None or estimate is None or estimate.value >= threshold:
        return None

    def shown(trials: int) -> bool:
        controls = None if score.control_trials is None else trials
        repeated = replace(score, trials=trials, control_trials=controls)
        return _upper(replace(outcome, score=repeated), number) <= threshold

    return _smallest(shown) if shown(MOST) else None


def control_words(control: int, rows: int) -> str:
    """Say for each of the thresholds `STATED` up to which measured risk a control group is large enough.

    `rows` counts the rows of the table without the control people.
    """
    return "; ".join(f"threshold {exact(one)}: {_enough_words(one, control, rows)}" for one in STATED)


def _enough_words(threshold: float, control: int, rows: int) -> str:
    """Whether so many control people are enough for a threshold."""
    needed, asked = people_needed(threshold), most_targets(most_asked(control), rows, rows)
    risk = largest_risk(asked, threshold)
    if risk is not None:
        return f"enough if the measured risk is at most {number(risk)}"
    if control < needed:
        return f"too few, {needed:,} are needed even for a risk of 0"
    return f"not within reach, since attacks are about {asked:,} people at most"


def _upper(outcome: MeasuredAttack, number: int) -> float:
    estimate = outcome.advantage(upper_confidence(number))
    return 1.0 if estimate is None else estimate.high


def _smallest(enough: Callable[[int], bool]) -> int:
    """Smallest number that is enough, if all larger ones are."""
    return 1 + bisect_left(range(1, 1 << 60), x=True, key=enough)
