"""Modules that pages import: pictures, tables, published numbers, and the standing board's strengths."""

import importlib
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

SUPPORT = Path(__file__).parents[2] / "docs" / "site" / "support"
TEST = "site/test_site_support::test_a_number_that_differs_is_refused"


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(SUPPORT)
    return importlib.import_module


def texts(picture):
    return [element.text for element in ElementTree.fromstring(picture.svg).iter() if element.text]


def test_pictures_are_well_formed_and_hold_their_labels(module):
    pictures = module("pictures")
    axes = {"title": "a < b", "across": "age, years", "up": "people"}
    drawn = [
        pictures.bars(["x", "y"], {"one": [1, 2], "two": [0, 1234]}, **axes),
        pictures.blocks(["x"], {"one": [3]}, **axes),
        pictures.lines({"one": ([1, 10, 100], [0, 1, 2])}, logarithmic=True, marks=[(1.5, "mark")], **axes),
        pictures.heat([[0.5, 0.5], [0.5, 0.5]], ["x", "y"], **axes),
    ]
    for picture in drawn:
        assert {"a < b", "age, years", "people"} <= set(texts(picture))
    assert "1,234" in texts(drawn[0])
    assert drawn[1].svg.count("<rect") == 3
    assert texts(pictures.table(["h"], [["匿名"], ["b"]], [0, -1], title="t")) == ["t", "h", "匿名", "b"]
    assert "97 %" in texts(pictures.ranges([("k", 0.1, 0.2, 0.3)], title="t", across="u", bound=(0.97, "97 %")))
    assert "step" in texts(pictures.steps([("a", "x\ny"), ("b", "")], ["step"], title="t"))


def test_bars_are_as_high_as_their_values(module):
    picture = module("pictures").bars(["x", "y"], {"one": [10, 20]}, title="t", across="a", up="u")
    boxes = [box.attrib for box in ElementTree.fromstring(picture.svg) if box.tag.endswith("rect")]
    assert float(boxes[1]["height"]) == pytest.approx(2 * float(boxes[0]["height"]), abs=0.2)


def test_a_number_that_differs_is_refused(module):
    number = module("reproduced").Number
    table = module("reproduced").beside([number("mean", 2.1, 2.12, 1, TEST)])
    assert (table.rows, table.title) == ([("mean", "2.1", "2.1", "+2e-02")], f"Test: {TEST}")
    other = "site/test_site_support::test_tables_escape_their_cells"
    several = module("reproduced").beside([number("mean", 2.1, 2.12, 1, TEST), number("sum", 2, 3, 0, other, 1)])
    assert several.rows[1] == ("sum", "2", "3", "+1", "2")
    assert several.notes == [TEST, other]
    with pytest.raises(ValueError, match=r"mean: ours 2\.2, theirs 2\.1"):
        number("mean", 2.1, 2.2, 1, TEST)
    with pytest.raises(ValueError, match="mean: ours nan"):
        number("mean", 2.1, float("nan"), 1, TEST)
    with pytest.raises(ValueError, match="there is no test site/test_site_support::test_of_nothing"):
        number("mean", 2.1, 2.1, 1, "site/test_site_support::test_of_nothing")


def test_strengths_are_the_most_useful_within_the_bound(module, monkeypatch):
    standing = module("standing")
    rows = [("adult", "A", 0.9, 0.2), ("adult", "A", 0.5, 0.1), ("adult", "A", 0.4, 0.0), ("adult", "B", 1.0, 0.11)]
    board = pd.DataFrame(rows, columns=["data", "family", "utility", "advantage"])
    monkeypatch.setattr(standing, "settings", lambda: board)
    assert standing.strengths(0.1)["utility"].tolist() == [0.5]
    assert standing.families_above(0.1) == {"adult": ["B"]}


def test_tables_escape_their_cells(module):
    html = module("tables").Table(("a <b>",), [("x & y",), ("1.5",), ("a::b",)])._repr_html_()
    assert "a &lt;b&gt;" in html
    assert "x &amp; y" in html
    assert '<td style="text-align:right">1.5</td>' in html
    assert "<code>a::<wbr>b</code>" in html


def test_the_citation_is_that_of_the_repository(module, tmp_path):
    citation = module("citation")
    (tmp_path / "c.cff").write_text(
        "title: A tool\nversion: 2.0\ndate-released: 2027-01-02\n"
        "authors:\n  - name: The developers\n  - family-names: Abe\n    given-names: Kai\n"
    )
    assert citation.bibtex(tmp_path / "c.cff").splitlines() == [
        "@misc{tokumei,",
        "  author = {{The developers} and Abe, Kai},",
        "  title  = {{A tool}},",
        "  year   = {2027},",
        "  note   = {Software, version 2.0},",
        "}",
    ]
    assert "{{The Tokumei developers}}" in citation.bibtex()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ours": "2.0"}, "theirs 3.0"),
        ({"tolerance": "slip"}, "the printed number is right"),
        ({"home": "defenses:Mondrain"}, "there is no defenses:Mondrain"),
        ({"command": "tokumei rum gic"}, "there is no command"),
        ({"command": "tokumei run gik"}, "there is no scenario gik"),
        ({"test": "site/test_site_support::test_nothing"}, "there is no test"),
    ],
)
def test_an_item_of_the_sources_that_does_not_hold_is_refused(module, monkeypatch, changed, message):
    sources = module("sources")
    row = {
        "source": "lecture",
        "en": "item",
        "ja": "項目",
        "home": "defenses:Mondrian",
        "command": "tokumei run gic",
        "printed": "3",
        "ours": "1 + two",
        "decimals": "0",
        "tolerance": "",
        "test": "site/test_site_support::test_a_number_that_differs_is_refused",
    }
    monkeypatch.setattr(sources, "ROWS", (row,))
    assert sources.walk("lecture", "ja", {"two": 2}).rows[0][:5] == (
        "項目", "defenses.Mondrian", "tokumei run gic", "3", "3"
    )  # fmt: skip
    monkeypatch.setattr(sources, "ROWS", (row | changed,))
    with pytest.raises(ValueError, match=message):
        sources.walk("lecture", "en", {"two": 2})
