"""Texts of the distinct values of a table in files, read by the rules for tables in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.columns import Integers
from scenarios.tables.parts.files.table_files import TableFiles
from scenarios.tables.parts.raw_columns import RawColumn, ordered_rows, value_table
from scenarios.tables.reading.text_column import TextError
from scenarios.tables.reading.text_table import TextTable, arrow_text_table
from scenarios.tables.roles import Roles

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
        text = arrow_text_table(files.path, table, declared, opened, separator, released=released)
    columns = {
        name: replace(column, weights=_weights(raw[name], table.num_rows)) if name in raw else column
        for name, column in text.columns.items()
    }
    return text._replace(columns=columns)


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
    fields, arrays = [], []
    for field, name in zip(files.header.fields, files.columns, strict=True):
        is_read = name in table.column_names
        # A column that is not read may have values, so that it is no column without name and values.
        fields.append(field if is_read else name)
        arrays.append(table.column(name) if is_read else empty)
    return pa.table(arrays, names=fields)


def _weights(raw: RawColumn, length: int) -> Integers:
    """Number of records of each row of `value_table`; repetitions stand for none."""
    if len(raw.values) < raw.counts.size:
        return np.ones(length, dtype=np.int64)
    weights = np.zeros(length, dtype=np.int64)
    weights[: raw.counts.size] = raw.counts
    if raw.missing and raw.counts.size < length:
        weights[raw.counts.size] = raw.missing
    return weights
