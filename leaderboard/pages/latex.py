"""Board and reports as LaTeX tables with the packages booktabs and graphicx."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from math import ceil

from leaderboard.pages.latex_layout import LINE, Layout, em, layout
from leaderboard.pages.report import Section
from leaderboard.pages.tables import ALIGNMENT, HEADERS, board_cells, board_notes, place_title
from leaderboard.statistics.board import Row, by_place

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
