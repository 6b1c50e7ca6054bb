"""A finished release, read beside the original table."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from leaderboard.pages.number_text import counted
from metrics.columns import (
    SUPPRESSED,
    CategoricalCells,
    CategoricalDomain,
    Domain,
    NumericCells,
    named_categories,
    read_cells,
    refuse,
    require,
)
from scenarios.tables.dataset import Dataset, with_all_columns
from scenarios.tables.file_methods import content_hash
from scenarios.tables.note import Note
from scenarios.tables.reading import HINT, TextColumn, category_note, readable_columns, rows_from_one, with_one_spelling
from scenarios.tables.released import released_columns, text_frame
from scenarios.tables.roles import Roles

LARGEST_TABLE = 500_000_000
"""Largest number of pairs of a distinct cell and a category of one column, of one byte each."""


@dataclass(frozen=True)
class FinishedTable:
    """A table that some tool released, with the columns that it shares with the original table.

    Attributes
    ----------
    name : str
        The file, or the built-in defense.
    frame : DataFrame, shape (rows, columns)
        Released cells as text, None where missing; sensitive cells of equal meaning have one text. Columns have the
        order of the original table.
    lacking : tuple of str
        Columns with a role that the release does not have.
    unknown : DataFrame, shape (rows, further columns)
        Released columns that the original table does not have, which nothing is compared with.
    domains : mapping of str to Domain
        Domains of all columns of the original table except identifiers. An inferred domain also holds the categories
        that only this release has.
    sha256 : str
        Checksum of the file.
    notes : tuple of Note
        What was recognized.
    person : Series, shape (rows,), optional
        The column that names the person of each row, in the clear or by a pseudonym; None if it was not released.
    """

    name: str
    frame: pd.DataFrame = field(repr=False)
    lacking: tuple[str, ...]
    unknown: pd.DataFrame = field(repr=False)
    domains: Mapping[str, Domain] = field(repr=False)
    sha256: str
    notes: tuple[Note, ...]
    person: pd.Series[Any] | None = field(default=None, repr=False)

    @property
    def suppressed(self) -> pd.DataFrame:
        """The released cells with ``*`` in every column that is lacking."""
        return self.frame.assign(**dict.fromkeys(self.lacking, SUPPRESSED))

    @cached_property
    def content(self) -> str:
        """Checksum of what the release says, whatever the spelling of its cells and the order of its columns."""
        return content_hash(self.alike.sort_index(axis=1))

    @cached_property
    def alike(self) -> pd.DataFrame:
        """`suppressed` with one text for cells of equal meaning, to compare people of the table with others."""
        return self._spelled(stars=False)

    @cached_property
    def among_records(self) -> pd.DataFrame:
        """`alike` with ``*`` for a cell of the whole declared domain, to count classes.

        Everybody in the table lies within the domain, and others need not.
        """
        return self._spelled(stars=True)

    def _spelled(self, *, stars: bool) -> pd.DataFrame:
        columns = {name: TextColumn.of_values(name, self.frame[name]) for name in self.frame.columns}
        return self.suppressed.assign(**text_frame(with_one_spelling(columns, self.domains, stars=stars)))


def read_finished(
    name: str, data: bytes, dataset: Dataset, declared: Roles, domains: Mapping[str, Domain], *, widen: bool = True
) -> FinishedTable:
    """Read a finished release.

    Its columns may have any order. It may lack columns, and other columns are left out. Its rows may be more or fewer
    than the records.
    """
    records = with_all_columns(dataset)
    columns, notes = released_columns(Path(name), data, declared, domains)
    shared = shared_columns(name, columns, domains)
    lacking = tuple(column for column in dataset.records.released_columns if column not in columns)
    extra = tuple(column for column in columns if column not in domains and column not in records.identifiers)
    fitted = dict(domains)
    cells = dataset.written.read(_among(columns, shared))
    for column, texts in text_frame(cells).items() if widen else ():
        domain = domains[str(column)]
        if isinstance(domain, CategoricalDomain) and domain.inferred:
            unknown = sorted(named_categories(texts) - set(domain.categories))
            fitted[str(column)] = replace(domain, categories=(*domain.categories, *unknown))
            notes += category_note(texts, domain.categories, "record")
    complete = [column for column in shared if not records.frame[column].isna().any()]
    cells, suppressed = readable_columns(cells, fitted, complete)
    frame = text_frame(with_one_spelling(cells, {column: fitted[column] for column in records.sensitive}))
    for column in shared:
        _check_size(name, column, frame[column], fitted[column])
    with rows_from_one(f"{name}: ", "" if declared.columns else f"; {HINT}"):
        read = {column: read_cells(frame[column], fitted[column]) for column in shared}
    kinds = {column: CellKinds.of(cells) for column, cells in read.items()}
    notes += [*suppressed, *beside_notes(dataset, columns, kinds, len(frame), len(records))]
    person = columns.get(records.person or "")
    return FinishedTable(
        name,
        frame,
        lacking,
        text_frame(_among(columns, extra)),
        fitted,
        hashlib.sha256(data).hexdigest(),
        tuple(notes),
        None if person is None else pd.Series(person.text_values(), dtype=object),
    )


class CellKinds(NamedTuple):
    """Which kinds of generalized cells a released column has: intervals or sets, and ``*``."""

    general: bool
    suppressed: bool

    @classmethod
    def of(cls, cells: NumericCells | CategoricalCells) -> CellKinds:
        """Kinds of distinct cells that were read."""
        return cls(bool((~cells.plain & ~cells.suppressed).any()), bool(cells.suppressed.any()))


def shared_columns(name: str, columns: Collection[str], domains: Collection[str]) -> list[str]:
    """Columns of the original table that a release has; ValueError if it has none."""
    shared = [column for column in domains if column in columns]
    require(
        shared,
        f"{name}: has no column of the original table, which has {', '.join(domains)}; it has {', '.join(columns)}",
    )
    return shared


def beside_notes(
    dataset: Dataset, columns: Collection[str], kinds: Mapping[str, CellKinds], rows: int, records: int
) -> list[Note]:
    """What is said of a release with some columns and rows beside its original table, by the kinds of shared cells."""
    roles = dataset.records
    own = (*kinds, *(name for name in roles.identifiers if name not in dataset.left_out))
    said = {
        "lacking in a release": [name for name in roles.released_columns if name not in columns],
        "only in a release": [name for name in columns if name not in own],
        "released without a role": [name for name in dataset.left_out if name in columns],
        "intervals or sets": [name for name, kind in kinds.items() if kind.general],
        "suppressed cells": [name for name, kind in kinds.items() if kind.suppressed],
    }
    notes = [Note(kind, tuple(names)) for kind, names in said.items() if names]
    if rows != records:
        notes.append(Note("other number of rows", numbers={"rows": counted(rows, "row"), "records": records}))
    return notes


def _among(columns: Mapping[str, TextColumn], names: Iterable[str]) -> dict[str, TextColumn]:
    return {name: columns[name] for name in names if name in columns}


def _check_size(name: str, column: str, cells: pd.Series[str], domain: Domain) -> None:
    """Refuse a column of so many categories that a table of cells and categories does not fit into memory."""
    distinct = cells.nunique()
    refuse(
        isinstance(domain, CategoricalDomain) and distinct * domain.size > LARGEST_TABLE,
        f"{name}: column {column!r} has {distinct} different cells and {domain.size} categories, too many to "
        "compare; declare it as an identifier, or leave it out",
    )
