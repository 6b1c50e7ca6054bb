"""Axis of the advantage in charts: linear, or spread at both ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import hypot, log
from typing import Literal

from leaderboard.pages.number_text import number

# Boxes of labels in charts, which must not overlap.

Box = tuple[float, float, float, float]
"""Left, right, top and bottom end of a box."""
Point = tuple[float, float]
"""Coordinates x and y."""
Segment = tuple[float, float, float, float]
"""Coordinates x and y of a line's start, then of its end."""


def overlap(a: Box, b: Box) -> bool:
    """Whether two boxes overlap; touching is not overlapping.

    Examples
    --------
    >>> overlap((0, 2, 0, 2), (1, 3, 1, 3)), overlap((0, 1, 0, 1), (1, 2, 0, 1))
    (True, False)
    """
    return a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]


def is_free(box: Box, taken: Iterable[Box]) -> bool:
    """Whether a box overlaps none of the others."""
    return not any(overlap(box, other) for other in taken)


def crosses(box: Box, segment: Segment) -> bool:
    """Whether a line runs through a box; touching is not crossing.

    Examples
    --------
    >>> crosses((0, 2, 0, 2), (-1, 1, 3, 1)), crosses((0, 2, 0, 2), (-1, 2, 3, 2)), crosses((0, 2, 0, 2), (1, -1, 4, 2))
    (True, False, False)
    """
    x, y, end_x, end_y = segment
    enters, leaves = 0.0, 1.0
    for start, step, low, high in ((x, end_x - x, box[0], box[1]), (y, end_y - y, box[2], box[3])):
        if step == 0:
            if not low < start < high:
                return False
            continue
        first, last = sorted(((low - start) / step, (high - start) / step))
        enters, leaves = max(enters, first), min(leaves, last)
    return enters < leaves or (enters == leaves and (x, y) == (end_x, end_y))


def is_clear(box: Box, segments: Iterable[Segment], wide: float) -> bool:
    """Whether no line of this width runs through a box."""
    half = wide / 2
    grown = (box[0] - half, box[1] + half, box[2] - half, box[3] + half)
    return not any(crosses(grown, segment) for segment in segments)


def inside(box: Box, frame: Box) -> bool:
    """Whether a box lies within a frame."""
    return box[0] >= frame[0] and box[1] <= frame[1] and box[2] >= frame[2] and box[3] <= frame[3]


def distance(box: Box, point: Point) -> float:
    """Distance of a point from a box, 0 inside of it.

    Examples
    --------
    >>> distance((0, 2, 0, 2), (5, 6)), distance((0, 2, 0, 2), (1, 1))
    (5.0, 0.0)
    """
    x, y = point
    return hypot(max(box[0] - x, x - box[1], 0.0), max(box[2] - y, y - box[3], 0.0))


def is_nearest(box: Box, own: Point, others: Iterable[Point], apart: float = 0.0) -> bool:
    """Whether a label's own point is nearer to it than all others that are farther than `apart` from its own.

    Points at one place cannot be distinguished, whatever the label's place.

    Examples
    --------
    >>> is_nearest((0, 2, 0, 2), (3, 1), [(3, 1), (4, 1)]), is_nearest((0, 2, 0, 2), (3, 1), [(1, 2.5)])
    (True, False)
    """
    near = distance(box, own)
    return all(near < distance(box, other) for other in others if hypot(own[0] - other[0], own[1] - other[1]) > apart)


def places_beside(
    point: Point, gap: float, line: float, share: float, levels: Sequence[float]
) -> list[tuple[float, float, str]]:
    """Places of a name beside a point with their text anchors, nearest first.

    - gap, line: Distance from the point, and height of a line.
    - share: Share of the gap by which names above and below stand aside.
    - levels: How far those stand, where 1 is just above or below the point.
    """
    x, y = point
    high = gap + line / 2
    return [
        (x + gap, y, "start"),
        (x - gap, y, "end"),
        (x, y - high, "middle"),
        (x, y + high, "middle"),
        *(
            (x + side * gap * share, y + level * high, "start" if side > 0 else "end")
            for level in levels
            for side in (1, -1)
        ),
    ]


def text_box(x: float, y: float, anchor: str, wide: float, high: float) -> Box:
    """Box of a line of text around its middle height, for the SVG anchor ``start``, ``middle`` or ``end``."""
    left = x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
    return left, left + wide, y - high / 2, y + high / 2


# The Pareto front as a staircase in a chart.

Corner = tuple[float, float]


def staircase(points: Iterable[Corner], end: float) -> list[Corner]:
    """Corners of the staircase through points of the front, from left to right, up to the coordinate `end`.

    Examples
    --------
    >>> staircase([(0, 9), (5, 4)], 10)
    [(0, 9), (5, 9), (5, 4), (10, 4)]
    """
    front = list(points)
    stairs = (corner for (_, before), (x, y) in pairwise(front) for corner in ((x, before), (x, y)))
    return [*front[:1], *stairs, (end, front[-1][1])] if front else []


def steps(corners: Sequence[Corner]) -> list[Segment]:
    """Segments of a staircase."""
    return [(*one, *other) for one, other in pairwise(corners)]


