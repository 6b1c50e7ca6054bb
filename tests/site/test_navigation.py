"""The tree of pages in the side bar is the one that the theme would make for each page."""

import pytest

pytest.importorskip("sphinx")
pytest.importorskip("furo")

from sphinx.application import Sphinx

PAGES = {
    "index": "A\n=\n\n.. toctree::\n   :hidden:\n\n   one\n   two/index\n   Out <https://example.org/>\n",
    "one": "One\n===\n\nPart\n----\n",
    "two/index": "Two\n===\n\n.. toctree::\n\n   deep/index\n   leaf\n",
    "two/leaf": "Leaf & <b>\n==========\n",
    "two/deep/index": "Deep\n====\n\n.. toctree::\n\n   end\n",
    "two/deep/end": "End\n===\n",
    "lost": ":orphan:\n\nLost\n====\n",
}


def built(folder, extensions):
    for name, text in PAGES.items():
        path = folder / f"{name}.rst"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    settings = {"extensions": extensions, "html_theme": "furo", "project": "x"}
    Sphinx(folder, None, folder / "html", folder / "trees", "html", settings, status=None, warning=None).build()
    pages = (folder / "html").rglob("*.html")
    return {str(page.relative_to(folder / "html")): page.read_text(encoding="utf-8") for page in pages}


def test_every_page_has_the_tree_of_the_theme(tmp_path):
    by_theme, made_once = built(tmp_path / "a", []), built(tmp_path / "b", ["navigation"])
    assert 'current-page"><a class="current reference internal" href="#">End' in by_theme["two/deep/end.html"]
    assert "Out</a>" in by_theme["lost.html"]
    assert made_once == by_theme
