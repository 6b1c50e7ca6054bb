"""Large CSV files: header, encoding, the query that reads them, and what is wrong with them."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from metrics.columns import refuse, require
from scenarios.tables.reading.csv_text import (
    COMPRESSED,
    HEAD,
    CsvHeader,
    check_rows,
    csv_content,
    csv_header,
    table_text,
)
from scenarios.tables.roles import Roles
from scenarios.tables.toml.toml_file import read_text, unreadable

# Names and texts in SQL.


def quoted(name: str) -> str:
    """A column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


_CHUNK = 1 << 22


def begins_with(path: Path, mark: bytes) -> bool:
    """Whether a file begins with the mark of a format."""
    try:
        with path.open("rb") as file:
            return file.read(len(mark)) == mark
    except OSError as error:
        raise ValueError(f"{path}: {unreadable(error)}") from None


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Content of a file, decompressed."""
    try:
        with gzip.open(path) if begins_with(path, COMPRESSED) else path.open("rb") as file:
            yield cast(BinaryIO, file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: the gzip compression is damaged ({error})") from None
    except OSError as error:
        raise ValueError(f"{path}: {unreadable(error)}") from None


def _text(path: Path, encoding: str, *, lines: bool = False) -> Iterator[str]:
    """Content of a file as text, in lines or in chunks."""
    with _opened(path) as file:
        text = io.TextIOWrapper(file, encoding, newline="")
        yield from text if lines else iter(partial(text.read, _CHUNK), "")


def _is_utf8(path: Path) -> bool:
    """Whether a file is UTF-8 throughout."""
    try:
        for _ in _text(path, "utf-8"):
            pass
    except UnicodeDecodeError:
        return False
    return True


def large_csv_header(path: Path, declared: Roles) -> CsvHeader:
    """Header of a CSV file, from its beginning."""
    return csv_header(path, _beginning(path, declared.encoding), declared.separator)


def _beginning(path: Path, encoding: str | None = None) -> str:
    """Complete lines at the beginning of a file."""
    with _opened(path) as file:
        head = csv_content(path, file.read(HEAD))
    text = table_text(path, head, encoding, whole=len(head) < HEAD)
    require(
        text or not head, f"{path}: its first line is longer than {HEAD >> 20} MiB; is it a CSV file with a header?"
    )
    return text


def utf8_copy(path: Path, encoding: str, folder: Path) -> Path | None:
    """Copy of a CSV file in UTF-8; None if it is in UTF-8 already."""
    if _is_utf8(path):
        return None
    copy = folder / "table.csv"
    try:
        with copy.open("w", encoding="utf-8", newline="") as file:
            for text in _text(path, encoding):
                refuse("\0" in text, f"{path}: read as {encoding}, it holds a NUL character; it must be plain text")
                file.write(text)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: is not {encoding} ({error.reason})") from None
    except OSError as error:
        raise ValueError(f"{path}: its copy in UTF-8 cannot be written ({error.strerror})") from None
    return copy


def csv_source(path: Path, columns: Sequence[str], header: CsvHeader) -> str:
    """SQL that reads a CSV file; empty fields are missing values."""
    types = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in columns)
    compression = "gzip" if begins_with(path, COMPRESSED) else "none"
    alone = len(columns) == 1
    source = (
        f"read_csv({literal(str(path))}, columns={{{types}}}, auto_detect=false, header=true, hive_partitioning=false, "
        f"skip={header.line - 1}, "
        f"delim={literal(header.separator)}, quote='\"', escape='\"', compression='{compression}', nullstr='', "
        f"allow_quoted_nulls={str(not alone).lower()}, null_padding=false, strict_mode=true)"
    )
    if not alone:
        return f"SELECT * FROM {source}"
    # A blank line is no row, but "" is one without a value.
    column = quoted(columns[0])
    return f"SELECT nullif({column}, '') AS {column} FROM {source} WHERE {column} IS NOT NULL"


def check_csv(path: Path, file: Path, header: CsvHeader) -> None:
    """Raise ValueError, as for a table in memory, for the first row of a CSV file that cannot be read."""
    if not _is_utf8(file):
        start = 0
        with _opened(file) as content:
            for line in content:
                read_text(path, line, start=start)
                start += len(line)
    check_rows(path, _text(file, "utf-8", lines=True), header, _beginning(file))
