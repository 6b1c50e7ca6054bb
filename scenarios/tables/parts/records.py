"""Records that are read in parts, with roles, domains and hierarchies."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from defenses.base import Microdata, code_column, code_values
from metrics.columns import Integers, NumericDomain, require
from scenarios.tables.dataset import Dataset, check_sum, described_table, with_roles_of
from scenarios.tables.parts.files.csv_files import quoted
from scenarios.tables.parts.files.table_files import Engine, TableFiles
from scenarios.tables.parts.raw_columns import RawColumn, ordered_rows, raw_columns, true_rows, value_texts
from scenarios.tables.roles import read_roles
from scenarios.tables.toml.toml_file import read_bytes

BLOCK = 1 << 18
"""Number of rows of a block; random numbers are drawn block by block."""


@dataclass(frozen=True)
class LargeColumn:
    """A column of a table that is read in parts.

    Attributes
    ----------
    raw : RawColumn
        Its values as stored.
    values : ndarray, shape (size,)
        Distinct values of the records, in the order of `defenses.base.columns.code_column`, a missing one last. Empty
        where `raw.sampled`.
    missing : int
        Code of a missing value; `size` if none is missing.
    of_raw : ndarray of int, shape (raw codes,)
        Code of each stored value's code.
    """

    raw: RawColumn
    values: NDArray[Any] = field(repr=False)
    missing: int
    of_raw: Integers = field(repr=False)

    @property
    def numbers_only(self) -> bool:
        """Whether rows hold numbers instead of codes, since nearly all are distinct."""
        return self.raw.sampled

    @property
    def has_missing(self) -> bool:
        """Whether a value is missing."""
        return bool(self.raw.missing) if self.numbers_only else self.missing < self.values.size


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a table.

    Attributes
    ----------
    number : int
        Number of the block, from 0.
    start : int
        Position of its first row in the table.
    columns : mapping of str to ndarray, each of shape (rows,)
        Code of each row, int32; its number, float, in a column of `numbers_only`.
    """

    number: int
    start: int
    columns: Mapping[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True)
class InParts:
    """A table that is read in parts; its blocks are numbered through all parts.

    Parameters
    ----------
    files : TableFiles
        The files.
    first_block, first_row : int
        Number of the first block, and position of its first row; not 0 in later parts of a table.
    """

    files: TableFiles
    first_block: int = field(default=0, kw_only=True)
    first_row: int = field(default=0, kw_only=True)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.files.rows


@dataclass(frozen=True)
class LargeRecords(InParts):
    """Records of a publisher that are read in parts.

    Attributes
    ----------
    dataset : Dataset
        Roles, domains, hierarchies and notes. Its records are no records: they hold the distinct values of each column,
        whatever stands beside them.
    columns : mapping of str to LargeColumn
        The columns that a release may hold, in the order of the table.
    missing_texts : tuple of str
        Texts that the roles file or an option declares to be missing values.
    """

    dataset: Dataset
    columns: Mapping[str, LargeColumn]
    missing_texts: tuple[str, ...] = ()

    @property
    def roles(self) -> Microdata:
        """Distinct values of each column, with roles, domains and hierarchies."""
        return self.dataset.records

    def blocks(self, names: Sequence[str] | None = None) -> Iterator[Block]:
        """Blocks of `BLOCK` rows in the order of the table; the last one of each part may be shorter.

        Parameters
        ----------
        names : sequence of str, optional
            The columns to read; by default all.
        """
        chosen = {name: self.columns[name] for name in (self.columns if names is None else names)}
        yield from coded_blocks(self.files, chosen, self.first_block, self.first_row)

    def frame(self, block: Block) -> pd.DataFrame:
        """Values of the rows of a block, typed as in the whole table."""
        kinds = {name: self.roles.frame[name].to_numpy().dtype for name in block.columns}
        cells = {
            name: pd.Series(stored).astype(kinds[name])
            if self.columns[name].numbers_only
            else pd.Series(self.columns[name].values.astype(kinds[name])[stored])
            for name, stored in block.columns.items()
        }
        return pd.DataFrame(cells, copy=False)

    def records(self, block: Block) -> Microdata:
        """Rows of a block as records with the roles of the table, identifiers left out."""
        return with_roles_of(self.roles, self.frame(block))


