"""Pictures of pages: drawn as SVG that stands alone, embedded as it is, and saved as SVG, PDF or PNG."""

from __future__ import annotations

import html
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from leaderboard.pages.tables import fold
from metrics.columns import refuse, write_atomically

SVG = "http://www.w3.org/2000/svg"
FONTS = "'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
PALETTE = {
    "surface": "#ffffff",
    "ink": "#1a1e23",
    "muted": "#59626d",
    "line": "#dfe2e6",
    "accent": "#0b5cad",
    "on-accent": "#ffffff",
    "c1": "#1668a8",
    "c2": "#b3490a",
    "c3": "#3f7a1f",
    "c4": "#8a3a96",
    "c5": "#806200",
    "c6": "#a8263c",
}
"""Colours of the light theme, by the variable of a page that holds them."""
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
_SHORT = (
    ("matrix-of-advantages", "matrix"),
    ("utility-against-the-worst-attack-s-advantage", "utility"),
    ("all-goals", "utility"),
)
"""Beginnings of titles with the words that files have for them."""
_DRAWING = re.compile(
    r'<svg data-picture="(?P<name>[^"]*)" data-size="(?P<size>[^"]*)" class="[^"]*" (?P<view>viewBox="[^"]*") '
    r'width="(?P<width>[\d.]+)" height="(?P<height>[\d.]+)"(?P<rest>[^>]*><title>(?P<title>[^<]*)<.*?</svg>)',
    re.DOTALL,
)
"""A picture as the template of pictures writes it."""
_PAGE_ONLY = re.compile(r' (?:class|tabindex|aria-[a-z]+|data-[a-z]+)="[^"]*"')
_COLOUR = re.compile(r"var\(--[\w-]+,([^()]*)\)")
_OUTLINED = re.compile(r'<g [^>]*paint-order="stroke".*?</g>', re.DOTALL)
_STROKE = re.compile(r' (?:stroke|stroke-width|stroke-linejoin|paint-order)="[^"]*"')


class LegendEntry(NamedTuple):
    """An entry of a legend: its place, its text as a whole and in lines, and what its key is drawn from."""

    x: int
    y: int
    text: str
    lines: list[str]
    key: Any


def placed(entries: Iterable[tuple[str, Any]], width: float) -> tuple[list[LegendEntry], float]:
    """Entries of a legend in lines of a width, and the height of all lines.

    - entries: Text of each entry, and what its key is drawn from; None for a heading, which begins a line.
    - width: Width of the picture, in its units.
    """
    legend: list[LegendEntry] = []
    x, y = 0.0, _LINE
    for text, key in entries:
        lines = fold(text, int((width - _KEY) / _LETTER)).split("\n")
        size = (0.0 if key is None else _KEY) + _LETTER * max(map(len, lines))
        if x and (key is None or x + size > width):
            x, y = 0.0, y + _LINE
        legend.append(LegendEntry(round(x + 15), round(y), text, lines, key))
        x += size
        if len(lines) > 1:
            # Nothing stands beside an entry of several lines.
            x, y = width, y + _LINE * (len(lines) - 1)
    return legend, y + _LINE / 2 if legend else 0.0


def file_name(title: str, scale: str = "") -> str:
    """Name of a picture's file, without a suffix.

    - title: Title of the picture; what follows a colon is left out.
    - scale: Scale of its axis; empty if there is one only.

    Examples
    --------
    >>> file_name("All goals, bank: utility against the worst advantage", "logit")
    'utility-bank-logit'
    """
    name = re.sub(r"[^a-z0-9]+", "-", title.partition(":")[0].lower()).strip("-") or "picture"
    for long, short in _SHORT:
        name = short + name.removeprefix(long) if name.startswith(long) else name
    return "-".join(filter(None, (name[:_LONGEST].strip("-"), scale)))


DRAWING: dict[str, Any] = {
    "palette": PALETTE,
    "paint": {name: f"var(--{name},{colour})" for name, colour in PALETTE.items()},
    "fonts": FONTS,
    "placed": placed,
    "file_name": file_name,
}
"""What the template of pictures needs; a colour is a variable of the page, or that of the light theme elsewhere."""


