"""Distinct values of the columns of a table in files, as stored there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from defenses.base.counted_table import VALUES
from metrics.columns import SUPPRESSED, Integers, refuse, require
from scenarios.tables.parts.files.csv_files import literal, quoted
from scenarios.tables.parts.files.table_files import OneMachine, TableFiles, parquet_schema
from scenarios.tables.reading import TextError, TextTable, arrow_text_table
from scenarios.tables.roles import Roles

LIMIT = VALUES
"""Largest number of distinct values that a column is coded by."""
SAMPLE = 1 << 12
"""Number of distinct values that describe a column with more of them."""
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_FLOATS = ("FLOAT", "DOUBLE")
_NUMBERS = (*_WHOLE, "UBIGINT", "HUGEINT", *_FLOATS)


@dataclass(frozen=True)
class RawColumn:
    """A column by its distinct stored values.

    Attributes
    ----------
    name : str
        Its name.
    values : pyarrow.Array, shape (distinct,)
        The distinct values, ascending, without the missing one.
    counts : ndarray of int, shape (distinct,)
        Number of rows with each value.
    missing : int
        Number of rows without a value.
    code : str
        SQL expression of a row's code, an integer from 0 to `size` - 1.
    size : int
        Number of codes.
    of_code : ndarray of int, shape (size,)
        Position of each code's value in `values`; -1 for the code of a missing value, and for codes without rows.
    join : str
        SQL that joins what `code` needs to the table; see `coded_source`.
    sampled : bool
        Whether there are more than `LIMIT` distinct values. `values` is then a sample with the extremes, and there are
        no codes: `code` is the SQL expression of a row's number.
    """

    name: str
    values: Any = field(repr=False)
    counts: Integers = field(repr=False)
    missing: int
    code: str
    size: int
    of_code: Integers = field(repr=False)
    join: str = ""
    sampled: bool = False


Wide = Callable[[TableFiles, str], RawColumn]
"""Describes a column with more than `LIMIT` distinct values."""


def raw_columns(files: TableFiles, names: Sequence[str], *, wide: Wide | None = None) -> dict[str, RawColumn]:
    """Read the distinct values of some columns.

    Parameters
    ----------
    files : TableFiles
        The table.
    names : sequence of str
        Its columns.
    wide : callable, optional
        Describes a column with more than `LIMIT` distinct values. By default it must hold numbers and is sampled.

    Raises
    ------
    ValueError
        If a column has more than `LIMIT` distinct values that are not stored as numbers, and `wide` is not given.
    """
    # A table without rows is refused when they are counted.
    if not names or not files.rows:
        return {}
    estimates = ", ".join(f"approx_count_distinct({quoted(name)})" for name in names)
    sizes = map(max, zip(*files.fetch_parts(f"SELECT {estimates} FROM source"), strict=True))
    # The estimate may be off by a few percent.
    counted = files.counted_each([name for name, size in zip(names, sizes, strict=True) if size <= 1.2 * LIMIT])
    return {name: _raw_column(files, name, counted.get(name), wide or sampled_column) for name in names}


def _raw_column(files: TableFiles, name: str, table: Any, wide: Wide) -> RawColumn:
    """A column by the counts of its values, or as one that is wide if it has none or too many."""
    if table is not None:
        values, counts = _zoned(files, name, table.column("value")), table.column("n").to_numpy().astype(np.int64)
        missing = int(counts[-1]) if len(values) and not values[len(values) - 1].is_valid else 0
        present = len(values) - bool(missing)
        if present <= LIMIT:
            return _coded(files, name, files.type_of(name), values.slice(0, present), counts[:present], missing)
    return wide(files, name)


def _zoned(files: TableFiles, name: str, values: Any) -> Any:
    """Times of a time zone in the zone that the file names, which DuckDB does not keep."""
    if not pa.types.is_timestamp(values.type) or values.type.tz is None:
        return values
    stored = files.header.fields[files.columns.index(name)]
    kind = parquet_schema(files.parts[0]).field(stored).type
    return values.cast(kind) if pa.types.is_timestamp(kind) else values


def _qualified(name: str) -> str:
    """A column of the table in SQL, whatever other tables or columns are called."""
    return f"source.{quoted(name)}"


def _coded(files: TableFiles, name: str, kind: str, values: Any, counts: Integers, missing: int) -> RawColumn:
    column, distinct = _qualified(name), len(values)
    positions = np.arange(distinct)
    if kind in _WHOLE and distinct:
        numbers = values.to_numpy().astype(np.int64)
        low, high = int(numbers[0]), int(numbers[-1])
        if high - low < LIMIT:
            of_code = np.full(high - low + 2, -1)
            of_code[numbers - low + 1] = positions
            code = f"coalesce({column}::BIGINT - ({low}) + 1, 0)"
            return RawColumn(name, values, counts, missing, code, of_code.size, of_code)
    if not distinct:
        return RawColumn(name, values, counts, missing, "0", 1, np.array([-1]))
    # Names of types and tables are numbered, since columns may be called anything.
    number = files.columns.index(name)
    of_code = np.append(-1, positions)
    if kind == "VARCHAR":
        type_name = f"values_{number}"
        files.keep(type_name, values.to_pylist())
        code = f"coalesce(enum_code({column}::{type_name})::BIGINT + 1, 0)"
        return RawColumn(name, values, counts, missing, code, of_code.size, of_code)
    lookup = f"lookup_{number}"
    files.keep(lookup, pa.table([values, pa.array(of_code[1:] + 1)], names=["value", "code"]))
    join = f" LEFT JOIN {lookup} ON {column} = {lookup}.value"
    return RawColumn(name, values, counts, missing, f"coalesce({lookup}.code, 0)", of_code.size, of_code, join)


def present_value(files: TableFiles, name: str, na: Sequence[str] = ()) -> str:
    """SQL of a row's stored value, NULL where it is missing: an empty text, a text of `na`, or NaN."""
    column, kind = _qualified(name), files.type_of(name)
    if kind in _FLOATS:
        return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END"
    missing = ", ".join(map(literal, ("", *na)))
    return f"CASE WHEN trim({column}) IN ({missing}) THEN NULL ELSE {column} END" if kind == "VARCHAR" else column


