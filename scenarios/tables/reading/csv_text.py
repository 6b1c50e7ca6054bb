"""Bytes of CSV files: format, compression, encoding, separator, header, and the first malformed row."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from metrics.columns import NUMBER, Sentence, refuse, require
from scenarios.tables.note import Note
from scenarios.tables.toml.toml_file import read_text

# What a file is by its first bytes.

COMPRESSED, PARQUET, ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"
WORKBOOK = Sentence("an Excel workbook")
_OTHER_FORMATS = {
    PARQUET: Sentence("a Parquet file"),
    ZIP: Sentence("a ZIP archive and no table"),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": Sentence("an Excel workbook of the old format (.xls)"),
    b"SQLite format 3": Sentence("a database"),
    b"\x80\x04": Sentence("a pickle"),
    b"\x80\x05": Sentence("a pickle"),
}


def other_format(data: bytes) -> str | None:
    """What a file is that is no text, in words; None for one that may be a text."""
    # A ZIP archive names its files without compression.
    if data.startswith(ZIP) and b"xl/workbook" in data:
        return WORKBOOK
    return next((what for beginning, what in _OTHER_FORMATS.items() if data.startswith(beginning)), None)


def csv_content(path: Path, data: bytes) -> bytes:
    """Content of a file that should be CSV, without gzip compression."""
    what = other_format(data)
    extract = "extract the table or " if what == _OTHER_FORMATS[ZIP] else ""
    refuse(what is not None, f"{path}: is {what}; {extract}save the sheet as CSV (UTF-8)")
    if not data.startswith(COMPRESSED):
        return data
    import gzip
    import zlib

    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: the gzip compression is damaged ({error})") from None


# Encodings of CSV files: UTF-8, or one that the user declares.

HEAD = 1 << 20
"""Number of bytes by which an encoding is guessed, and in which the header of a file must end."""
JAPANESE = ("shift_jis", "cp932", "euc_jp", "iso2022_jp")
_WIDE = "[\u3040-\u30ff\u3400-\u9fff\uff01-\uff5e]"
_NARROW = "[\uff61-\uff9f]"


def check_encoding(name: str) -> str:
    """Return the name of an encoding of text."""
    try:
        codecs.lookup(name)
        "".encode(name)
    except (LookupError, ValueError):
        raise ValueError(f"there is no encoding {name!r}; usual ones are cp1252, shift_jis, utf-16") from None
    return name


def table_text(path: Path, data: bytes, encoding: str | None = None, *, whole: bool = True) -> str:
    """Text of a CSV file, without a byte order mark. A file that is UTF-8 is read as such, whatever is declared.

    Of the beginning of a file (`whole` is false), only complete lines are returned.
    """
    try:
        text = read_text(path, data, whole=whole)
    except ValueError as error:
        if encoding is None:
            guess = guessed_encoding(data)
            hint = f", or declare it: --encoding {guess} (key 'encoding' of the roles file)" if guess else ""
            raise ValueError(f"{error}{hint}") from None
        text = _declared_text(path, data, encoding, whole=whole)
    return text if whole else text[: text.rfind("\n") + 1]


def _declared_text(path: Path, data: bytes, encoding: str, *, whole: bool) -> str:
    """Text in a declared encoding, without a byte order mark."""
    try:
        # Some programs put the mark of UTF-8 before any text, where it would become a part of the first name.
        text = codecs.getincrementaldecoder(encoding)().decode(data.removeprefix(codecs.BOM_UTF8), whole)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: is not {encoding} ({error.reason} at byte {error.start})") from None
    refuse("\0" in text, f"{path}: read as {encoding}, it holds a NUL character; it must be plain text")
    return text.removeprefix("\ufeff")


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


# Rows and fields.

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


class BrokenRowError(ValueError):
    """A row that is no CSV, in words.

    Parameters
    ----------
    path : Path or str
        The file.
    line : int
        Line in which the row begins, from 1.
    reason : str
        The message of the module `csv`.
    """

    def __init__(self, path: Path | str, line: int, reason: str) -> None:
        self.line = line
        causes = {
            "end of data": Sentence("broken quotes: a quotation mark opens in this row and is never closed"),
            "field limit": Sentence(
                "a cell that begins in this row has more than {most:,} characters; a quotation mark may open there and "
                "never be closed",
                most=csv.field_size_limit(),
            ),
            "": Sentence(
                "broken quotes: text follows a closing quotation mark; close each that opens, and write one that "
                "belongs to a cell twice"
            ),
        }
        self.why = next(why for words, why in causes.items() if words in reason)
        super().__init__(f"{path}, line {line}: {self.why}")


def csv_rows(
    text: str | Iterable[str], separator: str, *, path: Path | str = "", strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """First line (from 1) and fields of each row of a text, or of its lines; blank lines are no rows."""
    lines = io.StringIO(text, newline="") if isinstance(text, str) else text
    reader = csv.reader(lines, delimiter=separator, strict=strict)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise BrokenRowError(path, line, str(error)) from None


def inferred_separator(text: str) -> str:
    """Separator of fields, from the first lines (see `csv_header`)."""

    def fit(separator: str) -> tuple[bool, bool, int]:
        """Sort key: splits the first line, splits all first lines into equally many fields, number of fields."""
        try:
            widths = [len(row) for _, row in islice(csv_rows(text[:100_000], separator), 10)] or [0]
        except BrokenRowError:
            return False, False, 0
        return widths[0] > 1, len(set(widths)) == 1, widths[0]

    return max(SEPARATORS, key=fit)


class CsvHeader(NamedTuple):
    """What the beginning of a CSV file says.

    Parameters
    ----------
    separator : str
        Separator of fields.
    fields : list of str
        Fields of the first row that is not blank.
    notes : list of Note
        What was inferred, and doubts about the first line.
    line : int
        Line of the header, from 1; blank lines may precede it.
    """

    separator: str
    fields: list[str]
    notes: list[Note]
    line: int = 1


def csv_header(path: Path, text: str, declared: str | None = None) -> CsvHeader:
    """Read the header of a CSV file.

    A separator that is not declared is inferred from comma, semicolon, tab and bar. It must split the first lines into
    equal numbers of fields; of those that do, the one with the most fields is taken.
    """
    text, notes = text[:HEAD], list[Note]()
    require(text.strip(), f"{path}: is empty; the first line must name the columns")
    refuse_first_line(path, text)
    separator = declared
    if separator is None:
        separator = inferred_separator(text)
        notes.append(Note("separator", numbers={"separator": SEPARATORS[separator]}))
    line, fields = next(csv_rows(text, separator, path=path))
    column_names(path, fields)
    if any(re.fullmatch(NUMBER, field.strip(), re.ASCII) for field in fields):
        notes.append(Note("numbers as names"))
    if len(fields) == 1 and len(fields[0].split()) > 1:
        notes.append(Note("one column"))
    return CsvHeader(separator, fields, notes, line)


SEPARATOR_LINE = re.compile(r'\s*"?sep=[,;\t|]?"?[ \t]*(?=[\r\n])', re.IGNORECASE)
"""A first line that only names the separator, as Excel writes it."""
_WEB_PAGE = re.compile(r"\s*(<!doctype|<html)", re.IGNORECASE)
WEB_PAGE = Sentence("is a web page (HTML) and no table")


def is_web_page(text: str) -> bool:
    """Whether a text begins as a web page does."""
    return _WEB_PAGE.match(text) is not None


def refuse_first_line(path: Path, text: str) -> None:
    """Raise ValueError if a text begins as a web page does, or with a line that only names the separator."""
    refuse(is_web_page(text), f"{path}: {WEB_PAGE}; save its table as CSV")
    refuse(SEPARATOR_LINE.match(text), f"{path}: its first line only names the separator (sep=); delete that line")


def column_names(path: Path, fields: Sequence[str]) -> list[str]:
    """Names of the columns; a column without a name is called by its position (from 1), such as ``column_3``."""
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


def check_rows(path: Path, text: str | Iterable[str], header: CsvHeader, beginning: str) -> None:
    """Raise ValueError for the first row with more or fewer fields than the header, or with broken quotes."""
    width = len(header.fields)
    for line, row in csv_rows(text, header.separator, path=path, strict=True):
        if len(row) != width:
            fields = f"{len(row)} field" + "s" * (len(row) != 1)
            other = inferred_separator(beginning)
            hint = ""
            if width == 1 and other != header.separator and other in header.fields[0]:
                key = "tab" if other == "\t" else other
                hint = f"; the fields look separated by {SEPARATORS[other]} ({key}), see --delimiter"
            elif len(row) == width + 1:
                hint = "; if it begins with a row name, the header needs a name for that"
            raise ValueError(f"{path}, line {line}: has {fields} where the header has {width}{hint}")
