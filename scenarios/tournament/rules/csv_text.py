"""Rows of a submitted CSV file, as spreadsheets write it, and all that is wrong with them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from scenarios.tables.reading.csv_text import (
    COMPRESSED,
    SEPARATOR_LINE,
    BrokenRowError,
    csv_rows,
    guessed_encoding,
    inferred_separator,
    other_format,
)
from scenarios.tournament.rules.problems import Problem


@dataclass
class CsvText:
    """Header and rows of a CSV file, as far as it can be read, and what is wrong with the rest.

    Parameters
    ----------
    header : list of str
        Names of the columns; empty if the file cannot be read.
    rows : list of (int, list of str)
        Number of each row, from 0 below the header, and its fields, as many as the header has.
    problems : list of Problem
        What is wrong.
    """

    header: list[str] = field(default_factory=list)
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_csv_text(data: bytes, most: int, *, empty_rows: bool = False) -> CsvText:
    """Read a CSV file.

    Taken as what they are: a byte order mark, any line ends, blank lines, a first line ``sep=;``, semicolons, tabs or
    bars between the fields, and lines or columns of empty fields at the end, as spreadsheets write them.

    Parameters
    ----------
    data : bytes
        The file.
    most : int
        Largest number of rows. Of a file with more, twice as many are read, so that rows that repeat are found.
    empty_rows : bool
        Whether a line of empty fields at the end is a row.
    """
    what = "compressed" if data.startswith(COMPRESSED) else other_format(data)
    if what is not None:
        return _unreadable(f"is {what}", "submit UTF-8 text with commas between the fields (CSV)")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        guess = guessed_encoding(data)
        perhaps = f", but perhaps {guess.upper()}" if guess else ""
        return _unreadable(f"is no UTF-8 text{perhaps}", "save it as UTF-8 (in Excel: CSV UTF-8)", line)
    if "\0" in text:
        return _unreadable("holds a NUL character", None, text[: text.index("\0")].count("\n") + 1)
    if not text.strip():
        return _unreadable("is empty", "the first line must name the columns")
    text = SEPARATOR_LINE.sub("", text, count=1) if SEPARATOR_LINE.match(text) else text
    read = CsvText()
    records: list[list[str]] = []
    empty: list[list[str]] = []
    try:
        for _, record in csv_rows(text, inferred_separator(text), strict=True):
            if records and not empty_rows and not any(record):
                empty += [record] if len(records) + len(empty) <= 2 * most else []
                continue
            records += [*empty, record]
            empty = []
            if len(records) > 2 * most:
                break
    except BrokenRowError as error:
        read.problems.append(Problem(f"is no CSV ({error.why})", line=error.line))
    if len(records) > most + 1:
        read.problems.append(Problem(f"has more than {most} rows"))
    if records:
        _fill(read, records[0], records[1:])
    return read


def _fill(read: CsvText, header: list[str], rows: list[list[str]]) -> None:
    """Header and rows from the lines; those with a wrong number of fields are problems."""
    width = len(header)
    while width > 1 and not header[width - 1] and not any("".join(row[width - 1 :]) for row in rows):
        width -= 1
    read.header = header[:width]
    others: dict[int, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        if len(row) >= width and (width < len(header) or len(row) == width) and not any(row[width:]):
            read.rows.append((number, row[:width]))
        else:
            others[len(row)].append(number)
    # One cause is one problem, in however many rows.
    for count, numbers in others.items():
        fields = f"has {count} field{'' if count == 1 else 's'}, the header has {width}"
        advice = "put a cell that holds the separator into double quotes" if count > width else None
        read.problems.append(Problem(fields, tuple(numbers), suggestion=advice))
    if not rows and not read.problems:
        read.problems.append(Problem("names columns but holds no row"))


def _unreadable(problem: str, suggestion: str | None, line: int | None = None) -> CsvText:
    return CsvText(problems=[Problem(problem, suggestion=suggestion, line=line)])
