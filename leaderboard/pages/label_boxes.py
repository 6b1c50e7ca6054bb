"""Boxes of labels in charts, which must not overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import hypot

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

    Points at one place cannot be told apart, whatever the label's place.

    Examples
    --------
    >>> is_nearest((0, 2, 0, 2), (3, 1), [(3, 1), (4, 1)]), is_nearest((0, 2, 0, 2), (3, 1), [(1, 2.5)])
    (True, False)
    """
    near = distance(box, own)
    return all(near < distance(box, other) for other in others if hypot(own[0] - other[0], own[1] - other[1]) > apart)


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
    corners: list[Corner] = []
    for x, y in points:
        if corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, y))
    return [*corners, (end, corners[-1][1])] if corners else []


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
