"""Files of hierarchies, read as tables are: byte order mark, encoding, separator, outer blanks and a header."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from metrics.columns import NUMBER, SUPPRESSED, require
from scenarios.tables.reading.csv_text import (
    csv_content,
    csv_rows,
    inferred_separator,
    refuse_first_line,
    table_text,
)
from scenarios.tables.toml.toml_file import read_bytes


def hierarchy_rows(
    path: Path,
    name: str,
    *,
    separator: str | None = None,
    usual: str | None = None,
    encoding: str | None = None,
    categories: Collection[str] = (),
    numeric: bool = False,
) -> tuple[list[list[str]], bool]:
    """Rows of a hierarchy's file, each a value and its groups, and whether a header was left out.

    Parameters
    ----------
    path : Path
        The CSV file.
    name : str
        The column that the hierarchy belongs to.
    separator : str, optional
        Declared separator of the file.
    usual : str, optional
        Separator of the table, which is tried first where none is declared.
    encoding : str, optional
        Encoding of the table, for a file that is not UTF-8.
    categories : collection of str
        Declared categories of the column; a value is not trimmed if only so it is one of them.
    numeric : bool
        Whether the column holds numbers.

    Raises
    ------
    ValueError
        If the file cannot be read, is no such text or no CSV; names it.
    """
    text = table_text(path, csv_content(path, read_bytes(path)), encoding)
    require(text.strip(), f"{path}: is empty; a hierarchy needs at least one value")
    refuse_first_line(path, text)
    rows = [row for _, row in csv_rows(text, separator or _separator(path, text, usual), path=path, strict=True)]
    rows = [[row[0] if row[0] in categories else row[0].strip(), *map(str.strip, row[1:])] for row in rows]
    has_header = _has_header(rows, name, categories, numeric=numeric)
    return rows[has_header:], has_header


def _separator(path: Path, text: str, usual: str | None) -> str:
    """Separator by which all rows have equally many fields: that of the table, a comma, or the likeliest."""
    for separator in (usual, ","):
        if separator is not None:
            widths = {len(row) for _, row in csv_rows(text, separator, path=path)}
            if len(widths) == 1 and min(widths) > 1:
                return separator
    return inferred_separator(text)


def _has_header(rows: Sequence[Sequence[str]], name: str, categories: Collection[str], *, numeric: bool) -> bool:
    """Whether the first row is clearly a header.

    It is one if it names the column, holds no number where all other values are numbers, or lacks the ``*`` in which
    all other rows end. So it is if its value is no declared category, and its groups occur in no other row.
    """
    if len(rows) < 2 or rows[0][0] in categories:
        return False
    first, others = rows[0], rows[1:]
    if first[0].casefold() == name.strip().casefold():
        return True
    are_numbers = [re.fullmatch(NUMBER, row[0], re.ASCII) is not None for row in rows]
    if numeric and not are_numbers[0] and all(are_numbers[1:]):
        return True
    if len(others) > 1 and first[-1] != SUPPRESSED and all(row[-1] == SUPPRESSED for row in others):
        return True
    groups = {group for row in others for group in row[1:]}
    return bool(categories) and len(others) > 1 and not groups & {*first[1:]}
