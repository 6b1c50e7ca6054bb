"""Columns with more distinct values than a list of them may have, numbered by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scenarios.tables.parts.files.sql_names import literal, quoted
from scenarios.tables.parts.files.table_files import OneMachine, TableFiles
from scenarios.tables.parts.raw_columns import RawColumn

SAMPLE = 1 << 12
"""Number of distinct values from which the form of the column is told."""
_FLOATS = ("FLOAT", "DOUBLE")


def wide_column(files: TableFiles, name: str, na: Sequence[str] = ()) -> RawColumn:
    """Number the distinct values of a column of numbers or texts, however many there are.

    Parameters
    ----------
    files : TableFiles
        The table.
    name : str
        The column.
    na : sequence of str
        Texts that mean a missing value; so do an empty text and NaN.

    Returns
    -------
    RawColumn
        Its `values` are a sample of the distinct values, and its codes refer to `counts` instead. Two texts that are
        one number, such as 1 and 1.0, remain two values.
    """
    if not isinstance(files.engine, OneMachine):
        raise ValueError(
            f"{files.path}: column {name!r} has too many distinct cells to be numbered on several machines; "
            "leave out --backend dask"
        )
    column, number = f"source.{quoted(name)}", files.columns.index(name)
    kind = files.type_of(name)
    value = column
    if kind in _FLOATS:
        value = f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END"
    elif kind == "VARCHAR":
        missing = ", ".join(map(literal, ("", *na)))
        value = f"CASE WHEN trim({column}) IN ({missing}) THEN NULL ELSE {column} END"
    table = f"wide_{number}"
    files.derive(
        table,
        f"SELECT value, row_number() OVER () AS code, n FROM (SELECT {value} AS value, count(*) AS n FROM source "
        "GROUP BY 1) WHERE value IS NOT NULL",
    )
    counts = files.arrow(f"SELECT n FROM {table} ORDER BY code").column("n").to_numpy().astype(np.int64)
    every = max(1, counts.size // SAMPLE)
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