def path(corners: Sequence[Corner]) -> str:
    """SVG path of a staircase; empty without corners.

    Examples
    --------
    >>> path(staircase([(0, 9), (5, 4)], 10))
    'M0 9H5V4H10'
    """
    parts = [f"M{x:g} {y:g}" for x, y in corners[:1]]
    parts += [f"H{x:g}" if y == before else f"V{y:g}" for (_, before), (x, y) in pairwise(corners)]
    return "".join(parts)


EDGE = 0.01
"""A logit axis reaches from this advantage to 1 minus it; values beyond are drawn at its ends."""
Scale = Literal["logit", "linear"]
SCALES: tuple[Scale, ...] = ("logit", "linear")
"""Scales of the advantage, the first by default."""
SCALE_WORDS: dict[Scale, str] = {"logit": ", logit axis", "linear": ""}
"""What the title of the axis says about its scale."""
# In order of importance: a tick that would overlap an earlier one has no label.
_TICKS: dict[Scale, tuple[float, ...]] = {
    "linear": (0.0, 1.0, 0.5, 0.25, 0.75),
    "logit": (EDGE, 1 - EDGE, 0.5, 0.1, 0.9, 0.25, 0.75, 0.05, 0.95, 0.02, 0.98),
}
_UP = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Ticks of the utility."""
_LETTER, _LINE, _GAP = 6.7, 14.0, 5.0
"""Width of a digit, height of a line, and distance of two labels, in the chart's units."""


def position(advantage: float, scale: Scale, start: float, end: float) -> float:
    """Coordinate of an advantage on an axis.

    On a logit axis, equal distances are equal factors of the odds advantage / (1 - advantage). So .90 and .98 stand as
    far apart as .02 and .10.

    - advantage: The advantage; values outside of the axis are drawn at its ends.
    - scale, {"logit", "linear"}: Scale of the axis.
    - start, end: Coordinates of the axis' ends.

    Examples
    --------
    >>> [position(advantage, "logit", 0, 100) for advantage in (0, 0.1, 0.5, 0.9, 1)]
    [0.0, 26.1, 50.0, 73.9, 100.0]
    >>> position(0.25, "linear", 0, 100)
    25.0
    """
    share = min(1.0, max(0.0, advantage))
    if scale == "logit":
        share = min(1 - EDGE, max(EDGE, share))
        share = 0.5 - log(share / (1 - share)) / (2 * log(EDGE / (1 - EDGE)))
    return round(start + share * (end - start), 1)


@dataclass(frozen=True)
class Plane:
    """Axes of a chart of utility against advantage; both always have the same ends, so that charts can be compared.

    - scale, {"logit", "linear"}: Scale of the advantage.
    - margin: Space left, right, above and below the plane.
    - inset: Distance of the ends of the axes from the plane's edges.
    """

    scale: Scale
    width: float
    height: float
    margin: Box
    inset: float

    @property
    def frame(self) -> Box:
        """Left, right, top and bottom edge of the plane."""
        left, right, top, bottom = self.margin
        return left, self.width - right, top, self.height - bottom

    @property
    def across(self) -> list[tuple[str, float]]:
        """Labels and coordinates of the ticks of the advantage."""
        return ticks(self.scale, self.frame[0] + self.inset, self.frame[1] - self.inset)

    @property
    def up(self) -> list[tuple[str, float]]:
        """Labels and coordinates of the ticks of the utility."""
        return [(number(tick), self.y(tick)) for tick in _UP]

    def x(self, advantage: float) -> float:
        """Coordinate of an advantage."""
        return position(advantage, self.scale, self.frame[0] + self.inset, self.frame[1] - self.inset)

    def y(self, utility: float) -> float:
        """Coordinate of a utility."""
        _, _, top, bottom = self.margin
        return round(
            self.height - bottom - self.inset - utility * (self.height - top - bottom - 2 * self.inset),
            1,
        )


def ticks(scale: Scale, start: float, end: float) -> list[tuple[str, float]]:
    """Labels and coordinates of an axis' ticks from left to right, as many as fit beside each other.

    Examples
    --------
    >>> ticks("linear", 0, 400)
    [('.00', 0.0), ('.25', 100.0), ('.50', 200.0), ('.75', 300.0), ('1.00', 400.0)]
    >>> [text for text, _ in ticks("logit", 0, 280)]
    ['≤ .01', '.10', '.25', '.50', '.75', '.90', '≥ .99']
    """
    taken: list[Box] = []
    shown = []
    for tick in _TICKS[scale]:
        text, x = _text(tick, scale), position(tick, scale, start, end)
        box = text_box(x, 0.0, "middle", _LETTER * len(text) + _GAP, _LINE)
        if is_free(box, taken):
            taken.append(box)
            shown.append((text, x))
    return sorted(shown, key=lambda one: one[1])


def _text(tick: float, scale: Scale) -> str:
    sign = {EDGE: "≤ ", 1 - EDGE: "≥ "}.get(tick, "") if scale == "logit" else ""
    return sign + number(tick)
