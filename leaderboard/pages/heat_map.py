"""Heat map of the matrix: settings of defenses in rows, attacks by goal in columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise

from leaderboard import Pair, Row, Success, label
from leaderboard.pages.number_text import counted, number
from leaderboard.pages.tables import fold
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

    - text: Advantage, a short word for a failure, a dash if there is nothing to measure, or empty if nothing was
      played.
    - step: Step of the colour from 0 to `STEPS`; None without an advantage.
    - details: Tooltip in lines, without the names of row and column.
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


_LETTER, _LINE = 6.1, 13
"""Mean width of a letter, and height of a line, in units of the picture."""
_CELL, _ROW, _KEY, _BASE = 30, 18, 15, 4
"""Width of a cell, height of a row of one line and of a line of the key, and how far letters stand below a middle."""
_NARROWEST = 200
"""Width that the key needs."""
_LONGEST = 30
"""Letters of a line of a name."""


@dataclass(frozen=True)
class HeatRow:
    """A row of a picture: where its numbers stand, where its name begins, the name's lines, and its cells."""

    base: int
    first: int
    names: list[str]
    cells: Sequence[HeatCell]


@dataclass(frozen=True)
class HeatPicture:
    """Picture of one goal: headings with their coordinates, rows, fields, and coordinate and lines of the key.

    Fields of one step of the colour and one height are one path: a thick line through a row, with gaps between columns.
    """

    goal: str
    heads: list[tuple[float, list[str]]]
    rows: list[HeatRow]
    fields: Mapping[tuple[int, int], str]
    left: int
    top: int
    key: int
    notes: list[str]
    width: int
    height: int


@dataclass(frozen=True)
class HeatMap:
    """Everything that the template draws."""

    columns: list[HeatColumns]
    lines: list[HeatLine]
    detailed: bool

    @property
    def pictures(self) -> list[HeatPicture]:
        """A picture for each goal that was measured."""
        ends = accumulate((len(group.attacks) for group in self.columns), initial=0)
        parts = [[line.cells[start:end] for line in self.lines] for start, end in pairwise(ends)]
        names = [label(line.row.defense, line.row.parameters) for line in self.lines]
        return [
            _drawn(group, names, cells)
            for group, cells in zip(self.columns, parts, strict=True)
            if any(cell.step is not None for line in cells for cell in line)
        ]


def _drawn(group: HeatColumns, names: Sequence[str], cells: Sequence[Sequence[HeatCell]]) -> HeatPicture:
    """Picture of one goal."""
    folded, heads = ([fold(text, _LONGEST).split("\n") for text in texts] for texts in (names, group.attacks))
    left, top = (12 + round(_LETTER * max(len(line) for lines in texts for line in lines)) for texts in (folded, heads))
    heights = [max(_ROW, _LINE * len(lines) + 5) for lines in folded]
    *starts, bottom = accumulate(heights, initial=top)
    fields: dict[tuple[int, int], str] = defaultdict(str)
    for y, height, row in zip(starts, heights, cells, strict=True):
        for step, run in groupby(enumerate(row), lambda cell: cell[1].step):
            (first, _), *more = run
            if step:
                start, length = left + _CELL * first, _CELL * (1 + len(more)) - 1
                fields[step, height - 1] += f"M{start} {y + (height - 1) / 2:g}h{length}"
    width = max(_NARROWEST, left + _CELL * len(heads))
    notes = ["advantage over guessing, from 0 (chance level) to 1 (certain success)"]
    if any(cell.text == "–" for row in cells for cell in row):
        notes.append("–: does not apply, or nothing to measure")
    lines = [line for note in notes for line in fold(note, int(width / _LETTER)).split("\n")]
    key = bottom + 16
    return HeatPicture(
        group.goal,
        [(left + _CELL * (column + 0.5) - _LINE * (len(lines) - 1) / 2, lines) for column, lines in enumerate(heads)],
        [
            HeatRow(y + height // 2 + _BASE, y + (height - _LINE * (len(lines) - 1)) // 2 + _BASE, lines, row)
            for y, height, lines, row in zip(starts, heights, folded, cells, strict=True)
        ],
        fields,
        left,
        top,
        key,
        lines,
        width,
        key + _KEY * len(lines) + _LINE // 2,
    )


def heat_map(rows: Sequence[Row], grid: Mapping[str, Mapping[str, Pair]], families: Sequence[str]) -> HeatMap | None:
    """Lay out the heat map of one scenario and variant; None if no attack was played.

    Within a goal, the attack with the largest mean advantage comes first. Settings of a family stand together, the
    largest advantage first.

    - rows: Rows of one scenario and variant, in the order of the table.
    - grid: Pairs by the defense's label, then by the attack's label (`leaderboard.pages.tables.grids`).
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
        lines.append(HeatLine(row, position, not lines or lines[-1].row.defense != row.defense, cells))
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
