"""CSV files that spreadsheets may open: no cell becomes a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

SEPARATORS = ",;\t"
"""What separates cells in one country or another."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def neutralized(cell: Any, separator: str = ",") -> Any:
    """A cell that no spreadsheet takes for a formula: texts that begin like one get an apostrophe in front.

    Numbers stay as they are. So that a spreadsheet with other habits finds no formula either, the same holds behind a
    line break and behind the separators that the file does not use.

    Parameters
    ----------
    cell : object
        The cell.
    separator : str
        Separator of the file.

    Examples
    --------
    >>> neutralized("=1+1"), neutralized("-5"), neutralized(-5), neutralized("kyoto"), neutralized("x;=1+1")
    ("'=1+1", '-5', -5, 'kyoto', "x;'=1+1")
    """
    if not isinstance(cell, str):
        return cell
    others = "".join(one for one in SEPARATORS if one != separator)
    parts = re.split(f"(?<=[{others}\r\n])", cell)
    return "".join(f"'{part}" if _like_a_formula(part) else part for part in parts)


def _like_a_formula(text: str) -> bool:
    """Whether a text begins like a formula and is no number."""
    begins = text[:1] in ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
    return begins and not _NUMBER.fullmatch(text.rstrip(f"{SEPARATORS}\r\n"))


def neutralized_csv(header: Sequence[str], rows: Iterable[Sequence[Any]], separator: str = ",") -> str:
    """A CSV file of neutralized cells; None is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    for row in (header, *rows):
        writer.writerow(["" if cell is None else neutralized(cell, separator) for cell in row])
    return text.getvalue()
