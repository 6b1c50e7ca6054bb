"""Markup and geometry of a report's page."""

import re

import pytest

from leaderboard import Bars, Lines, Section, Series, Table, render_report


def page(*sections):
    return render_report("Report", {}, sections)


def paths(text, name):
    [path] = re.findall(rf'<path class="{name}" d="([^"]*)"', text)
    return path


def rectangles(path):
    """Left and right end of each rectangle, and its height."""
    corners = re.findall(r"M([\d.]+) 120V([\d.]+)h([\d.]+)V120z", path)
    assert "".join(f"M{left} 120V{top}h{wide}V120z" for left, top, wide in corners) == path
    return [(float(left), float(left) + float(wide), 120 - float(top)) for left, top, wide in corners]


@pytest.mark.parametrize("d", [1, 2, 5, 20])
def test_the_outline_of_each_bar_stands_at_its_bar(d):
    bars = Bars("ε = 1", tuple(range(1, d + 1)), tuple(range(d, 0, -1)), float(d), ("1", str(d)))
    text = page(Section("Part", bars=(bars,)))
    solid, outline = (rectangles(paths(text, name)) for name in ("bars", "outline"))
    assert len(solid) == len(outline) == d
    assert [one[:2] for one in solid] == [one[:2] for one in outline]
    assert [one[2] for one in solid] == pytest.approx([120 * count / d for count in bars.counts], abs=0.1)
    # Each bar stands in the middle of its part of the axis.
    for index, (left, right, _) in enumerate(solid):
        assert (left + right) / 2 == pytest.approx(296 * (index + 0.5) / d, abs=0.2)


@pytest.mark.parametrize(
    ("ends", "anchors"), [(("Female", "Male"), ["middle"] * 2), (("x" * 60, "y"), ["start", "end"])]
)
def test_the_ends_are_named_below_their_bars_or_where_they_fit(ends, anchors):
    text = page(Section("Part", bars=(Bars("ε = 1", (1, 2), (2, 1), 2.0, ends),)))
    found = re.findall(r'<text x="([\d.]+)" y="133" text-anchor="(\w+)">', text)
    assert [anchor for _, anchor in found] == anchors
    if anchors[0] == "middle":
        assert [float(x) for x, _ in found] == [74.0, 222.0]


def test_what_stands_in_backticks_is_code_and_escaped():
    table = Table("Advice", ("what", "how"), (("classes", "use `-p t=<.1>` & `k`"),), note="see `tokumei info X`")
    text = page(Section("Part", ("<i> and one ` alone",), (table,)))
    for shown in (
        "<p>&lt;i&gt; and one ` alone</p>",
        "use <code>-p t=&lt;.1&gt;</code> &amp; <code>k</code>",
        "see <code>tokumei info X</code>",
    ):
        assert shown in text


def test_a_chart_alone_is_wider_than_one_of_many():
    chart = Lines("Gap", "epsilon", "loss", (Series("a", (1, 2), (1, 2)),))
    bars = Bars("ε = 1", (1, 2), (2, 1), 2.0, ("a", "b"))
    alone, many = page(Section("Part", lines=(chart,), bars=(bars,))), page(Section("Part", lines=(chart,) * 2))
    assert '<div class="charts alone">' in alone
    assert '<div class="histograms alone">' in alone
    assert '<div class="charts">' in many


def test_a_table_that_is_too_wide_for_a_phone_is_stacked_with_the_heading_of_each_cell():
    wide = Table("Wide", ("#", "release", "note"), [("1", "a.csv", "word " * 20)])
    narrow = Table("Narrow", ("protocol", "ε = 1"), [("HadamardResponse", 0.5)])
    assert wide.wide
    assert not narrow.wide
    text = page(Section("Part", tables=(wide, narrow)))
    assert text.count('<table class="stacked">') == 1
    assert '<td class="text short" data-label="release">a.csv</td>' in text
    # A column of ranks is as wide as its ranks.
    assert '<th scope="row" class="brief" data-label="#">1</th>' in text
    assert '<th scope="row">Hadamard<wbr>Response</th>' in text
    assert not Table("Names", ("release",), [("a.csv",)]).brief


def test_print_repeats_the_headings_of_tables():
    style = page(Section("Part"))
    in_print = style[style.index("@media print") :]
    assert re.search(r"thead[^{]*\{ break-inside: avoid; \}", in_print)
