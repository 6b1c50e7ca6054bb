"""Full-text search of the Japanese pages; a term of the glossary finds the row that explains it."""

from collections.abc import Iterator

from docutils import nodes
from japanese_words import SCRIPT, index_terms, names
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.search import SearchLanguage


class SearchJapanese(SearchLanguage):
    """Index and queries of Japanese pages."""

    lang = "ja"
    language_name = "Japanese"
    js_splitter_code = SCRIPT

    def split(self, input: str) -> list[str]:  # noqa: A002 - the name in the base class
        """All terms by which a text is found."""
        return index_terms(input)


def rows(doctree: nodes.document) -> Iterator[nodes.row]:
    """Rows of the glossary's tables, without their headings."""
    return (row for body in doctree.findall(nodes.tbody) for row in body.findall(nodes.row))


def add_entries(app: Sphinx, doctree: nodes.document) -> None:
    """Enter the names of each row of the glossary, in both languages, into the index, which the search prefers."""
    if (app.config.language, app.env.docname) != ("ja", "glossary"):
        return
    for number, row in enumerate(rows(doctree), 1):
        anchor = f"term-{number}"
        row["ids"].append(anchor)
        japanese, english = (row.children[column].astext() for column in (0, 1))
        entries = [("single", name, anchor, "main", None) for name in names(japanese) + names(english)]
        row.children[0].insert(0, addnodes.index(entries=entries))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the language of the search, and connect to the reading of pages."""
    app.add_search_language(SearchJapanese)
    app.connect("doctree-read", add_entries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
