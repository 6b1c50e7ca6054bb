"""Reader of a page as a tree of elements."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from xml.etree.ElementTree import Element, SubElement

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
