"""Links of each page to its twin in the other language."""

from pathlib import Path

from sphinx.application import Sphinx

NAMES = {"en": "English", "ja": "日本語"}


def add_languages(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """Tell the side bar the languages: code, name, and address of the twin, or of the language's first page."""
    up = "../" * (page.count("/") + 1)
    rows = []
    for code, name in NAMES.items():
        has_twin = (Path(app.confdir) / code / f"{page}.md").exists()
        target = f"{up}{code}/{page if has_twin else 'index'}.html"
        rows.append((code, name, None if code == app.config.language else target))
    context["site_languages"] = rows


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the writing of pages."""
    app.connect("html-page-context", add_languages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
