"""Content of CSV and Parquet files as Arrow tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, time
from io import BytesIO
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.columns import plain_digits, require
from scenarios.tables.note import Note
from scenarios.tables.reading.csv_text import CsvHeader, check_rows, csv_rows, table_text
from scenarios.tables.reading.date_format import plain_date
from scenarios.tables.review.column_names import POSTCODES, POSTCODES_JAPANESE, hints_at

# Excel workbooks: the first sheet as a table, with the extra ``excel``.


def workbook_table(path: Path, data: bytes) -> tuple[Any, list[Note]]:
    """Read the first sheet of a workbook. Its first row with a value names the columns; empty rows are no records."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ValueError(
            f"{path}: is an Excel workbook; save the sheet as CSV (UTF-8), or pip install 'tokumei[excel]'"
        ) from None
    try:
        sheets = load_workbook(BytesIO(data), read_only=True, data_only=True).worksheets
        rows = [row for row in sheets[0].iter_rows(values_only=True) if any(cell is not None for cell in row)]
    except Exception as error:
        # openpyxl passes on whatever its parsers raise.
        raise ValueError(f"{path}: is a damaged or unsupported Excel workbook ({type(error).__name__})") from None
    require(rows, f"{path}: its first sheet is empty; the first row must name the columns")
    columns = list(zip_longest(*zip_longest(*rows))) if len({len(row) for row in rows}) > 1 else rows
    header, records = columns[0], columns[1:]
    names = ["" if name is None else str(_text(name)) for name in header]
    arrays = [_array(cells) for cells in zip(*records, strict=True)] or [pa.array([], pa.string()) for _ in names]
    notes = [Note("sheets", numbers={"sheets": len(sheets)})] if len(sheets) > 1 else []
    notes += [
        Note("postcodes", (name,))
        for name, column in zip(names, arrays, strict=True)
        if pa.types.is_floating(column.type) and hints_at(name, POSTCODES, POSTCODES_JAPANESE)
    ]
    return pa.table(arrays, names=names), notes


def _array(cells: Sequence[Any]) -> Any:
    """Cells of a column as numbers or truth values if they are nothing else, otherwise as texts."""
    kinds = {type(cell) for cell in cells} - {type(None)}
    if kinds == {bool}:
        return pa.array(cells, pa.bool_())
    if kinds and kinds <= {int, float}:
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    return pa.array([_text(cell) for cell in cells], pa.string())


def _text(cell: Any) -> str | None:
    """Text of a cell, None where empty."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(sep=" ")
    return str(cell)


def csv_table(
    path: Path, data: bytes, header: CsvHeader, kinds: Mapping[str, Any], na: Sequence[str] = (), block: int = 0
) -> Any:
    """Columns of a CSV file; empty fields are missing values."""
    from pyarrow import csv

    if not _quotes_are_sure(data, header.separator):
        text = table_text(path, data)
        check_rows(path, text, header, text)

    def read(kinds: Mapping[str, Any]) -> Any:
        return csv.read_csv(
            pa.BufferReader(data),
            read_options=csv.ReadOptions(block_size=block or len(data) + 1, use_threads=block > 0),
            parse_options=csv.ParseOptions(delimiter=header.separator, newlines_in_values=not block or b'"' in data),
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
    text = table_text(path, data)
    check_rows(path, text, header, text)
    if next(islice(csv_rows(text, header.separator), 1, None), None) is None:
        return pa.table([pa.array([], kind) for kind in kinds.values()], names=list(kinds))
    raise ValueError(f"{path}: is no CSV table with {header.separator!r} between fields")


def _quotes_are_sure(data: bytes, separator: str) -> bool:
    """Whether each quotation mark stands at an end of a field or beside another one, so that none can be broken.

    The fast reader would take the rest of the file after an unclosed quote for one field, and join what follows a
    closing one to the field.
    """
    if b'"' not in data:
        return True
    content = np.frombuffer(data, dtype=np.uint8)
    quotes = np.flatnonzero(content == ord('"'))
    # Before the first byte and after the last one stands that byte itself, which is a quotation mark then.
    neighbours = content.take(np.concatenate([quotes[::2] - 1, quotes[1::2] + 1]), mode="clip")
    ends = np.frombuffer(f'{separator}\r\n"'.encode(), dtype=np.uint8)
    return quotes.size % 2 == 0 and bool(np.isin(neighbours, ends).all())


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
    """Arrow column as text; an empty text is a missing value."""
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


def ascii_numbers(texts: Any) -> Any:
    """Texts of an Arrow array with digits of single width, and without outer blanks. Each text is read by itself."""
    import pyarrow.compute as pc

    if not pc.all(pc.string_is_ascii(texts)).as_py():
        texts = pa.array([None if text is None else plain_digits(text) for text in texts.to_pylist()], pa.string())
    return pc.utf8_trim_whitespace(texts)


_CURRENCY = r"[€$£¥￥₩₹]|EUR|USD|GBP|JPY|CHF"
UNIT = f"{_CURRENCY}|%|‰|kg|mg|g|km|cm|mm|m|ml|l|年|歳|才|千円|万円|億円|円|か月|回|日|秒|人|件"
"""Units that may follow a number."""
_BLANK = "[ \u00a0\u202f]"
_GROUPS = "[ \u00a0\u202f'’]"
"""Characters between groups of three digits that mark neither decimals nor fields."""
_WITH_UNIT = (
    rf"^(?P<sign>[+-]?)(?:(?P<before>{_CURRENCY}){_BLANK}?)?(?P<minus>-?)"
    rf"(?P<number>[1-9]\d{{0,2}}(?:{_GROUPS}\d{{3}})+(?:[.,]\d+)?|\d[\d.,]*|[.,]\d+)(?:{_BLANK}?(?P<after>{UNIT}))?$"
)


def numbers_and_units(texts: Any) -> tuple[Any, Any]:
    """Texts as `ascii_numbers` returns them, and their units; a number is without its unit and blanks in it.

    A year of a Japanese era is one of the common calendar.

    Examples
    --------
    >>> numbers, units = numbers_and_units(pa.array(["1 234,50 €", "-$5", "昭和55年", "A 5"]))
    >>> numbers.to_pylist(), units.to_pylist()
    (['1234,50', '-5', '1980', 'A 5'], ['€', '$', '年', ''])
    """
    import pyarrow.compute as pc

    if not pc.all(pc.string_is_ascii(texts)).as_py():
        every = texts.to_pylist()
        texts = pa.array([plain_date(text) if text and text.endswith("年") else text for text in every], pa.string())
    texts = ascii_numbers(texts)
    found = pc.extract_regex(texts, _WITH_UNIT)
    sign, before, minus, number, after = (pc.struct_field(found, [place]) for place in range(5))
    digits = pc.binary_join_element_wise(sign, minus, pc.replace_substring_regex(number, _GROUPS, ""), "")
    return pc.coalesce(digits, texts), pc.coalesce(pc.binary_join_element_wise(before, after, ""), "")
