"""Pictures of a page as files of their own: SVG, PDF with the extra `pdf`, and PNG with the extra `png`."""

from __future__ import annotations

import copy
import html
import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from leaderboard.pages.heat_picture import heat_drawings
from leaderboard.pages.tables import fold
from metrics.columns import write_atomically

# Style sheet of a page as attributes of SVG elements, so that a picture needs no page around it.

PROPERTIES = (
    *("fill", "stroke", "font-size", "font-weight", "fill-opacity", "stroke-opacity", "opacity"),
    *("stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray", "paint-order", "display"),
)
"""Properties of the style sheet that are attributes of SVG."""
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_COMPOUND = re.compile(r"(?P<tag>[a-z][\w-]*)?(?P<rest>(?:\.[\w-]+|:not\(\.[\w-]+\))*)")
_PART = re.compile(r":not\(\.([\w-]+)\)|\.([\w-]+)")
_VARIABLE = re.compile(r"var\((--[\w-]+)\)")
_BY_THEME = re.compile(r"light-dark\(([^(),]*),[^(),]*\)")


class Compound(NamedTuple):
    """What a selector asks of one element: its tag if given, classes that it has, and classes that it has not."""

    tag: str
    classes: frozenset[str]
    absent: frozenset[str]

    def fits(self, element: Element) -> bool:
        """Whether the element is so."""
        own = set(element.get("class", "").split())
        return self.tag in ("", element.tag) and self.classes <= own and not self.absent & own


@dataclass(frozen=True)
class Rule:
    """A selector of descendants with its declarations.

    Parameters
    ----------
    path : tuple of Compound
        What is asked of ancestors, and last of the element itself.
    declarations : dict of str
        Values by property or variable.
    order : int
        Its place in the style sheet.
    """

    path: tuple[Compound, ...]
    declarations: Mapping[str, str]
    order: int

    @property
    def weight(self) -> tuple[int, int, int]:
        """Specificity, then order: of two rules the heavier one holds."""
        classes = sum(len(one.classes) + len(one.absent) for one in self.path)
        return classes, sum(bool(one.tag) for one in self.path), self.order

    def fits(self, ancestors: Sequence[Element], element: Element) -> bool:
        """Whether the selector matches an element below its ancestors, outermost first."""
        *above, last = self.path
        if not last.fits(element):
            return False
        remaining = list(ancestors)
        for compound in reversed(above):
            while remaining and not compound.fits(remaining[-1]):
                remaining.pop()
            if not remaining:
                return False
            remaining.pop()
        return True


def light_rules(sheet: str) -> tuple[list[Rule], dict[str, str]]:
    """Rules of a style sheet in its light theme, and the variables of ``:root``.

    Rules for print, other themes and narrow screens are left out. So are selectors of what a reader does (``:hover``),
    and all that consist of more than classes, tags and ``:not(.class)``.

    Examples
    --------
    >>> rules, variables = light_rules(":root { --ink: #111; } .axis line, a:hover { stroke: var(--ink); }")
    >>> len(rules), variables
    (1, {'--ink': '#111'})
    """
    rules: list[Rule] = []
    variables: dict[str, str] = {}
    for selectors, body in _RULE.findall(_without_conditions(_COMMENT.sub("", sheet))):
        declarations = dict(_declarations(body))
        for selector in selectors.split(","):
            if selector.strip() == ":root":
                variables |= declarations
            elif (path := _path(selector)) is not None:
                rules.append(Rule(path, declarations, len(rules)))
    return rules, variables


def style(element: Element, ancestors: Sequence[Element], rules: Sequence[Rule], variables: Mapping[str, str]) -> None:
    """Give an element and all below it the attributes that the rules set; classes and variables are resolved.

    Parameters
    ----------
    element : Element
        The element, which is changed.
    ancestors : sequence of Element
        Elements around it, outermost first.
    rules : sequence of Rule
        Rules of the page.
    variables : mapping of str
        Variables that it inherits.
    """
    declared = _declared(element, ancestors, rules)
    variables = {**variables, **_variables(declared)}
    for name in PROPERTIES:
        if name in declared:
            element.set(name, resolved(declared[name], variables))
    for child in element:
        style(child, [*ancestors, element], rules, variables)


def inherited(elements: Sequence[Element], rules: Sequence[Rule], variables: Mapping[str, str]) -> dict[str, str]:
    """Variables inside the last of nested elements, outermost first."""
    inside = dict(variables)
    for number, element in enumerate(elements):
        inside |= _variables(_declared(element, elements[:number], rules))
    return inside


