"""Reports and the matrix as LaTeX tables with the packages booktabs and graphicx."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import ceil
from textwrap import indent

from leaderboard.pages.board_tables import goals_of, grids, matrix_table, place_title
from leaderboard.pages.report import Section, Table, heading
from leaderboard.pages.tables import fold, terminal_width
from leaderboard.statistics import Pair

# Layout of LaTeX tables: type size, line breaks in cells and turned headings, so that a table fits its line.

LINE = 345.0
"""Width of a line of the class article in one column, in points."""
PAGE = 480.0
"""Height that a table with its caption may take, in points; a page of the class article has 550 or more."""
SIZES = (("", 10.0, 6.0), (r"\small", 9.0, 4.0), (r"\footnotesize", 8.0, 3.0))
"""Commands of type sizes with the size and the space beside a column, both in points."""
LETTER, MARK, LEADING = 0.52, 0.32, 1.22
"""Mean widths of a letter and of a narrow mark, and distance of two lines, in units of the type size."""
BETWEEN = 2.0
"""Space between two rows of which some have several lines, in points."""
_SPACE = 54.0
"""Height of rules and of the space around caption and table, in points."""
_SHORTEST, _TURNED = 10, 24
"""Letters to which a text is folded at least, and in a line of a turned heading at most."""
_MARKS = re.compile(r"[\s.,:;'()\[\]-]")
_TEXT_BREAK = re.compile(r" |(?<=[a-z])(?=[A-Z])|(?<=[,:=])(?=.)|(?<=.)(?=\()")
_NUMBER_BREAK = re.compile(r" (?=[\[±])|(?<=/)")


@dataclass(frozen=True)
class Layout:
    """Cells of a table in lines, and how they are set.

    - cells: Lines of each cell, by row.
    - turned: Columns whose headings are turned by 90 degrees.
    - size: Command of the type size; empty for the size of the text around.
    - points, gap: Type size, and space beside a column, both in points.
    """

    headers: list[list[str]]
    cells: list[list[list[str]]]
    turned: frozenset[int] = frozenset()
    size: str = ""
    points: float = 10.0
    gap: float = 6.0

    @property
    def stacked(self) -> bool:
        """Whether a cell has several lines."""
        return any(len(lines) > 1 for row in self.cells for lines in row)

    @property
    def fits(self) -> bool:
        """Whether the table fits a line in its type size, by an estimate."""
        width = self.points * sum(map(self.width, range(len(self.headers))))
        return width + 2 * self.gap * (len(self.headers) - 1) <= LINE

    def longest(self, column: int) -> int:
        """Letters of the longest line of a column's cells."""
        return max((len(line) for row in self.cells for line in row[column]), default=0)

    def width(self, column: int) -> float:
        """Width of a column, in units of the type size."""
        heading = self.headers[column]
        head = LEADING * len(heading) if column in self.turned else _width(heading)
        return max([head, *(_width(row[column]) for row in self.cells)])


def layout(headers: Sequence[str], cells: Sequence[Sequence[str]], align: Sequence[str]) -> Layout:
    """Layout that fits a line in the largest type, of those that change least.

    Cells stay in one line if that fits. Then headings are folded, then those of numbers turned. Then texts are folded,
    at last numbers.

    - align: Alignment of each column; left ones hold texts.
    """
    for attempt in _attempts(headers, cells, align):
        for size, points, gap in SIZES:
            sized = replace(attempt, size=size, points=points, gap=gap)
            if sized.fits:
                return sized
    return sized


def _attempts(headers: Sequence[str], cells: Sequence[Sequence[str]], align: Sequence[str]) -> Iterator[Layout]:
    """Layouts in the order in which they are tried."""
    plain = Layout([[head] for head in headers], [[[cell] for cell in row] for row in cells])
    folded = replace(plain, headers=[_broken(head, _SHORTEST) for head in headers])
    wide = frozenset(
        at
        for at, (side, head) in enumerate(zip(align, folded.headers, strict=True))
        if side == "right" and at and _width(head) > max((_width(row[at]) for row in plain.cells), default=0.0)
    )
    turned = [_broken(head, _TURNED) if at in wide else folded.headers[at] for at, head in enumerate(headers)]
    yield from (plain, folded)
    texts = [at for at, side in enumerate(align) if side == "left"]
    yield from _narrowed(replace(folded, headers=turned, turned=wide), texts)
    numbers = [
        [lines if at in texts else _NUMBER_BREAK.split(lines[0]) for at, lines in enumerate(row)] for row in plain.cells
    ]
    yield from _narrowed(Layout(turned, numbers, wide), texts)


