"""Random split of a table's file into the records to release and a control group, by whole people."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from metrics.columns import Booleans, Integers, refuse, require_column
from scenarios.tables.dataset import column_domains, columns_frame
from scenarios.tables.note import Note
from scenarios.tables.reading import (
    TextColumn,
    csv_content,
    csv_rows,
    csv_text,
    inferred_separator,
    other_format,
    read_text_table,
    rows_from_one,
    table_text,
)
from scenarios.tables.review import doubtful_columns, together
from scenarios.tables.roles import Roles

CSV, GZIP, PARQUET, WORKBOOK = "CSV", "compressed CSV", "Parquet", "Excel"
"""Formats of files."""
SUFFIXES = {".gz": GZIP, ".parquet": PARQUET, ".xlsx": WORKBOOK}
"""Formats by the end of a file's name; other names mean CSV."""
_NEWLINE, _RETURN, _QUOTE = 10, 13, 34
_WIDE = (("utf-16-le", "<u2"), ("utf-16-be", ">u2"), ("utf-32-le", "<u4"), ("utf-32-be", ">u4"))
"""Encodings in which a character takes several bytes, each with its unit."""


@dataclass(frozen=True)
class SplitFile:
    """A table's file that can be written in part.

    Parameters
    ----------
    path : Path
        Named in errors.
    form : str
        Its format: `CSV`, `GZIP`, `PARQUET` or `WORKBOOK`.
    person, group : ndarray of int, shape (rows,)
        Number of the person, and of the group of people, of each row, from 0.
    repeated : ndarray of bool, shape (rows,)
        Whether a row equals an earlier one in every column.
    notes : tuple of str
        What was recognized.
    part : callable
        ``part(rows)`` is the content of a file of the same format with some rows, in their order, given whether each
        row is kept.
    """

    path: Path
    form: str
    person: Integers = field(repr=False)
    group: Integers = field(repr=False)
    repeated: Booleans = field(repr=False)
    notes: tuple[str, ...]
    part: Callable[[Booleans], bytes] = field(repr=False)

    @classmethod
    def of(cls, path: Path, data: bytes, declared: Roles) -> SplitFile:
        """Read a file.

        Parameters
        ----------
        path : Path
            Named in errors.
        data : bytes
            The file's content.
        declared : Roles
            How it is read, and the column `person`. Without that column, each row is a person.

        Raises
        ------
        ValueError
            If the file cannot be read or divided into records, or has no column `person`, or a row names no person.
        """
        columns, notes, _ = read_text_table(path, data, declared)
        codes = pd.DataFrame({str(number): column.codes for number, column in enumerate(columns.values())})
        person = np.arange(len(codes)) if declared.person is None else _people(path, columns, declared.person)
        form, part = _parts(path, data, declared, len(codes))
        notes = [*notes, *_doubtful(columns, declared)]
        group = person if declared.group is None else together(person, _people(path, columns, declared.group, "group"))
        return cls(path, form, person, group, codes.duplicated().to_numpy(), tuple(map(str, notes)), part)

    def check_name(self, option: str, name: str) -> None:
        """Raise ValueError if a file's name stands for another format."""
        named = SUFFIXES.get(Path(name).suffix.lower(), CSV)
        refuse(
            named != self.form,
            f"{option} {name}: would be {named}, but a split keeps the format of the table, {self.form}",
        )


def drawn_control(person: Integers, share: float, rng: Generator) -> Booleans:
    """Which rows are those of a control group, shape (rows,); every group of that size is equally likely.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = drawn_control(np.array([0, 0, 1, 2, 2]), 1 / 3, np.random.default_rng(1))
    >>> bool(drawn[0] == drawn[1]), bool(drawn[3] == drawn[4])
    (True, True)
    """
    people, numbers = np.unique(person, return_inverse=True)
    count = round(share * people.size)
    if not 0 < count < people.size:
        part = "the control group" if count == 0 else "the part to release"
        raise ValueError(f"{part} would be empty: a share of {share:g} of {people.size:,} people is {count:,}")
    drawn = np.zeros(people.size, dtype=bool)
    drawn[rng.permutation(people.size)[:count]] = True
    return np.asarray(drawn[numbers])


def _people(path: Path, columns: dict[str, TextColumn], name: str, what: str = "person") -> Integers:
    """Number of the person or group of each row, by a column whose texts are compared without surrounding blanks."""
    with rows_from_one(f"{path}: "):
        require_column(columns, name)
    column = columns[name]
    missing = np.flatnonzero(column.codes < 0)
    if missing.size:
        raise ValueError(
            f"{path}: column {name!r} names the {what} of each row, and is empty in record {missing[0] + 1}"
        )
    texts = pd.Series(column.texts.to_pylist(), dtype=object).astype(str).str.strip()
    return np.asarray(pd.factorize(texts)[0][column.codes])