def _declared(element: Element, ancestors: Sequence[Element], rules: Sequence[Rule]) -> dict[str, str]:
    """What the rules say of an element; of two rules the heavier one holds."""
    declared: dict[str, str] = {}
    for rule in sorted((rule for rule in rules if rule.fits(ancestors, element)), key=lambda rule: rule.weight):
        declared |= rule.declarations
    return declared


def _variables(declared: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in declared.items() if name.startswith("--")}


def resolved(value: str, variables: Mapping[str, str]) -> str:
    """A value without variables, in the light theme."""
    for _ in range(len(variables) + 1):
        if not (match := _VARIABLE.search(value)):
            break
        value = value.replace(match[0], variables.get(match[1], "currentColor"))
    return _BY_THEME.sub(r"\1", value).strip()


def _declarations(body: str) -> Iterator[tuple[str, str]]:
    for declaration in body.split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            yield name.strip(), value.replace("!important", "").strip()


def _path(selector: str) -> tuple[Compound, ...] | None:
    """Compounds of a selector; None if it has other parts."""
    compounds = []
    for text in selector.split():
        match = _COMPOUND.fullmatch(text)
        if match is None:
            return None
        parts = _PART.findall(match["rest"])
        classes = frozenset(name for _, name in parts if name)
        compounds.append(Compound(match["tag"] or "", classes, frozenset(name for name, _ in parts if name)))
    return tuple(compounds) or None


def _without_conditions(sheet: str) -> str:
    """A style sheet without its at-rules, such as those for print or narrow screens."""
    outside, start = [], 0
    while (at := sheet.find("@", start)) >= 0:
        outside.append(sheet[start:at])
        depth, end = 0, sheet.find("{", at)
        while 0 <= end < len(sheet):
            depth += {"{": 1, "}": -1}.get(sheet[end], 0)
            end += 1
            if depth == 0:
                break
        start = end if end > 0 else len(sheet)
    return "".join([*outside, sheet[start:]])


# Reader of a page as a tree of elements.

_VOID = frozenset({"base", "br", "col", "hr", "img", "input", "link", "meta", "wbr"})
_ATTRIBUTE = re.compile(r"""([^\s=<>"'/]+)(?:\s*=\s*"([^"]*)")?""")


class TreeBuilder(HTMLParser):
    """Elements of a page as a tree; names of attributes keep their case, which those of SVG need."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Element("page")
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Add an element, into which what follows goes."""
        self.handle_startendtag(tag, attrs)
        if tag not in _VOID:
            self._open.append(self._open[-1][-1])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Add an element without content."""
        text = (self.get_starttag_text() or "").partition(tag)[2]
        given = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(text)}
        SubElement(self._open[-1], tag, given)

    def handle_endtag(self, tag: str) -> None:
        """Close the last open element of this name, if there is one."""
        depths = [depth for depth, element in enumerate(self._open) if element.tag == tag]
        if depths:
            del self._open[depths[-1] :]

    def handle_data(self, data: str) -> None:
        """Add text."""
        parent = self._open[-1]
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + data
        else:
            parent.text = (parent.text or "") + data


SVG = "http://www.w3.org/2000/svg"
FONTS = "'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
MARGIN = 8.0
"""Space around a picture, in its units."""
_OUTLINED = re.compile(r'<text [^>]*paint-order="stroke"[^>]*>[^<]*</text>')
_STROKE = re.compile(r' (?:stroke|stroke-width|stroke-linejoin|paint-order)="[^"]*"')
# A letter and a line of a legend in the picture's units, and the space that a key takes.
_LETTER, _LINE, _KEY = 7.2, 18.0, 36.0
_LONGEST = 40
"""Letters of a file's name, without the scale and the number that tell pictures apart."""
LEGIBLE = 7.0
"""Type size that a picture for print has at least, in points, if the page has a drawing narrow enough."""
PIXEL = 0.75
"""A unit of SVG and CSS in points."""
_TYPE = 11.0
"""Type size of drawings in their units; few marks are smaller."""
_SIZES = ("wide", "print", "narrow")
_SHORT = (
    ("matrix-of-advantages", "matrix"),
    ("utility-against-the-worst-attack-s-advantage", "utility"),
    ("all-goals", "utility"),
)
"""Beginnings of titles with the words that files have for them."""
_PAGE_ONLY = ("class", "tabindex", "role", "aria-label", "aria-hidden")


