"""CSV and Parquet files read as columns of text; types are inferred later."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from scenarios.files.toml_file import read_text
from scenarios.tables.text_column import TextColumn

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


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
        text = read_text(path, _decompress(path, data))
        if not text.strip():
            raise ValueError(f"{path}: is empty; the first line must name the columns")
        if separator is None:
            separator = _infer_separator(text)
            notes.append(f"fields are separated by {SEPARATORS[separator]}, inferred from the first lines")
        table = _read_csv(path, text, separator)
    if table.num_rows == 0:
        raise ValueError(f"{path}: names columns but holds no record")
    columns = {
        name: TextColumn.from_arrow(f"{path}: column {name!r}", column)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return columns, notes


def _decompress(path: Path, data: bytes) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: the gzip compression is damaged ({error})") from None


def _check_names(path: Path, names: list[str]) -> None:
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise ValueError(f"{path}: column {position} has no name; the first line must name every column")
        if names.count(name) > 1:
            raise ValueError(f"{path}: column {name!r} stands twice; column names must differ")


def _rows(text: str, separator: str, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """First line (from 1) and fields of each row; blank lines are no rows."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=strict)
    line = 1
    for row in reader:
        if row:
            yield line, row
        line = reader.line_num + 1


def _infer_separator(text: str) -> str:
    def fit(separator: str) -> tuple[bool, bool, int]:
        """Sort key: splits the first line, splits all first lines into equally many fields, number of fields."""
        try:
            widths = [len(row) for _, row in islice(_rows(text[:100_000], separator), 10)]
        except csv.Error:
            return False, False, 0
        return widths[0] > 1, len(set(widths)) == 1, widths[0]

    return max(SEPARATORS, key=fit)


def _read_csv(path: Path, text: str, separator: str) -> Any:
    try:
        names = next(_rows(text, separator))[1]
    except csv.Error as error:
        raise ValueError(f"{path}, line 1: is no CSV header ({error})") from None
    _check_names(path, names)
    # The fast reader would take the rest of the file after an unclosed quote for one field.
    if text.count('"') % 2:
        _check_rows(path, text, separator, len(names))
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
        _check_rows(path, text, separator, len(names))
        if next(islice(_rows(text, separator), 1, None), None) is None:
            return pa.table({name: pa.array([], pa.string()) for name in names})
        raise ValueError(f"{path}: is no CSV table with {separator!r} between fields") from None


def _check_rows(path: Path, text: str, separator: str, width: int) -> None:
    """Raise ValueError for the first row with more or fewer fields than the header, or with broken quotes."""
    line = 1
    try:
        for line, row in _rows(text, separator, strict=True):
            if len(row) != width:
                fields = f"{len(row)} field" + "s" * (len(row) != 1)
                raise ValueError(f"{path}, line {line}: has {fields} where the header has {width}")
    except csv.Error as error:
        raise ValueError(f"{path}, after line {line}: broken quotes ({error})") from None


def _read_parquet(path: Path, data: bytes) -> Any:
    try:
        table = pq.read_table(pa.BufferReader(data), use_threads=False)
    except (pa.ArrowException, OSError):
        raise ValueError(f"{path}: is a damaged or unsupported Parquet file") from None
    _check_names(path, table.column_names)
    texts = [_to_text(path, name, table.column(name)) for name in table.column_names]
    return pa.table(texts, names=table.column_names)


def _to_text(path: Path, name: str, column: Any) -> Any:
    try:
        if pa.types.is_dictionary(column.type):
            column = pc.cast(column, column.type.value_type)
        text = pc.cast(column, pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ValueError(f"{path}: column {name!r} holds {column.type}; only numbers and text can be read") from None
    return pc.if_else(pc.equal(text, ""), None, text)
