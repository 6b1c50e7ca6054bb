"""Pictures of the published board as SVG, in the colours of the page."""

from collections.abc import Sequence
from html import escape

import board_data
import pandas as pd

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 330, 250, 44, 40, 26
_LINE = 17


def _text(x: float, y: float, text: str, anchor: str = "middle", extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{escape(text)}</text>'


def _disc(x: float, y: float, radius: float, label: str, opacity: float = 1) -> str:
    title = f"<title>{escape(label)}</title>"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="accent" fill-opacity="{opacity}">{title}</circle>'


def _frame(offset: float, title: str) -> list[str]:
    """Axes of one panel: advantage from 0 to 1 across, utility from 0 to 1 up."""
    left, right, bottom = offset + LEFT, offset + WIDTH - 10, HEIGHT - BOTTOM
    parts = [f'<path d="M{left} {TOP}V{bottom}H{right}" fill="none" stroke="currentColor"/>']
    for tick in (0, 0.25, 0.5, 0.75, 1):
        x, y = left + tick * (right - left), bottom - tick * (bottom - TOP)
        parts.append(_text(x, bottom + 14, f"{tick:g}"))
        parts.append(_text(left - 6, y + 4, f"{tick:g}", "end"))
    parts.append(_text((left + right) / 2, HEIGHT - 6, "worst advantage"))
    parts.append(_text((left + right) / 2, 14, title, extra='font-weight="600"'))
    middle = (TOP + bottom) / 2
    parts.append(_text(offset + 10, middle, "utility", extra=f'transform="rotate(-90 {offset + 10} {middle})"'))
    return parts


def _place(offset: float, point: board_data.Point) -> tuple[float, float]:
    left, right, bottom = offset + LEFT, offset + WIDTH - 10, HEIGHT - BOTTOM
    advantage = min(max(point.advantage, 0), 1)
    return left + advantage * (right - left), bottom - point.utility * (bottom - TOP)


def curve(family: str) -> str:
    """Curve of a defense among all settings: utility against the worst advantage, one panel a data set."""
    parts: list[str] = []
    scenarios = board_data.scenarios()
    for number, scenario in enumerate(scenarios):
        offset = number * WIDTH
        here = [point for point in board_data.points() if point.scenario == scenario]
        parts += _frame(offset, scenario)
        others = [_place(offset, point) for point in here if point.family != family]
        dots = "".join(f"M{x:.0f} {y:.0f}h0" for x, y in others)
        parts.append(f'<path d="{dots}" stroke="currentColor" stroke-width="5" stroke-linecap="round" opacity=".2"/>')
        mine = sorted((point for point in here if point.family == family), key=lambda one: one.advantage)
        places = [_place(offset, point) for point in mine]
        if len(places) > 1:
            line = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
            parts.append(f'<path d="M{line}" class="accent-line"/>')
        for point, (x, y) in zip(mine, places, strict=True):
            label = f"{point.setting or family}: utility {point.utility:.2f}, advantage {point.advantage:.2f}"
            parts.append(_disc(x, y, 4.5, label))
        parts += _labels(mine, places, offset)
    return _svg(
        parts, len(scenarios) * WIDTH, HEIGHT, f"Utility against the worst advantage of {family} and all others"
    )


def _labels(points: Sequence[board_data.Point], places: Sequence[tuple[float, float]], offset: float) -> list[str]:
    """Names of the settings beside their points, where they do not cover each other."""
    parts, taken = [], []
    for point, (x, y) in zip(points, places, strict=True):
        width = 6.2 * len(point.setting)
        is_right = x + width + 12 < offset + WIDTH
        low = x + 8 if is_right else x - 8 - width
        box = (low, low + width, y - 7, y + 7)
        if point.setting and len(point.setting) < 30 and not any(_overlap(box, other) for other in taken):
            taken.append(box)
            parts.append(_text(x + (8 if is_right else -8), y + 4, point.setting, "start" if is_right else "end"))
    return parts


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def strip(attack: str) -> str:
    """Advantage of an attack against every setting, one line a defense."""
    pairs = board_data.pairs()
    mine: pd.DataFrame = pairs[pairs["attack"] == attack]
    order = mine.groupby("defense")["advantage"].mean().sort_values(ascending=False).index
    left, right = 230, 640
    height = TOP + _LINE * len(order) + 34
    parts = [f'<path d="M{left} {TOP - 8}V{height - 34}H{right}" fill="none" stroke="currentColor"/>']
    ticks = (0, 0.25, 0.5, 0.75, 1)
    parts += [_text(left + tick * (right - left), height - 20, f"{tick:g}") for tick in ticks]
    parts.append(_text((left + right) / 2, height - 4, f"advantage of {attack}"))
    for number, family in enumerate(order):
        y = TOP + number * _LINE
        parts.append(_text(left - 8, y + 4, family, "end"))
        for row in mine[mine["defense"] == family].itertuples():
            x = left + min(row.advantage, 1) * (right - left)
            label = f"{family} {board_data.settings_text(row.parameters)}, {row.scenario}: {row.advantage:.2f}"
            parts.append(_disc(x, y, 4, label, opacity=0.6))
    return _svg(parts, right + 16, height, f"Advantage of {attack} against each setting of each defense")


def _svg(parts: Sequence[str], width: float, height: float, label: str) -> str:
    return (
        f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {width} {height}" width="{width}" '
        f'font-family="sans-serif" font-size="11" fill="currentColor">{"".join(parts)}</svg>'
    )
