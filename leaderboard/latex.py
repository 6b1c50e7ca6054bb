"""Board, matrix and reports as LaTeX tables with the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leaderboard.board import Row, by_place
from leaderboard.pairs import Pair
from leaderboard.report import Section
from leaderboard.tables import ALIGNMENT, HEADERS, board_cells, board_notes, matrix_tables, place_title

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
    """The matrix as LaTeX (booktabs), one table per scenario and variant."""
    return "\n".join(latex_table(*table, note="Success: a share of 1") for table in matrix_tables(pairs))


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
    r"""A table with caption and label as LaTeX; the document loads the package booktabs.

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
    % \usepackage{booktabs}
    \begin{table}
      \centering
      \caption{Risk}
      \label{tab:risk}
      \begin{tabular}{lr}
        \toprule
        defense & $\varepsilon$ \\
        \midrule
        {}[0,9] \& more & $-$.5 \\
        \bottomrule
      \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    columns = "".join("r" if side == "right" else "l" for side in align or ["left"] * len(headers))
    notes = [line.strip().rstrip(".") for line in note.splitlines() if line.strip()]
    caption = ". ".join([title, *(line[0].upper() + line[1:] for line in notes)])
    label = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{latex_text(caption)}{'.' if notes else ''}}}",
        rf"  \label{{tab:{label}}}",
        rf"  \begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        f"    {_line(headers)}",
        r"    \midrule",
        *(f"    {_line(row)}" for row in cells),
        r"    \bottomrule",
        r"  \end{tabular}",
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


def _line(cells: Sequence[str]) -> str:
    r"""A row of a table. A first cell with a bracket or star would be an argument of the ``\\`` before it."""
    first, *rest = map(latex_text, cells)
    return " & ".join([f"{{}}{first}" if first.startswith(("[", "*")) else first, *rest]) + r" \\"
