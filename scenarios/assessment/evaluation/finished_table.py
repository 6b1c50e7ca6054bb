"""A finished release, read beside the original table."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

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
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.tables.reading.cell_spelling import category_note, readable_cells, with_one_spelling
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.reading.text_table import rows_from_one, text_table
from scenarios.tables.released import refuse_identifiers, text_frame
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
    notes : tuple of str
        What was recognized, one sentence each.
    person : Series, shape (rows,), optional
        The column that names the person of each row, in the clear or by a pseudonym; None if it was not released.
    """

    name: str
    frame: pd.DataFrame = field(repr=False)
    lacking: tuple[str, ...]
    unknown: pd.DataFrame = field(repr=False)
    domains: Mapping[str, Domain] = field(repr=False)
    sha256: str
    notes: tuple[str, ...]
    person: pd.Series[Any] | None = field(default=None, repr=False)

    @property
    def suppressed(self) -> pd.DataFrame:
        """The released cells with ``*`` in every column that is lacking."""
        return self.frame.assign(**dict.fromkeys(self.lacking, SUPPRESSED))

    @cached_property
    def alike(self) -> pd.DataFrame:
        """`suppressed` with one text for cells of equal meaning, to count classes."""
        columns = {name: TextColumn.of_values(name, self.frame[name]) for name in self.frame.columns}
        cells = with_one_spelling(columns, {name: self.domains[name] for name in columns})
        return self.suppressed.assign(**text_frame(cells))


def read_finished(name: str, data: bytes, setting: EvaluationSetting) -> FinishedTable:
    """Read a finished release.

    Its columns may have any order. It may lack columns, and other columns are left out. Its rows may be more or fewer
    than the records. A category that no record has is added to a domain that was inferred.

    Parameters
    ----------
    name : str
        The file, which errors name.
    data : bytes
        Its content: CSV (also gzip-compressed) or Parquet.
    setting : EvaluationSetting
        The original table.

    Raises
    ------
    ValueError
        If it is no such table or holds no row, an identifier was released, it shares no column with the original
        table, or a cell cannot be read. The message names file, column and row.
    """
    records, domains = setting.records, setting.domains
    columns, notes = _columns(name, data, domains, setting.roles)
    refuse_identifiers(Path(name), text_frame(_among(columns, records.identifiers)), records.identifiers)
    shared = [column for column in domains if column in columns]
    require(
        shared,
        f"{name}: has no column of the original table, which has {', '.join(domains)}; it has {', '.join(columns)}",
    )
    lacking = tuple(column for column in setting.columns if column not in columns)
    extra = [column for column in columns if column not in domains and column not in records.identifiers]
    if lacking:
        notes.append(f"lacks {', '.join(lacking)}, which counts as suppressed")
    if extra:
        notes.append(f"{', '.join(extra)}: not in the original table, left out")
    bare = [column for column in setting.dataset.left_out if column in columns]
    if bare:
        notes.append(f"{', '.join(bare)}: no role declared, but released; attackers use it, and utility leaves it out")
    cells_of = setting.dataset.written.read(_among(columns, shared))
    extended, cells = dict(domains), {}
    for column in shared:
        frame = text_frame({column: cells_of[column]})
        extended[column], unknown = _extended(domains[column], frame[column])
        notes += unknown
        never_missing = not records.frame[column].isna().any()
        cells_of[column], words = readable_cells(
            column, cells_of[column], extended[column], never_missing=never_missing
        )
        notes += words
    frame = text_frame(with_one_spelling(cells_of, {column: extended[column] for column in records.sensitive}))
    for column in shared:
        _check_size(name, column, frame[column], extended[column])
        with rows_from_one(f"{name}: "):
            cells[column] = read_cells(frame[column], extended[column])
    notes += _recognized(cells)
    if len(frame) != len(records):
        notes.append(f"the release has {counted(len(frame), 'row')}, and the original table has {len(records)}")
    unknown_columns = text_frame(_among(columns, extra))
    person = columns.get(records.person or "")
    return FinishedTable(
        name,
        frame,
        lacking,
        unknown_columns,
        extended,
        hashlib.sha256(data).hexdigest(),
        tuple(notes),
        None if person is None else pd.Series(person.text_values(), dtype=object),
    )


def _columns(
    name: str, data: bytes, domains: Mapping[str, Domain], roles: Roles
) -> tuple[dict[str, TextColumn], list[str]]:
    """Columns of the file; another tool may have written it with another separator than the roles declare."""
    columns, notes = text_table(Path(name), data, roles, released=True)
    if roles.separator is not None and not set(columns) & set(domains):
        return text_table(Path(name), data, roles.model_copy(update={"separator": None}), released=True)
    return columns, notes


def _among(columns: Mapping[str, TextColumn], names: tuple[str, ...] | list[str]) -> dict[str, TextColumn]:
    return {name: columns[name] for name in names if name in columns}


def _extended(domain: Domain, column: pd.Series[str]) -> tuple[Domain, list[str]]:
    """An inferred domain with the categories that only the release has, and a note on them."""
    if not isinstance(domain, CategoricalDomain) or not domain.inferred:
        return domain, []
    unknown = sorted(named_categories(column) - set(domain.categories))
    wider = replace(domain, categories=(*domain.categories, *unknown)) if unknown else domain
    return wider, category_note(column, domain.categories, "record")


def _check_size(name: str, column: str, cells: pd.Series[str], domain: Domain) -> None:
    """Refuse a column of so many categories that a table of cells and categories does not fit into memory."""
    distinct = cells.nunique()
    refuse(
        isinstance(domain, CategoricalDomain) and distinct * domain.size > LARGEST_TABLE,
        f"{name}: column {column!r} has {distinct} different cells and {domain.size} categories, too many to "
        "compare; declare it as an identifier, or leave it out",
    )


def _recognized(cells: Mapping[str, NumericCells | CategoricalCells]) -> list[str]:
    """Notes on the columns that hold intervals, sets or suppressed cells."""
    general = [name for name, column in cells.items() if (~column.plain & ~column.suppressed).any()]
    starred = [name for name, column in cells.items() if column.suppressed.any()]
    notes = []
    if general:
        notes.append(f"intervals or sets in {', '.join(general)}")
    if starred:
        notes.append(f"suppressed cells (*) in {', '.join(starred)}")
    return notes
