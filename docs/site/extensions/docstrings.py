"""Docstrings for Sphinx: names in backticks become links, notes are folded, references become lists."""

from docstring_text import folded, prepared
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Folded(SphinxDirective):
    """A part of the page that the reader unfolds."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Put the content between the tags of `details`."""
        content = self.parse_content_to_nodes()
        summary = f'<details class="proof"><summary>{self.arguments[0]}</summary>'
        return [nodes.raw("", summary, format="html"), *content, nodes.raw("", "</details>", format="html")]


def before(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Prepare a docstring for numpydoc."""
    lines[:] = prepared(lines, thing)


def after(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Fold the notes of what numpydoc has made."""
    lines[:] = folded(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect before and after numpydoc."""
    app.add_directive("folded", Folded)
    app.connect("autodoc-process-docstring", before, priority=400)
    app.connect("autodoc-process-docstring", after, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
