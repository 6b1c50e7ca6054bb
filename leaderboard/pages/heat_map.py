"""Heat map of the matrix: settings of defenses in rows, attacks by goal in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard import Pair, Row, Success, label
from leaderboard.pages.number_text import counted, number
from leaderboard.results.goals import goal_words
from leaderboard.statistics.pairs import goals

STEPS = 20
"""Number of steps of the colour, from chance level to certain success."""
_DETAILED = 1500
"""Number of cells from which tooltips leave out the measures besides the scores, so that the page stays small."""
_SHORT = {"error": "err", "timeout": "time", "oom": "mem"}


@dataclass(frozen=True)
class HeatCell:
    """Cell of the heat map.

    Attributes
    ----------
    text : str
        Advantage, a short word for a failure, a dash if there is nothing to measure, or empty if nothing was played.
    step : int or None
        Step of the colour from 0 to `STEPS`; None without an advantage.
    details : str
        Tooltip in lines, without the names of row and column.
    failed : bool
        Whether some play failed.
    """

    text: str
    step: int | None
    details: str
    failed: bool = False


@dataclass(frozen=True)
class HeatColumns:
    """Neighbouring columns of one goal; the goal is empty for attacks that measured nothing."""

    goal: str
    attacks: list[str]


@dataclass(frozen=True)
class HeatLine:
    """A row of the heat map: position among the board's rows, whether it is its family's first, and its cells."""

    row: Row
    position: int
    first: bool
    cells: list[HeatCell]


@dataclass(frozen=True)
class HeatMap:
    """Everything that the template draws."""

    columns: list[HeatColumns]
    lines: list[HeatLine]
    detailed: bool


def heat_map(rows: Sequence[Row], grid: Mapping[str, Mapping[str, Pair]], families: Sequence[str]) -> HeatMap | None:
    """Lay out the heat map of one scenario and variant; None if no attack was played.

    Within a goal, the attack with the largest mean advantage comes first. Settings of a family stand together, the
    largest advantage first.

    Parameters
    ----------
    rows : sequence of Row
        Rows of one scenario and variant, in the order of the table.
    grid : mapping
        Pairs by the defense's label, then by the attack's label (`leaderboard.pages.tables.grids`).
    families : sequence of str
        Families in their order.
    """
    pairs = [pair for line in grid.values() for pair in line.values()]
    if not pairs:
        return None
    columns = _columns(pairs)
    detailed = len(rows) * sum(len(group.attacks) for group in columns) <= _DETAILED
    position_of = {family: index for index, family in enumerate(families)}
    order = sorted(
        enumerate(rows),
        key=lambda one: (position_of[one[1].defense], -(one[1].advantage or 0.0), one[1].utility or 0.0),
    )
    lines: list[HeatLine] = []
    for position, row in order:
        line = grid.get(label(row.defense, row.parameters), {})
        cells = [
            _cell(line.get(attack), group.goal, row.plays, detailed) for group in columns for attack in group.attacks
        ]
        first = not lines or lines[-1].row.defense != row.defense
        lines.append(HeatLine(row, position, first, cells))
    return HeatMap(columns, lines, detailed)


def _columns(pairs: Sequence[Pair]) -> list[HeatColumns]:
    by_goal: dict[str, dict[str, list[float]]] = {goal: {} for goal in (*goals(pairs), "")}
    measured = {label(pair.attack, pair.attack_parameters) for pair in pairs if pair.successes}
    for pair in pairs:
        attack = label(pair.attack, pair.attack_parameters)
        for goal, success in pair.successes.items():
            by_goal[goal].setdefault(attack, []).append(success.advantage)
        if attack not in measured:
            by_goal[""][attack] = [0.0]
    return [
        HeatColumns(goal, sorted(attacks, key=lambda one: (-sum(attacks[one]) / len(attacks[one]), one)))
        for goal, attacks in by_goal.items()
        if attacks
    ]


def _cell(pair: Pair | None, goal: str, plays: int, detailed: bool) -> HeatCell:
    """Cell of a pair; on a large map, it states its number of plays only if that differs from the row's `plays`."""
    if pair is None:
        return HeatCell("", None, "not played")
    success = pair.success(goal)
    failed = pair.status in _SHORT
    note = "" if pair.status == "ok" else pair.status + (f": {pair.reason}" if pair.reason else "")
    if success is None:
        return HeatCell(_SHORT.get(pair.status, "–"), None, note or "nothing to measure", failed)
    lines = [_measured(success)]
    if detailed or pair.plays != plays:
        lines[0] += f", {counted(str(pair.plays), 'play')}"
    if detailed:
        lines += [f"· {name.replace('_', ' ')} {number(value)}" for name, value in pair.measures.items()]
    text = number(success.advantage) + ("!" if note else "")
    share = min(1.0, max(0.0, success.advantage))
    return HeatCell(text, round(share * STEPS), "\n".join([*lines, *([note] if note else [])]), failed)


def _measured(success: Success) -> str:
    rate = success.rate
    interval = f"[{number(rate.low)}, {number(rate.high)}]"
    return f"{goal_words(success.goal)} {number(rate.value)} {interval}, chance {number(success.chance, 3)}"
