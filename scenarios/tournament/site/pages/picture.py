"""Picture of utility against the worst attack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 32, 48


@dataclass(frozen=True)
class PicturePoint:
    """A team in the picture.

    Attributes
    ----------
    team, rank : str
        The team and its rank.
    x, y : float
        Place in the picture.
    advantage, utility : float
        Advantage of the worst attack, and utility.
    label_x, label_y : float
        Place of the label.
    anchor : {"start", "end"}
        Side of the label.
    """

    team: str
    rank: str
    x: float
    y: float
    advantage: float
    utility: float
    label_x: float
    label_y: float
    anchor: str


def across(advantage: float) -> float:
    """Horizontal place of an advantage."""
    return round(_LEFT + min(max(advantage, 0.0), 1.0) * (WIDTH - _LEFT - _RIGHT), 1)


def up(utility: float) -> float:
    """Vertical place of a utility."""
    return round(HEIGHT - _BOTTOM - min(max(utility, 0.0), 1.0) * (HEIGHT - _TOP - _BOTTOM), 1)


def picture_points(standings: Sequence[Mapping[str, str]]) -> list[PicturePoint]:
    """Points of the teams that have a table. The advantage of the worst attack is 1 - defense / utility.

    Labels of near points are moved apart vertically.
    """
    points: list[PicturePoint] = []
    places: list[tuple[float, float]] = []
    for line in standings:
        if not line.get("utility") or not line.get("defense"):
            continue
        utility, defense = float(line["utility"]), float(line["defense"])
        advantage = 1 - defense / utility if utility > 0 else 1.0
        x, y = across(advantage), up(utility)
        anchor = "end" if x > WIDTH - 150 else "start"
        label_y = y
        while any(abs(label_y - other_y) < 13 and abs(x - other_x) < 130 for other_x, other_y in places):
            label_y += 13
        places.append((x, label_y))
        label_x = x - 10 if anchor == "end" else x + 10
        points.append(
            PicturePoint(line["team"], line["rank"], x, y, advantage, utility, label_x, round(label_y, 1), anchor)
        )
    return points


def axes() -> dict[str, object]:
    """Places of the axes and their ticks."""
    ticks = (0.0, 0.25, 0.5, 0.75, 1.0)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": _LEFT,
        "right": WIDTH - _RIGHT,
        "top": _TOP,
        "floor": HEIGHT - _BOTTOM,
        "across": [(f"{tick:g}", across(tick)) for tick in ticks],
        "up": [(f"{tick:g}", up(tick)) for tick in ticks],
    }
