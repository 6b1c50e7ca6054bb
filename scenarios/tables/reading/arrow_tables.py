"""Content of CSV and Parquet files as Arrow tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from scenarios.tables.reading.csv_text import check_rows, csv_rows
from scenarios.tables.toml.toml_file import read_text


def csv_table(
    path: Path,
    data: bytes,
    separator: str,
    width: int,
    kinds: Mapping[str, Any],
    na: Sequence[str] = (),
    block: int = 0,
) -> Any:
    """Columns of a CSV file; empty fields are missing values.

    Parameters
    ----------
    path : Path
        The file, for messages.
    data : bytes
        Its content in UTF-8.
    separator : str
        Separator of fields.
    width : int
        Number of fields of the header.
    kinds : mapping of str to Arrow type
        Columns to read, by their fields in the header. All are read as texts if a value does not fit its type.
    na : sequence of str
        Further texts that mean a missing value.
    block : int
        Number of bytes that are read at a time; 0 for all at once.

    Raises
    ------
    ValueError
        If a row has more or fewer fields than the header, or broken quotes.
    """
    from pyarrow import csv

    # The fast reader would take the rest of the file after an unclosed quote for one field.
    if data.count(b'"') % 2:
        check_rows(path, read_text(path, data), separator, width)

    def read(kinds: Mapping[str, Any]) -> Any:
        return csv.read_csv(
            pa.BufferReader(data),
            read_options=csv.ReadOptions(block_size=block or len(data) + 1, use_threads=block > 0),
            parse_options=csv.ParseOptions(delimiter=separator, newlines_in_values=not block or b'"' in data),
            convert_options=csv.ConvertOptions(
                include_columns=list(kinds) if block else [],
                column_types=kinds,
                null_values=["", *na],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )

    for tried in (kinds, dict.fromkeys(kinds, pa.string())):
        with suppress(pa.ArrowInvalid):
            return read(tried)
    text = read_text(path, data)
    check_rows(path, text, separator, width)
    if next(islice(csv_rows(text, separator), 1, None), None) is None:
        return pa.table([pa.array([], kind) for kind in kinds.values()], names=list(kinds))
    raise ValueError(f"{path}: is no CSV table with {separator!r} between fields")


@contextmanager
def opened_parquet(path: Path, source: Any) -> Iterator[Any]:
    """A Parquet file, opened from a path or a buffer; errors of Arrow while it is read name the file."""
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(source) as file:
            yield file
    except (pa.ArrowException, OSError):
        raise ValueError(f"{path}: is a damaged or unsupported Parquet file") from None


def text_of(where: str, column: Any) -> Any:
    """Arrow column as text; an empty text is a missing value.

    Raises
    ------
    ValueError
        If it holds anything but numbers and text; the message begins with `where`.
    """
    import pyarrow.compute as pc

    try:
        if pa.types.is_dictionary(column.type):
            column = pc.cast(column, column.type.value_type)
        if pa.types.is_float32(column.type) or pa.types.is_float64(column.type):
            # Negative zero is written like zero, to which it is equal.
            column = pc.add(column, pa.scalar(0, column.type))
        text = pc.cast(column, pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ValueError(f"{where} holds {column.type}; only numbers and text can be read") from None
    return pc.if_else(pc.equal(text, ""), None, text)


def text_bytes(texts: Any) -> memoryview:
    """Bytes of the texts of an Arrow array of long strings, one after the other."""
    _, offsets, content = texts.buffers()
    first, last = np.frombuffer(offsets, dtype=np.int64)[[texts.offset, texts.offset + len(texts)]].tolist()
    return memoryview(content)[first:last]
