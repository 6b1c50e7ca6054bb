"""Board and reports as LaTeX tables with the packages booktabs and graphicx."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil

from leaderboard.pages.number_text import number
from leaderboard.pages.report import Section
from leaderboard.pages.tables import (
    ALIGNMENT,
    HEADERS,
    board_cells,
    board_notes,
    fold,
    grids,
    interval_text,
    place_title,
)
from leaderboard.results.goals import goal_words
from leaderboard.statistics.board import Row, by_place
from leaderboard.statistics.pairs import Pair, Success, goals
from metrics.score import advantage

# Layout of LaTeX tables: type size, line breaks in cells and turned headings, so that a table fits its line.

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


# Rows of a long LaTeX table by page: a float that is higher than a page would lose its end.

PAGE = 480.0
"""Height that a table with its caption may take, in points; a page of the class article has 550 or more."""
_LEADING = 1.22
"""Distance of two lines, in units of the type size."""
_CAPTION, _RULES = 12.0, 42.0
"""Height of a line of the caption, and of rules and the space around caption and table, in points."""
BETWEEN = 2.0
"""Space between two rows of which some have several lines, in points."""


def row_ranges(fitted: Layout, caption: str) -> list[range]:
    """Positions of the rows of each part of a table, such that every part fits a page.

    Parts are as few as possible, and about equally high.

    Parameters
    ----------
    fitted : Layout
        The table.
    caption : str
        Text of its caption.

    Examples
    --------
    >>> table = Layout([["defense"]], [[["Mondrian"]]] * 60)
    >>> row_ranges(table, "Risk")
    [range(0, 30), range(30, 60)]
    """
    line = _LEADING * fitted.points
    gap = BETWEEN if fitted.stacked else 0.0
    heights = [line * max((len(cell) for cell in row), default=1) + gap for row in fitted.cells]
    room = PAGE - _RULES - line - _heading(fitted) - _CAPTION * ceil(em(caption) * 10 / LINE)
    # A row that is higher than a page stands alone.
    room = max([room, *heights])
    parts = _cut(heights, room)
    if len(parts) > 1:
        limits = (room * percent / 100 for percent in range(1, 101))
        even = (limit for limit in limits if limit >= max(heights))
        parts = next((cut for limit in even if len(cut := _cut(heights, limit)) == len(parts)), parts)
    return parts


def _heading(fitted: Layout) -> float:
    """Height of the headings, in points."""
    lines = [
        max(map(em, heading)) if fitted.turns(column) else _LEADING * len(heading)
        for column, heading in enumerate(fitted.headers)
    ]
    return fitted.points * max(lines, default=0.0)


def _cut(heights: list[float], room: float) -> list[range]:
    """Parts that are at most as high as the room, each as high as possible."""
    starts, filled = [0], 0.0
    for position, height in enumerate(heights):
        if filled + height > room and position > starts[-1]:
            starts.append(position)
            filled = 0.0
        filled += height
    return [range(start, end) for start, end in zip(starts, [*starts[1:], len(heights)], strict=True)]


PACKAGES = r"% \usepackage{booktabs,graphicx}"
"""First line of each table: the packages that a document loads for it."""
UNITS = "Utility, success, chance, advantage and score: shares of 1"
# Letters of other languages stay: LaTeX reads UTF-8.
_ESCAPES = str.maketrans(
    {
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': "''",
        "–": "--",
        "—": "---",
        "…": r"\ldots{}",
        "ε": r"$\varepsilon$",
        "δ": r"$\delta$",
        "α": r"$\alpha$",
        "ρ": r"$\rho$",
        "★": r"$\star$",
        "±": r"$\pm$",
        "×": r"$\times$",
        "−": "$-$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "·": r"$\cdot$",
        "→": r"$\to$",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "✗": r"$\times$",
        "✓": r"$\surd$",
        "²": r"$^2$",
        "ⁿ": r"$^n$",
        "\n": " ",
    }
)
_MINUS = re.compile(r"(?<![\w.)\]])-(?=\.?\d)")


def latex_board(rows: Sequence[Row]) -> str:
    """The board as LaTeX (booktabs), one table per scenario and variant; captions state units and intervals."""
    tables = []
    for place, group in by_place(rows).items():
        note = f"{UNITS}. {board_notes(group)}"
        tables.append(latex_table(place_title(*place), HEADERS, board_cells(group), ALIGNMENT, note))
    return "\n".join(tables)


def report_to_latex(sections: Sequence[Section]) -> str:
    """Tables of a report as LaTeX (booktabs)."""
    return "\n".join(
        latex_table(
            f"{section.title}: {table.title}",
            table.columns,
            table.texts(),
            table.align,
            table.note,
        )
        for section in sections
        for table in section.tables
    )


def latex_table(
    title: str,
    headers: Sequence[str],
    cells: Sequence[Sequence[str]],
    align: Sequence[str] | None,
    note: str = "",
    bold: Collection[tuple[int, int]] = (),
) -> str:
    r"""A table with caption and label as LaTeX; the document loads the packages booktabs and graphicx.

    The type is small, headings are turned and texts are broken as far as a line of the class article needs. What is
    still wider than the line is scaled down to it. What is higher than a page becomes several floats with one number,
    each with the headings.

    Parameters
    ----------
    title, note : str
        The caption, and what follows it. The label is made from the title.
    headers : sequence of str
        Column headings.
    cells : sequence of sequences of str
        Cells of each row.
    align : sequence of {"left", "right"}, optional
        Alignment of each column; left by default.
    bold : collection of (int, int)
        Row and column of each cell in bold type.

    Examples
    --------
    >>> print(latex_table("Risk", ["defense", "ε"], [["[0,9] & more", "-.5"]], ["left", "right"]))
    % \usepackage{booktabs,graphicx}
    \begin{table}
      \centering
      \caption{Risk}
      \label{tab:risk}
      \medskip
      \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
      \begin{tabular}{@{}lr@{}}
        \toprule
        defense & $\varepsilon$ \\
        \midrule
        {}[0,9] \& more & $-$.5 \\
        \bottomrule
      \end{tabular}}
    \end{table}
    <BLANKLINE>
    """
    sides = list(align or ["left"] * len(headers))
    fitted = layout(headers, cells, sides)
    notes = [line.strip().rstrip(".") for line in note.splitlines() if line.strip()]
    caption = ". ".join([title, *(line[0].upper() + line[1:] for line in notes)])
    rows = [
        _line(
            [
                _stack(lines, side, "t", (row, column) in bold)
                for column, (lines, side) in enumerate(zip(line, sides, strict=True))
            ]
        )
        for row, line in enumerate(fitted.cells)
    ]
    parts = row_ranges(fitted, caption)
    label = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    floats = [PACKAGES]
    for part in parts:
        own = rows[part.start : part.stop]
        if part.start:
            # The parts are one table with one number.
            head = [r"  \addtocounter{table}{-1}", rf"  \caption{{{latex_text(title)} (continued).}}"]
        else:
            head = [rf"  \caption{{{latex_text(caption)}{'.' if notes else ''}}}", rf"  \label{{tab:{label}}}"]
        floats += _float(fitted, sides, head, own, goes_on=part.stop < len(rows))
    return "\n".join(floats) + "\n"


def _float(fitted: Layout, sides: Sequence[str], head: Sequence[str], rows: Sequence[str], goes_on: bool) -> list[str]:
    """Lines of one float: its caption, the headings and some rows."""
    columns = "".join("r" if side == "right" else "l" for side in sides)
    more = rf"    \multicolumn{{{len(sides)}}}{{@{{}}r@{{}}}}{{\emph{{continued}}}} \\"
    return [
        r"\begin{table}",
        r"  \centering",
        *head,
        r"  \medskip",
        *([rf"  {fitted.size}\setlength{{\tabcolsep}}{{{fitted.gap:g}pt}}%"] if fitted.size else []),
        r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"  \begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"    \toprule",
        f"    {_line(_headings(fitted, sides))}",
        r"    \midrule",
        *(f"    {row}" for row in (_spaced(rows) if fitted.stacked else rows)),
        *([r"    \midrule", more] if goes_on else []),
        r"    \bottomrule",
        r"  \end{tabular}}",
        r"\end{table}",
    ]


def latex_text(text: str) -> str:
    r"""Text with what LaTeX would read as a command escaped, and signs of mathematics in math mode.

    Examples
    --------
    >>> print(latex_text("k=5 & ε=.5, 95 % of {a|b}, -.01"))
    k=5 \& $\varepsilon$=.5, 95 \% of \{a\textbar{}b\}, $-$.01
    """
    return _MINUS.sub("−", text).translate(_ESCAPES)


def _headings(fitted: Layout, sides: Sequence[str]) -> list[str]:
    """Headings of a table, of which some are turned."""
    return [
        rf"\rotatebox{{90}}{{{_stack(lines, 'left', 'c')}}}" if fitted.turns(column) else _stack(lines, side, "b")
        for column, (lines, side) in enumerate(zip(fitted.headers, sides, strict=True))
    ]


def _stack(lines: Sequence[str], side: str, place: str, bold: bool = False) -> str:
    """Lines of a cell one below the other; `place` is the line that stands beside those of other cells."""
    texts = [rf"\textbf{{{latex_text(line)}}}" if bold else _started(latex_text(line)) for line in lines]
    if len(texts) == 1:
        return texts[0]
    return rf"\begin{{tabular}}[{place}]{{@{{}}{side[0]}@{{}}}}" + r"\\".join(texts) + r"\end{tabular}"


def _started(text: str) -> str:
    r"""Text after a ``\\``, which would take a bracket or a star for its argument."""
    return f"{{}}{text}" if text.startswith(("[", "*")) else text


def _spaced(rows: Sequence[str]) -> list[str]:
    """Rows with a little space between them."""
    return [*(part for row in rows[:-1] for part in (row, rf"\addlinespace[{BETWEEN:g}pt]")), *rows[-1:]]


def _line(cells: Sequence[str]) -> str:
    """A row of a table."""
    return " & ".join(cells) + r" \\"


# The matrix as LaTeX tables: one for all goals if that is legible, else one for each goal.

_LINES = 3
"""Lines of a row up to which intervals are shown."""
_SUCCESS = "Success: the share of cases in which the attack is right, such as .25 for 25 of 100"
_BOLD = (
    "Bold: the attack with the largest advantage over guessing on the defense, computed from the numbers shown; "
    "several if they tie"
)
Grid = Mapping[str, Mapping[str, Pair]]
"""Pairs by the defense's label, then by the attack's label."""


def latex_matrix(pairs: Sequence[Pair]) -> str:
    """The matrix as LaTeX (booktabs), one table per scenario and variant; more attacks than defenses become rows.

    If the numbers of several goals do not fit beside each other, each goal has a table of its own. Intervals are shown
    where there is room. The most dangerous attack of each defense is bold.
    """
    tables = []
    for place, grid in grids(pairs).items():
        title = place_title(*place)
        columns = goals([pair for line in grid.values() for pair in line.values()])
        several = _Cells(grid, columns, intervals=False)
        if len(columns) > 1 and several.are_legible():
            tables.append(several.table(title))
            continue
        for goal in columns:
            wide = _Cells(grid, (goal,), intervals=True)
            tables.append((wide if wide.are_legible() else _Cells(grid, (goal,), intervals=False)).table(title))
    return "\n".join(tables)


class _Cells:
    """Cells of one table, in which attacks are rows if they are more than the defenses."""

    def __init__(self, grid: Grid, columns: Sequence[str], *, intervals: bool) -> None:
        attacks = list(dict.fromkeys(attack for line in grid.values() for attack in line))
        self.columns, self.intervals = columns, intervals
        self.bold = {
            (row, column)
            for row, line in enumerate(grid.values())
            for column, attack in enumerate(attacks, 1)
            if attack in _most_dangerous(line, columns)
        }
        self.headers = ["defense", *attacks]
        self.lines = [
            [defense, *(_cell(line[attack], columns, intervals) if attack in line else "" for attack in attacks)]
            for defense, line in grid.items()
        ]
        if len(attacks) > len(self.lines):
            self.headers = ["attack", *grid]
            self.lines = [list(texts) for texts in zip(attacks, *(line[1:] for line in self.lines), strict=True)]
            self.bold = {(column - 1, row + 1) for row, column in self.bold}
        self.sides = ["left", *("right" for _ in self.headers[1:])]

    def are_legible(self) -> bool:
        """Whether the table fits a line, and numbers are broken only before their intervals, in low rows."""
        fitted = layout(self.headers, self.lines, self.sides)
        most = _LINES if self.intervals else 1
        return fitted.fits and all(
            len(cell) <= (most if column else _LINES) for row in fitted.cells for column, cell in enumerate(row)
        )

    def table(self, title: str) -> str:
        """The table with its caption."""
        words = list(map(goal_words, self.columns))
        notes = [_SUCCESS]
        if len(words) > 1:
            notes.append(f"Numbers of a cell: {', '.join(words)}")
        if self.bold:
            notes.append(_BOLD)
        notes.append(
            "[low, high]: 95 % intervals across plays"
            if self.intervals
            else "The CSV form of the matrix has the 95 % intervals"
        )
        heading = f"{title}: success in {' / in '.join(words)}"
        return latex_table(heading, self.headers, self.lines, self.sides, "\n".join(notes), self.bold)


def _cell(pair: Pair, columns: Sequence[str], intervals: bool) -> str:
    rates = [None if success is None else success.rate for success in map(pair.success, columns)]
    if not pair.successes:
        return pair.status
    if intervals:
        return " / ".join("–" if rate is None else interval_text(rate.value, rate.low, rate.high) for rate in rates)
    # Columns of a page are few, and several goals of one cell belong together.
    return "/".join(number(None if rate is None else rate.value) for rate in rates)


def _most_dangerous(line: Mapping[str, Pair], columns: Sequence[str]) -> set[str]:
    """Attacks with the largest advantage on a defense in some goals; none if all are as good as guessing.

    Advantages are those of the success rates in the two decimals of the table, so that equal cells are equal.
    """
    advantages = {
        attack: round(max((_shown_advantage(pair.success(goal)) for goal in columns), default=0.0), 2)
        for attack, pair in line.items()
    }
    most = max(advantages.values(), default=0.0)
    return {attack for attack, advantage in advantages.items() if advantage == most > 0}


def _shown_advantage(success: Success | None) -> float:
    """Advantage over guessing of a success rate in the two decimals of the table."""
    return 0.0 if success is None else advantage(round(success.mean_rate, 2), success.chance)
