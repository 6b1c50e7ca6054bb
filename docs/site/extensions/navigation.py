"""The tree of all pages in the side bar, which is made once and marked anew for each page.

The theme would make it anew for each page, which takes most of the time in which pages are written.
"""

from typing import Any

from bs4 import BeautifulSoup, Tag
from furo.navigation import get_navigation_tree
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.util.osutil import relative_uri


class NavigationTree:
    """The tree of all pages, as the theme makes it.

    Parameters
    ----------
    builder : StandaloneHTMLBuilder
        It knows all pages.
    """

    def __init__(self, builder: StandaloneHTMLBuilder) -> None:
        self._builder = builder
        # As the theme does; the first page is no entry of its own tree, so that no entry is marked.
        toctree = builder._get_local_toctree(
            builder.config.root_doc, collapse=False, titles_only=True, maxdepth=-1, includehidden=True
        )
        self._tree = BeautifulSoup(get_navigation_tree(toctree), "html.parser")
        self._links: list[tuple[Tag, str]] = [(one, one["href"]) for one in self._tree.find_all("a", href=True)]
        self._base = builder.get_target_uri(builder.config.root_doc)

    def of(self, page: str) -> str:
        """HTML of the tree on a page: links from there, and its own entry marked and unfolded."""
        address = self._builder.get_target_uri(page)
        own = [link for link, target in self._links if target == address]
        for link, target in self._links:
            link["href"] = target if "//" in target else relative_uri(address, target) or "#"
        changed = [change for link in own for change in _mark(link)]
        text = str(self._tree)
        for element, name, value in reversed(changed):
            if value is None:
                del element[name]
            else:
                element[name] = value
        return text


def _mark(link: Tag) -> list[tuple[Tag, str, Any]]:
    """Mark the entry of a link, and unfold the entries above it; returns what was there before."""
    changed: list[tuple[Tag, str, Any]] = []

    def put(element: Tag, name: str, value: Any) -> None:
        changed.append((element, name, element.get(name)))
        element[name] = value

    put(link, "class", ["current", *link["class"]])
    entries = link.find_parents("li")
    for entry in entries:
        classes = [*entry["class"]]
        classes.insert(classes.index("has-children") if "has-children" in classes else len(classes), "current")
        put(entry, "class", classes)
        put(entry.parent, "class", ["current"])
        if box := entry.find("input", recursive=False):
            put(box, "checked", "")
    put(entries[0], "class", [*entries[0]["class"], "current-page"])
    return changed


def leave_out(app: Sphinx, page: str, template: str, context: dict, doctree: object) -> None:
    """Give the theme no tree to make."""
    context["toctree"] = lambda **_: ""


def add_tree(app: Sphinx, page: str, template: str, context: dict, doctree: object) -> None:
    """Give the theme's template the tree of the page."""
    if not hasattr(app.builder, "navigation_tree"):
        app.builder.navigation_tree = NavigationTree(app.builder)
    context["furo_navigation_tree"] = app.builder.navigation_tree.of(page)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect before and after the theme."""
    app.connect("html-page-context", leave_out, priority=400)
    app.connect("html-page-context", add_tree, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