def coded_source(columns: Iterable[RawColumn], view: str = "source") -> str:
    """SQL of the table, or of one part's view, with what the codes of some columns need."""
    return f"{view} AS source" + "".join(dict.fromkeys(column.join for column in columns))


def ordered_rows(selected: str, columns: Iterable[RawColumn], files: TableFiles, view: str = "source") -> str:
    """SQL of expressions of each row, in the order of the table.

    DuckDB keeps the order of rows, but not through a join. Rows are therefore numbered before a join and sorted after.

    Parameters
    ----------
    selected : str
        The expressions, which may need codes of the columns.
    columns : iterable of RawColumn
        The columns.
    files : TableFiles
        The table.
    view : str
        The table, or the view of one part.
    """
    columns = list(columns)
    if not any(column.join for column in columns):
        return f"SELECT {selected} FROM {coded_source(columns, view)}"
    number, names = "row", {name.casefold() for name in files.columns}
    while number in names:
        number += "_"
    numbered = f"(SELECT *, row_number() OVER () AS {number} FROM {view})"
    return f"SELECT {selected} FROM {coded_source(columns, numbered)} ORDER BY source.{number}"


def described_column(files: TableFiles, name: str) -> RawColumn:
    """A column that is only compared with its description: numbers by a sample, and none of too many texts."""
    kind = files.type_of(name)
    if kind in _NUMBERS or kind.startswith("DECIMAL"):
        return sampled_column(files, name)
    return _coded(files, name, "VARCHAR", pa.array([], pa.string()), np.zeros(0, dtype=np.int64), 0)


