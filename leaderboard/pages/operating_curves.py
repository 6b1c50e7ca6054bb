"""Geometry of operating curves: utility against the worst advantage, one line for each family of defenses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from leaderboard.pages.advantage_axis import (
    Box,
    Corner,
    Plane,
    Scale,
    Segment,
    crosses,
    inside,
    is_clear,
    is_free,
    is_nearest,
    overlap,
    path,
    places_beside,
    staircase,
    steps,
    text_box,
)
from leaderboard.pages.chart import ChartLabel
from leaderboard.statistics import BOUNDS, Setting, best_within, most_useful_left_of

MARKERS = ("disc", "square", "diamond", "up", "down", "ring", "frame", "rhomb", "delta", "nabla", "plus", "cross")
"""Shapes of markers in the template."""
DASHES = ("", "6 3", "2 3", "8 3 2 3")
KINDS = {
    "recoding": "recoding",
    "grouping": "grouping",
    "perturbation": "perturbation",
    "pram": "post-randomisation (PRAM)",
    "synthetic": "synthetic data",
    "ldp": "local differential privacy",
}
"""Titles of the kinds of defenses, in the order of their colours."""
OTHER = "other"
_LETTER, _LINE, _MARK = 6.3, 14.0, 4.5
"""Mean width of a letter, height of a line, and half the width of a marker, in the chart's units."""
FRONT = 7.0
"""Width of the front's line in the style sheet, in the chart's units."""
_LONGEST = 44
"""Most letters of a label. A longer setting is named by its family, and a longer family is not named."""


@dataclass(frozen=True)
class Style:
    """How a family is drawn: title of its kind, number of its colour from 1, marker, and dashes of its line."""

    kind: str
    colour: int
    marker: str
    dash: str


@dataclass(frozen=True)
class Mark:
    """A measured setting in the chart: its coordinates, and whether it is the best one within some bound."""

    setting: Setting
    x: float
    y: float
    best: bool


@dataclass(frozen=True)
class Curve:
    """A family: its style, the path of its line, and its settings in order of the worst advantage."""

    family: str
    style: Style
    path: str
    marks: list[Mark]


@dataclass(frozen=True)
class Guide:
    """A bound of the worst advantage: its coordinate, and what `guide_settings` names for it."""

    bound: float
    x: float
    best: Setting | None
    left: Setting | None


@dataclass(frozen=True)
class CurveLabel(ChartLabel):
    """A name in the chart, with the number of its colour; `best` if it names a setting of a guide."""

    colour: int
    best: bool


@dataclass(frozen=True)
class CurvePicture(Plane):
    """Everything that the template draws."""

    guides: list[Guide]
    curves: list[Curve]
    front: str
    labels: list[CurveLabel]


def curve_styles(families: Iterable[str], kinds: Mapping[str, str] | None = None) -> dict[str, Style]:
    """Style of each family, in the order of the legend: by kind, then by name.

    The kind gives the colour; within a kind, families differ in marker and dashes. Without kinds, the colours cycle.

    - families: Names of the families; the same families always have the same styles.
    - kinds, optional: Kind of each family: a key of `KINDS`, or another name.

    Examples
    --------
    >>> styles = curve_styles(["Mondrian", "Rounding"], {"Mondrian": "grouping", "Rounding": "recoding"})
    >>> [(family, style.kind, style.colour) for family, style in styles.items()]
    [('Rounding', 'recoding', 1), ('Mondrian', 'grouping', 2)]
    """
    order = list(KINDS)
    kind_of = {family: (kinds or {}).get(family, OTHER) for family in families}
    ordered = sorted(kind_of, key=lambda one: (order.index(kind_of[one]) if kind_of[one] in KINDS else len(order), one))
    styles = {}
    members: dict[str, int] = defaultdict(int)
    for family in ordered:
        kind, position = kind_of[family], members[kind_of[family]]
        members[kind] += 1
        if kind in KINDS:
            colour, turn = order.index(kind) + 1, position
        else:
            colour, turn = position % len(KINDS) + 1, position // len(KINDS)
        styles[family] = Style(KINDS.get(kind, OTHER), colour, MARKERS[turn % len(MARKERS)], DASHES[turn % len(DASHES)])
    return styles


def draw_curves(
    settings: Sequence[Setting],
    styles: Mapping[str, Style],
    width: float,
    height: float,
    *,
    scale: Scale = "logit",
    labelled: bool = True,
) -> CurvePicture:
    """Lay out the operating curves of one scenario, variant and goal.

    Markers are measurements. Lines connect a family's settings to guide the eye, and no value between two settings
    is claimed.

    - settings: Measured settings, in any order.
    - styles: Style of each family (`curve_styles`).
    - scale, {"logit", "linear"}: Scale of the advantage (`leaderboard.pages.advantage_axis`).
    - labelled: Whether the best settings and the families are labelled, where there is room. The front lies under no
      label.

    Examples
    --------
    >>> measured = [
    ...     Setting(family="Mondrian", name="Mondrian k=2", utility=0.8, advantage=0.6, upper=0.7),
    ...     Setting(family="Mondrian", name="Mondrian k=50", utility=0.3, advantage=0.04, upper=0.05),
    ... ]
    >>> drawn = draw_curves(measured, curve_styles(["Mondrian"]), 400, 300)
    >>> [mark.setting.name for mark in drawn.curves[0].marks]
    ['Mondrian k=50', 'Mondrian k=2']
    >>> [guide.best.name for guide in drawn.guides]
    ['Mondrian k=50', 'Mondrian k=50', 'Mondrian k=50', 'Mondrian k=50']
    """
    plane = Plane(scale, width, height, (40.0, 12.0, 36.0, 44.0), 8.0)
    guides = guide_settings(settings)
    best = {one.name for _, one, _ in guides if one is not None}
    by_family: dict[str, list[Mark]] = defaultdict(list)
    for setting in sorted(settings, key=lambda one: (one.advantage, -one.utility, one.name)):
        mark = Mark(setting, plane.x(setting.advantage), plane.y(setting.utility), setting.name in best)
        by_family[setting.family].append(mark)
    curves = [
        Curve(family, style, _path(by_family[family]), by_family[family])
        for family, style in styles.items()
        if family in by_family
    ]
    corners = _front([mark for curve in curves for mark in curve.marks], plane.frame[1])
    guided = best | {one.name for _, _, one in guides if one is not None}
    return CurvePicture(
        **vars(plane),
        guides=[Guide(bound, plane.x(bound), within, left) for bound, within, left in guides],
        curves=curves,
        front=path(corners),
        labels=_labels(curves, guided, [plane.x(bound) for bound in BOUNDS], steps(corners), plane.frame)
        if labelled
        else [],
    )


