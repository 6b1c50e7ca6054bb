"""Rows of a long LaTeX table by page: a float that is higher than a page would lose its end."""

from __future__ import annotations

from math import ceil

from leaderboard.pages.latex_layout import LINE, Layout, em

PAGE = 480.0
"""Height that a table with its caption may take, in points; a page of the class article has 550 or more."""
_LEADING = 1.22
"""Distance of two lines, in units of the type size."""
_CAPTION, _RULES = 12.0, 42.0
"""Height of a line of the caption, and of rules and the space around caption and table, in points."""
BETWEEN = 2.0
"""Space between two rows of which some have several lines, in points."""


def row_ranges(fitted: Layout, caption: str) -> list[range]:
    """Positions of the rows of each part of a table, such that every part fits a page.

    Parts are as few as possible, and about equally high.

    Parameters
    ----------
    fitted : Layout
        The table.
    caption : str
        Text of its caption.

    Examples
    --------
    >>> table = Layout([["defense"]], [[["Mondrian"]]] * 60)
    >>> row_ranges(table, "Risk")
    [range(0, 30), range(30, 60)]
    """
    line = _LEADING * fitted.points
    gap = BETWEEN if fitted.stacked else 0.0
    heights = [line * max((len(cell) for cell in row), default=1) + gap for row in fitted.cells]
    room = PAGE - _RULES - line - _heading(fitted) - _CAPTION * ceil(em(caption) * 10 / LINE)
    # A row that is higher than a page stands alone.
    room = max([room, *heights])
    parts = _cut(heights, room)
    if len(parts) > 1:
        limits = (room * percent / 100 for percent in range(1, 101))
        even = (limit for limit in limits if limit >= max(heights))
        parts = next((cut for limit in even if len(cut := _cut(heights, limit)) == len(parts)), parts)
    return parts


def _heading(fitted: Layout) -> float:
    """Height of the headings, in points."""
    lines = [
        max(map(em, heading)) if fitted.turns(column) else _LEADING * len(heading)
        for column, heading in enumerate(fitted.headers)
    ]
    return fitted.points * max(lines, default=0.0)


def _cut(heights: list[float], room: float) -> list[range]:
    """Parts that are at most as high as the room, each as high as possible."""
    starts, filled = [0], 0.0
    for position, height in enumerate(heights):
        if filled + height > room and position > starts[-1]:
            starts.append(position)
            filled = 0.0
        filled += height
    return [range(start, end) for start, end in zip(starts, [*starts[1:], len(heights)], strict=True)]
