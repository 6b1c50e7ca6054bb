"""Rows of the glossary as results of the Japanese search: any part of a term finds its row, whatever its hyphens."""

import json
from collections.abc import Iterator

from docutils import nodes
from japanese_words import names
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

GLOSSARY = "glossary"
"""Name of the page."""


def rows(doctree: nodes.document) -> Iterator[nodes.row]:
    """Rows of the glossary's tables, without their headings."""
    return (row for body in doctree.findall(nodes.tbody) for row in body.findall(nodes.row))


def add_anchors(app: Sphinx, doctree: nodes.document) -> None:
    """Give each row of the glossary an anchor."""
    if (app.config.language, app.env.docname) == ("ja", GLOSSARY):
        for number, row in enumerate(rows(doctree), 1):
            row["ids"].append(f"term-{number}")


def glossary_terms(env: BuildEnvironment) -> list[tuple[str, str, list[str]]]:
    """Anchor of each row, its term as the page shows it, and all its names in both languages."""
    if GLOSSARY not in env.found_docs:
        return []
    found = []
    for row in rows(env.get_doctree(GLOSSARY)):
        japanese, english = (row.children[column].astext() for column in (0, 1))
        found.append((row["ids"][0], japanese, names(japanese) + names(english)))
    return found


def glossary_script(terms: list[tuple[str, str, list[str]]]) -> str:
    """JavaScript that puts the rows of the glossary before all other results, the closest name first."""
    return _SCRIPT.replace("TERMS", json.dumps(terms, ensure_ascii=False))


_SCRIPT = r"""
const glossaryTerms = TERMS;
const plainName = (text) => text.normalize("NFKC").toLowerCase().replace(/[-‐–\s]/g, "");

// Share of a name that the query is, 0 if it is no part. A single character must be the whole name.
function shareOfName(query, name) {
  const [part, whole] = [plainName(query), plainName(name)];
  return part && whole.includes(part) && (part.length > 1 || part === whole) ? part.length / whole.length : 0;
}

const searchPages = Search._performSearch;
Search._performSearch = (query, ...terms) => {
  const page = Search._index.docnames.indexOf("glossary");
  const { titles, filenames } = Search._index;
  const found = glossaryTerms
    .map(([anchor, term, names]) => [Math.max(...names.map((name) => shareOfName(query, name))), anchor, term])
    .filter(([share]) => share > 0)
    .sort(([left], [right]) => left - right)
    .map(([share, anchor, term]) =>
      ["glossary", `${titles[page]} > ${term}`, `#${anchor}`, null, 100 * share, filenames[page], "index"]);
  // The page takes the last result first.
  return [...searchPages(query, ...terms), ...found];
};

// Labels of pictures are no sentences.
const textOfPage = Search.htmlToText;
Search.htmlToText = (html, anchor) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  page.querySelectorAll("svg").forEach((picture) => picture.remove());
  return textOfPage(page.documentElement.outerHTML, anchor);
};
"""
