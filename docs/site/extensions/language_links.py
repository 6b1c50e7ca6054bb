"""Links of each page to its twin in the other language, and the words of the theme in Japanese."""

from pathlib import Path

from sphinx.application import Sphinx

NAMES = {"en": "English", "ja": "日本語"}
JAPANESE = {
    "Back to top": "先頭へ戻る",
    "Home": "最初のページ",
    "Last updated on %(last_updated)s": "最終更新 %(last_updated)s",
    "Next": "次へ",
    "On this page": "このページの内容",
    "Previous": "前へ",
    "Search": "検索",
    "Skip to content": "本文へ進む",
}
"""Words of the theme, which has no Japanese ones of its own."""


def add_languages(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """Tell the side bar the languages: code, name, and address of the twin, or of the language's first page."""
    up = "../" * (page.count("/") + 1)
    rows = []
    for code, name in NAMES.items():
        has_twin = (Path(app.confdir) / code / f"{page}.md").exists()
        target = f"{up}{code}/{page if has_twin else 'index'}.html"
        rows.append((code, name, None if code == app.config.language else target))
    context["site_languages"] = rows


def translate_theme(app: Sphinx) -> None:
    """Let the theme's templates show Japanese words on Japanese pages."""
    if app.config.language == "ja" and app.builder.format == "html":
        words = app.translator
        app.builder.templates.environment.install_gettext_callables(
            lambda text: JAPANESE.get(text) or words.gettext(text), words.ngettext
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the start of the builder and to the writing of pages."""
    app.connect("builder-inited", translate_theme)
    app.connect("html-page-context", add_languages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
