"""How tables are written: columns of records, widths on a terminal, text tables and lines of CSV."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.pages.number_text import name_parts

# Width of text on a terminal, where a Chinese or Japanese character takes two cells.


def terminal_width(text: str) -> int:
    """Cells that a line takes on a terminal.

    Examples
    --------
    >>> terminal_width("kyoto"), terminal_width("京都")
    (5, 4)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def broken(line: str, width: int) -> list[str]:
    """A line as lines of at most `width` cells.

    Examples
    --------
    >>> broken("京都大学", 5)
    ['京都', '大学']
    >>> broken("kyoto-university", 6)
    ['kyoto-', 'univer', 'sity']
    """
    if terminal_width(line) == len(line):
        return textwrap.wrap(line, width)
    from rich.cells import chop_cells

    # Scripts with wide characters have no spaces between words.
    return chop_cells(line, width)


def text_table(
    heads: Sequence[str], cells: Sequence[Sequence[str]], align: Sequence[str] | None = None, style: str = "simple"
) -> str:
    r"""A table as text, in one of tabulate's styles; in Markdown (``pipe``), bars in cells are escaped.

    - heads: Headings; none for a table without them.
    - align, {"left", "right"}: Alignment of each column; left by default.
    - style, {"simple", "plain", "pipe", "html"}: One of tabulate's styles.

    Examples
    --------
    >>> print(text_table(["set", "n"], [["a|b", "1"]], ["left", "right"], "pipe"))
    | set   |   n |
    |:------|----:|
    | a\|b  |   1 |
    """
    from tabulate import SEPARATING_LINE, tabulate

    lines = [[cell.replace("|", r"\|") for cell in line] for line in cells] if style == "pipe" else list(cells)
    if style != "simple" or not heads:
        return tabulate(lines, heads, tablefmt=style, colalign=align, disable_numparse=True)
    # Tabulate's headers would make each column two characters wider.
    ruled = tabulate([heads, [SEPARATING_LINE], *lines], tablefmt=style, colalign=align, disable_numparse=True)
    return "\n".join(ruled.split("\n")[1:-1])


def csv_lines(head: Sequence[str], lines: Iterable[Iterable[object]]) -> str:
    """A heading and lines as CSV; None is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(lines)
    return text.getvalue()


@dataclass(frozen=True)
class Column:
    """A column of a table of records, for all writers.

    - name: Field of a record, and name of the column in CSV and JSON.
    - heading: Heading on tables for people; None if they do not show the column.
    - align, {"left", "right"}: Alignment on tables.
    - text: Cell of a record on tables; by default the field as text.
    - in_csv: Whether CSV has the column; JSON has all.
    - page: Heading on the board's page, if it is another one.
    - style: Classes of the column's cells on the board's page.
    """

    name: str
    heading: str | None = None
    align: str = "left"
    text: Callable[[Any], str] | None = None
    in_csv: bool = True
    page: str = ""
    style: str = ""

    def cell(self, record: Any) -> str:
        """Cell of a record on tables."""
        return str(self.value(record)) if self.text is None else self.text(record)

    def value(self, record: Any) -> Any:
        """Value of a record in CSV and JSON."""
        return getattr(record, self.name)


def cells_of(columns: Sequence[Column], records: Iterable[Any]) -> list[list[str]]:
    """Cells of records in the columns that tables for people show."""
    return [[column.cell(record) for column in columns if column.heading is not None] for record in records]


def fold(
    text: str,
    width: int,
    parts_of: Callable[[str], list[str]] = name_parts,
    size: Callable[[str], int] = terminal_width,
) -> str:
    """Text in lines of at most a width, broken at spaces; longer words are broken between their parts.

    - width: Largest size of a line, unless a part is larger.
    - size: Size of a line; by default the cells that it takes on a terminal.
    """
    lines = [""]
    for word in text.split():
        space = " " if lines[-1] else ""
        parts = [word] if size(word) <= width else parts_of(word)
        for part in parts:
            if lines[-1] and size(lines[-1] + space + part) > width:
                lines.append(part)
            else:
                lines[-1] += space + part
            space = ""
    return "\n".join(lines)
