"""CSV texts: compression, separator, header, and the first malformed row."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from metrics.columns import refuse, require
from scenarios.tables.toml.toml_file import read_text

# Encodings of CSV files: UTF-8, or one that the user declares.

HEAD = 1 << 20
"""Number of bytes by which an encoding is guessed."""
JAPANESE = ("shift_jis", "cp932", "euc_jp", "iso2022_jp")
_WIDE = "[\u3040-\u30ff\u3400-\u9fff\uff01-\uff5e]"
_NARROW = "[\uff61-\uff9f]"


def check_encoding(name: str) -> str:
    """Return the name of an encoding of text.

    Raises
    ------
    ValueError
        If there is no such encoding.
    """
    try:
        codecs.lookup(name)
        "".encode(name)
    except (LookupError, ValueError):
        raise ValueError(f"there is no encoding {name!r}; usual ones are cp1252, shift_jis, utf-16") from None
    return name


def table_text(path: Path, data: bytes, encoding: str | None = None) -> str:
    """Text of a CSV file, without a byte order mark. A file that is UTF-8 is read as such, whatever is declared.

    Parameters
    ----------
    path : Path
        Named in errors.
    data : bytes
        The file's content, decompressed.
    encoding : str, optional
        Encoding of a file that is not UTF-8.

    Raises
    ------
    ValueError
        If it is neither UTF-8 nor in the declared encoding. Without a declared one, the message suggests it if the
        bytes leave little doubt.
    """
    try:
        return read_text(path, data)
    except ValueError as error:
        if encoding is None:
            guess = guessed_encoding(data)
            hint = f", or declare it: --encoding {guess} (key 'encoding' of the roles file)" if guess else ""
            raise ValueError(f"{error}{hint}") from None
    try:
        # Some programs put the mark of UTF-8 before any text, where it would become a part of the first name.
        text = data.removeprefix(codecs.BOM_UTF8).decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: is not {encoding} ({error.reason} at byte {error.start})") from None
    if "\0" in text:
        raise ValueError(f"{path}: read as {encoding}, it holds a NUL character; it must be plain text")
    return text


def guessed_encoding(data: bytes) -> str | None:
    """Guess the encoding of a text that is not UTF-8: UTF-16, a Japanese one, or cp1252; None in doubt.

    Notes
    -----
    A text in a Western encoding may be valid in a Japanese one, but then single Japanese characters stand between
    letters. In Japanese texts most of them stand beside each other.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in data:
        return None
    head = data[: data.rfind(b"\n", 0, HEAD) + 1] or data
    for name in JAPANESE:
        try:
            text = head.decode(name)
        except UnicodeDecodeError:
            continue
        wide, narrow = len(re.findall(_WIDE, text)), len(re.findall(_NARROW, text))
        runs = sum(map(len, re.findall(f"{_WIDE}{{2,}}", text)))
        if wide > narrow and 2 * runs > wide:
            return name
    try:
        text = head.decode("cp1252")
    except UnicodeDecodeError:
        return None
    foreign = re.findall(r"[^\x00-\x7f]", text)
    letters = [character for character in foreign if character.isalpha() or character in "€£°–—‘’“”…"]
    return "cp1252" if 2 * len(letters) > len(foreign) else None


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
