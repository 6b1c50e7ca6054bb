"""Texts of presentations as HTML."""

from __future__ import annotations

from functools import lru_cache

import nh3
from markupsafe import Markup

from metrics.printable import printable
from scenarios.tournament.site.pages.page_templates import markdown_parser

_INLINE = ("a", "br", "code", "em", "strong")
_BLOCKS = ("blockquote", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "ul")
_TABLE = ("div", "table", "tbody", "td", "th", "thead", "tr")
_REGION = {"class": {"scroll"}, "role": {"region"}, "tabindex": {"0"}}
"""Attributes of the region in which a wide table scrolls; the parser writes no other ``div``."""


@lru_cache(maxsize=256)
def method_html(text: str) -> Markup:
    """Markdown of a team as HTML without scripts, styles, images and headings of the first level.

    The parser escapes HTML in the text. Its output is sanitised again by a list of allowed tags. Links lead to web
    pages only.
    """
    parser = markdown_parser()
    tokens = parser.parse(printable(text))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
    html = parser.renderer.render(tokens, parser.options, {})
    clean = nh3.clean(
        html,
        tags={*_INLINE, *_BLOCKS, *_TABLE},
        attributes={"*": set(), "a": {"href"}, "div": {"aria-label"}, "ol": {"start"}},
        tag_attribute_values={"div": _REGION},
        url_schemes={"http", "https"},
        link_rel="nofollow noopener",
    )
    return Markup(clean)  # noqa: S704 (nh3 has sanitised it)
