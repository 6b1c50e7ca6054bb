"""The region of private flip probabilities of two categories, and the optimum's points in it: figures 1 and 2."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from defenses.pram.matrix import retention_epsilon
from leaderboard.pages.line_chart import Lines, Series
from leaderboard.pages.report import Section, Table, Value
from metrics.arrays import Floats

REGIONS = ((1.5, 4), (1.5, 10))
"""Epsilon and number of categories of both shapes: e^epsilon + e^-epsilon + 2 is 6.7."""
EXAMPLE, EXAMPLE_RATIO = (10.0, 6.0, 5.0), 4.0
"""Histogram and e^epsilon for which the published closed form exceeds its epsilon."""


def half_planes(epsilon: float, d: int) -> tuple[Floats, Floats]:
    """Constraints a x + b y <= c of a pair (x, y) of flip probabilities, in the publication's order (1) to (6)."""
    e = float(np.exp(epsilon))
    rows = np.array(
        [
            [-e, 1.0, 0.0],
            [1 / e, -1.0, 0.0],
            [-(d - 1) / e, -1.0, -(d - 1) / e],
            [e * (d - 1), 1.0, e * (d - 1)],
            [-e / (d - 1), -1.0, -1.0],
            [1 / (e * (d - 1)), 1.0, 1.0],
        ]
    )
    return rows[:, :2], rows[:, 2]


def corners(epsilon: float, d: int) -> dict[tuple[int, int], tuple[float, float]]:
    """Corners of the region by the numbers of the two constraints that meet there, counted from 1."""
    left, right = half_planes(epsilon, d)
    result = {}
    for first, second in combinations(range(6), 2):
        pair = left[[first, second]]
        if abs(np.linalg.det(pair)) > 1e-12:
            point = np.linalg.solve(pair, right[[first, second]])
            if (left @ point <= right + 1e-12).all() and (np.abs(point - 0.5) <= 0.5 + 1e-12).all():
                result[first + 1, second + 1] = (float(point[0]), float(point[1]))
    return result


def published_corners(epsilon: float, d: int) -> dict[tuple[int, int], tuple[float, float]]:
    """The publication's coordinates of the corners with y <= x, by their constraints."""
    e = float(np.exp(epsilon))
    return {
        (2, 3): ((d - 1) / d, (d - 1) / (e * d)),
        (2, 4): (e**2 * (d - 1) / (1 + e**2 * (d - 1)), e * (d - 1) / (1 + e**2 * (d - 1))),
        (2, 5): (e * (d - 1) / (e**2 + d - 1), (d - 1) / (e**2 + d - 1)),
        (3, 5): ((d - 1) / (e + d - 1),) * 2,
        (4, 6): ((d - 1) / (1 / e + d - 1),) * 2,
    }


def edges(epsilon: float, d: int) -> tuple[Series, Series]:
    """Upper and lower edge of the region, from left to right."""
    points = np.array(sorted(set(corners(epsilon, d).values())))
    (left_x, left_y), (right_x, right_y) = points[0], points[-1]
    chord = left_y + (points[:, 0] - left_x) * (right_y - left_y) / (right_x - left_x)
    parts = []
    for name, inside in (("upper edge", points[:, 1] >= chord - 1e-12), ("lower edge", points[:, 1] <= chord + 1e-12)):
        line = points[inside]
        parts.append(Series(name, line[:, 0].tolist(), line[:, 1].tolist()))
    return parts[0], parts[1]


def example_scale(*, published: bool) -> float:
    """The t of the example's optimum q_i = t v_d / v_i: as published, or with the row that the publication forgets.

    Right is t = (d - 1) / (A v_d / v_1 + B v_d / v_2) with A and B the larger and the smaller of e and d - 1. The
    publication has A = d - 1 and B = e in any case.
    """
    v, e = EXAMPLE, EXAMPLE_RATIO
    d = len(v)
    first, second = (d - 1, e) if published else (max(e, d - 1), min(e, d - 1))
    return (d - 1) / (first * v[-1] / v[0] + second * v[-1] / v[1])


def example_flips(scale: float) -> Floats:
    """Flip probabilities of the example."""
    return np.asarray(scale * EXAMPLE[-1] / np.array(EXAMPLE))


def region_section() -> Section:
    """Figures 1 and 2, with the corners and the example beside the published formulas."""
    charts = [
        Lines(
            f"Figure 1: epsilon {epsilon:g}, d = {d}, {len(set(corners(epsilon, d).values()))} corners",
            "flip probability x",
            "flip probability y",
            edges(epsilon, d),
        )
        for epsilon, d in REGIONS
    ]
    epsilon, d = float(np.log(EXAMPLE_RATIO)), len(EXAMPLE)
    points = []
    for name, published in (("as published", True), ("corrected", False)):
        flips = example_flips(example_scale(published=published))
        pairs = sorted((flips[i], flips[j]) for i, j in combinations(range(d), 2))
        points.append(Series(f"points {name}", [float(x) for x, _ in pairs], [float(y) for _, y in pairs]))
    histogram = ", ".join(f"{count:g}" for count in EXAMPLE)
    charts.append(
        Lines(
            f"Figure 2: v = ({histogram}), epsilon ln {EXAMPLE_RATIO:g}",
            "flip probability q_i",
            "flip probability q_j",
            (*edges(epsilon, d), *points),
        )
    )
    rows: list[list[Value]] = []
    for epsilon, d in REGIONS:
        ours, theirs = corners(epsilon, d), published_corners(epsilon, d)
        for pair, (x, y) in theirs.items():
            own = ours.get(pair)
            own_corner = "no corner" if own is None else f"({own[0]:.4f}, {own[1]:.4f})"
            rows.append(
                [f"epsilon {epsilon:g}, d = {d}, lines ({pair[0]}) and ({pair[1]})", own_corner, f"({x:.4f}, {y:.4f})"]
            )
    scales = [(name, example_scale(published=published)) for name, published in (("published", True), ("ours", False))]
    claims: list[list[Value]] = [
        [name, scale, retention_epsilon(1 - example_flips(scale)), float(np.log(EXAMPLE_RATIO))]
        for name, scale in scales
    ]
    return Section(
        "The region of private flip probabilities",
        (
            "A pair of flip probabilities is private if it lies in a region of six edges. The region has six corners "
            "where e^epsilon + e^-epsilon + 2 > d, and four otherwise. In figure 2 the optimum's points lie on rays "
            "from the origin, and t moves all of them. All are inside if the outermost three are.",
        ),
        (
            Table("Corners with y <= x", ("corner", "ours", "published formula"), rows),
            Table(
                "The closed form where e^epsilon exceeds d - 1",
                ("form", "t", "epsilon of its matrix", "epsilon asked for"),
                claims,
                digits=3,
                note="The published t checks two of the three outermost points against one line each and misses a row: "
                "its matrix exceeds the epsilon.",
            ),
        ),
        (),
        tuple(charts),
    )
