"""Scatter chart of utility against the worst attack's advantage: its geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import cos, pi, sin

from leaderboard import Row, label
from leaderboard.pages.advantage_axis import (
    Box,
    Plane,
    Point,
    Scale,
    Segment,
    inside,
    is_clear,
    is_free,
    is_nearest,
    path,
    places_beside,
    staircase,
    steps,
    text_box,
)
from metrics.score import advantage

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
_LEVELS = (-0.8, 0.8, -1, 1, -1.6, 1.6)
"""Heights of names beside a disc, where 1 is just below it."""
_STROKE = 2.0
"""Width of the front's, intervals' and leaders' lines, and a little more."""


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
class Picture(Plane):
    """Everything that the template draws."""

    radius: float
    points: list[ChartPoint]
    front: str
    labels: list[ChartLabel]

    @property
    def unnamed(self) -> list[int]:
        """Positions among the rows of the points whose names do not stand beside them, best first."""
        named = {name.text for name in self.labels}
        return sorted(
            point.position for point in self.points if label(point.row.defense, point.row.parameters) not in named
        )


def picture(
    rows: Sequence[Row], width: float, height: float, radius: float, labelled: bool, scale: Scale = "linear"
) -> Picture:
    """Lay out the defenses that have a score.

    - rows: Rows of one scenario and variant.
    - width, height, radius: Size of the chart, and radius of the discs.
    - labelled: Whether defenses on the Pareto front are labelled with their names, if there is room. No interval,
      leader or disc lies under a name, nor does the front.
    - scale, {"linear", "logit"}: Scale of the advantage (`leaderboard.pages.advantage_axis`).
    """
    plane = Plane(scale, width, height, (52.0, 14.0, 30.0, 54.0), radius + 4)
    points = [
        ChartPoint(
            row,
            place,
            plane.x(row.exposure),
            plane.y(row.utility),
            plane.x(_advantage(row, row.success_low)),
            plane.x(_advantage(row, row.success_high)),
            plane.y(row.utility if row.utility_high is None else row.utility_high),
            plane.y(row.utility if row.utility_low is None else row.utility_low),
            plane.x(row.exposure),
            plane.y(row.utility),
        )
        for place, row in enumerate(rows)
        if row.utility is not None and row.exposure is not None
    ]
    points = _apart(points, radius, plane.frame)
    front = sorted((point for point in points if point.row.pareto), key=lambda point: (point.x, -point.y))
    corners = staircase([(point.x, point.y) for point in front], plane.frame[1])
    return Picture(
        **vars(plane),
        radius=radius,
        # The best defense is drawn last, on top of the others.
        points=points[::-1],
        front=path(corners),
        labels=_labels(front, points, steps(corners), radius, plane.frame) if labelled else [],
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


def lines_of(point: ChartPoint) -> list[Segment]:
    """Lines drawn for a point: both of its intervals, and the leader to its disc."""
    intervals = [(point.left, point.y, point.right, point.y), (point.x, point.top, point.x, point.bottom)]
    return [*intervals, *([(point.x, point.y, point.disc_x, point.disc_y)] if point.moved else [])]


def places_of(point: ChartPoint) -> list[Point]:
    """Where a point is seen: its disc, and the point itself if the disc stands beside it."""
    return list(dict.fromkeys([(point.disc_x, point.disc_y), (point.x, point.y)]))


def box_of(name: ChartLabel) -> Box:
    """Box that a name takes at most."""
    return text_box(name.x, name.y, name.anchor, _LETTER * len(name.text), _LINE)


def _labels(
    front: Sequence[ChartPoint],
    points: Sequence[ChartPoint],
    stairs: Sequence[Segment],
    radius: float,
    frame: Box,
) -> list[ChartLabel]:
    """Names beside their discs, best rank first; a name without a free place, nearest to its disc, is left out."""
    taken = [
        (point.disc_x - radius, point.disc_x + radius, point.disc_y - radius, point.disc_y + radius) for point in points
    ]
    lines = [*stairs, *(line for point in points for line in lines_of(point))]
    placed: list[ChartLabel] = []
    for point in sorted(front, key=lambda point: point.row.rank or 0):
        text = label(point.row.defense, point.row.parameters)
        if len(text) > 40:
            continue
        others = [place for other in points if other is not point for place in places_of(other)]
        for x, y, anchor in places_beside((point.disc_x, point.disc_y), radius + 5, _LINE, 0.7, _LEVELS):
            name = ChartLabel(text, round(x, 1), round(y, 1), anchor)
            box = box_of(name)
            free = inside(box, frame) and is_free(box, taken) and is_clear(box, lines, _STROKE)
            if free and is_nearest(box, (point.disc_x, point.disc_y), others):
                placed.append(name)
                taken.append(box)
                break
    return placed