def _narrowed(plain: Layout, texts: Sequence[int]) -> Iterator[Layout]:
    """A table whose widest texts are folded more and more, as far as their words can be broken."""
    table, able = plain, set(texts)
    while able:
        yield table
        widest = max(able, key=table.width)
        longest = table.longest(widest)
        folded = [[_broken(row[widest][0], longest - 1)] for row in plain.cells]
        cells = [[*row[:widest], *own, *row[widest + 1 :]] for row, own in zip(table.cells, folded, strict=True)]
        narrower = replace(table, cells=cells)
        if _SHORTEST < longest > narrower.longest(widest):
            table = narrower
        else:
            able.remove(widest)


@lru_cache(maxsize=10_000)
def em(text: str) -> float:
    """Estimated width of a line of text, in units of the type size.

    Examples
    --------
    >>> round(em("Mondrian k=5"), 2)
    6.04
    """
    return LETTER * terminal_width(text) - (LETTER - MARK) * len(_MARKS.findall(text))


def _width(lines: Sequence[str]) -> float:
    return max(map(em, lines), default=0.0)


@lru_cache(maxsize=10_000)
def _broken(text: str, width: int) -> list[str]:
    """Text in lines of at most `width` letters, broken at spaces first, then between the parts of a name."""
    return fold(text, width, _TEXT_BREAK.split).split("\n")


