"""Submitted tables: strict reading, and conversion of every cell to its canonical form.

Only the meaning of a cell is published, not its spelling. ``035``, ``35.0`` and ``3.5e1`` become ``35``, and the parts
of a set are sorted in the domain's order. Spelling therefore cannot carry hidden information.
"""

from __future__ import annotations

import csv
import io
import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path

import numpy as np
import pandas as pd

from attacks.base.claims import RankedAnswers
from metrics.arrays import Integers
from metrics.cells import SUPPRESSED, CategoricalCells, NumericCells, interval_cell, read_cells, set_cell, unescape
from metrics.domains import CategoricalDomain, Domain, NumericDomain, format_number
from scenarios.tables.written_cells import WrittenCells

ORIGINAL_ROW = "original_row"
LARGEST = 4 << 20
"""Largest size of a file, in bytes."""
LONGEST = 2000
"""Largest length of a cell, in characters."""
_NUMBER = re.compile(r"[^\[\]{}(),|*\s]+")
_OTHER_FORMATS = {
    b"PK\x03\x04": "a zip archive (or a spreadsheet)",
    b"\x1f\x8b": "compressed",
    b"PAR1": "a Parquet file",
    b"\x80": "a pickle",
    b"SQLite": "a database",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


@dataclass(frozen=True)
class Form:
    """Form that an anonymized table must have.

    Parameters
    ----------
    domains : mapping of str to Domain
        Domain of each column.
    originals : int
        Number of originals, and largest number of rows.
    decimals : mapping of str to int
        Largest number of decimals in each column; 0 for columns that are not listed.
    with_missing : frozenset of str
        Columns in which a value may be missing (an empty cell).
    written : WrittenCells
        Labels by which cells may be written.
    """

    domains: Mapping[str, Domain]
    originals: int
    decimals: Mapping[str, int]
    with_missing: frozenset[str] = frozenset()
    written: WrittenCells = field(default_factory=WrittenCells)


@dataclass(frozen=True)
class Sheet:
    """A valid anonymized table.

    Attributes
    ----------
    frame : DataFrame, shape (rows, columns)
        Released cells in canonical form, columns in the domains' order.
    origin : ndarray of int, shape (rows,)
        Original from which each row is declared to stem; -1 for none.
    """

    frame: pd.DataFrame
    origin: Integers


def read_submission(path: Path) -> bytes:
    """Read a submitted file.

    Raises
    ------
    ValueError
        If it is a link or no ordinary file, cannot be read, or is larger than `LARGEST`.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        why = "is a symbolic link; submit the file itself" if path.is_symlink() else error.strerror or "cannot be read"
        raise ValueError(f"{path}: {why}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ValueError(f"{path}: is no ordinary file")
    with os.fdopen(handle, "rb") as file:
        try:
            data = file.read(LARGEST + 1)
        except OSError as error:
            raise ValueError(f"{path}: cannot be read ({error.strerror})") from None
    if len(data) > LARGEST:
        raise ValueError(f"{path}: is larger than {LARGEST >> 20} MB")
    return data


def read_sheet(name: str, data: bytes, form: Form) -> Sheet:
    """Read an anonymized table: the columns of `form` in any order, and ``original_row``, counted from 0.

    Raises
    ------
    ValueError
        If the table is invalid; one line that names file, row (from 0, below the header) and column.
    """
    header, rows = _table(name, data, form.originals)
    _check_columns(name, header, [*form.domains, ORIGINAL_ROW])
    texts = {column: [row[position] for row in rows] for position, column in enumerate(header)}
    frame = pd.DataFrame(
        {column: _column(name, column, texts[column], domain, form) for column, domain in form.domains.items()}
    )
    return Sheet(frame, _origin(name, texts[ORIGINAL_ROW], form.originals))


def read_answers(name: str, data: bytes, released: int, candidates: int) -> RankedAnswers:
    """Read a correspondence table: ``released_row``, ``candidate_row`` (both from 0) and ``confidence`` in [0, 1].

    The team abstains on released rows that are left out. Without the column ``confidence``, all answers are equally
    confident.

    Raises
    ------
    ValueError
        If the table is invalid; the message names file, row (from 0, below the header) and column.
    """
    header, rows = _table(name, data, released)
    if "confidence" not in header:
        header, rows = [*header, "confidence"], [[*row, "1"] for row in rows]
    _check_columns(name, header, ["released_row", "candidate_row", "confidence"])
    position = {column: header.index(column) for column in header}
    target = [
        _row_number(name, n, "released_row", row[position["released_row"]], released) for n, row in enumerate(rows)
    ]
    answer = [
        _row_number(name, n, "candidate_row", row[position["candidate_row"]], candidates) for n, row in enumerate(rows)
    ]
    _check_once(name, target, "released_row")
    score = [_confidence(name, n, row[position["confidence"]]) for n, row in enumerate(rows)]
    return RankedAnswers(
        released,
        candidates,
        np.array(target, dtype=np.intp),
        np.array(answer, dtype=np.intp),
        np.array(score, dtype=float),
    )


def _table(name: str, data: bytes, most: int) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV."""
    for beginning, what in _OTHER_FORMATS.items():
        if data.startswith(beginning):
            raise ValueError(f"{name}: is {what}; submit UTF-8 text with commas between the fields (CSV)")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ValueError(f"{name}, line {line}: is no UTF-8 text; save it as UTF-8") from None
    if "\0" in text:
        raise ValueError(f"{name}, line {text[: text.index(chr(0))].count(chr(10)) + 1}: holds a NUL character")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    try:
        header = next((row for row in reader if row), None)
        if header is None:
            raise ValueError(f"{name}: is empty; the first line must name the columns")
        for row in reader:
            if not row:
                continue
            if len(rows) == most:
                raise ValueError(f"{name}: has more than {most} rows")
            if len(row) != len(header):
                raise ValueError(
                    f"{name}, row {len(rows)}: has {len(row)} fields, the header has {len(header)}; fields are "
                    "separated by commas"
                )
            rows.append(row)
    except csv.Error as error:
        raise ValueError(f"{name}, line {reader.line_num}: is no CSV ({error})") from None
    if not rows:
        raise ValueError(f"{name}: names columns but holds no row")
    return header, rows


def _check_columns(name: str, header: Sequence[str], wanted: Sequence[str]) -> None:
    if len(header) == 1 < len(wanted):
        for separator, what in ((";", "semicolons"), ("\t", "tabs")):
            if separator in header[0]:
                raise ValueError(f"{name}: its fields are separated by {what}; save it with commas")
    for column in header:
        if header.count(column) > 1:
            raise ValueError(f"{name}: column {_quoted(column)} stands twice")
        if column not in wanted:
            hint = " (row numbers? save it without them)" if column in {"", "Unnamed: 0"} else ""
            raise ValueError(
                f"{name}: there must be no column {_quoted(column)}{hint}; the columns are {', '.join(wanted)}"
            )
    for column in wanted:
        if column not in header:
            raise ValueError(f"{name}: column {column!r} is missing")


def _column(name: str, column: str, texts: Sequence[str], domain: Domain, form: Form) -> pd.Series[str]:
    """A column of cells in canonical form."""
    decimals = 0 if isinstance(domain, NumericDomain) and domain.integer else form.decimals.get(column, 0)
    canonical: dict[str, str | None] = {}
    for row, text in enumerate(texts):
        if text not in canonical:
            try:
                cell = form.written.cell(column, text)
                canonical[text] = _cell(cell, domain, decimals, may_miss=column in form.with_missing)
            except ValueError as error:
                raise ValueError(f"{name}, row {row}, column {column!r}: {_quoted(text)} {error}") from None
    return pd.Series([canonical[text] for text in texts], dtype=object)


def _cell(text: str, domain: Domain, decimals: int, *, may_miss: bool) -> str | None:
    """Canonical form of a cell.

    Raises
    ------
    ValueError
        If it is no valid cell of the domain; the message continues a sentence that begins with the cell.
    """
    if text == "":
        if may_miss:
            return None
        raise ValueError("is empty, and no original lacks a value here; write * for a suppressed cell")
    if len(text) > LONGEST:
        raise ValueError(f"is longer than {LONGEST} characters")
    if isinstance(domain, NumericDomain):
        _check_numbers(text, domain, decimals)
    elif text[0] in "=+-@\t\r" and unescape(text) not in domain.categories:
        raise ValueError("begins like a formula")
    try:
        cells = read_cells(pd.Series([text], dtype=object), domain)
    except ValueError as error:
        raise ValueError(str(error).partition(repr(text))[2].strip() or "cannot be read") from None
    if cells.suppressed[0]:
        return SUPPRESSED
    if isinstance(cells, NumericCells) and isinstance(domain, NumericDomain):
        segments = _merged(zip(cells.low.tolist(), cells.high.tolist(), cells.closed.tolist(), strict=True), domain)
        if segments == [(domain.low, domain.high, True)] and domain.low < domain.high:
            return SUPPRESSED
        parts = [interval_cell(low, high, closed=closed) for low, high, closed in segments]
        return parts[0] if len(parts) == 1 else "{" + "|".join(parts) + "}"
    assert isinstance(cells, CategoricalCells)  # noqa: S101 (for the type checker: numeric cells have returned)
    assert isinstance(domain, CategoricalDomain)  # noqa: S101
    covered = [category for category, inside in zip(domain.categories, cells.member[0], strict=True) if inside]
    return SUPPRESSED if len(covered) == domain.size > 1 else set_cell(covered)


def _merged(segments: Iterable[tuple[float, float, bool]], domain: NumericDomain) -> list[tuple[float, float, bool]]:
    """Disjoint intervals (low, high, whether high is included) that cover the same numbers, in ascending order.

    Intervals of integers are closed, and adjacent ones are joined: ``[20,30)``, ``[20,29]`` and ``{[20,25]|[26,29]}``
    are the same cell.

    Raises
    ------
    ValueError
        If they cover no number of the domain.
    """
    merged: list[tuple[float, float, bool]] = []
    for low, high, closed in sorted(segments):
        if high > domain.high:
            high, closed = domain.high, True
        if domain.integer and not closed:
            high, closed = high - 1, True
        if low > high:
            raise ValueError("covers no possible value")
        if merged and low <= merged[-1][1] + domain.integer:
            first, last, last_closed = merged.pop()
            low, high, closed = first, max(last, high), (last_closed and last >= high) or (closed and high >= last)
        merged.append((low, high, closed))
    return merged


def _check_numbers(text: str, domain: NumericDomain, decimals: int) -> None:
    """Check that all numbers in a cell lie in the public range and do not have too many decimals."""
    if text.count("{") > 1:
        raise ValueError("is a set within a set")
    # In decimal notation, since the binary number nearest to 32.277248 is slightly larger.
    low = Decimal(format_number(domain.low))
    high = Decimal(format_number(domain.edges[-1] if text[0] in "[{" else domain.high))
    for part in _NUMBER.findall(text):
        try:
            number = Decimal(part)
        except InvalidOperation:
            raise ValueError("begins like a formula" if text[0] in "=+-@" else "is no number") from None
        if not number.is_finite():
            raise ValueError("is not finite")
        if not low <= number <= high:
            bounds = f"{format_number(domain.low)} to {format_number(domain.high)}"
            raise ValueError(f"lies outside the public range {bounds}")
        exponent = number.normalize().as_tuple().exponent
        if isinstance(exponent, int) and -exponent > decimals:
            most = "be integers" if decimals == 0 else f"have at most {decimals} digits after the point"
            raise ValueError(f"is too precise: numbers here must {most}")


def _origin(name: str, texts: Sequence[str], originals: int) -> Integers:
    rows = [
        -1 if text == "" else _row_number(name, row, ORIGINAL_ROW, text, originals) for row, text in enumerate(texts)
    ]
    _check_once(name, rows, ORIGINAL_ROW)
    return np.array(rows, dtype=np.intp)


def _row_number(name: str, row: int, column: str, text: str, count: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) < count):
        raise ValueError(
            f"{name}, row {row}, column {column!r}: {_quoted(text)} is no row number from 0 to {count - 1}"
        )
    return int(text)


def _check_once(name: str, rows: Sequence[int], column: str) -> None:
    first: dict[int, int] = {}
    for position, row in enumerate(rows):
        if row >= 0 and row in first:
            raise ValueError(f"{name}, row {position}, column {column!r}: {row} stands in row {first[row]} already")
        first[row] = position


def _confidence(name: str, row: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not 0 <= value <= 1:
        raise ValueError(f"{name}, row {row}, column 'confidence': {_quoted(text)} is no number from 0 to 1")
    return value


def _quoted(text: str) -> str:
    """Text of a cell for a message: shortened, and without control characters."""
    return ascii(text if len(text) <= 40 else text[:40] + "…")
