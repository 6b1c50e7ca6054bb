"""Encodings of CSV files: UTF-8, or one that the user declares."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from scenarios.tables.toml.toml_file import read_text

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