def row_ranges(fitted: Layout, caption: str) -> list[range]:
    """Positions of the rows of each part of a table, such that every part fits a page.

    A float that is higher than a page would lose its end. Parts are as few as possible, and about equally long.

    Examples
    --------
    >>> table = Layout([["defense"]], [[["Mondrian"]]] * 60)
    >>> row_ranges(table, "Risk")
    [range(0, 30), range(30, 60)]
    """
    line = LEADING * fitted.points
    gap = BETWEEN if fitted.stacked else 0.0
    heights = [line * max(map(len, row)) + gap for row in fitted.cells]
    heads = [
        fitted.points * _width(head) if at in fitted.turned else line * len(head)
        for at, head in enumerate(fitted.headers)
    ]
    # Below its last row, a part says that it goes on.
    room = PAGE - _SPACE - line - max(heads, default=0.0) - 12 * ceil(10 * em(caption) / LINE)
    for count in range(1, len(heights) + 1):
        ends = [len(heights) * part // count for part in range(count + 1)]
        parts = [range(start, end) for start, end in pairwise(ends)]
        if all(sum(heights[row] for row in part) <= room for part in parts):
            return parts
    return [range(row, row + 1) for row in range(len(heights))] or [range(0)]


PACKAGES = r"% \usepackage{booktabs,graphicx}"
"""First line of each table: the packages that a document loads for it."""
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


def report_to_latex(sections: Sequence[Section]) -> str:
    """Tables of a report as LaTeX (booktabs)."""
    return "\n".join(
        latex_table(
            heading(section, table),
            table.columns,
            table.texts(),
            table.align,
            table.note,
            table.bold,
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

    - title, note: The caption, and what follows it. The label is made from the title.
    - align, {"left", "right"}: Alignment of each column; left by default.
    - bold: Row and column of each cell in bold type.

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
        [
            _stack(lines, side, "t", (row, column) in bold)
            for column, (lines, side) in enumerate(zip(line, sides, strict=True))
        ]
        for row, line in enumerate(fitted.cells)
    ]
    heads = [
        rf"\rotatebox{{90}}{{{_stack(lines, 'left', 'c')}}}" if at in fitted.turned else _stack(lines, side, "b")
        for at, (lines, side) in enumerate(zip(fitted.headers, sides, strict=True))
    ]
    label = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    captions = [rf"  \caption{{{latex_text(caption)}{'.' if notes else ''}}}", rf"  \label{{tab:{label}}}"]
    lines = [PACKAGES]
    for part in row_ranges(fitted, caption):
        lines += [
            *(r"\begin{table}", r"  \centering", *captions, r"  \medskip"),
            *([rf"  {fitted.size}\setlength{{\tabcolsep}}{{{fitted.gap:g}pt}}%"] if fitted.size else []),
            r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            indent(_tabular(heads, rows[part.start : part.stop], sides, fitted.stacked), "    ") + "}",
            *([r"  \par\raggedleft\emph{continued}"] if part.stop < len(rows) else []),
            r"\end{table}",
        ]
        # The parts are one table with one number.
        captions = [r"  \addtocounter{table}{-1}", rf"  \caption{{{latex_text(title)} (continued).}}"]
    return "\n".join(lines) + "\n"


def _tabular(heads: Sequence[str], rows: Sequence[Sequence[str]], sides: Sequence[str], spaced: bool) -> str:
    """Headings and some rows between rules; rows have a little space between them if some have several lines."""
    import pandas as pd

    frame = pd.DataFrame(list(rows), columns=list(heads), dtype=object)
    if spaced:
        frame.iloc[1:, 0] = rf"\addlinespace[{BETWEEN:g}pt] " + frame.iloc[1:, 0]
    columns = "".join(side[0] for side in sides)
    return str(frame.style.hide(axis="index").to_latex(column_format=f"@{{}}{columns}@{{}}", hrules=True)).rstrip("\n")


def latex_text(text: str) -> str:
    r"""Text with what LaTeX would read as a command escaped, and signs of mathematics in math mode.

    Examples
    --------
    >>> print(latex_text("k=5 & ε=.5, 95 % of {a|b}, -.01"))
    k=5 \& $\varepsilon$=.5, 95 \% of \{a\textbar{}b\}, $-$.01
    """
    return _MINUS.sub("−", text).translate(_ESCAPES)


def _stack(lines: Sequence[str], side: str, place: str, bold: bool = False) -> str:
    """Lines of a cell one below the other; `place` is the line that stands beside those of other cells."""
    texts = [rf"\textbf{{{latex_text(line)}}}" if bold else _started(latex_text(line)) for line in lines]
    if len(texts) == 1:
        return texts[0]
    return rf"\begin{{tabular}}[{place}]{{@{{}}{side[0]}@{{}}}}" + r"\\".join(texts) + r"\end{tabular}"


def _started(text: str) -> str:
    r"""Text after a ``\\``, which would take a bracket or a star for its argument."""
    return f"{{}}{text}" if text.startswith(("[", "*")) else text


# The matrix as LaTeX tables: one for all goals if that is legible, else one for each goal.

_LINES = 3
"""Lines of a row up to which intervals are shown."""
_BOLD = (
    "Bold: the attack with the largest advantage over guessing on the defense, computed from the numbers shown; "
    "several if they tie"
)


def latex_matrix(pairs: Sequence[Pair]) -> str:
    """The matrix as LaTeX (booktabs), one table per scenario and variant.

    If the numbers of several goals do not fit beside each other, each goal has a table of its own. Intervals are shown
    where there is room. The most dangerous attack of each defense is bold.
    """
    sections = []
    for place, grid in grids(pairs).items():
        columns = goals_of(grid)
        tables = [matrix_table(grid, columns)]
        if len(columns) == 1 or not _legible(tables[0], 1):
            wide = {goal: matrix_table(grid, (goal,), intervals=True) for goal in columns}
            tables = [one if _legible(one, _LINES) else matrix_table(grid, (goal,)) for goal, one in wide.items()]
        noted = (replace(one, note=f"{one.note}\n{_BOLD}") if one.bold else one for one in tables)
        sections.append(Section(place_title(*place), tables=tuple(noted)))
    return report_to_latex(sections)


def _legible(table: Table, most: int) -> bool:
    """Whether a table fits a line, and its numbers are broken only before their intervals, in rows of `most` lines."""
    fitted = layout(table.columns, table.texts(), table.align or ())
    return fitted.fits and all(
        len(cell) <= (most if column else _LINES) for row in fitted.cells for column, cell in enumerate(row)
    )
