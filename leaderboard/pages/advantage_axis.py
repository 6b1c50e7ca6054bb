"""Axis of the advantage in charts: linear, or spread at both ends."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Literal

from leaderboard.pages.label_boxes import Box, is_free, text_box
from leaderboard.pages.number_text import number

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

    Parameters
    ----------
    advantage : float
        The advantage; values outside of the axis are drawn at its ends.
    scale : {"logit", "linear"}
        Scale of the axis.
    start, end : float
        Coordinates of the axis' ends.

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

    Attributes
    ----------
    scale : {"logit", "linear"}
        Scale of the advantage.
    width, height : float
        Size of the chart.
    margin : tuple of float
        Space left, right, above and below the plane.
    inset : float
        Distance of the ends of the axes from the plane's edges.
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
