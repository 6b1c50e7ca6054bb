"""Small pictures for the pages, as SVG that follows the colours of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log10

COLOURS = ("#3b82c4", "#d9822b", "#3a9d6e", "#b5629b", "#8a7a3c", "#6f7fd6")
"""Fills that are legible on light and dark pages, for series and equivalence classes."""
WIDTH = 500.0
"""Width of charts, in pixels; narrower pages scale them down."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 14.0, 56.0, 48.0
_LETTER = 7.0


@dataclass(frozen=True)
class Picture:
    """A picture: SVG text, shown by pages and notebooks.

    Attributes
    ----------
    svg : str
        The element.
    """

    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg


def bars(
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    title: str,
    across: str,
    up: str,
    decimals: int = 0,
) -> Picture:
    """Bar chart: one group of bars a label, one bar a series, its value above it.

    Parameters
    ----------
    labels : sequence of str
        Labels of the horizontal axis, from left to right.
    series : mapping of str to sequence of float
        Heights of the bars by name, at least 0, one for each label.
    title, across, up : str
        Title, and labels of the axes with units.
    decimals : int
        Decimals of the values above the bars.
    """
    top = max(max(values) for values in series.values())
    plot = _Plot(top, title, across, up)
    step = plot.width / len(labels)
    wide = step * 0.8 / len(series)
    for number, values in enumerate(series.values()):
        for place, value in enumerate(values):
            x, y = plot.left + place * step + step * 0.1 + number * wide, plot.y(value)
            plot.add(_box(x, y, wide - 1.5, plot.bottom - y, COLOURS[number]))
            plot.add(_text(x + wide / 2, y - 4, f"{value:,.{decimals}f}", size=11))
    for place, label in enumerate(labels):
        plot.add(_text(plot.left + (place + 0.5) * step, plot.bottom + 16, label))
    return plot.picture(list(series))


def blocks(labels: Sequence[str], series: Mapping[str, Sequence[int]], *, title: str, across: str, up: str) -> Picture:
    """Bars of blocks that one can count: one block a case.

    Parameters
    ----------
    labels : sequence of str
        Labels of the horizontal axis.
    series : mapping of str to sequence of int
        Number of blocks in each bar, by name.
    title, across, up : str
        Title, and labels of the axes.
    """
    most = max(max(values) for values in series.values())
    plot = _Plot(most, title, across, up, height=360)
    step = plot.width / len(labels)
    wide = step * 0.84 / len(series)
    tall = (plot.bottom - plot.top) / most
    for number, values in enumerate(series.values()):
        for place, count in enumerate(values):
            x = plot.left + place * step + step * 0.08 + number * wide
            for block in range(count):
                y = plot.bottom - (block + 1) * tall
                plot.add(_box(x, y + 0.8, wide - 2, tall - 1.2, COLOURS[number]))
            plot.add(_text(x + wide / 2 - 1, plot.bottom - count * tall - 4, str(count), size=11))
    for place, label in enumerate(labels):
        plot.add(_text(plot.left + (place + 0.5) * step, plot.bottom + 16, label))
    return plot.picture(list(series))


def lines(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    title: str,
    across: str,
    up: str,
    logarithmic: bool = False,
    marks: Sequence[tuple[float, str]] = (),
) -> Picture:
    """Line chart with points.

    Parameters
    ----------
    series : mapping of str to (x, y)
        Coordinates of the points of each line, from left to right.
    title, across, up : str
        Title, and labels of the axes with units.
    logarithmic : bool
        Whether the horizontal axis is logarithmic; x must then be positive.
    marks : sequence of (float, str)
        Heights of dashed horizontal lines, with their labels.
    """
    xs = [value for x, _ in series.values() for value in x]
    ys = [value for _, y in series.values() for value in y] + [value for value, _ in marks]
    plot = _Plot(max(ys), title, across, up)
    place = log10 if logarithmic else float
    start, end = place(min(xs)), place(max(xs))

    def x_of(value: float) -> float:
        return plot.left + 10 + (place(value) - start) / ((end - start) or 1) * (plot.width - 30)

    for value, label in marks:
        y = plot.y(value)
        plot.add(f'<path d="M{plot.left} {y:.1f}H{plot.right}" stroke="currentColor" stroke-dasharray="5 4"/>')
        plot.add(_text(plot.right - 2, y - 5, label, anchor="end", size=11))
    for number, (x, y) in enumerate(series.values()):
        points = [(x_of(a), plot.y(b)) for a, b in zip(x, y, strict=True)]
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        plot.add(f'<path d="M{path}" fill="none" stroke="{COLOURS[number]}" stroke-width="2"/>')
        plot.add("".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{COLOURS[number]}"/>' for a, b in points))
    for value in _decades(min(xs), max(xs)) if logarithmic else _ticks(min(xs), max(xs)):
        if min(xs) <= value <= max(xs):
            plot.add(_text(x_of(value), plot.bottom + 16, f"{value:,.12g}"))
    return plot.picture(list(series))


def table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], groups: Sequence[int] | None = None, *, title: str
) -> Picture:
    """Small table whose rows have the colour of their group, such as an equivalence class.

    Parameters
    ----------
    columns : sequence of str
        Heads of the columns.
    rows : sequence of sequences
        Cells.
    groups : sequence of int, optional
        Number of each row's group, from 0; a row of group -1 has no colour.
    title : str
        Title.
    """
    tall, top = 26.0, 34.0
    longest = [max(_width(str(cell)) for cell in (head, *column)) for head, *column in zip(columns, *rows, strict=True)]
    widths = [max(50.0, 24 + _LETTER * letters) for letters in longest]
    stretch = min(1.0, (WIDTH - 8) / sum(widths))
    widths = [wide * stretch for wide in widths]
    height = top + tall * (len(rows) + 1) + 6
    parts = [_text(4, 18, title, anchor="start", bold=True)]
    for line, cells in enumerate([columns, *rows]):
        y, x = top + line * tall, 4.0
        group = groups[line - 1] if groups is not None and line else -1
        if group >= 0:
            colour = COLOURS[group % len(COLOURS)]
            parts.append(_box(x, y + 1, sum(widths), tall - 2, colour, opacity=0.3))
            parts.append(_box(x, y + 1, 5, tall - 2, colour))
        for cell, wide in zip(cells, widths, strict=True):
            size = min(13.0, 13 * (wide - 14) / max(1.0, _LETTER * _width(str(cell))))
            parts.append(_text(x + 12, y + 18, str(cell), anchor="start", bold=not line, size=size))
            x += wide
    parts.append(f'<path d="M4 {top + tall}H{4 + sum(widths):.1f}" stroke="currentColor"/>')
    return _svg(height, parts, width=max(12 + sum(widths), 20 + _LETTER * _width(title)))