@dataclass(frozen=True)
class StandalonePicture:
    """A picture that stands alone.

    - name: Name for a file, without a suffix.
    - title: What it shows.
    - svg: The picture as SVG without style sheet or script, in the colours of the light theme.
    """

    name: str
    title: str
    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        """The picture in a notebook."""
        return self.svg

    def png(self, scale: float = 2.0) -> bytes:
        """The picture as PNG, with `scale` pixels for each unit; a ValueError if the extra `png` is not installed."""
        try:
            import resvg_py
        except ImportError:
            raise ValueError("PNG needs the extra png: pip install 'tokumei[png]'") from None
        return bytes(resvg_py.svg_to_bytes(svg_string=self.svg, zoom=scale))

    def pdf(self) -> bytes:
        """The picture as PDF, in vectors, for LaTeX.

        Raises ValueError if the extra `pdf` is not installed.
        """
        try:
            from weasyprint import HTML
        except ImportError:
            raise ValueError("PDF needs the extra pdf: pip install 'tokumei[pdf]'") from None
        width, height = re.findall(r' (?:width|height)="([^"]+)"', self.svg)[:2]
        sheet = f"@page {{ size: {width}px {height}px; margin: 0 }} svg {{ display: block }}"
        # WeasyPrint paints an outline over its letters: the letters are drawn once more.
        svg = _OUTLINED.sub(lambda names: names[0] + _STROKE.sub("", names[0]), self.svg)
        # pdflatex warns of pictures in newer versions of PDF.
        return bytes(HTML(string=f"<style>{sheet} body {{ margin: 0 }}</style>{svg}").write_pdf(pdf_version="1.5"))

    def save(self, path: str | Path, scale: float = 2.0) -> Path:
        """Write the picture as SVG, PDF or PNG, by the suffix of the path.

        Raises ValueError if the suffix is another one, or the extra `pdf` or `png` is missing. Raises OSError if the
        file cannot be written.
        """
        path = Path(path)
        writers: dict[str, Callable[[], bytes]] = {
            ".svg": self.svg.encode,
            ".pdf": self.pdf,
            ".png": lambda: self.png(scale),
        }
        refuse(path.suffix not in writers, f"a picture is written as {', '.join(writers)}; got {path.name!r}")
        # A picture holds no records: others may read it as far as the umask lets them.
        write_atomically(path, writers[path.suffix](), mode=None)
        return path


def pictures_of(page: str, width: float | None = None) -> list[StandalonePicture]:
    """Every picture of a page of this release, in the light theme.

    Of a picture for screens of several widths, only one is taken; of one with two axes, both. The matrix of a board is
    a heat map for each goal. If no picture of the page stands alone, as in pages of earlier releases, a ValueError is
    raised.

    - page: HTML of a board, of a report or of any other page in the same style.
    - width: Width on paper, in points. Of the drawings of a picture, the widest is taken whose type is then legible
      (`LEGIBLE`). By default, the one for wide screens is taken, in its original size.
    """
    drawings = list(_DRAWING.finditer(page))
    refuse(
        not drawings and "<svg" in page,
        "its pictures cannot be saved; only pages that this release writes can: write the page anew",
    )
    widths: dict[str, dict[str, float]] = defaultdict(dict)
    for drawing in drawings:
        widths[drawing["name"]][drawing["size"]] = float(drawing["width"])
    taken, pictures = Counter[str](), []
    for drawing in drawings:
        name = drawing["name"]
        if drawing["size"] == _size(widths[name], width):
            taken[name] += 1
            free = f"{name}-{taken[name]}" if taken[name] > 1 else name
            pictures.append(StandalonePicture(free, html.unescape(drawing["title"]), _alone(drawing, width)))
    return pictures


def _size(widths: Mapping[str, float], paper: float | None) -> str:
    """Which of a picture's drawings is taken: the widest one whose type is legible on paper, else the narrowest."""
    sizes = sorted(widths, key=lambda size: -widths[size])
    legible = (size for size in sizes if paper is None or paper / widths[size] * _TYPE >= LEGIBLE)
    return next(legible, sizes[-1])


def _alone(drawing: re.Match[str], paper: float | None) -> str:
    """SVG of a drawing in its size on paper, with colours in place of variables, without what only a page needs."""
    width, height = float(drawing["width"]), float(drawing["height"])
    scale = 1.0 if paper is None else paper / PIXEL / width
    size = f'width="{scale * width:g}" height="{scale * height:g}"'
    svg = f"<svg {drawing['view']} {size}{drawing['rest']}\n"
    return _COLOUR.sub(r"\1", _PAGE_ONLY.sub("", svg))
