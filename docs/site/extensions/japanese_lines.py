"""Keeps words with a hyphen, such as UTF-8 and k-匿名性, on one line of a Japanese page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HYPHENATED = re.compile(r"([A-Za-z0-9\u03b1-\u03c9]+-(?:[A-Za-z0-9]+|[\u4e00-\u9fff]+))")
"""Letters or digits, a hyphen, and letters, digits or kanji."""


def keep_words(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put each such word outside of code into an element of the class ``whole``, which is not broken."""
    if app.config.language != "ja" or app.builder.format != "html":
        return
    for text in list(doctree.findall(nodes.Text)):
        parts = HYPHENATED.split(text.astext())
        if len(parts) > 1 and not _is_verbatim(text):
            words = [
                nodes.inline("", part, classes=["whole"]) if number % 2 else nodes.Text(part)
                for number, part in enumerate(parts)
                if part
            ]
            text.parent.replace(text, words)


def _is_verbatim(text: nodes.Text) -> bool:
    """Whether a text is code, a formula, HTML or the like."""
    node = text.parent
    while node is not None and not isinstance(node, nodes.Structural):
        if isinstance(node, nodes.literal | nodes.FixedTextElement | nodes.math | nodes.raw | nodes.Invisible):
            return True
        node = node.parent
    return False


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the writing of pages."""
    app.connect("doctree-resolved", keep_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
