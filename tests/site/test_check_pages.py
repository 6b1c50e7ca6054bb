"""The check of built pages finds broken links, requests to other hosts, and terms that the search misses."""

import json

import pytest
from check_pages import faults

GOOD = '<a href="b.html#part">b</a><a href="https://example.org/">out</a><link rel="canonical" href="x">'


@pytest.fixture
def site(tmp_path):
    (tmp_path / "a.html").write_text(GOOD)
    (tmp_path / "b.html").write_text('<p id="part">x</p><img src="data:image/png;base64,AA"><a href="#part">up</a>')
    (tmp_path / "s.css").write_text("p { background: url(data:image/png;base64,AA) }")
    return tmp_path


def test_good_pages_have_no_fault(site):
    assert faults(site) == []


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<a href="c.html">x</a>', "bad.html: the link c.html leads nowhere"),
        ('<a href="a.html#no">x</a>', "bad.html: the link a.html#no names no anchor of that page"),
        ('<img src="missing.png">', "bad.html: the link missing.png leads nowhere"),
        (
            '<script src="https://cdn.example/x.js"></script>',
            "loads https://cdn.example/x.js from another host",
        ),
        ('<link rel="stylesheet" href="//fonts.example.org/f">', "loads //fonts.example.org/f from another host"),
        ('<p style="background: url(http://e.org/p.png)">', "loads http://e.org/p.png from another host"),
    ],
)
def test_faults_are_found(site, page, fault):
    (site / "bad.html").write_text(page)
    (found,) = faults(site)
    assert fault in found


def test_style_sheets_must_not_load_from_elsewhere(site):
    (site / "bad.css").write_text("@import 'https://fonts.example.org/f.css';")
    assert faults(site) == ["bad.css: loads https://fonts.example.org/f.css from another host"]


def test_terms_of_the_japanese_glossary_must_be_in_the_index(tmp_path):
    folder = tmp_path / "ja"
    folder.mkdir()
    cell = "<td><p><strong><span>k-匿名性</span>、標本（ID）</strong></p></td>"
    (folder / "glossary.html").write_text(cell, encoding="utf-8")
    index = {
        "docnames": ["start", "glossary"],
        "terms": {"匿名性": [0, 1], "標本": 1, "k": 1},
        "titleterms": {"id": [1]},
    }
    known = ["k-匿名性", "標本", "ID"]
    (folder / "_static").mkdir()

    def found():
        (folder / "searchindex.js").write_text(f"Search.setIndex({json.dumps(index)})", encoding="utf-8")
        script = f"const glossaryTerms = {json.dumps([['term-1', 'k-匿名性', known]])};\n"
        (folder / "_static" / "language_data.js").write_text(script, encoding="utf-8")
        return faults(tmp_path)

    assert found() == []
    index["terms"]["匿名性"] = 0
    assert found() == ["ja/glossary.html: the search does not find k-匿名性"]
    known.remove("標本")
    assert len(found()) == 2
    (folder / "glossary.html").write_text("<td>標本</td>", encoding="utf-8")
    assert found() == ["ja/glossary.html: no terms were found"]
