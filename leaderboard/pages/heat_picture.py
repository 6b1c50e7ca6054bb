"""The heat map of a page as drawings, one for each goal: defenses in rows, attacks in columns, numbers in the cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from leaderboard.pages.heat_map import STEPS
from leaderboard.pages.tables import fold

_LETTER, _LINE = 6.1, 13.0
"""Mean width of a letter, and height of a line, in units of the drawing."""
_CELL, _ROW = 30.0, 18.0
"""Width of a cell, and height of a row of one line."""
_LONGEST = 30
"""Letters of a line of a name."""
_STRONGEST = 0.8
"""Opacity of the colour at certain success; dark numbers stay legible on it."""
_RAMP = 8.0
"""Width of a field of the scale of colours."""


@dataclass(frozen=True)
class HeatDrawing:
    """Drawing of one goal, with its upper left corner at 0, 0.

    Attributes
    ----------
    goal : str
        Heading of the goal.
    elements : list of Element
        The drawing.
    width, height : float
        Its size.
    """

    goal: str
    elements: list[Element]
    width: float
    height: float


def heat_drawings(table: Element, colour: Callable[[str], str]) -> Iterator[HeatDrawing]:
    """Drawings of a page's heat map, one for each goal that was measured.

    Parameters
    ----------
    table : Element
        The table of the page (`leaderboard.pages.heat_map`).
    colour : callable
        Value of a variable of the style sheet, such as ``--ink``.
    """
    groups, heads, *lines = table.iter("tr")
    attacks = [_text(head) for head in heads][1:]
    names = [_text(line[0]) for line in lines]
    start = 0
    for group in groups[1:]:
        end = start + int(group.get("colspan", "1"))
        # Cells of a row follow its name.
        cells = [list(line)[1 + start : 1 + end] for line in lines]
        if any(cell.get("class", "").startswith("h") for line in cells for cell in line):
            yield _drawn(_text(group), attacks[start:end], names, cells, colour)
        start = end


def _drawn(
    goal: str,
    attacks: Sequence[str],
    names: Sequence[str],
    cells: Sequence[Sequence[Element]],
    colour: Callable[[str], str],
) -> HeatDrawing:
    folded = [fold(name, _LONGEST).split("\n") for name in names]
    heads = [fold(attack, _LONGEST).split("\n") for attack in attacks]
    left = 8 + _LETTER * max(len(line) for lines in folded for line in lines)
    top = 8 + _LETTER * max(len(line) for lines in heads for line in lines)
    ink, muted, heat = colour("--ink"), colour("--muted"), f"rgb({','.join(colour('--heat').split())})"
    elements: list[Element] = []
    for column, lines in enumerate(heads):
        x = left + _CELL * (column + 0.5) - _LINE * (len(lines) - 1) / 2
        for number, line in enumerate(lines):
            place = f"translate({x + _LINE * number:g},{top - 6:g}) rotate(-90)"
            elements.append(_label(line, {"transform": place, "dy": ".35em", "fill": ink}))
    y = top
    for lines, row in zip(folded, cells, strict=True):
        height = max(_ROW, _LINE * len(lines) + 5)
        middle = y + height / 2
        for number, line in enumerate(lines):
            level = middle + _LINE * (number - (len(lines) - 1) / 2)
            elements.append(_label(line, {"x": "0", "y": f"{level:g}", "dy": ".35em", "fill": ink}))
        for column, cell in enumerate(row):
            x = left + _CELL * column
            box = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{_CELL - 1:g}", "height": f"{height - 1:g}"}
            share = _share(cell)
            if share is not None:
                elements.append(Element("rect", {**box, "fill": heat, "fill-opacity": f"{share * _STRONGEST:.3g}"}))
            centre = {"x": f"{x + (_CELL - 1) / 2:g}", "y": f"{middle:g}", "dy": ".35em", "text-anchor": "middle"}
            elements.append(_label(_text(cell), {**centre, "fill": muted if share is None else ink}))
        y += height
    width = left + _CELL * len(attacks)
    notes = ["advantage over guessing, from 0 (chance level) to 1 (certain success)"]
    if any(_text(cell) == "–" for row in cells for cell in row):
        notes.append("–: does not apply, or nothing to measure")
    y += 16
    elements.append(_label("← better", {"x": "0", "y": f"{y:g}", "dy": ".35em", "fill": colour("--accent")}))
    for step in range(0, STEPS + 1, 2):
        ramp = {"x": f"{60 + _RAMP * step / 2:g}", "y": f"{y - 5:g}", "width": f"{_RAMP:g}", "height": "10"}
        elements.append(Element("rect", {**ramp, "fill": heat, "fill-opacity": f"{step / STEPS * _STRONGEST:.3g}"}))
    for line in (line for note in notes for line in fold(note, int(width / _LETTER)).split("\n")):
        y += _LINE + 2
        elements.append(_label(line, {"x": "0", "y": f"{y:g}", "dy": ".35em", "fill": muted}))
    return HeatDrawing(goal, elements, width, y + _LINE / 2)


def _share(cell: Element) -> float | None:
    """Advantage of a cell by the step of its colour, from 0 to 1; None for a cell without a number."""
    step = cell.get("class", "").partition(" ")[0].removeprefix("h")
    return int(step) / STEPS if step.isdecimal() else None


def _label(text: str, attributes: dict[str, str]) -> Element:
    element = Element("text", {"font-size": "11", **attributes})
    element.text = text
    return element


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())
