"""Full-text search of the Japanese pages; a term of the glossary finds the row that explains it."""

from japanese_glossary import add_anchors, glossary_script, glossary_terms
from japanese_words import SCRIPT, index_terms
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.search import SearchLanguage


class SearchJapanese(SearchLanguage):
    """Index and queries of Japanese pages."""

    lang = "ja"
    language_name = "Japanese"
    js_splitter_code = SCRIPT

    def split(self, input: str) -> list[str]:  # noqa: A002 - the name in the base class
        """All terms by which a text is found."""
        return index_terms(input)


def add_glossary(app: Sphinx, env: BuildEnvironment) -> None:
    """Put the glossary's terms into the script of the search, once all pages are read."""
    if app.config.language == "ja":
        SearchJapanese.js_splitter_code = SCRIPT + glossary_script(glossary_terms(env))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the language of the search, and connect to the reading of pages."""
    app.add_search_language(SearchJapanese)
    app.connect("doctree-read", add_anchors)
    app.connect("env-updated", add_glossary)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
