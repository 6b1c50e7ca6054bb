"""CSV files that spreadsheets may open: no cell becomes a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def neutralized(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: texts that begin like one get an apostrophe in front.

    Numbers stay as they are.

    Examples
    --------
    >>> neutralized("=1+1"), neutralized("-5"), neutralized(-5), neutralized("kyoto")
    ("'=1+1", '-5', -5, 'kyoto')
    """
    if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"):
        return cell if _NUMBER.fullmatch(cell) else f"'{cell}"
    return cell


def neutralized_csv(header: Sequence[str], rows: Iterable[Sequence[Any]], separator: str = ",") -> str:
    """A CSV file of neutralized cells; None is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    for row in (header, *rows):
        writer.writerow(["" if cell is None else neutralized(cell) for cell in row])
    return text.getvalue()
