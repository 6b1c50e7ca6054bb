"""CSV and Parquet files read as columns of text; types are inferred later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.columns import SUPPRESSED, Integers, UnfitValueError, require
from scenarios.tables.note import Note
from scenarios.tables.reading.arrow_tables import csv_table, opened_parquet, text_of, workbook_table
from scenarios.tables.reading.csv_text import (
    PARQUET,
    WORKBOOK,
    column_names,
    csv_content,
    csv_header,
    other_format,
    table_text,
)
from scenarios.tables.reading.date_columns import dated_columns, native_dates
from scenarios.tables.reading.number_forms import MISSING, recognized
from scenarios.tables.reading.text_column import TextColumn, TextTable
from scenarios.tables.roles import CategoryColumn, DateColumn, NumberColumn, Roles

# Rows of files in messages, which count from 1 below the header.


@contextmanager
def rows_from_one(before: str = "", after: str = "") -> Iterator[None]:
    """Word complaints about the cells of a file.

    `metrics` counts rows as arrays do, from 0. A message about a file counts from 1, below the header.

    Examples
    --------
    >>> with rows_from_one("r.csv: "):
    ...     raise UnfitValueError(0, "is no number", "age", "the cell")
    Traceback (most recent call last):
    ...
    ValueError: r.csv: column 'age', row 1: the cell is no number
    """
    try:
        yield
    except ValueError as error:
        message = error.counted(1) if isinstance(error, UnfitValueError) else error
        raise ValueError(f"{before}{message}{after}") from None


MOST_SHOWN = 5
"""Number of rows that an error names."""


def read_text_table(path: Path, data: bytes, declared: Roles | None = None, *, released: bool = False) -> TextTable:
    """Read a CSV (also compressed by gzip), Parquet file or Excel workbook; its first bytes tell which it is."""
    declared = Roles() if declared is None else declared
    notes: list[Note] = []
    layout: dict[str, Any] = {}
    separator = ""
    if data.startswith(PARQUET):
        with opened_parquet(path, pa.BufferReader(data)) as file:
            table = file.read(use_threads=False)
    elif other_format(data) == WORKBOOK:
        table, notes = workbook_table(path, data)
    else:
        text = table_text(path, csv_content(path, data), declared.encoding)
        header = csv_header(path, text, declared.separator)
        separator, notes = header.separator, header.notes
        layout = {} if declared.separator else {"separator": separator}
        table = csv_table(path, text.encode(), header, dict.fromkeys(header.fields, pa.string()))
    require(table.num_rows, f"{path}: names columns but holds no record")
    if separator and not (released and "" in declared.suppressed):
        refuse_blank_rows(path, table)
    return arrow_text_table(path, table, declared, TextTable({}, notes, layout), separator, released=released)


def arrow_text_table(
    path: Path,
    table: Any,
    declared: Roles,
    opened: TextTable,
    separator: str = "",
    *,
    released: bool = False,
    weights: Mapping[str, Integers] | None = None,
) -> TextTable:
    """Read the columns of an Arrow table as text; `weights` are the numbers of records that each row stands for."""
    notes = list(opened.notes)
    columns: dict[str, TextColumn] = {}
    texts: dict[str, TextColumn] = {}
    whole: dict[str, TextColumn] = {}
    native: list[str] = []
    names = column_names(path, table.column_names)
    for position, (name, field, column) in enumerate(zip(names, table.column_names, table.columns, strict=True), 1):
        where = f"{path}: column {name!r}"
        dates = native_dates(name, column)
        if dates is not None:
            column, words = dates
            native.append(name)
            notes += words
        text = column if pa.types.is_integer(column.type) else text_of(where, column)
        text_column = replace(TextColumn.from_arrow(where, text), weights=(weights or {}).get(name))
        if released:
            text_column = text_column.starred([SUPPRESSED, *declared.suppressed])
        if not field.strip() and text_column.empty:
            notes.append(Note("nameless and empty", numbers={"position": position}))
            continue
        if not field.strip():
            notes.append(Note("nameless", numbers={"position": position, "name": name}))
        columns[name] = text_column
        if name in native:
            texts[name] = text_column
        elif _is_text(column.type):
            texts[name] = columns[name] = text_column.without([*declared.na, *_missing_beside(declared, name)])
        elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            whole[name] = text_column
    require(columns, f"{path}: has no column with a name or a value")
    if not released:
        dated, words = dated_columns({**texts, **whole}, declared, MISSING, native)
        notes += words
        columns |= dated
        texts = {name: dated[name] for name in texts if dated[name].dates is None}
    # Identifiers and declared categories are no numbers.
    no_numbers = [name for name, column in declared.columns.items() if isinstance(column, CategoryColumn | DateColumn)]
    fixed = [*declared.identifiers, *no_numbers]
    forms = recognized(
        texts,
        separator=separator,
        decimal=declared.decimal,
        fixed=fixed,
        numeric=[name for name, column in declared.columns.items() if isinstance(column, NumberColumn)],
        plain_first=released,
    )
    return TextTable({**columns, **forms.columns}, [*notes, *forms.notes], {**opened.layout, **forms.layout})


def refuse_blank_rows(path: Path, table: Any) -> None:
    """Raise ValueError if rows of a CSV are empty in each of several columns, as a spreadsheet adds them.

    Such rows would count as people. In one column, an empty row is a missing value.
    """
    if table.num_columns < 2:
        return
    filled = np.zeros(table.num_rows, dtype=bool)
    for column in table.columns:
        filled |= column.is_valid().to_numpy()
        if filled.all():
            return
    if not filled.any():
        # Columns without a value are refused by name.
        return
    rows = np.flatnonzero(~filled) + 1
    raise ValueError(blank_rows_words(path, rows.size, rows[:MOST_SHOWN].tolist()))


def blank_rows_words(path: Path, count: int, first: Sequence[int]) -> str:
    """Refusal of rows that are empty in every column, given their number and the first of them."""
    shown = ", ".join(map(str, first)) + (", …" if count > len(first) else "")
    return (
        f"{path}: {count} row{'s' * (count > 1)} empty in every column, which would count as people: {shown} "
        "(from 1, without the header); a spreadsheet may have added them, so delete them"
    )


def _missing_beside(declared: Roles, name: str) -> list[str]:
    """Texts that mean a missing value beside declared categories that are all numbers or truth values."""
    column = declared.columns.get(name)
    categories = (column.categories or []) if isinstance(column, CategoryColumn) else []
    flags = {category.lower() for category in categories} <= {"true", "false"}
    if not categories or not (flags or TextColumn.of_values("", categories).looks_numeric()):
        return []
    return [text for text in MISSING if text not in categories]


def _is_text(kind: Any) -> bool:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(value) or pa.types.is_large_string(value))
