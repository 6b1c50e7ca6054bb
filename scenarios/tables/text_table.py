"""CSV and Parquet files read as columns of text; types are inferred later."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from scenarios.files.toml_file import read_text
from scenarios.tables.csv_text import (
    SEPARATORS,
    check_names,
    check_rows,
    csv_rows,
    decompressed,
    header_names,
    inferred_separator,
)
from scenarios.tables.text_column import TextColumn


def text_table(path: Path, data: bytes, separator: str | None = None) -> tuple[dict[str, TextColumn], list[str]]:
    """Columns of a CSV (also gzip-compressed) or Parquet file; the format is recognized by the first bytes.

    Parameters
    ----------
    path : Path
        Named in errors.
    data : bytes
        The file's content.
    separator : str, optional
        Separator of CSV fields. By default it is inferred from comma, semicolon, tab and bar. It must
        split the first lines into equal numbers of fields; of those that do, the one with the most fields is taken.

    Returns
    -------
    columns : dict of str to TextColumn
        The columns in the file's order; an empty field is a missing value.
    notes : list of str
        What was inferred.

    Raises
    ------
    ValueError
        If the file is not such a table or has no record, or if column names are missing or repeated.
    """
    notes: list[str] = []
    if data.startswith(b"PAR1"):
        table = _read_parquet(path, data)
    else:
        text = read_text(path, decompressed(path, data))
        if not text.strip():
            raise ValueError(f"{path}: is empty; the first line must name the columns")
        if separator is None:
            separator = inferred_separator(text)
            notes.append(f"fields are separated by {SEPARATORS[separator]}, inferred from the first lines")
        table = _read_csv(path, text, separator)
    if table.num_rows == 0:
        raise ValueError(f"{path}: names columns but holds no record")
    columns = {
        name: TextColumn.from_arrow(f"{path}: column {name!r}", column)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return columns, notes


def _read_csv(path: Path, text: str, separator: str) -> Any:
    names = header_names(path, text, separator)
    # The fast reader would take the rest of the file after an unclosed quote for one field.
    if text.count('"') % 2:
        check_rows(path, text, separator, len(names))
    data = text.encode()
    try:
        return pa_csv.read_csv(
            pa.BufferReader(data),
            read_options=pa_csv.ReadOptions(block_size=len(data) + 1, use_threads=False),
            parse_options=pa_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid:
        check_rows(path, text, separator, len(names))
        if next(islice(csv_rows(text, separator), 1, None), None) is None:
            return pa.table({name: pa.array([], pa.string()) for name in names})
        raise ValueError(f"{path}: is no CSV table with {separator!r} between fields") from None


def _read_parquet(path: Path, data: bytes) -> Any:
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(data), use_threads=False)
    except (pa.ArrowException, OSError):
        raise ValueError(f"{path}: is a damaged or unsupported Parquet file") from None
    check_names(path, table.column_names)
    texts = [text_of(f"{path}: column {name!r}", table.column(name)) for name in table.column_names]
    return pa.table(texts, names=table.column_names)


def text_of(where: str, column: Any) -> Any:
    """Arrow column as text; an empty text is a missing value.

    Raises
    ------
    ValueError
        If it holds anything but numbers and text; the message begins with `where`.
    """
    try:
        if pa.types.is_dictionary(column.type):
            column = pc.cast(column, column.type.value_type)
        text = pc.cast(column, pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ValueError(f"{where} holds {column.type}; only numbers and text can be read") from None
    return pc.if_else(pc.equal(text, ""), None, text)
