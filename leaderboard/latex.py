"""Board, matrix and reports as LaTeX tables with the packages booktabs and graphicx."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leaderboard.board import Row, by_place
from leaderboard.latex_layout import Layout, layout
from leaderboard.pairs import Pair
from leaderboard.report import Section
from leaderboard.tables import ALIGNMENT, HEADERS, board_cells, board_notes, matrix_tables, place_title

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


def latex_matrix(pairs: Sequence[Pair]) -> str:
    """The matrix as LaTeX (booktabs), one table per scenario and variant; more attacks than defenses become rows."""
    tables = []
    for title, headers, cells, align in matrix_tables(pairs):
        corner, *attacks = headers
        # Columns of a page are few, and several goals of one cell belong together.
        lines = [[cell.replace(" / ", "/") if column else cell for column, cell in enumerate(line)] for line in cells]
        if len(attacks) > len(lines):
            corner, headers = "attack", ["attack", *(line[0] for line in lines)]
            lines = [[attack, *(line[1 + number] for line in lines)] for number, attack in enumerate(attacks)]
            align = ["left", *("right" for _ in headers[1:])]
        tables.append(latex_table(title, [corner, *headers[1:]], lines, align, "Success: a share of 1"))
    return "\n".join(tables)


def report_to_latex(sections: Sequence[Section]) -> str:
    """Tables of a report as LaTeX (booktabs)."""
    return "\n".join(
        latex_table(
            f"{section.title}: {table.title}",
            table.columns,
            table.texts(),
            ["left" if isinstance(value, str) else "right" for value in table.rows[0]] if table.rows else None,
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
) -> str:
    r"""A table with caption and label as LaTeX; the document loads the packages booktabs and graphicx.

    The type is small, headings are turned and texts are broken as far as a line of the class article needs. What is
    still wider than the line is scaled down to it.

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
    columns = "".join("r" if side == "right" else "l" for side in sides)
    notes = [line.strip().rstrip(".") for line in note.splitlines() if line.strip()]
    caption = ". ".join([title, *(line[0].upper() + line[1:] for line in notes)])
    label = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    rows = [_line([_stack(lines, side, "t") for lines, side in zip(row, sides, strict=True)]) for row in fitted.cells]
    lines = [
        PACKAGES,
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{latex_text(caption)}{'.' if notes else ''}}}",
        rf"  \label{{tab:{label}}}",
        r"  \medskip",
        *([rf"  {fitted.size}\setlength{{\tabcolsep}}{{{fitted.gap:g}pt}}%"] if fitted.size else []),
        r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"  \begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"    \toprule",
        f"    {_line(_headings(fitted, sides))}",
        r"    \midrule",
        *(f"    {row}" for row in (_spaced(rows) if fitted.stacked else rows)),
        r"    \bottomrule",
        r"  \end{tabular}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


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


def _stack(lines: Sequence[str], side: str, place: str) -> str:
    """Lines of a cell one below the other; `place` is the line that stands beside those of other cells."""
    texts = [_started(latex_text(line)) for line in lines]
    if len(texts) == 1:
        return texts[0]
    return rf"\begin{{tabular}}[{place}]{{@{{}}{side[0]}@{{}}}}" + r"\\".join(texts) + r"\end{tabular}"


def _started(text: str) -> str:
    r"""Text after a ``\\``, which would take a bracket or a star for its argument."""
    return f"{{}}{text}" if text.startswith(("[", "*")) else text


def _spaced(rows: Sequence[str]) -> list[str]:
    """Rows with a little space between them."""
    return [*(part for row in rows[:-1] for part in (row, r"\addlinespace[2pt]")), *rows[-1:]]


def _line(cells: Sequence[str]) -> str:
    """A row of a table."""
    return " & ".join(cells) + r" \\"