def sampled_column(files: TableFiles, name: str) -> RawColumn:
    """A column of numbers, nearly all distinct, by a sample of them that depends on the numbers alone."""
    column, kind = _qualified(name), files.type_of(name)
    refuse(
        kind not in _NUMBERS and not kind.startswith("DECIMAL"),
        f"{files.path}: column {name!r} has more than {LIMIT:,} distinct texts; declare it among the 'identifiers' "
        "of the roles file, leave it without a role, or store its numbers as numbers (Parquet)",
    )
    number = f"{column}::DOUBLE"
    parts = files.fetch_parts(
        f"SELECT count(*) FILTER (isinf({number})), count(*) FILTER ({column} IS NULL OR isnan({number})), "
        f"count(*) FILTER ({number} <> round({number})), min({number}) FILTER (NOT isnan({number})), "
        f"max({number}) FILTER (NOT isnan({number})), min({number}) FILTER ({number} <> round({number})) FROM source"
    )
    infinite, missing, fractions = (sum(part[i] for part in parts) for i in range(3))
    low, high, fraction = (
        choose((part[i] for part in parts if part[i] is not None), default=None)
        for i, choose in ((3, min), (4, max), (5, min))
    )
    refuse(infinite, f"{files.path}: column {name!r} holds an infinity; numbers must be finite")
    every = max(1, files.rows // SAMPLE)
    drawn = f"{column} IS NOT NULL AND NOT isnan({number}) AND hash({number}) % {every} = 0"
    table = files.counted({"value": number}, where=drawn)
    numbers, counts = table.column("value").to_numpy(), table.column("n").to_numpy().astype(np.int64)
    extremes = [low, high, *([fraction] if fractions else [])]
    values, where = np.unique(np.concatenate([numbers, extremes]), return_inverse=True)
    weights = np.bincount(where, np.concatenate([counts, np.zeros(len(extremes))]), minlength=values.size)
    return RawColumn(
        name,
        pa.chunked_array([pa.array(values)]),
        np.maximum(weights, 1).astype(np.int64),
        int(missing),
        number,
        0,
        np.empty(0, dtype=np.int64),
        sampled=True,
    )


def value_table(raw: Mapping[str, RawColumn]) -> Any:
    """Arrow table that holds the distinct values of each column, whatever stands beside them.

    Row i of a column is its value number i. Shorter columns end with a missing value, where one occurs, and with
    repetitions of their first value.

    Parameters
    ----------
    raw : mapping of str to RawColumn
        The columns.
    """
    length = max(len(column.values) + bool(column.missing) for column in raw.values())
    arrays = {}
    for name, column in raw.items():
        distinct = len(column.values)
        rows = np.arange(length)
        absent = (rows == distinct) & bool(column.missing) if distinct else np.ones(length, dtype=bool)
        positions = pa.array(np.where(rows < distinct, rows, 0), mask=absent)
        values = column.values if distinct else pa.chunked_array([pa.nulls(1, column.values.type)])
        arrays[name] = values.take(positions)
    return pa.table(list(arrays.values()), names=list(arrays))


# A random sample of the rows of a table that is read in parts.

SAMPLED = 200_000
"""Number of rows of a sample; a table of fewer rows is taken as a whole, in its order."""


def sampled_rows(files: TableFiles, raw: Mapping[str, RawColumn]) -> dict[str, NDArray[Any]]:
    """Codes, or numbers where a column has no codes, of a random sample of the rows.

    Parameters
    ----------
    files : TableFiles
        The table.
    raw : mapping of str to RawColumn
        Its columns.

    Returns
    -------
    dict of str to ndarray, each of shape (rows,)
        The same sample in each call.
    """
    expressions = ", ".join(f"{column.code} AS {quoted(name)}" for name, column in raw.items())
    sample = "" if files.rows <= SAMPLED else f" USING SAMPLE reservoir({SAMPLED} ROWS) REPEATABLE (1)"
    table = files.arrow(f"SELECT * FROM ({ordered_rows(expressions, raw.values(), files)}){sample}")
    rows = {name: table.column(name).combine_chunks().to_numpy(zero_copy_only=False) for name in raw}
    return {name: stored if raw[name].sampled else np.asarray(stored, dtype=np.int64) for name, stored in rows.items()}


# Columns with more distinct values than a list of them may have, numbered by DuckDB.

SAMPLED_TEXTS = 1 << 12
"""Number of distinct values from which the form of the column is recognized."""


def wide_column(files: TableFiles, name: str, na: Sequence[str] = (), stars: Sequence[str] = ()) -> RawColumn:
    """Number the distinct values of a column of numbers or texts, however many there are.

    Parameters
    ----------
    files : TableFiles
        The table.
    name : str
        The column.
    na : sequence of str
        Texts that mean a missing value; so do an empty text and NaN.
    stars : sequence of str
        Texts that become ``*``, as ``*`` between blanks does; an empty one stands for a missing value.

    Returns
    -------
    RawColumn
        Its `values` are a sample of the distinct values, and its codes refer to `counts` instead. Two texts that are
        one number, such as 1 and 1.0, remain two values.
    """
    require(
        isinstance(files.engine, OneMachine),
        f"{files.path}: column {name!r} has too many distinct cells to be numbered on several machines; "
        "leave out --backend dask",
    )
    column, number, value = _qualified(name), files.columns.index(name), present_value(files, name, na)
    if files.type_of(name) == "VARCHAR" or "" in stars:
        listed = ", ".join(map(literal, (SUPPRESSED, *stars)))
        value = f"CASE WHEN coalesce(trim({column}::VARCHAR), '') IN ({listed}) THEN '*' ELSE ({value})::VARCHAR END"
    table = f"wide_{number}"
    files.derive(
        table,
        f"SELECT value, row_number() OVER () AS code, n FROM (SELECT {value} AS value, count(*) AS n FROM source "
        "GROUP BY 1) WHERE value IS NOT NULL",
    )
    counts = files.arrow(f"SELECT n FROM {table} ORDER BY code").column("n").to_numpy().astype(np.int64)
    every = max(1, counts.size // SAMPLED_TEXTS)
    values = files.arrow(f"SELECT value FROM {table} WHERE hash(value) % {every} = 0 ORDER BY value").column("value")
    return RawColumn(
        name,
        values,
        counts,
        files.rows - int(counts.sum()),
        f"coalesce({table}.code, 0)",
        counts.size + 1,
        np.append(-1, np.arange(counts.size)),
        f" LEFT JOIN {table} ON {value} = {table}.value",
        sampled=True,
    )


def wide_values(files: TableFiles, column: RawColumn, size: int) -> Iterator[Any]:
    """Distinct values of a column of `wide_column` as chunked arrays of text, `size` at a time in the order of codes.

    Parameters
    ----------
    files : TableFiles
        The table.
    column : RawColumn
        The column; its first value has code 1.
    size : int
        Largest number of values in an array.
    """
    table = f"wide_{files.columns.index(column.name)}"
    for batch in files.batches(f"SELECT value::VARCHAR AS value FROM {table} ORDER BY code", size):
        yield pa.chunked_array([batch.column("value")])


def wide_code(files: TableFiles, column: RawColumn, text: str) -> int | None:
    """Code of a text in a column of `wide_column`; None if the column does not hold it."""
    table = f"wide_{files.columns.index(column.name)}"
    found = files.fetch(f"SELECT code FROM {table} WHERE value::VARCHAR = {literal(text)}")
    return int(found[0][0]) if found else None


# Texts of the distinct values of a table in files, read by the rules for tables in memory.

_ROWS = 1 << 18
"""Rows that are read at once in search of a value."""


def value_texts(
    files: TableFiles, raw: Mapping[str, RawColumn], declared: Roles, *, released: bool = False
) -> TextTable:
    """Read the distinct values of some columns as text.

    Parameters
    ----------
    files : TableFiles
        The table.
    raw : mapping of str to RawColumn
        The columns.
    declared : Roles
        Content of the roles file.
    released : bool
        As in `scenarios.tables.reading.text_table.read_text_table`.

    Returns
    -------
    TextTable
        Row i of a column is value number i of the column as stored; see
        `scenarios.tables.parts.raw_columns.value_table`. Its weight is the number of records. Columns that are not
        among `raw` are empty.

    Raises
    ------
    ValueError
        As `scenarios.tables.reading.text_table.read_text_table`; rows in messages are those of the table.
    """
    table = _with_empty(value_table(raw), files)
    separator = files.header.separator
    opened = TextTable({}, files.header.notes, {"separator": separator} if separator and not declared.separator else {})
    with true_rows(files, raw):
        weights = {name: row_weights(column, table.num_rows) for name, column in raw.items()}
        return arrow_text_table(files.path, table, declared, opened, separator, released=released, weights=weights)


@contextmanager
def true_rows(files: TableFiles, raw: Mapping[str, RawColumn]) -> Iterator[None]:
    """Name the table's row instead of the row among distinct values in refusals."""
    try:
        yield
    except TextError as refusal:
        for name, column in raw.items():
            if refusal.where == f"{files.path}: column {name!r}" and not column.sampled:
                code = int(np.flatnonzero(column.of_code == min(refusal.row, len(column.values) - 1))[0])
                raise TextError(refusal.where, _first_row(files, column, code), refusal.why) from None
        raise


def _first_row(files: TableFiles, column: RawColumn, code: int) -> int:
    """Position of the first row with a code."""
    start = 0
    for batch in files.batches(ordered_rows(f"({column.code})::INTEGER AS code", [column], files), _ROWS):
        rows = np.flatnonzero(batch.column("code").to_numpy() == code)
        if rows.size:
            return start + int(rows[0])
        start += len(batch)
    raise ValueError(f"{files.path}: was changed while it was read; start again when it is complete")


def _with_empty(table: Any, files: TableFiles) -> Any:
    """The table with columns of missing values for those that it lacks, under the headers of the files."""
    empty = pa.chunked_array([pa.nulls(table.num_rows, pa.string())])
    read = set(table.column_names)
    headings = zip(files.header.fields, files.columns, strict=True)
    # A column that is not read may have values, so that it is no column without name and values.
    fields = [heading if name in read else name for heading, name in headings]
    return pa.table([table.column(name) if name in read else empty for name in files.columns], names=fields)


def row_weights(raw: RawColumn, length: int) -> Integers:
    """Number of records of each row of `value_table`; repetitions stand for none."""
    if len(raw.values) < raw.counts.size:
        return np.ones(length, dtype=np.int64)
    weights = np.zeros(length, dtype=np.int64)
    weights[: raw.counts.size] = raw.counts
    if raw.missing and raw.counts.size < length:
        weights[raw.counts.size] = raw.missing
    return weights
