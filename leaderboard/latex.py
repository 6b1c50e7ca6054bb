"""Board, matrix and reports as LaTeX tables with the package booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.board import Row, by_place
from leaderboard.pairs import Pair
from leaderboard.report import Section
from leaderboard.tables import ALIGNMENT, HEADERS, board_cells, matrix_tables, place_title


def latex_board(rows: Sequence[Row]) -> str:
    """The board as LaTeX (booktabs), one table per scenario and variant."""
    tables = [
        _table(place_title(*place), HEADERS, board_cells(group), ALIGNMENT) for place, group in by_place(rows).items()
    ]
    return "\n".join(tables)


def latex_matrix(pairs: Sequence[Pair]) -> str:
    """The matrix as LaTeX (booktabs), one table per scenario and variant."""
    return "\n".join(_table(*table) for table in matrix_tables(pairs))


def report_to_latex(sections: Sequence[Section]) -> str:
    """Tables of a report as LaTeX (booktabs)."""
    return "\n".join(
        _table(
            f"{section.title}: {table.title}. {table.note}",
            table.columns,
            table.texts(),
            ["left" if isinstance(value, str) else "right" for value in table.rows[0]] if table.rows else None,
        )
        for section in sections
        for table in section.tables
    )


def _table(title: str, headers: Sequence[str], cells: Sequence[Sequence[str]], align: Sequence[str] | None) -> str:
    from tabulate import tabulate

    body = tabulate(cells, headers, tablefmt="latex_booktabs", colalign=align, disable_numparse=True)
    return f"% {title}\n{body}\n"
