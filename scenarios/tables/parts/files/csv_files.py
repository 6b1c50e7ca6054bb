"""Large CSV files: header, encoding, the query that reads them, and what is wrong with them."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from metrics.columns import refuse, require
from scenarios.tables.parts.files.sql_names import literal, quoted
from scenarios.tables.reading.csv_text import field_separator, header_fields, table_text
from scenarios.tables.reading.text_table import header_notes
from scenarios.tables.roles import Roles
from scenarios.tables.toml.toml_file import unreadable

HEAD = 1 << 20
"""Number of bytes of a CSV file in which its header must end."""
_CHUNK = 1 << 22
_REASONS = {
    "not utf-8": "is not UTF-8; save the file as UTF-8, or declare its encoding (--encoding)",
    "unterminated quote": "has a quote that does not end, or text after its end; double a quote inside a quoted field",
    "maximum line size": "is longer than 2 MB; is there a quote that does not end?",
}


def is_compressed(path: Path) -> bool:
    """Whether a file is compressed by gzip."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def csv_fields(path: Path, declared: Roles) -> tuple[tuple[str, ...], str, list[str]]:
    """Header, separator and notes of a CSV file, from its beginning.

    Parameters
    ----------
    path : Path
        The file.
    declared : Roles
        Separator and encoding, where declared.

    Raises
    ------
    ValueError
        If the beginning cannot be read as CSV.
    """
    head = next(_chunks(path, HEAD), b"")
    read = _complete if len(head) == HEAD else table_text
    text = read(path, head, declared.encoding)
    separator, notes = field_separator(path, text, declared.separator)
    fields = header_fields(path, text, separator)
    return tuple(fields), separator, [*notes, *header_notes(fields)]


def _complete(path: Path, head: bytes, encoding: str | None) -> str:
    """Complete lines at the beginning of a file that goes on."""
    lines = head[: head.rfind(b"\n") + 1]
    if encoding is not None:
        try:
            lines.decode()
        except UnicodeDecodeError:
            unmarked = head.removeprefix(codecs.BOM_UTF8)
            text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(unmarked).removeprefix("\ufeff")
            return text[: text.rfind("\n") + 1]
    require(lines, f"{path}: its first line is longer than {HEAD >> 20} MiB; is it a CSV file with a header?")
    return table_text(path, lines)


def utf8_copy(path: Path, encoding: str, folder: Path) -> Path | None:
    """Copy of a CSV file in UTF-8; None if it is in UTF-8 already.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str
        Its declared encoding.
    folder : Path
        Where the copy is written.

    Raises
    ------
    ValueError
        If it is neither UTF-8 nor in the declared encoding, or the copy cannot be written.
    """
    with suppress(UnicodeDecodeError):
        for _ in _decoded(path, "utf-8"):
            pass
        return None
    copy = folder / "table.csv"
    try:
        with copy.open("w", encoding="utf-8", newline="") as file:
            for number, text in enumerate(_decoded(path, encoding)):
                refuse("\0" in text, f"{path}: read as {encoding}, it holds a NUL character; it must be plain text")
                file.write(text if number else text.removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: is not {encoding} ({error.reason})") from None
    except OSError as error:
        raise ValueError(f"{path}: its copy in UTF-8 cannot be written ({error.strerror})") from None
    return copy


def _chunks(path: Path, size: int) -> Iterator[bytes]:
    """Content of a file, decompressed, in chunks of `size` bytes."""
    try:
        with gzip.open(path) if is_compressed(path) else path.open("rb") as file:
            while chunk := file.read(size):
                yield chunk
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: the gzip compression is damaged ({error})") from None
    except OSError as error:
        raise ValueError(unreadable(path, error)) from None


def _decoded(path: Path, encoding: str) -> Iterator[str]:
    """Content of a file as text, in chunks."""
    decoder = codecs.getincrementaldecoder(encoding)()
    for chunk in _chunks(path, _CHUNK):
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def csv_source(path: Path, columns: Sequence[str], separator: str) -> str:
    """SQL that reads a CSV file; empty fields are missing values.

    Parameters
    ----------
    path : Path
        The file, in UTF-8.
    columns : sequence of str
        Names of its columns.
    separator : str
        Separator of fields.
    """
    types = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in columns)
    compression = "gzip" if is_compressed(path) else "none"
    alone = len(columns) == 1
    source = (
        f"read_csv({literal(str(path))}, columns={{{types}}}, auto_detect=false, header=true, hive_partitioning=false, "
        f"delim={literal(separator)}, quote='\"', escape='\"', compression='{compression}', nullstr='', "
        f"allow_quoted_nulls={str(not alone).lower()}, null_padding=false, strict_mode=true)"
    )
    if not alone:
        return f"SELECT * FROM {source}"
    # A blank line is no row, but "" is one without a value.
    column = quoted(columns[0])
    return f"SELECT nullif({column}, '') AS {column} FROM {source} WHERE {column} IS NOT NULL"


def csv_reason(message: str) -> str | None:
    """What DuckDB complains about in a CSV file, to follow the file's name; None for another error."""
    line = re.search(r"Error on Line: (\d+)", message)
    counts = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if line and counts:
        fields = "field" if counts[2] == "1" else "fields"
        return f", line {line[1]}: has {counts[2]} {fields} where the header has {counts[1]}"
    if line:
        reasons = (reason for words, reason in _REASONS.items() if words in message.lower())
        return f", line {line[1]}: {next(reasons, 'is no CSV row')}"
    if "invalid state" in message:
        return ": its rows are no regular CSV; are there line ends of two kinds (\\n and \\r\\n)?"
    if "GZIP" in message:
        return ": the gzip compression is damaged"
    return None