def steps(boxes: Sequence[tuple[str, str]], arrows: Sequence[str], *, title: str) -> Picture:
    """Boxes from left to right, joined by labelled arrows.

    Parameters
    ----------
    boxes : sequence of (str, str)
        Head and text of each box; the text may have several lines.
    arrows : sequence of str
        Labels of the arrows, one fewer than boxes.
    title : str
        Title.
    """
    gap = 62.0
    wide = (WIDTH - 8 - gap * len(arrows)) / len(boxes)
    most = max(text.count("\n") for _, text in boxes) + 1
    tall = 40.0 + 17 * most
    parts = [_text(4, 18, title, anchor="start", bold=True)]
    for number, (head, text) in enumerate(boxes):
        x = 4 + number * (wide + gap)
        parts.append(_box(x, 34, wide, tall, COLOURS[number % len(COLOURS)], opacity=0.22))
        parts.append(_text(x + wide / 2, 54, head, bold=True))
        for line, part in enumerate(text.split("\n")):
            parts.append(_text(x + wide / 2, 75 + 17 * line, part, size=11.5))
        if number < len(arrows):
            y, start, end = 34 + tall / 2, x + wide + 5, x + wide + gap - 5
            parts.append(f'<path d="M{start:.1f} {y:.1f}H{end:.1f}m-7 -5l7 5l-7 5" fill="none" stroke="currentColor"/>')
            parts.append(_text((start + end) / 2, y - 8, arrows[number], size=11))
    return _svg(44 + tall, parts)


def ranges(
    rows: Sequence[tuple[str, float, float, float]], *, title: str, across: str, bound: tuple[float, str] | None = None
) -> Picture:
    """Horizontal intervals in [0, 1], one line a row: a point and its ends.

    Parameters
    ----------
    rows : sequence of (str, float, float, float)
        Label, low end, point and high end.
    title, across : str
        Title, and label of the axis with its unit.
    bound : (float, str), optional
        A dashed vertical line and its label.
    """
    left = 16 + _LETTER * max(_width(row[0]) for row in rows)
    wide, tall = WIDTH - left - 24, 22.0
    bottom = 58 + tall * len(rows)
    parts = [_text(4, 18, title, anchor="start", bold=True)]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        x = left + tick * wide
        parts.append(f'<path d="M{x:.1f} 46V{bottom}" stroke="currentColor" opacity="0.18"/>')
        parts.append(_text(x, bottom + 16, f"{tick:.12g}"))
    if bound is not None:
        x = left + bound[0] * wide
        parts.append(f'<path d="M{x:.1f} 46V{bottom}" stroke="currentColor" stroke-dasharray="5 4"/>')
        parts.append(_text(x, 40, bound[1], size=11))
    for number, (label, low, value, high) in enumerate(rows):
        y = 60 + tall * number
        a, b, c = (left + min(1.0, max(0.0, end)) * wide for end in (low, value, high))
        parts.append(_text(left - 8, y + 4, label, anchor="end"))
        parts.append(f'<path d="M{a:.1f} {y}H{c:.1f}" stroke="{COLOURS[0]}" stroke-width="3" opacity="0.5"/>')
        parts.append(f'<circle cx="{b:.1f}" cy="{y}" r="4.5" fill="{COLOURS[0]}"/>')
    parts.append(_text(WIDTH - 4, bottom + 36, across, anchor="end"))
    return _svg(bottom + 44, parts)


