"""The matrix as LaTeX tables: one for all goals if that is legible, else one for each goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leaderboard.pages.latex import latex_table
from leaderboard.pages.latex_layout import layout
from leaderboard.pages.number_text import number
from leaderboard.pages.tables import grids, interval_text, place_title
from leaderboard.results.goals import goal_words
from leaderboard.statistics.pairs import Pair, goals
from leaderboard.statistics.success import Success
from metrics.score import advantage

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
