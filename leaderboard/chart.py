"""Scatter chart of utility against the worst attack's advantage: its geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import cos, pi, sin

from leaderboard.board import Row
from leaderboard.label_boxes import Box, inside, is_free, text_box
from leaderboard.result import label
from metrics.score import advantage

_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_OFFSETS = [
    (0.0, 0.0),
    *(
        (round(distance * cos(turn * pi / 8), 3), round(distance * sin(turn * pi / 8), 3))
        for distance in (2.1, 2.9, 3.8, 4.7, 5.8, 7.0)
        for turn in range(16)
    ),
]
"""Places of a disc around its point in radii, nearest first."""
_LETTER, _LINE = 7.2, 15.0
"""Mean width of a letter, and height of a line, in the chart's units."""


@dataclass(frozen=True)
class ChartPoint:
    """A defense in the chart: its position among the rows, its coordinates and the ends of its intervals.

    Its numbered disc stands at `disc_x`, `disc_y`: beside the point if other discs would cover it there.
    """

    row: Row
    position: int
    x: float
    y: float
    left: float
    right: float
    top: float
    bottom: float
    disc_x: float
    disc_y: float

    @property
    def moved(self) -> bool:
        """Whether the disc stands beside the point."""
        return (self.disc_x, self.disc_y) != (self.x, self.y)


@dataclass(frozen=True)
class ChartLabel:
    """Name of a defense beside its disc, with coordinates and text anchor."""

    text: str
    x: float
    y: float
    anchor: str


@dataclass(frozen=True)
class Picture:
    """Everything that the template draws."""

    width: float
    height: float
    margin: tuple[float, float, float, float]
    radius: float
    across: list[tuple[float, float]]
    up: list[tuple[float, float]]
    points: list[ChartPoint]
    front: str
    labels: list[ChartLabel]


def picture(rows: Sequence[Row], width: float, height: float, radius: float, labelled: bool) -> Picture:
    """Lay out the defenses that have a score.

    Both axes always run from 0 to 1, so that two charts can be compared at a glance.

    Parameters
    ----------
    rows : sequence of Row
        Rows of one scenario and variant.
    width, height, radius : float
        Size of the chart, and radius of the discs.
    labelled : bool
        Whether defenses on the Pareto front are labelled with their names, if there is room.
    """
    left, right, top, bottom = margin = (52.0, 14.0, 30.0, 54.0)
    inset = radius + 4

    def across(advantage: float) -> float:
        share = min(1.0, max(0.0, advantage))
        return round(left + inset + share * (width - left - right - 2 * inset), 1)

    def up(utility: float) -> float:
        return round(height - bottom - inset - utility * (height - top - bottom - 2 * inset), 1)

    points = [
        ChartPoint(
            row,
            position,
            across(row.exposure),
            up(row.utility),
            across(_advantage(row, row.success_low)),
            across(_advantage(row, row.success_high)),
            up(row.utility if row.utility_high is None else row.utility_high),
            up(row.utility if row.utility_low is None else row.utility_low),
            across(row.exposure),
            up(row.utility),
        )
        for position, row in enumerate(rows)
        if row.utility is not None and row.exposure is not None
    ]
    points = _apart(points, radius, (left, width - right, top, height - bottom))
    front = sorted((point for point in points if point.row.pareto), key=lambda point: (point.x, -point.y))
    return Picture(
        width,
        height,
        margin,
        radius,
        [(tick, across(tick)) for tick in _TICKS],
        [(tick, up(tick)) for tick in _TICKS],
        # The best defense is drawn last, on top of the others.
        points[::-1],
        _stairs(front, width - right),
        _labels(front, points, radius, (left, width - right, top, height - bottom)) if labelled else [],
    )


def _apart(points: Sequence[ChartPoint], radius: float, frame: Box) -> list[ChartPoint]:
    """Points whose discs do not overlap: best rank first, each at the free place nearest to its point.

    Without a free place nearby, the disc stays at its point.
    """
    taken: list[Box] = []
    placed = []
    for point in points:
        for across, up in _OFFSETS:
            x, y = round(point.x + across * radius, 1), round(point.y + up * radius, 1)
            box = (x - radius, x + radius, y - radius, y + radius)
            if inside(box, frame) and is_free(box, taken):
                placed.append(replace(point, disc_x=x, disc_y=y))
                taken.append(box)
                break
        else:
            placed.append(point)
    return placed


def _advantage(row: Row, success: float | None) -> float:
    """Advantage of an end of the success rate's interval; without an interval, the advantage itself."""
    if success is None or row.chance is None:
        return row.exposure or 0.0
    return advantage(success, row.chance)


def _stairs(front: Sequence[ChartPoint], end: float) -> str:
    """Path of the Pareto front as a staircase: every defense below it is dominated."""
    if not front:
        return ""
    steps = [f"H{point.x}V{point.y}" for point in front[1:]]
    return f"M{front[0].x},{front[0].y}{''.join(steps)}H{end}"


def _labels(
    front: Sequence[ChartPoint], points: Sequence[ChartPoint], radius: float, frame: tuple[float, float, float, float]
) -> list[ChartLabel]:
    """Names beside their discs, best rank first; a name without a free side is left out."""
    gap = radius + 5
    taken = [
        (point.disc_x - radius, point.disc_x + radius, point.disc_y - radius, point.disc_y + radius) for point in points
    ]
    # Names must not lie on intervals either.
    taken += [(point.left - 1, point.right + 1, point.y - 1, point.y + 1) for point in points]
    taken += [(point.x - 1, point.x + 1, point.top - 1, point.bottom + 1) for point in points]
    placed: list[ChartLabel] = []
    for point in sorted(front, key=lambda point: point.row.rank or 0):
        text = label(point.row.defense, point.row.parameters)
        if len(text) > 40:
            continue
        x, y = point.disc_x, point.disc_y
        sides = [
            (x + gap, y, "start"),
            (x - gap, y, "end"),
            (x, y - gap - _LINE / 2, "middle"),
            (x, y + gap + _LINE / 2, "middle"),
            *((x + gap * 0.7, y + level * (gap + _LINE / 2), "start") for level in (-1, 1)),
            *((x - gap * 0.7, y + level * (gap + _LINE / 2), "end") for level in (-1, 1)),
        ]
        for x, y, anchor in sides:
            box = text_box(x, y, anchor, _LETTER * len(text), _LINE)
            if inside(box, frame) and is_free(box, taken):
                placed.append(ChartLabel(text, round(x, 1), round(y, 1), anchor))
                taken.append(box)
                break
    return placed
