"""CSV texts: compression, separator, header, and the first malformed row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from metrics.columns.parameters import refuse, require

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


class BrokenRowError(csv.Error):
    """A row that is no CSV, in words.

    Parameters
    ----------
    line : int
        Line in which the row begins, from 1.
    reason : str
        The message of the module `csv`.
    """

    def __init__(self, line: int, reason: str) -> None:
        if "end of data" in reason:
            text = "broken quotes: a quotation mark opens in this row and is never closed"
        elif "field limit" in reason:
            text = (
                f"a cell that begins in this row has more than {csv.field_size_limit():,} characters; a quotation mark "
                "may open there and never be closed"
            )
        else:
            text = (
                "broken quotes: text follows a closing quotation mark; close each that opens, and write one that "
                "belongs to a cell twice"
            )
        super().__init__(f"line {line}: {text}")


def decompressed(path: Path, data: bytes) -> bytes:
    """Content of a file, without gzip compression.

    Raises
    ------
    ValueError
        If the compression is damaged.
    """
    if not data.startswith(b"\x1f\x8b"):
        return data
    import gzip
    import zlib

    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: the gzip compression is damaged ({error})") from None


def column_names(path: Path, fields: Sequence[str]) -> list[str]:
    """Names of the columns; a column without a name is called by its position (from 1), such as ``column_3``.

    Raises
    ------
    ValueError
        If two columns share a name.
    """
    names: list[str] = []
    for position, field in enumerate(fields, start=1):
        name = field
        if not field.strip():
            name = f"column_{position}"
            while name in fields:
                name += "_"
        names.append(name)
    for name in names:
        refuse(names.count(name) > 1, f"{path}: column {name!r} stands twice; column names must differ")
    return names


def csv_rows(text: str, separator: str, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """First line (from 1) and fields of each row; blank lines are no rows.

    Raises
    ------
    BrokenRowError
        If a row is no CSV.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=strict)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise BrokenRowError(line, str(error)) from None


def header_fields(path: Path, text: str, separator: str) -> list[str]:
    """Fields of the first row of a CSV text that is not blank.

    Raises
    ------
    ValueError
        If that row is no CSV.
    """
    try:
        return next(csv_rows(text, separator))[1]
    except csv.Error as error:
        raise ValueError(f"{path}, {error}") from None


def field_separator(path: Path, text: str, declared: str | None) -> tuple[str, list[str]]:
    """Separator of the fields of a CSV text, and a note if it was inferred.

    Raises
    ------
    ValueError
        If the text is blank or a web page.
    """
    require(text.strip(), f"{path}: is empty; the first line must name the columns")
    refuse(
        text.lstrip()[:9].lower().startswith(("<!doctype", "<html")),
        f"{path}: is a web page (HTML) and no table; save its table as CSV",
    )
    if declared is not None:
        return declared, []
    separator = inferred_separator(text)
    return separator, [f"fields are separated by {SEPARATORS[separator]}, inferred from the first lines"]


def inferred_separator(text: str) -> str:
    """Separator of fields, from the first lines (see `text_table`)."""

    def fit(separator: str) -> tuple[bool, bool, int]:
        """Sort key: splits the first line, splits all first lines into equally many fields, number of fields."""
        try:
            widths = [len(row) for _, row in islice(csv_rows(text[:100_000], separator), 10)]
        except csv.Error:
            return False, False, 0
        return widths[0] > 1, len(set(widths)) == 1, widths[0]

    return max(SEPARATORS, key=fit)


def check_rows(path: Path, text: str, separator: str, width: int) -> None:
    """Raise ValueError for the first row with more or fewer fields than the header, or with broken quotes."""
    try:
        for line, row in csv_rows(text, separator, strict=True):
            if len(row) != width:
                fields = f"{len(row)} field" + "s" * (len(row) != 1)
                other = inferred_separator(text)
                if width == 1 and other != separator and other in header_fields(path, text, separator)[0]:
                    key = "tab" if other == "\t" else other
                    hint = f"; the fields look separated by {SEPARATORS[other]} ({key}), see --delimiter"
                elif len(row) == width + 1:
                    hint = "; if it begins with a row name, the header needs a name for that"
                else:
                    hint = ""
                raise ValueError(f"{path}, line {line}: has {fields} where the header has {width}{hint}")
    except csv.Error as error:
        raise ValueError(f"{path}, {error}") from None
