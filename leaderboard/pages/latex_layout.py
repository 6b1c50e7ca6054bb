"""Layout of LaTeX tables: type size, line breaks in cells and turned headings, so that a table fits its line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from leaderboard.pages.tables import fold

LINE = 345.0
"""Width of a line of the class article in one column, in points."""
SIZES = (("", 10.0, 6.0), (r"\small", 9.0, 4.0), (r"\footnotesize", 8.0, 3.0))
"""Commands of type sizes with the size and the space beside a column, both in points."""
_NARROW = 1.0625
"""Letters of small type are wider for their size."""
_SHORTEST, _TURNED = 10, 24
"""Characters to which the lines of a text column are narrowed at most, and the longest line of a turned heading."""
_WIDTHS = {
    **dict.fromkeys("ijl.,:;'|!", 0.28),
    **dict.fromkeys("frst()[]{}I- ", 0.38),
    **dict.fromkeys("mwMW", 0.85),
    **dict.fromkeys("=+±×<>≤≥−", 0.78),
}
"""Widths of characters of Computer Modern, in units of the type size; see `em` for the others."""
_TEXT_BREAK = re.compile(r" |(?<=[a-z])(?=[A-Z])|(?<=[,:=])(?=.)|(?<=.)(?=\()")
_NUMBER_BREAK = re.compile(r" (?=[\[±])|(?<=/)")


@dataclass(frozen=True)
class Layout:
    """Cells of a table in lines, and how they are set.

    Attributes
    ----------
    headers : list of list of str
        Lines of each heading.
    cells : list of list of list of str
        Lines of each cell, by row.
    turned : bool
        Whether headings that are wider than their column are turned by 90 degrees.
    upright : frozenset of int
        Columns whose headings are not turned even so.
    size : str
        Command of the type size; empty for the size of the text around.
    points, gap : float
        Type size, and space beside a column, both in points.
    """

    headers: list[list[str]]
    cells: list[list[list[str]]]
    turned: bool = False
    upright: frozenset[int] = frozenset()
    size: str = ""
    points: float = 10.0
    gap: float = 6.0

    def turns(self, column: int) -> bool:
        """Whether a heading is turned."""
        if not self.turned or column == 0 or column in self.upright:
            return False
        return _width(self.headers[column]) > max((_width(row[column]) for row in self.cells), default=0.0) + 0.5

    @property
    def stacked(self) -> bool:
        """Whether a cell has several lines."""
        return any(len(lines) > 1 for row in self.cells for lines in row)

    @property
    def fits(self) -> bool:
        """Whether the table fits a line in its type size."""
        return self.width() <= _room(len(self.headers), self.points, self.gap)

    def width(self) -> float:
        """Widths of all columns, in units of the type size."""
        return sum(self.column_width(column) for column in range(len(self.headers)))

    def column_width(self, column: int) -> float:
        """Width of a column, in units of the type size."""
        heading = self.headers[column]
        head = 1.2 * len(heading) if self.turns(column) else _width(heading)
        return max([head, *(_width(row[column]) for row in self.cells)])


def layout(headers: Sequence[str], cells: Sequence[Sequence[str]], align: Sequence[str]) -> Layout:
    """Layout that fits a line in the largest type, of those that change least.

    Cells stay in one line if that fits. Then headings are folded, then turned. Then texts are folded, at last numbers.

    Parameters
    ----------
    headers : sequence of str
        Headings.
    cells : sequence of sequences of str
        Cells of each row.
    align : sequence of {"left", "right"}
        Alignment of each column; left ones hold texts.
    """
    texts = [column for column, side in enumerate(align) if side == "left"]
    numbers = [column for column, side in enumerate(align) if side == "right"]
    headings = [_broken(head, _TEXT_BREAK, _SHORTEST) for head in headers]
    for attempt in _attempts(headers, cells, headings, texts, numbers):
        for size, points, gap in SIZES:
            sized = replace(attempt, size=size, points=points, gap=gap)
            if sized.fits:
                return _upright(sized, headings, [*([column] for column in texts), numbers])
    return sized


def _attempts(
    headers: Sequence[str],
    cells: Sequence[Sequence[str]],
    headings: list[list[str]],
    texts: Sequence[int],
    numbers: Sequence[int],
) -> Iterator[Layout]:
    """Layouts in the order in which they are tried; to fold texts is dear, and most tables fit without."""
    plain = Layout([[head] for head in headers], [[[cell] for cell in row] for row in cells])
    folded = replace(plain, headers=headings)
    turned = replace(plain, headers=[_broken(head, re.compile(" "), _TURNED) for head in headers], turned=True)
    yield from (plain, folded, turned)
    yield _narrowed(folded, texts)
    yield _narrowed(turned, texts)
    yield _narrowed(_folded_numbers(turned, numbers), texts)


def _upright(table: Layout, headings: Sequence[list[str]], groups: Iterable[Sequence[int]]) -> Layout:
    """A table that fits, with the headings upright that have room; those of one group are upright only together."""
    for columns in groups:
        turned = [column for column in columns if table.turns(column)]
        headers = [headings[column] if column in turned else own for column, own in enumerate(table.headers)]
        attempt = replace(table, headers=headers, upright=table.upright.union(turned))
        table = attempt if attempt.fits else table
    return table


@lru_cache(maxsize=10_000)
def em(text: str) -> float:
    """Estimated width of a line of text, in units of the type size.

    Examples
    --------
    >>> round(em("Mondrian k=5"), 2)
    6.24
    """
    return sum(_WIDTHS.get(letter, _usual(letter)) for letter in text)


def _usual(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    return 0.72 if letter.isupper() else 0.51


def _width(lines: Sequence[str]) -> float:
    return max(map(em, lines), default=0.0)


def _room(columns: int, points: float, gap: float) -> float:
    """Width that columns may take together, in units of the type size."""
    return (LINE - 2 * gap * (columns - 1)) / points / (1.0 if points == SIZES[0][1] else _NARROW)


def _folded_numbers(table: Layout, columns: Sequence[int]) -> Layout:
    """A table whose numbers have their intervals, and those of further goals, in lines of their own."""
    cells = [
        [_NUMBER_BREAK.split(lines[0]) if column in columns else lines for column, lines in enumerate(row)]
        for row in table.cells
    ]
    return replace(table, cells=cells)


def _narrowed(table: Layout, columns: Sequence[int]) -> Layout:
    """A table whose widest texts are folded until it fits in the smallest type; then each is as wide as has room."""
    texts = {column: [row[column][0] for row in table.cells] for column in columns}
    longest = {column: max(map(len, cells), default=0) for column, cells in texts.items()}
    limits = dict(longest)
    _, points, gap = SIZES[-1]
    room = _room(len(table.headers), points, gap)
    while table.width() > room:
        able = [column for column, limit in limits.items() if limit > _SHORTEST]
        if not able:
            return table
        widest = max(able, key=table.column_width)
        limits[widest] -= 1
        table = _folded_texts(table, widest, texts[widest], limits[widest])
    # A word that cannot be broken may have kept a column wide, while its other texts were folded for nothing.
    for column in columns:
        wider = (
            _folded_texts(table, column, texts[column], limit) for limit in range(longest[column], limits[column], -1)
        )
        table = next((attempt for attempt in wider if attempt.width() <= room), table)
    return table


def _folded_texts(table: Layout, column: int, texts: Sequence[str], limit: int) -> Layout:
    """A table whose texts in one column have lines of at most so many letters."""
    folded = [_broken(text, _TEXT_BREAK, limit) for text in texts]
    cells = [[*row[:column], lines, *row[column + 1 :]] for row, lines in zip(table.cells, folded, strict=True)]
    return replace(table, cells=cells)


def _broken(text: str, breaks: re.Pattern[str], width: int) -> list[str]:
    """Text in lines of at most `width` characters, broken at spaces first, then at other places of `breaks`."""
    return fold(text, width, breaks.split, len).split("\n")