@dataclass(frozen=True)
class StandalonePicture:
    """A picture that stands alone.

    Parameters
    ----------
    name : str
        Name for a file, without a suffix.
    title : str
        What it shows.
    svg : str
        The picture as SVG without style sheet or script, in the colours of the light theme.
    """

    name: str
    title: str
    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        """The picture in a notebook."""
        return self.svg

    def png(self, scale: float = 2.0) -> bytes:
        """The picture as PNG.

        Parameters
        ----------
        scale : float
            Pixels for each unit of the picture.

        Raises
        ------
        ValueError
            If the extra `png` is not installed.
        """
        try:
            import resvg_py
        except ImportError:
            raise ValueError("PNG needs the extra png: pip install 'tokumei[png]'") from None
        return bytes(resvg_py.svg_to_bytes(svg_string=self.svg, zoom=scale))

    def pdf(self) -> bytes:
        """The picture as PDF, in vectors, for LaTeX.

        Raises
        ------
        ValueError
            If the extra `pdf` is not installed.
        """
        try:
            from weasyprint import HTML
        except ImportError:
            raise ValueError("PDF needs the extra pdf: pip install 'tokumei[pdf]'") from None
        width, height = re.findall(r' (?:width|height)="([^"]+)"', self.svg)[:2]
        sheet = f"@page {{ size: {width}px {height}px; margin: 0 }} svg {{ display: block }}"
        # WeasyPrint paints an outline over its letters: the letters are drawn once more.
        svg = _OUTLINED.sub(lambda text: text[0] + _STROKE.sub("", text[0]), self.svg)
        # pdflatex warns of pictures in newer versions of PDF.
        return bytes(HTML(string=f"<style>{sheet} body {{ margin: 0 }}</style>{svg}").write_pdf(pdf_version="1.5"))

    def save(self, path: str | Path, scale: float = 2.0) -> Path:
        """Write the picture as SVG, PDF or PNG, by the suffix of the path.

        Raises
        ------
        ValueError
            If the suffix is another one, or the extra `pdf` or `png` is missing.
        OSError
            If the file cannot be written.
        """
        path = Path(path)
        writers: dict[str, Callable[[], bytes]] = {
            ".svg": self.svg.encode,
            ".pdf": self.pdf,
            ".png": lambda: self.png(scale),
        }
        if path.suffix not in writers:
            raise ValueError(f"a picture is written as {', '.join(writers)}; got {path.name!r}")
        # A picture holds no records: others may read it as far as the umask lets them.
        write_atomically(path, writers[path.suffix](), mode=None)
        return path


def pictures_of(page: str, width: float | None = None) -> list[StandalonePicture]:
    """Every picture of a page that Tokumei wrote, in the light theme.

    A legend below a picture becomes a part of it; it leaves out names that stand in the picture. Of a picture for
    screens of several widths, only one is taken; of one with two axes, both. The matrix of a board becomes a heat map
    for each goal.

    Parameters
    ----------
    page : str
        HTML of a board, of a report or of any other page in the same style.
    width : float, optional
        Width on paper, in points. Of the drawings of a picture, the widest is taken whose type is then legible
        (`LEGIBLE`). By default, the one for wide screens is taken, in its own size.

    Raises
    ------
    ValueError
        If a picture's size cannot be read, or the page is nested too deeply for one that Tokumei wrote.
    """
    try:
        return _pictures(page, width)
    except RecursionError:
        raise ValueError("the page is nested too deeply") from None


