"""The Pareto front as a staircase in a chart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from leaderboard.pages.label_boxes import Segment

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
