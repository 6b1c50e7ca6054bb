"""Released tables that are read in parts, as cells."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from defenses.base import StoredBlock
from metrics.classes import key_starts
from metrics.columns import SUPPRESSED, Domain, Integers
from scenarios.tables.finished_table import shared_columns
from scenarios.tables.note import Note
from scenarios.tables.parts.combinations import CombinationKey
from scenarios.tables.parts.files.csv_files import quoted
from scenarios.tables.parts.files.table_files import Engine, TableFiles
from scenarios.tables.parts.raw_columns import RawColumn, raw_columns, value_texts, wide_code, wide_column, wide_values
from scenarios.tables.parts.records import InParts, LargeColumn, coded_blocks
from scenarios.tables.reading import TextColumn, WrittenCells, readable_columns, unread_notes, with_one_spelling
from scenarios.tables.released import refuse_identifiers, released_roles, spelling_domains
from scenarios.tables.released_classes import CellCounts, Cells, ClassPairs, CountedRelease, require_quasi_identifiers
from scenarios.tables.roles import read_roles

_ROWS = 1 << 18
"""Distinct identifiers that are looked at together."""
_PAIRS = 1 << 20
"""Pairs of a class and a value that are looked at together, at least."""


@dataclass(frozen=True)
class CellColumn(CellCounts):
    """A column of a released table that is read in parts, with its codes; two codes are two cells."""

    coded: LargeColumn

    def rows_of_cells(self) -> pd.Series[Any]:
        """Number of rows of each cell, by the cell; of some cells only if there are too many to list."""
        if self.cells is not None:
            return super().rows_of_cells()
        return pd.Series(1, index=self.coded.raw.values.to_numpy(zero_copy_only=False).astype(str))


@dataclass(frozen=True)
class LargeReleased(InParts, CountedRelease):
    """A released table that is read in parts.

    Attributes
    ----------
    written : WrittenCells
        Written form of the cells.
    unknown : tuple of Note
        Notes on empty and unknown cells, beside the original table.
    """

    columns: Mapping[str, CellColumn] = field(repr=False)
    written: WrittenCells = field(repr=False)
    unknown: tuple[Note, ...]

    def blocks(self, names: Sequence[str]) -> Iterator[StoredBlock]:
        """Blocks of rows in the order of the table, with the codes of some columns."""
        return coded_blocks(self.files, {name: self.columns[name].coded for name in names})

    def class_pairs(self, value: str | None = None) -> Iterator[ClassPairs]:
        """Equivalence classes, some at a time; in ascending order of their keys if they hold values."""
        key = CombinationKey.of([self.columns[name].coded for name in self.quasi_identifiers])
        coded = [] if value is None else [self.columns[value].coded]
        keys = key.expressions()
        expressions = {**keys, "v": f"({coded[0].raw.code})::BIGINT"} if coded else keys
        counts = self.files.counts(expressions, key.source(*coded), ordered=bool(coded))
        names = (*expressions, "n")
        waiting: list[Integers] = [np.empty(0, dtype=np.int64) for _ in names]
        for batch in self.files.batches(counts, _PAIRS):
            arrived = [batch.column(name).to_numpy(zero_copy_only=False).astype(np.int64) for name in names]
            rows = [np.concatenate(pair) for pair in zip(waiting, arrived, strict=True)]
            # The last class may go on in the next batch.
            last = int(np.flatnonzero(key_starts(rows[: len(keys)]))[-1])
            waiting = [column[last:] for column in rows]
            if last:
                yield _pairs([column[:last] for column in rows], coded, key)
        if waiting[0].size:
            yield _pairs(waiting, coded, key)
        self.files.check_unchanged()

    def cells(self, name: str) -> Iterator[Cells]:
        """Text of each code's cell, None where missing, in parts of `_ROWS` codes where there are too many to list."""
        column = self.columns[name]
        if column.cells is not None:
            yield from super().cells(name)
            return
        yield np.array([None], dtype=object)
        for batch in wide_values(self.files, column.coded.raw, _ROWS):
            text = TextColumn.from_arrow(f"{self.files.path}: column {name!r}", batch)
            yield self.written.read({name: text})[name].text_values()


def _pairs(rows: Sequence[Integers], coded: Sequence[LargeColumn], key: CombinationKey) -> ClassPairs:
    """Pairs of rows of keys, stored value if any, and number of records."""
    *keys, counts = rows
    values = coded[0].of_raw[keys.pop()] if coded else np.zeros_like(counts)
    begins = key_starts(keys)
    return ClassPairs(key.codes([one[begins] for one in keys]), np.cumsum(begins) - 1, values, counts)