def _pictures(page: str, width: float | None) -> list[StandalonePicture]:
    builder = TreeBuilder()
    builder.feed(page)
    builder.close()
    rules, variables = light_rules("".join(element.text or "" for element in builder.root.iter("style")))
    shapes = {name: shape for shape in builder.root.iter() if (name := shape.get("id", "")).startswith("m-")}
    sheet = _Sheet(rules, variables, shapes)
    pictures: dict[str, StandalonePicture] = {}
    for _, *around in _inside((builder.root,), {"figure"}, frozenset()):
        figure = tuple(around)
        entries = list(_inside(figure, {"li", "entry"}, {"svg"}))
        # Keys of legends are no drawings.
        drawings = list(_inside(figure, {"svg"}, {"legend"}))
        size = _size(drawings, width)
        for path in drawings:
            classes = path[-1].get("class", "").split()
            if size not in classes and set(_SIZES) & set(classes):
                continue
            caption = "".join(part for one in figure[-1].iter("figcaption") for part in one.itertext())
            title = " ".join((path[-1].get("aria-label") or caption).split())
            name = _free_name(title, path[-1].get("class", ""), pictures)
            pictures[name] = StandalonePicture(name, title, _alone(path, title, entries, sheet, width))
    for region in builder.root.iter("div"):
        for table in region.findall("table[@class='heat']"):
            place = region.get("aria-label", "").partition(", ")[2]
            for drawing in heat_drawings(table, sheet.value):
                title = f"Matrix of advantages, {drawing.goal.lower()}, {place}"
                name = _free_name(title, "", pictures)
                root = _framed((0.0, 0.0, drawing.width, drawing.height), title, sheet, width)
                root.extend(drawing.elements)
                pictures[name] = StandalonePicture(name, title, _written(root))
    return list(pictures.values())


def _size(drawings: Sequence[tuple[Element, ...]], width: float | None) -> str:
    """Which of a picture's drawings for several widths is taken: `_SIZES` says from the widest to the narrowest."""
    if width is None:
        return _SIZES[0]
    units = {
        size: _view(path[-1].get("viewBox", ""))[2] + 2 * MARGIN
        for size in _SIZES
        for path in drawings
        if size in path[-1].get("class", "").split()
    }
    legible = [size for size, wide in units.items() if width / wide * _TYPE >= LEGIBLE]
    return next(iter([*legible, *reversed(units)]), "")


def _free_name(title: str, classes: str, taken: Collection[str]) -> str:
    """Name of a file that no other picture has."""
    scales = [scale for scale in ("logit", "linear") if scale in classes.split()]
    name = re.sub(r"[^a-z0-9]+", "-", title.partition(":")[0].lower()).strip("-") or "picture"
    for long, short in _SHORT:
        name = short + name.removeprefix(long) if name.startswith(long) else name
    name = name[:_LONGEST].strip("-")
    numbers = itertools.count(2)
    free = "-".join([name, *scales])
    while free in taken:
        free = "-".join([name, *scales, str(next(numbers))])
    return free


def _inside(around: tuple[Element, ...], wanted: Set[str], skipped: Set[str]) -> Iterator[tuple[Element, ...]]:
    """Elements of a wanted tag or class in the last element, but not in skipped ones, each after all around it."""
    for child in around[-1]:
        names = {child.tag, *child.get("class", "").split()}
        if names & wanted:
            yield (*around, child)
        elif not names & skipped:
            yield from _inside((*around, child), wanted, skipped)


@dataclass(frozen=True)
class _Sheet:
    """Rules and variables of a page, and the shapes that its drawings use by name."""

    rules: Sequence[Rule]
    variables: Mapping[str, str]
    shapes: Mapping[str, Element]

    def value(self, name: str, around: Sequence[Element] = ()) -> str:
        """Value of a variable within nested elements."""
        return resolved(f"var({name})", inherited(around, self.rules, self.variables))

    def drawn(self, path: tuple[Element, ...]) -> Element:
        """A copy of the last element with the style of the page, without what only a page needs."""
        *around, element = path
        drawn = copy.deepcopy(element)
        self._place_shapes(drawn)
        style(drawn, around, self.rules, inherited(around, self.rules, self.variables))
        for one in drawn.iter():
            for name in [name for name in one.attrib if name in _PAGE_ONLY or name.startswith("data-")]:
                del one.attrib[name]
        return drawn

    def _place_shapes(self, element: Element) -> None:
        """Put copies of the shapes in the places of the elements that use them."""
        for number, child in enumerate(element):
            shape = self.shapes.get(child.get("href", "").removeprefix("#")) if child.tag == "use" else None
            if shape is None:
                self._place_shapes(child)
                continue
            where = f"translate({child.get('x', '0')},{child.get('y', '0')})"
            # The tag stays, since the style sheet speaks of it.
            child.attrib = {"transform": where}
            child.append(copy.deepcopy(shape))
            del child[-1].attrib["id"]
            element[number] = child


