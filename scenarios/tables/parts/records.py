"""Records that are read in parts, with roles, domains and hierarchies."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.random import SeedSequence
from numpy.typing import NDArray

from defenses.base import (
    PSEUDONYM,
    Block,
    CountedCells,
    Divided,
    Microdata,
    RecordsInBlocks,
    ReleasedBlock,
    StoredBlock,
    code_column,
    code_values,
    plain_numbers,
)
from defenses.base import blocks as sizes
from metrics.columns import Floats, Integers, NumericDomain, refuse, require
from scenarios.tables.dataset import Dataset, check_sum, described_table, with_roles_of
from scenarios.tables.parts.files.bucket_file import BucketFile
from scenarios.tables.parts.files.csv_files import quoted
from scenarios.tables.parts.files.output_files import private_folder
from scenarios.tables.parts.files.table_files import Engine, Result, TableFiles
from scenarios.tables.parts.raw_columns import (
    RawColumn,
    described_column,
    ordered_rows,
    present_value,
    raw_columns,
    row_weights,
    true_rows,
    value_texts,
)
from scenarios.tables.reading.arrow_tables import text_bytes
from scenarios.tables.roles import read_roles
from scenarios.tables.toml.toml_file import read_bytes

LARGEST = 1 << 24
"""Largest number of records of a part that no cut divides."""
_READ = 1 << 16
"""Number of identifiers that are read at once."""


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

    @property
    def counts(self) -> Integers:
        """Number of records with each code, and with a missing value, shape (codes,)."""
        stored = np.flatnonzero(self.raw.of_code >= 0)
        counts = np.zeros(max(self.values.size, self.missing + 1), dtype=np.int64)
        np.add.at(counts, self.of_raw[stored], self.raw.counts[self.raw.of_code[stored]])
        counts[self.missing] += self.raw.missing
        return counts

    @cached_property
    def numbers(self) -> Floats:
        """Number of each code, shape (codes,)."""
        return plain_numbers(pd.Series(self.values, name=self.raw.name))


@dataclass(frozen=True)
class DistinctRecords(Microdata):
    """Distinct values of each column, with the number of records as length.

    A defense asks it for roles, domains, whether a value is missing, and the number of records. A method that reads
    rows must not get it, since rows mean nothing.

    Parameters
    ----------
    size : int
        Number of records.
    counts : mapping of str to ndarray, each of shape (rows,)
        Number of records that hold the value of each row, by column.
    """

    size: int = 0
    counts: Mapping[str, Integers] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return self.size

    def row_counts(self, column: str) -> Integers:
        """Number of records that hold the value of each row in a column, shape (rows,)."""
        return self.counts[column]

    def place(self, column: str, row: int) -> str:
        """Column in words; rows of distinct values mean nothing."""
        return f"column {column!r}"


@dataclass(frozen=True)
class InParts:
    """A table that is read in parts; its blocks are numbered through all parts.

    Parameters
    ----------
    files : TableFiles
        The files.
    """

    files: TableFiles

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.files.rows


@dataclass(frozen=True)
class CodedValues:
    """What the codes of blocks stand for, without the table.

    Attributes
    ----------
    roles : Microdata
        Roles, domains and hierarchies, with the type of each column but no row.
    values : mapping of str to ndarray or None
        Value of each code by column; None where rows hold numbers instead of codes.
    """

    roles: Microdata
    values: Mapping[str, NDArray[Any] | None] = field(repr=False)

    def frame(self, block: StoredBlock) -> pd.DataFrame:
        """Values of the rows of a block, typed as in the whole table."""
        cells = {}
        for name, stored in block.columns.items():
            kind, values = self.roles.frame[name].to_numpy().dtype, self.values[name]
            cells[name] = pd.Series(stored).astype(kind) if values is None else pd.Series(values.astype(kind)[stored])
        return pd.DataFrame(cells, copy=False)

    def records(self, block: StoredBlock) -> Microdata:
        """Rows of a block as records with the roles of the table."""
        return with_roles_of(self.roles, self.frame(block))


@dataclass(frozen=True)
class LargeRecords(InParts, RecordsInBlocks):
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

    @cached_property
    def counted(self) -> Microdata:
        """Roles, domains and the values that occur, with the number of records as length."""
        roles, rows = self.roles, len(self.roles.frame)
        # Of sampled numbers, each row is one record.
        counts = {
            name: np.ones(rows, dtype=np.intp) if column.numbers_only else row_weights(column.raw, rows)
            for name, column in self.columns.items()
        }
        return DistinctRecords(
            roles.frame,
            roles.identifiers,
            roles.quasi_identifiers,
            roles.sensitive,
            roles.domains,
            roles.hierarchies,
            roles.person,
            group=roles.group,
            size=self.rows,
            counts=counts,
        )

    def is_coded(self, name: str) -> bool:
        """Whether the column has a code for each value."""
        return not self.columns[name].numbers_only

    def column(self, name: str) -> CountedCells:
        """Distinct values of a column, with the number of records of each."""
        column = self.columns[name]
        refuse(
            column.numbers_only,
            f"column {name!r} holds nearly distinct numbers, which are not counted in a table that is read in parts; "
            "round it first, or leave it out",
        )
        values = pd.Series(column.values, name=name).astype(self.roles.frame[name].to_numpy().dtype)
        return CountedCells(values, column.counts[: len(values)])

    def divided(
        self, names: Sequence[str], split: Callable[[Block], Divided], sizes: Integers
    ) -> Iterator[tuple[Integers, Mapping[str, NDArray[Any]]]]:
        """Divide the records into parts, which are in a private temporary folder meanwhile."""
        refuse(
            sizes.max() > LARGEST,
            f"{self.files.path}: {sizes.max():,} records cannot be divided by a cut that the method allows, more than "
            f"the {LARGEST:,} that are divided in memory; name other columns, or fewer constraints",
        )
        with private_folder() as folder:
            bucketed = BucketFile(folder / "rows", tuple(names), sizes.size, SeedSequence(0), origins=True)
            for block in self.blocks(names):
                part, kept = split(block)
                bucketed.place(ReleasedBlock(block.number, kept, block.start + np.arange(len(block))), part)
            for rows in bucketed.stored():
                kept = {name: np.ascontiguousarray(rows[f"c{i}"]) for i, name in enumerate(names)}
                yield np.ascontiguousarray(rows["origin"]), kept

    def number_at(self, name: str, position: int) -> float:
        """Number at a position among the sorted numbers of a column."""
        column = self.columns[name]
        if not column.numbers_only:
            counts = column.counts[: column.missing]
            return float(column.values[np.searchsorted(np.cumsum(counts), position, side="right")])
        number = column.raw.code
        ((value,),) = self.files.fetch(
            f"SELECT number FROM (SELECT {number} AS number FROM source) "
            f"WHERE number IS NOT NULL AND NOT isnan(number) ORDER BY number LIMIT 1 OFFSET {position}"
        )
        return float(value)

    def value_of(self, name: str) -> str:
        """SQL of a row's value in a column of the files, NULL where it is missing."""
        return present_value(self.files, name, self.missing_texts)

    def pseudonyms(self, names: Sequence[str], key: str) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Pseudonyms of identifiers, block by block."""
        # Types are asked for at once: when blocks are read at the same time, the connection has an open result.
        expressions = ", ".join(
            f"'p' || left(sha256($1 || ({self.value_of(name)})::VARCHAR), 32) AS {quoted(name)}" for name in names
        )
        return self._pseudonyms(f"SELECT {expressions} FROM source", names, key)

    def _pseudonyms(self, query: str, names: Sequence[str], key: str) -> Iterator[Mapping[str, NDArray[Any]]]:
        # A cursor of its own, since the blocks are read at the same time.
        with self.files.plain_errors(), self.files.connection.cursor() as cursor:
            for table in _rows_of(cursor.sql(query, params=[key]).to_arrow_reader(_READ), sizes.BLOCK):
                yield {name: _texts(table.column(number)) for number, name in enumerate(names)}

    def blocks(self, names: Sequence[str] | None = None) -> Iterator[StoredBlock]:
        """Blocks of `BLOCK` rows in the order of the table; the last one may be shorter."""
        chosen = {name: self.columns[name] for name in (self.columns if names is None else names)}
        yield from coded_blocks(self.files, chosen)

    @cached_property
    def values(self) -> CodedValues:
        """Values of the rows of a block."""
        values = {name: None if column.numbers_only else column.values for name, column in self.columns.items()}
        return CodedValues(self.roles.with_frame(self.roles.frame.head(0)), values)

    def records(self, block: Block) -> Microdata:
        """Rows of a block as records with the roles of the table, identifiers left out."""
        assert isinstance(block, StoredBlock)  # noqa: S101 (blocks of this table)
        return self.values.records(block)


@contextmanager
def large_records(
    path: Path,
    roles: Path | None = None,
    *,
    reading: Mapping[str, Any] | None = None,
    memory: int | None = None,
    engine: Engine | None = None,
) -> Iterator[LargeRecords]:
    """Open records that are read in parts; `memory` is the number of bytes that DuckDB may use."""
    files_read = {} if roles is None else {roles: read_bytes(roles)}
    declared = read_roles(roles, reading, content=files_read.get(roles) if roles else None)
    with TableFiles.of(path, declared, memory=memory, engine=engine) as files:
        if declared.dataset.sha256 is not None and len(files.parts) == 1:
            with files.parts[0].open("rb") as file:
                check_sum(path, hashlib.file_digest(file, "sha256").hexdigest(), declared.dataset.sha256)
        left_out = [name for name in files.columns if name in declared.identifiers or declared.leaves_out(name)]
        raw = raw_columns(files, [name for name in files.columns if name not in left_out])
        require(raw, f"{path}: has no column that a release may hold; look at the identifiers in {roles}")
        # As in memory, a column without a role holds what the roles say of it.
        described = [name for name in left_out if name in declared.columns and declared.leaves_out(name)]
        known = raw | raw_columns(files, described, wide=described_column)
        text = value_texts(files, known, declared)
        with true_rows(files, known):
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
    of_value: Integers = np.append(coded.codes[: len(raw.values)], coded.missing).astype(np.int32)
    values = coded.values
    if isinstance(domain, NumericDomain) and coded.missing == values.size:
        values = values.astype(column.to_numpy().dtype)
    return LargeColumn(raw, values, coded.missing, of_value[raw.of_code])


Table = TypeVar("Table", bound=InParts)


def over_parts(table: Table, function: Callable[[Table], Result]) -> Iterator[Result]:
    """Apply a function to a table, or to each part by itself where several machines read them, in the order of parts.

    The blocks of a part are those of the whole table that begin in it.
    """
    yield from table.files.engine.over_parts(table.files, partial(_on_part, table, function))


def _on_part(table: Any, function: Callable[[Any], Result], files: TableFiles) -> Result:
    return function(replace(table, files=files))


def coded_blocks(files: TableFiles, columns: Mapping[str, LargeColumn]) -> Iterator[StoredBlock]:
    """Blocks of `BLOCK` rows by position in the table; a part of it has those that begin in it."""
    expressions = ", ".join(
        f"{column.raw.code} AS {quoted(name)}"
        if column.numbers_only
        else f"({column.raw.code})::INTEGER AS {quoted(name)}"
        for name, column in columns.items()
    )
    queries = (
        ordered_rows(expressions or "0 AS nothing", (column.raw for column in columns.values()), files, view)
        for view in files.views
    )
    batches = itertools.chain.from_iterable(files.batches(query, sizes.BLOCK) for query in queries)
    # The first rows may belong to a block that begins in an earlier part.
    before = -files.first_row % sizes.BLOCK
    first, count = (files.first_row + before) // sizes.BLOCK, -(-max(0, files.rows - before) // sizes.BLOCK)
    for number, batch in enumerate(itertools.islice(_rows_of(batches, sizes.BLOCK, before), count), first):
        yield StoredBlock(number, number * sizes.BLOCK, _coded_rows(batch, columns), columns)
    files.check_unchanged()


def _coded_rows(batch: Any, columns: Mapping[str, LargeColumn]) -> dict[str, NDArray[Any]]:
    """Code or number of each row of an Arrow table of stored codes, by column."""
    stored = {name: batch.column(name).combine_chunks().to_numpy(zero_copy_only=False) for name in columns}
    rows: dict[str, NDArray[Any]] = {
        name: codes if columns[name].numbers_only else columns[name].of_raw[codes] for name, codes in stored.items()
    }
    return rows or {"": np.zeros(len(batch), dtype=np.int8)}


def _rows_of(batches: Iterator[Any], size: int, before: int = 0) -> Iterator[Any]:
    """Tables of `size` rows each from record batches of any size, after some rows; the last one may be shorter."""
    waiting: list[Any] = []
    count = 0
    for arriving in batches:
        batch = arriving.slice(min(before, len(arriving)))
        before -= len(arriving) - len(batch)
        waiting.append(batch)
        count += len(batch)
        while count >= size:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, size)
            waiting, count = table.slice(size).to_batches(), count - size
    if count:
        yield pa.Table.from_batches(waiting)


def _texts(column: Any) -> NDArray[Any]:
    """Pseudonyms as texts of equal length, all zero bytes where missing, shape (rows,)."""
    filled = pa.chunked_array(column).combine_chunks().cast(pa.large_string()).fill_null("\0" * PSEUDONYM.itemsize)
    return np.frombuffer(text_bytes(filled), dtype=PSEUDONYM)
