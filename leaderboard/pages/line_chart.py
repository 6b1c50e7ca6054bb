"""Line charts of reports, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Literal

from leaderboard.pages.number_text import exact
from metrics.columns import refuse, require

_WIDTH, _HEIGHT = 440.0, 262.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 14.0, 28.0, 40.0
_LETTER, _GAP = 6.4, 8.0
"""Mean width of a letter of a tick's label, and its distance from the axis, in the chart's units."""
_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
COLOURS = 6
"""Number of colours in the style sheet, and so of lines in a chart."""


@dataclass(frozen=True)
class Series:
    """One line of a line chart.

    Attributes
    ----------
    name : str
        Its name in the legend.
    x, y : sequence of float
        Coordinates of its points, from left to right.
    low, high : sequence of float
        Ends of the points' intervals; empty if there are none.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Lines:
    """A line chart.

    Attributes
    ----------
    title : str
        Title of the chart.
    across, up : str
        Labels of the axes, with units.
    series : tuple of Series
        The lines, at most `COLOURS`.
    better : {"", "higher", "lower"}
        Which direction is better; empty if neither.
    scale : {"linear", "logarithmic"}
        Scale of the horizontal axis.

    Raises
    ------
    ValueError
        If there is no line or too many, if a line's parts differ in length, if a number is not finite, or if a
        logarithmic axis has a value that is not positive.
    """

    title: str
    across: str
    up: str
    series: tuple[Series, ...]
    better: Literal["", "higher", "lower"] = ""
    scale: Literal["linear", "logarithmic"] = "linear"

    def __post_init__(self) -> None:
        require(
            1 <= len(self.series) <= COLOURS,
            f"{self.title}: there must be 1 to {COLOURS} lines, got {len(self.series)}",
        )
        for line in self.series:
            refuse(
                not line.x or len(line.x) != len(line.y) or {len(line.low), len(line.high)} - {len(line.x), 0},
                f"{self.title}: the parts of line {line.name!r} differ in length",
            )
            require(
                all(map(isfinite, [*line.x, *line.y, *line.low, *line.high])),
                f"{self.title}: line {line.name!r} has a number that is not finite",
            )
            refuse(
                self.scale == "logarithmic" and min(line.x) <= 0,
                f"{self.title}: line {line.name!r} has a value that a logarithmic axis cannot show",
            )


@dataclass(frozen=True)
class DrawnLine:
    """A line in the chart's units: its path, the path of its intervals, and its points with tooltips."""

    name: str
    path: str
    whiskers: str
    points: list[tuple[float, float, str]]


@dataclass(frozen=True)
class Drawing:
    """Everything that the template draws."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    across: list[tuple[float, str]]
    up: list[tuple[float, str]]
    lines: list[DrawnLine]

    @property
    def entries(self) -> list[tuple[str, int]]:
        """Names of the lines with the numbers of their colours, for the legend."""
        return [(line.name, number) for number, line in enumerate(self.lines, 1)]


def draw(chart: Lines) -> Drawing:
    """Lay out a line chart; the vertical axis includes 0 if that takes less than half of the height."""
    xs = [value for line in chart.series for value in line.x]
    values = [value for line in chart.series for value in (*line.y, *line.low, *line.high)]
    low, high = min(values), max(values)
    if 0 < low < (high - low) or low == high > 0:
        low = 0.0
    up = _ticks(low, high)
    low, high = min(low, up[0]), max(high, up[-1])
    if chart.scale == "logarithmic":
        across = sorted(set(xs)) if len(set(xs)) <= 8 else _decades(min(xs), max(xs))
        start, end = log10(min(xs)), log10(max(xs))
    else:
        across = [tick for tick in _ticks(min(xs), max(xs)) if min(xs) <= tick <= max(xs)]
        start, end = min(xs), max(xs)

    left = max(_LEFT, _GAP + _LETTER * max(len(exact(tick)) for tick in up))

    def x(value: float) -> float:
        value = log10(value) if chart.scale == "logarithmic" else value
        share = (value - start) / (end - start) if end > start else 0.5
        return round(left + 8 + share * (_WIDTH - left - _RIGHT - 16), 1)

    def y(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)

    drawn = [
        DrawnLine(
            line.name,
            "M" + "L".join(f"{x(a)} {y(b)}" for a, b in zip(line.x, line.y, strict=True)),
            "".join(f"M{x(a)} {y(b)}V{y(c)}" for a, b, c in zip(line.x, line.low, line.high, strict=False)),
            [
                (x(a), y(b), f"{line.name}: {chart.across} {exact(a)}, {chart.up} {exact(float(f'{b:.4g}'))}")
                for a, b in zip(line.x, line.y, strict=True)
            ],
        )
        for line in chart.series
    ]
    return Drawing(
        _WIDTH,
        _HEIGHT,
        left,
        _WIDTH - _RIGHT,
        _TOP,
        _HEIGHT - _BOTTOM,
        [(x(tick), exact(tick)) for tick in across],
        [(y(tick), exact(tick)) for tick in up],
        drawn,
    )


def _ticks(low: float, high: float) -> list[float]:
    """Four to seven evenly spaced round numbers that span an interval."""
    if low == high:
        return [low]
    rough = (high - low) / 5
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in _ROUND if factor * power >= rough * 0.999)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def _decades(low: float, high: float) -> list[float]:
    exponents = range(ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9) + 1)
    return [10.0**exponent for exponent in exponents] or [low, high]