def _parts(path: Path, data: bytes, declared: Roles, rows: int) -> tuple[str, Callable[[Booleans], bytes]]:
    """Format of a file, and the function that writes some of its rows."""
    if data.startswith(csv_text.PARQUET):
        return PARQUET, lambda kept: _parquet_part(data, kept)
    if other_format(data) == csv_text.WORKBOOK:
        return WORKBOOK, lambda kept: _workbook_part(data, kept)
    content = csv_content(path, data)
    starts = _record_starts(path, content, declared, rows)
    if content is data:
        return CSV, lambda kept: _csv_part(content, starts, kept)
    return GZIP, lambda kept: gzip.compress(_csv_part(content, starts, kept), mtime=0)


def _csv_part(content: bytes, starts: Integers, kept: Booleans) -> bytes:
    """The header and some records of a CSV, byte for byte; `starts` has their beginnings, and the end of the file."""
    mask = np.concatenate([np.ones(starts[0], dtype=bool), np.repeat(kept, np.diff(starts))])
    return bytes(np.frombuffer(content, dtype=np.uint8)[mask])


def _doubtful(columns: dict[str, TextColumn], declared: Roles) -> list[Note]:
    """What is doubtful in the values, whatever domains the roles declare."""
    empty = [name for name, column in columns.items() if column.empty]
    without_domains = {"columns": {}, "identifiers": [*declared.identifiers, *empty]}
    domains, _, _ = column_domains(columns, declared.model_copy(update=without_domains))
    known = declared.quasi_identifiers or [name for name in columns if name not in declared.named_roles()]
    return doubtful_columns(columns, columns_frame(columns, domains), declared, known, declared.person)


def _record_starts(path: Path, content: bytes, declared: Roles, rows: int) -> Integers:
    """Byte at which each record of a CSV begins, and the end of the file, shape (rows + 1,).

    Blank lines belong to the record before them.
    """
    text = table_text(path, content, declared.encoding)
    units = np.frombuffer(content, dtype=_unit(content, text))
    breaks = units == _NEWLINE
    # A return that no newline follows ends a line, too.
    breaks[:-1] |= (units[:-1] == _RETURN) & (units[1:] != _NEWLINE)
    breaks[-1:] |= units[-1:] == _RETURN
    lines = np.concatenate([[0], np.flatnonzero(breaks) + 1])
    lines = lines[lines < units.size]
    # A line begins a record if the quotes before it are closed and it is not blank.
    quotes = np.concatenate([[0], np.cumsum(units == _QUOTE)])
    starts = lines[(quotes[lines] % 2 == 0) & (units[lines] != _NEWLINE) & (units[lines] != _RETURN)][1:]
    if starts.size != rows:
        # A quote within an unquoted field is a character like any other.
        separator = declared.separator or inferred_separator(text)
        numbers = np.array([line for line, _ in csv_rows(text, separator)])[1:] - 1
        starts = lines[numbers] if numbers.size == rows and numbers.max() < lines.size else starts
    refuse(
        starts.size != rows,
        f"{path}: cannot be divided into its {rows:,} records; its quotes or line breaks are irregular",
    )
    return np.append(starts, units.size) * units.itemsize


def _unit(content: bytes, text: str) -> str:
    """NumPy type of the unit in which line breaks and quotes of an encoded text stand by themselves."""
    possible = _WIDE if b"\0" in content else ()
    encoded = ((unit, (text.encode(name), f"\ufeff{text}".encode(name))) for name, unit in possible)
    return next((unit for unit, contents in encoded if content in contents), "u1")


def _parquet_part(data: bytes, kept: Booleans) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    file = parquet.ParquetFile(BytesIO(data))
    group = file.metadata.row_group(0)
    chunks = [group.column(number) for number in range(group.num_columns)]
    codecs = {
        chunk.path_in_schema: "NONE" if chunk.compression == "UNCOMPRESSED" else chunk.compression for chunk in chunks
    }
    buffer = BytesIO()
    parquet.write_table(file.read().filter(pa.array(kept)), buffer, compression=codecs)
    return buffer.getvalue()


def _workbook_part(data: bytes, kept: Booleans) -> bytes:
    """A workbook with one sheet: values and number formats of the cells of the first sheet."""
    from openpyxl import Workbook, load_workbook

    sheet = load_workbook(BytesIO(data), data_only=True).worksheets[0]
    rows = [row for row in sheet.iter_rows() if any(cell.value is not None for cell in row)]
    workbook = Workbook()
    target: Any = workbook.active
    target.title = sheet.title
    for number, row in enumerate([rows[0], *(row for row, keep in zip(rows[1:], kept, strict=True) if keep)], 1):
        for cell in row:
            if cell.value is not None:
                copied = target.cell(number, cell.column, cell.value)
                copied.number_format = cell.number_format
                # A text that begins with an equals sign is no formula.
                copied.data_type = cell.data_type
    buffer = BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()