def heat(rows: Sequence[Sequence[float]], labels: Sequence[str], *, title: str, across: str, up: str) -> Picture:
    """Square matrix of numbers in [0, 1], darker for larger, with its numbers.

    Parameters
    ----------
    rows : sequence of sequences of float
        The matrix, row by row.
    labels : sequence of str
        Labels of its rows and columns.
    title, across, up : str
        Title, and what columns and rows are.
    """
    side, top = min(64.0, 380 / len(rows)), 62.0
    left = 24 + _LETTER * (_width(up) + max(_width(label) for label in labels))
    parts = [_text(4, 18, title, anchor="start", bold=True), _text(left + side * len(rows) / 2, 40, across)]
    for i, row in enumerate(rows):
        parts.append(_text(left - 8, top + side * (i + 0.5) + 4, labels[i], anchor="end"))
        parts.append(_text(left + side * (i + 0.5), top - 6, labels[i]))
        for j, value in enumerate(row):
            shade = 0.06 + 0.8 * value
            parts.append(_box(left + j * side + 1, top + i * side + 1, side - 2, side - 2, COLOURS[0], opacity=shade))
            parts.append(_text(left + side * (j + 0.5), top + side * (i + 0.5) + 4, f"{value:.3g}", size=11.5))
    parts.append(_text(4, top + side * len(rows) / 2 + 4, up, anchor="start"))
    return _svg(top + side * len(rows) + 8, parts, width=max(left + side * len(rows) + 8, 20 + _LETTER * _width(title)))


class _Plot:
    """Frame of a chart: axes, ticks, title and legend."""

    def __init__(self, top: float, title: str, across: str, up: str, height: float = 320) -> None:
        ticks = _ticks(0, top)
        self.height, self.title, self.across, self.up = height, title, across, up
        self.left = max(_LEFT, 22 + _LETTER * max(len(f"{tick:,.12g}") for tick in ticks))
        self.right, self.top, self.bottom = WIDTH - _RIGHT, _TOP + 16, height - _BOTTOM
        self.width = self.right - self.left
        self.most = max(top, ticks[-1] if ticks[-1] <= top * 1.15 else top)
        self.parts = []
        for tick in ticks:
            if tick <= self.most:
                y = self.y(tick)
                self.add(f'<path d="M{self.left} {y:.1f}H{self.right}" stroke="currentColor" opacity="0.18"/>')
                self.add(_text(self.left - 6, y + 4, f"{tick:,.12g}", anchor="end", size=11))

    def y(self, value: float) -> float:
        """Vertical coordinate of a value."""
        return self.bottom - value / (self.most or 1) * (self.bottom - self.top)

    def add(self, part: str) -> None:
        """Add an element."""
        self.parts.append(part)

    def picture(self, legend: Sequence[str]) -> Picture:
        """The picture, with its axes and the legend."""
        self.add(f'<path d="M{self.left} {self.bottom}H{self.right}" stroke="currentColor"/>')
        self.add(_text((self.left + self.right) / 2, self.height - 10, self.across))
        self.add(_text(4, self.top - 12, self.up, anchor="start", size=12))
        self.add(_text(4, 18, self.title, anchor="start", bold=True))
        x = 4.0
        if len(legend) > 1:
            for number, name in enumerate(legend):
                self.add(_box(x, 29, 11, 11, COLOURS[number]))
                self.add(_text(x + 16, 39, name, anchor="start", size=12))
                x += 34 + _LETTER * _width(name)
        return _svg(self.height, self.parts)


def _width(text: str) -> float:
    """Width of a text in letters; an East Asian character counts twice."""
    return sum(1.9 if ord(letter) > 0x2E7F else 1.0 for letter in text)


def _text(x: float, y: float, text: str, *, anchor: str = "middle", size: float = 13, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size:.3g}"'
    return f'<text {place}{weight} fill="currentColor">{escape(text)}</text>'


def _box(x: float, y: float, width: float, height: float, colour: str, *, opacity: float = 1.0) -> str:
    size = f'x="{x:.1f}" y="{y:.1f}" width="{max(0.0, width):.1f}" height="{max(0.0, height):.1f}"'
    return f'<rect {size} fill="{colour}" fill-opacity="{opacity:.3g}"/>'


def _svg(height: float, parts: Sequence[str], *, width: float = WIDTH) -> Picture:
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    style = 'style="max-width:100%;height:auto;font-family:inherit"'
    return Picture(f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>{"".join(parts)}</svg>')


def _ticks(low: float, high: float) -> list[float]:
    """Four to seven round numbers that span an interval."""
    rough = ((high - low) or 1.0) / 5
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= rough * 0.999)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def _decades(low: float, high: float) -> list[float]:
    return [10.0**power for power in range(ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9) + 1)]
