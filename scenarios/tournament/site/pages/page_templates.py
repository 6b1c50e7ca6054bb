"""Templates of the site's pages."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from leaderboard.pages.documents import breakable
from leaderboard.pages.pictures import DRAWING
from metrics.columns.printable import printable
from scenarios.tournament.site.visit import Visit

STATIC = {"site.css": "text/css", "site.js": "text/javascript"}
"""Files that every page uses, with their types."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)")


@cache
def environment() -> Environment:
    """The templates; everything that they insert is escaped."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader("scenarios.tournament.site"), PackageLoader("leaderboard.pages")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "moment": moment,
        "deadline": deadline,
        "moments": moments,
        "number": number,
        "size": size,
        "markdown": markdown,
        "clean": printable,
        "short": short_title,
        "breakable": breakable,
    }
    made.globals |= DRAWING
    made.globals["static"] = static_address
    made.globals["new_number"] = lambda: secrets.token_urlsafe(16)
    return made


def rendered(visit: Visit, template: str, **context: Any) -> str:
    """A page for a visitor."""
    common = {
        "user": visit.user,
        "title": visit.site.settings.title,
        "form_token": visit.form_token,
        "now": visit.site.clock(),
        "path": visit.request.url.path,
    }
    return environment().get_template(template).render(**{**common, **context})


@cache
def static_content(name: str) -> bytes:
    """Content of a static file."""
    return (resources.files("scenarios.tournament.site") / "static" / name).read_bytes()


@cache
def static_address(name: str) -> str:
    """Address of a static file, which changes with its content."""
    return f"/static/{name}?{hashlib.sha256(static_content(name)).hexdigest()[:12]}"


def moment(value: datetime | str | None) -> Markup:
    """A moment in UTC; the page's script shows it in the viewer's zone."""
    if value is None:
        return Markup("–")
    parsed = datetime.fromisoformat(value) if isinstance(value, str) else value
    return Markup('<time datetime="{}">{:%Y-%m-%d %H:%M} UTC</time>').format(
        parsed.isoformat(timespec="seconds"), parsed
    )


def deadline(value: datetime) -> Markup:
    """The end of a phase in UTC, with the day of the week; see `moment`."""
    return Markup('<time datetime="{}">{:%A %Y-%m-%d %H:%M:%S} UTC</time>').format(
        value.isoformat(timespec="seconds"), value
    )


def moments(text: str) -> Markup:
    """A text whose moments in ISO 8601 are shown like all others on the page."""
    parts, end = [], 0
    for found in _MOMENT.finditer(text):
        with suppress(ValueError, OverflowError):
            shown = moment(datetime.fromisoformat(found[0]).astimezone(UTC))
            parts += [escape(printable(text[end : found.start()])), shown]
            end = found.end()
    return Markup("").join([*parts, escape(printable(text[end:]))])


def number(value: float | str | None, digits: int = 3) -> str:
    """A number with some digits after the point; a dash if it is missing."""
    return "–" if value is None or value == "" else f"{float(value):.{digits}f}"


def short_title(title: str) -> str:
    """A title without its subtitle: what stands before the first colon."""
    return title.partition(": ")[0]


def size(value: int) -> str:
    """A number of bytes in words."""
    for unit, bytes_of_unit in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= bytes_of_unit:
            return f"{value / bytes_of_unit:.1f} {unit}"
    return f"{value} bytes"


def markdown(text: str) -> Markup:
    """Markdown as HTML. HTML in the text is shown as text, and links lead to web pages only."""
    return Markup(markdown_parser().render(text))  # noqa: S704 (the parser escapes all HTML)


@cache
def markdown_parser() -> MarkdownIt:
    """Parser of Markdown that escapes HTML and knows no images."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.validateLink = _is_web_link  # type: ignore[method-assign]
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


def _table_open(renderer: object, tokens: Sequence[Token], place: int, options: object, env: object) -> str:
    """A region around a table, which scrolls sideways and which the keyboard reaches."""
    number_of_table = sum(token.type == "table_open" for token in tokens[: place + 1])
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Table {number_of_table}">\n<table>\n'


def _table_close(renderer: object, tokens: Sequence[Token], place: int, options: object, env: object) -> str:
    return "</table>\n</div>\n"


def _is_web_link(url: str) -> bool:
    return url.lower().startswith(("https://", "http://", "#"))