def guide_settings(settings: Sequence[Setting]) -> list[tuple[float, Setting | None, Setting | None]]:
    """Each bound with its `best_within` and its `most_useful_left_of`."""
    return [(bound, best_within(settings, bound), most_useful_left_of(settings, bound)) for bound in BOUNDS]


def _path(marks: Sequence[Mark]) -> str:
    return "M" + "L".join(f"{mark.x:g} {mark.y:g}" for mark in marks) if len(marks) > 1 else ""


def _front(marks: Sequence[Mark], end: float) -> list[Corner]:
    """Corners of the Pareto front as a staircase: no measured setting lies above it."""
    front: list[Mark] = []
    for mark in sorted(marks, key=lambda mark: (mark.setting.advantage, -mark.setting.utility)):
        if not front or mark.setting.utility > front[-1].setting.utility:
            front.append(mark)
    return staircase([(mark.x, mark.y) for mark in front], end)


def _labels(
    curves: Sequence[Curve], guided: Collection[str], guides: Sequence[float], stairs: Sequence[Segment], frame: Box
) -> list[CurveLabel]:
    """Names of the settings of the guides, then of families at an end of their lines, where there is room.

    A name never lies on another one, on the front or on a setting of a guide. No other setting of the family is nearer
    to a setting's name, and no other family is nearer to a family's name, unless markers overlap. Where there is a
    choice, no other family is nearer to a setting's name either, and few markers and lines lie under the name.
    """
    marks = [mark for curve in curves for mark in curve.marks]
    discs = [_around(mark) for mark in marks]
    lines = [(x, frame[2], x, frame[3]) for x in guides]
    lines += [(one.x, one.y, other.x, other.y) for curve in curves for one, other in pairwise(curve.marks)]
    best = [(mark, curve) for curve in curves for mark in curve.marks if mark.setting.name in guided]
    taken = [_around(mark, 3.0) for mark, _ in best]
    labels: list[CurveLabel] = []

    def place(text: str, named: Sequence[Mark], curve: Curve, *, best: bool) -> None:
        colour = curve.style.colour
        family, others = (
            [(mark.x, mark.y) for each in curves if (each is curve) == same for mark in each.marks if mark not in named]
            for same in (True, False)
        )
        owners = {
            CurveLabel(text, round(x, 1), round(y, 1), anchor, colour, best): (mark.x, mark.y)
            for mark in named
            for x, y, anchor in places_beside((mark.x, mark.y), _MARK + 5, _LINE, 0.6, (-1, 1, -2, 2) if best else ())
        }
        boxes = {name: box_of(name) for name in owners}
        free = [
            name
            for name, box in boxes.items()
            if inside(box, frame)
            and is_free(box, taken)
            and is_clear(box, stairs, FRONT)
            and (best or is_free(box, discs))
            and is_nearest(box, owners[name], family if best else others, apart=2 * _MARK)
        ]
        if free:
            chosen = min(
                free,
                key=lambda name: (
                    not is_nearest(boxes[name], owners[name], others, apart=2 * _MARK),
                    _covered(boxes[name], discs, lines),
                ),
            )
            labels.append(chosen)
            taken.append(boxes[chosen])

    for mark, curve in sorted(best, key=lambda one: one[0].x):
        name = mark.setting.name
        place(name if len(name) <= _LONGEST else curve.family, [mark], curve, best=True)
    labelled = {curve.family for _, curve in best}
    for curve in curves:
        if curve.family not in labelled and len(curve.family) <= _LONGEST:
            place(curve.family, (curve.marks[-1], curve.marks[0]), curve, best=False)
    return labels


def _covered(box: Box, discs: Sequence[Box], lines: Sequence[Segment]) -> int:
    """Number of markers and lines under a box; a marker counts twice."""
    return 2 * sum(overlap(box, disc) for disc in discs) + sum(crosses(box, line) for line in lines)


def box_of(name: CurveLabel) -> Box:
    """Box that a name takes at most; bold names are wider."""
    letter = _LETTER * (1.15 if name.best else 1.0)
    return text_box(name.x, name.y, name.anchor, letter * len(name.text), _LINE)


def _around(mark: Mark, more: float = 0.0) -> Box:
    half = _MARK + more
    return mark.x - half, mark.x + half, mark.y - half, mark.y + half