@contextmanager
def large_records(
    path: Path,
    roles: Path | None = None,
    *,
    reading: Mapping[str, Any] | None = None,
    memory: int | None = None,
    engine: Engine | None = None,
) -> Iterator[LargeRecords]:
    """Open records that are read in parts.

    Parameters
    ----------
    path : Path
        A Parquet file, a folder of Parquet files, or a CSV file.
    roles : Path, optional
        TOML file of roles, domains and hierarchies.
    reading : mapping of str, optional
        How the file is read; see `scenarios.tables.roles.read_roles`.
    memory : int, optional
        Bytes that DuckDB may use.
    engine : Engine, optional
        Where the parts are read; by default on this machine.

    Raises
    ------
    ValueError
        As `scenarios.tables.dataset.load_table`, and if a text column has too many distinct values.
    """
    files_read = {} if roles is None else {roles: read_bytes(roles)}
    declared = read_roles(roles, reading, content=files_read.get(roles) if roles else None)
    with TableFiles.of(path, declared, memory=memory, engine=engine) as files:
        if declared.dataset.sha256 is not None and len(files.parts) == 1:
            with files.parts[0].open("rb") as file:
                check_sum(path, hashlib.file_digest(file, "sha256").hexdigest(), declared.dataset.sha256)
        left_out = [name for name in files.columns if name in declared.identifiers or declared.leaves_out(name)]
        raw = raw_columns(files, [name for name in files.columns if name not in left_out])
        require(raw, f"{path}: has no column that a release may hold; look at the identifiers in {roles}")
        text = value_texts(files, raw, declared)
        with true_rows(files, raw):
            dataset = described_table(path, text.columns, text.notes, declared, roles, files_read)
        dataset = replace(dataset, sha256="")
        columns = {name: _large_column(dataset, raw[name]) for name in raw if name in text.columns}
        yield LargeRecords(files, dataset, columns, tuple(declared.na))


def _large_column(dataset: Dataset, raw: RawColumn) -> LargeColumn:
    """Codes of a column's values, as a defense in memory would give them."""
    if raw.sampled:
        return LargeColumn(raw, np.empty(0), 0, np.empty(0, dtype=np.int32))
    records = dataset.records
    column, domain = records.frame[raw.name], records.domains.get(raw.name)
    coded = code_values(column) if domain is None else code_column(column, domain)
    distinct = len(raw.values)
    of_value: Integers = np.append(coded.codes[:distinct], coded.missing).astype(np.int32)
    values = coded.values
    if isinstance(domain, NumericDomain) and coded.missing == values.size:
        values = values.astype(column.to_numpy().dtype)
    return LargeColumn(raw, values, coded.missing, of_value[raw.of_code])


Table = TypeVar("Table", bound=InParts)
Result = TypeVar("Result")


def over_parts(table: Table, function: Callable[[Table], Result]) -> Iterator[Result]:
    """Apply a function to a table, or to each part by itself where several machines read them.

    Parameters
    ----------
    table : InParts
        The table, a frozen dataclass.
    function : callable
        ``function(table)`` gets the whole table, or a table of one part whose blocks are those of the whole table.

    Yields
    ------
    object
        Results in the order of the parts.
    """
    starts = [(0, 0)]
    for rows in table.files.part_rows[:-1] if len(table.files.parts) > 1 else ():
        blocks, before = starts[-1]
        starts.append((blocks - (-rows // BLOCK), before + rows))
    yield from table.files.engine.over_parts(table.files, partial(_on_part, table, starts, function))


def _on_part(
    table: Any, starts: Sequence[tuple[int, int]], function: Callable[[Any], Result], files: TableFiles, number: int
) -> Result:
    first_block, first_row = starts[number]
    return function(replace(table, files=files, first_block=first_block, first_row=first_row))


def coded_blocks(
    files: TableFiles, columns: Mapping[str, LargeColumn], first_block: int = 0, first_row: int = 0
) -> Iterator[Block]:
    """Blocks of `BLOCK` rows in the order of the table; the last one of each part may be shorter.

    Parameters
    ----------
    files : TableFiles
        The table.
    columns : mapping of str to LargeColumn
        The columns to read.
    first_block, first_row : int
        Number of the first block, and position of its first row.
    """
    expressions = ", ".join(
        f"{column.raw.code} AS {quoted(name)}"
        if column.numbers_only
        else f"({column.raw.code})::INTEGER AS {quoted(name)}"
        for name, column in columns.items()
    )
    number, start = first_block, first_row
    for view in files.views:
        query = ordered_rows(expressions or "0 AS nothing", (c.raw for c in columns.values()), files, view)
        for batch in _rows_of(files.batches(query, BLOCK), BLOCK):
            yield Block(number, start, _coded_rows(batch, columns))
            start += len(batch)
            number += 1
    files.check_unchanged()


def _coded_rows(batch: Any, columns: Mapping[str, LargeColumn]) -> dict[str, NDArray[Any]]:
    """Code or number of each row of an Arrow table of stored codes, by column."""
    stored = {name: batch.column(name).combine_chunks().to_numpy(zero_copy_only=False) for name in columns}
    rows: dict[str, NDArray[Any]] = {
        name: codes if columns[name].numbers_only else columns[name].of_raw[codes] for name, codes in stored.items()
    }
    return rows or {"": np.zeros(len(batch), dtype=np.int8)}


def _rows_of(batches: Iterator[Any], size: int) -> Iterator[Any]:
    """Tables of `size` rows each from record batches of any size; the last one may be shorter."""
    waiting: list[Any] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += len(batch)
        while count >= size:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, size)
            waiting, count = table.slice(size).to_batches(), count - size
    if count:
        yield pa.Table.from_batches(waiting)