@contextmanager
def large_released(
    path: Path,
    roles: Path | None = None,
    *,
    reading: Mapping[str, Any] | None = None,
    written: WrittenCells | None = None,
    spelling: Mapping[str, Domain | None] | None = None,
    domains: Mapping[str, Domain] | None = None,
    never_missing: Collection[str] = (),
    others: Sequence[str] = (),
    memory: int | None = None,
    engine: Engine | None = None,
) -> Iterator[LargeReleased]:
    """Open a released table that is read in parts.

    Parameters
    ----------
    path : Path
        A Parquet file, a folder of Parquet files, or a CSV file.
    roles, reading, written
        As in `scenarios.tables.released.read_released`.
    spelling : mapping of str to Domain or None, optional
        What is known about the spelling of cells; by default what the roles file and the cells tell.
    domains : mapping of str to Domain, optional
        Domains of the original table. See `readable_columns` for cells outside them.
    never_missing : collection of str
        Columns of which no original value is missing.
    others : sequence of str
        Further columns to read, where the table has them.
    memory : int, optional
        Bytes that DuckDB may use.
    engine : Engine, optional
        Where the parts are read; by default on this machine.

    Raises
    ------
    ValueError
        As `scenarios.tables.released.read_released`, and if other machines read the parts and a column has too many
        distinct cells.
    """
    declared = read_roles(roles, reading)
    blank = "" in declared.suppressed
    with TableFiles.of(path, declared, blank_rows=blank, memory=memory, engine=engine) as files:
        if domains is None:
            quasi_identifiers, sensitive, notes = released_roles(path, files.columns, declared)
            require_quasi_identifiers(quasi_identifiers)
        else:
            # A release beside its original has no classes of its own.
            quasi_identifiers, sensitive, notes = (), (), ()
            shared_columns(str(path), files.columns, domains)
        for name in (name for name in declared.identifiers if name in files.columns):
            values = f"SELECT source.{quoted(name)}::VARCHAR AS value FROM source"
            for batch in files.batches(f"SELECT DISTINCT value FROM ({values}) WHERE value != ''", _ROWS):
                refuse_identifiers(path, pd.DataFrame({name: batch.column("value").to_pandas()}), [name])
        names = [name for name in files.columns if name in (*quasi_identifiers, *sensitive, *others)]
        raw = raw_columns(files, names, wide=partial(wide_column, na=declared.na, stars=declared.suppressed))
        text = value_texts(files, raw, declared, released=True)
        written = WrittenCells.of(declared, roles) if written is None else written
        cells = written.read(text.columns)
        listed = {name: domain for name, domain in (domains or {}).items() if name in raw and not raw[name].sampled}
        cells, unknown = readable_columns(cells, listed, never_missing)
        # Measures of a release beside its original are about the cells as they are written.
        spelled = (*quasi_identifiers, *sensitive) if domains is None else tuple(declared.sensitive)
        known = spelling_domains(cells, declared, spelled) | dict(spelling or {})
        texts = {name: cells[name] for name in spelled if name in cells and not raw[name].sampled}
        unread = unread_notes(texts, declared.columns) if domains is None else []
        cells = with_one_spelling(
            cells, {name: known[name] for name in spelled if name in cells}, stars=domains is None
        )
        quasi_identifiers = tuple(name for name in quasi_identifiers if name in cells or declared.quasi_identifiers)
        columns = {
            name: _column(files, raw[name], cells[name], SUPPRESSED if blank or name in never_missing else None)
            for name in names
            if name in cells
        }
        counted = (path, columns, quasi_identifiers, sensitive, (*text.notes, *notes, *unread), declared, known)
        yield LargeReleased(*counted, files, written, tuple(unknown))


def suppressed_column(name: str, rows: int) -> CellColumn:
    """A column that a release lacks: ``*`` in every row."""
    cells, counts, first = np.array([SUPPRESSED], dtype=object), np.array([rows]), np.array([0])
    raw = RawColumn(name, pa.chunked_array([[SUPPRESSED]]), counts, 0, "0", 1, first)
    return CellColumn.of_cells(cells, counts, coded=LargeColumn(raw, cells, 1, first))


def _column(files: TableFiles, raw: RawColumn, text: TextColumn, empty: str | None) -> CellColumn:
    """Codes and cells of a column, given the cells of its distinct values, and what an empty cell stands for."""
    if raw.sampled:
        # Its own codes are those of the cells; DuckDB looks for cells that are no single value.
        cells = np.broadcast_to(np.array(None, dtype=object), raw.size)
        counts = np.append(raw.missing, raw.counts)
        coded = LargeColumn(raw, cells, 0, np.arange(raw.size))
        first = f"left(source.{quoted(raw.name)}::VARCHAR, 1)"
        ((any_opening,),) = files.fetch(f"SELECT bool_or({first} IN ('[', '{{', '*')) FROM source")
        return CellColumn(None, counts, not any_opening, wide_code(files, raw, SUPPRESSED), coded)
    values = np.append(text.text_values()[: len(raw.values)], [empty])
    of_value, uniques = pd.factorize(values, use_na_sentinel=False)
    uniques = np.array([None if pd.isna(cell) else cell for cell in uniques], dtype=object)
    counts = np.bincount(of_value, np.append(raw.counts, raw.missing), minlength=uniques.size).astype(np.int64)
    of_raw = of_value[raw.of_code]
    occurring = np.append(raw.counts, raw.missing) > 0
    if np.unique(of_value[occurring]).size < occurring.sum():
        raw = _merged(files, raw, of_raw, uniques.size)
        of_raw = np.arange(uniques.size)
    return CellColumn.of_cells(uniques, counts, coded=LargeColumn(raw, uniques, int(of_value[-1]), of_raw))


def _merged(files: TableFiles, raw: RawColumn, of_raw: Integers, size: int) -> RawColumn:
    """A column whose code is that of the cell, where several stored values are one cell."""
    table = f"cells_{files.columns.index(raw.name)}"
    files.keep(table, pa.table({"stored": np.arange(raw.size), "cell": of_raw}))
    join = f"{raw.join} LEFT JOIN {table} ON ({raw.code}) = {table}.stored"
    return replace(raw, code=f"{table}.cell", size=size, of_code=np.arange(size), join=join)