def _alone(
    path: tuple[Element, ...],
    title: str,
    entries: Sequence[tuple[Element, ...]],
    sheet: _Sheet,
    paper: float | None,
) -> str:
    """SVG of a drawing with its legend below."""
    left, top, width, height = _view(path[-1].get("viewBox", ""))
    keys = [_key(entry, sheet) for entry in entries] or list(_ranks(path, sheet))
    legend, legend_height = _legend(keys, sheet.value("--ink"), width)
    root = _framed((left, top, width, height + legend_height), title, sheet, paper)
    drawn = sheet.drawn(path)
    group = SubElement(root, "g", {name: value for name, value in drawn.attrib.items() if name.startswith("font")})
    group.extend(drawn)
    if legend:
        SubElement(root, "g", {"transform": f"translate({left:g},{top + height:g})"}).extend(legend)
    for element in root.iter("use"):
        element.tag = "g"
    return _written(root)


def _framed(inner: tuple[float, float, float, float], title: str, sheet: _Sheet, paper: float | None) -> Element:
    """An SVG with a title and a ground, for a drawing with this left and top end, width and height."""
    left, top, width, height = inner
    box = (left - MARGIN, top - MARGIN, width + 2 * MARGIN, height + 2 * MARGIN)
    scale = 1.0 if paper is None else paper / PIXEL / box[2]
    root = Element("svg", {"xmlns": SVG, "viewBox": " ".join(f"{value:g}" for value in box)})
    root.attrib |= {
        "width": f"{scale * box[2]:g}",
        "height": f"{scale * box[3]:g}",
        "font-family": FONTS,
        "role": "img",
    }
    SubElement(root, "title").text = title
    frame = zip(("x", "y", "width", "height"), (f"{value:g}" for value in box), strict=True)
    SubElement(root, "rect", {**dict(frame), "fill": sheet.value("--surface")})
    return root


def _written(root: Element) -> str:
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _view(text: str) -> tuple[float, float, float, float]:
    """Left and top end, width and height of a drawing."""
    try:
        left, top, width, height = map(float, text.split())
    except ValueError:
        raise ValueError(f"a picture's viewBox must be four numbers, got {text[:40]!r}") from None
    return left, top, width, height


def _legend(keys: Sequence[tuple[Element, str]], ink: str, width: float) -> tuple[list[Element], float]:
    """Keys with their texts in lines of a width, and the height of all lines."""
    groups = []
    x, y = 0.0, _LINE
    for key, text in keys:
        lines = fold(text, int((width - _KEY) / _LETTER)).split("\n")
        size = _KEY + _LETTER * max(map(len, lines))
        if x and x + size > width:
            x, y = 0.0, y + _LINE
        group = Element("g", {"transform": f"translate({x + 15:g},{y:g})"})
        group.append(key)
        for number, line in enumerate(lines):
            place = {"x": "17", **({"y": f"{number * _LINE:g}"} if number else {}), "dy": ".35em"}
            SubElement(group, "text", {**place, "fill": ink, "font-size": "12"}).text = line
        groups.append(group)
        x += size
        if len(lines) > 1:
            # Nothing stands beside an entry of several lines.
            x, y = width, y + _LINE * (len(lines) - 1)
    return groups, y + _LINE if keys else 0.0


def _key(path: tuple[Element, ...], sheet: _Sheet) -> tuple[Element, str]:
    """What stands before an entry of a page's legend, a small drawing or else a bar of its colour, and its text."""
    text = " ".join("".join(path[-1].itertext()).split())
    drawing = path[-1].find("svg")
    if drawing is None:
        bar = {"x": "-10", "y": "-2", "width": "20", "height": "4", "fill": sheet.value("--c", path)}
        return Element("rect", bar), text
    key = Element("g")
    key.extend(sheet.drawn((*path, drawing)))
    return key, text


def _ranks(path: tuple[Element, ...], sheet: _Sheet) -> Iterator[tuple[Element, str]]:
    """The rank on each disc of a drawing, best first, with the name, unless that stands beside the disc."""
    shown = {text.text for text in path[-1].iter("text") if "name" in text.get("class", "").split()}
    ranked = []
    for point in path[-1].iter("g"):
        name = point.get("aria-label", "").partition("\n")[0]
        if "point" in point.get("class", "").split() and name not in shown:
            rank = "".join(point.itertext()).strip()
            key = Element("text", {"dy": ".35em", "text-anchor": "middle", "font-size": "11", "font-weight": "600"})
            key.text, key.attrib["fill"] = rank, sheet.value("--ink")
            number = int(re.sub(r"\D", "", rank) or 0)
            ranked.append((number, rank, key, name))
    for _, _, key, name in sorted(ranked, key=lambda entry: entry[:2]):
        yield key, name
