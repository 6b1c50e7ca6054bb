"""Control people: people of the same population who were not in the original table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from defenses.base import Microdata
from metrics.columns import Domain, Integers, NumericDomain, refuse
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.assessment.evaluation.row_origin import MOST_PAIRS, held_people, kinds_of_rows
from scenarios.tables.dataset import Dataset, load_table, with_all_columns
from scenarios.tables.file_methods import row_hashes
from scenarios.tables.linkage_files import with_values_of
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.reading.text_table import text_table
from scenarios.tables.released import input_path
from scenarios.tables.review.notes import refuse_undeclared_identifiers
from scenarios.tables.review.reviewed_table import unique_text_columns
from scenarios.tables.review.rows_of_people import RowsOfPeople
from scenarios.tables.review.suggestions import MOSTLY_DISTINCT
from scenarios.tables.roles import Roles, read_roles
from scenarios.tables.toml.toml_file import read_bytes

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
    """Refuse a release that holds the control people.

    Parameters
    ----------
    name : str
        The release, which the error names.
    released : DataFrame, shape (rows, columns)
        Released cells.
    records, control : Microdata
        The original records and the control people.
    domains : mapping of str to Domain
        Domains of the released columns.

    Raises
    ------
    ValueError
        If rows remain that no record can have given, most control people explain nearly all of them, and further copies
        of records do not.

    Notes
    -----
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

    Parameters
    ----------
    table : str
        File of the table; ``-`` is standard input.
    roles : Path, optional
        Its roles file. Without one, texts that differ in every record are refused.
    reading : mapping of str
        How files are read; see `scenarios.tables.roles.read_roles`.
    control : str, optional
        File of the control people.

    Raises
    ------
    ValueError
        If a file is refused; see `read_control`.
    """
    declared = read_roles(roles, reading)
    dataset = load_table(input_path(table), roles, reading=reading)
    refuse_undeclared_identifiers(table, roles, unique_text_columns(dataset.records), len(dataset.records))
    people, sha256 = read_control(Path(control), dataset, declared) if control else (None, "")
    return dataset, declared, people, sha256


OFTEN = 0.05
"""Share of control people who equal a record, beyond what records do among each other, from which it is doubted."""


def read_control(path: Path, dataset: Dataset, roles: Roles) -> tuple[Microdata, str]:
    """Read people of the same population who were not in the table.

    Parameters
    ----------
    path : Path
        CSV or Parquet file with all columns of the original table; identifiers may be missing.
    dataset : Dataset
        The original table, which gives domains. Those that are inferred, or of columns without a role, are extended.
    roles : Roles
        Its roles file.

    Returns
    -------
    control : Microdata
        The people, with the domains of both tables.
    sha256 : str
        Checksum of the file.

    Raises
    ------
    ValueError
        If the file cannot be read, lacks a column, or holds a value outside a declared domain. Also if it holds people
        of the original table: the same rows, or rows that agree in every column, identifiers included.
    """
    data = read_bytes(path)
    columns, _ = text_table(path, data, roles)
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
    """A warning of control people who may be in the table: many of them equal a record.

    Parameters
    ----------
    setting : EvaluationSetting
        The original table and the control people.
    """
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
