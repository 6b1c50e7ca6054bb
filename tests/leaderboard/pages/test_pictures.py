"""Pictures of a page as files: what the page draws, without style sheet, script or network."""

import os
import re
import stat
import struct
import sys
import zlib
from xml.etree import ElementTree

import pytest
from comparison_tools import played
from run_tools import invoke

from leaderboard import Bars, Lines, Section, Series, Store, render_report
from leaderboard.pages.pictures import PALETTE, SVG, pictures_of
from scenarios.running.boards.board_result import BoardResult, board_page

NAMES = {"s": SVG}
ATTRIBUTES = {"class", "style", "href", "data-row", "tabindex", "onclick"}


def report():
    lines = Lines(
        "Error", "people", "error", (Series("Laplace", [1, 2], [0.5, 0.25]), Series("Gauß <b>", [1, 2], [1, 2]))
    )
    bars = Bars("Ages", [1, 2, 3], [1, 2, 2], 3, ("18", "95"))
    return render_report("Title", {}, [Section("Errors", (), (), (bars,), (lines,))])


@pytest.fixture(scope="module")
def board():
    return board_page(played(0, weakened=0.2))


def elements(picture):
    return ElementTree.fromstring(picture.svg)


def test_each_chart_of_a_board_is_a_picture_for_either_axis(board):
    pictures = pictures_of(board)
    assert [picture.name.rpartition("-")[2] for picture in pictures[:2]] == ["logit", "linear"]
    assert len({picture.name for picture in pictures}) == len(pictures) == 4
    for picture in pictures[:2]:
        root = elements(picture)
        assert root.find("s:title", NAMES).text == "Utility against the worst attack's advantage, bank, decoys=hard"
        texts = ["".join(text.itertext()) for text in root.iter(f"{{{SVG}}}text")]
        # Each disc has its name beside it or in the legend, and not in both.
        assert all(texts.count(name) == 1 for name in ("Alpha", "Beta", "Gamma", "Delta"))
        beside = root.findall(".//s:g[@paint-order='stroke']/s:text", NAMES)
        assert sum(texts.count(rank) for rank in "1234") == 4 + 4 - len(beside)


def texts_of(picture):
    return ["".join(text.itertext()) for text in elements(picture).iter(f"{{{SVG}}}text")]


def test_the_matrix_is_a_heat_map_for_each_goal(board):
    maps = pictures_of(board)[2:]
    assert [one.name for one in maps] == ["matrix-rows-bank-decoys-hard", "matrix-members-bank-decoys-hard"]
    for one in maps:
        texts = texts_of(one)
        assert {"Alpha", "Beta", "Gamma", "Delta", "Greedy", "Optimal", "← better"} <= set(texts)
        assert sum(re.fullmatch(r"-?\.\d\d|1\.00", text) is not None for text in texts) == 4 * 2
        # The largest advantage has the strongest colour, and numbers stay dark.
        fields, _ = elements(one).findall(".//s:g[@opacity='.8']", NAMES)
        assert fields.get("stroke") == "rgb(213,94,0)"
        # A row's cells of one colour are one line with gaps: a field of 29 units, then a gap of one.
        runs = [float(length) for path in fields for length in re.findall(r"h([\d.]+)", path.get("d"))]
        assert sum((run + 1) / 30 for run in runs) == 4 * 2
        assert {path.get("stroke-width") for path in fields} == {"17"}
        assert all(0 < float(path.get("stroke-opacity")) <= 1 for path in fields)


@pytest.mark.parametrize("points", [241, 345, 493])
def test_a_picture_for_print_has_its_width_and_legible_type(board, points):
    for picture in pictures_of(board, points)[:2]:
        root = elements(picture)
        assert float(root.get("width")) * 0.75 == pytest.approx(points, rel=1e-4)
        unit = points / float(root.get("viewBox").split()[2])
        assert 11 * unit >= 7
        assert {"Alpha", "Beta", "Gamma", "Delta"} <= set(texts_of(picture))


def test_a_long_name_of_a_legend_is_folded():
    name = "Pipeline of several defenses with parameters " * 3
    lines = Lines("Error", "people", "error", (Series(name.strip(), [1, 2], [0.5, 0.25]), Series("B", [1, 2], [1, 2])))
    picture = pictures_of(render_report("T", {}, [Section("E", (), (), (), (lines,))]))[0]
    shown = [text for text in texts_of(picture) if "Pipeline" in text or "defenses" in text]
    assert len(shown) > 1
    assert " ".join(name.split()) in " ".join(texts_of(picture))
    wide = float(elements(picture).get("viewBox").split()[2])
    assert max(map(len, shown)) * 7.2 < wide


@pytest.mark.parametrize("width", ["8.5", "8.5km", "cm", "1cm", "nancm"])
def test_a_width_without_a_unit_is_refused_in_words(tmp_path, width):
    page = tmp_path / "a.html"
    page.write_text("<p>", encoding="utf-8")
    done = invoke("pictures", page, "-o", tmp_path, "--width", width)
    assert (done.exit_code, "write a number and cm, mm, in or pt, such as 8.5cm" in done.stderr) == (2, True)


def test_nothing_of_the_page_is_needed(board):
    for picture in [*pictures_of(board), *pictures_of(report())]:
        root = elements(picture)
        assert not any(ATTRIBUTES & set(element.attrib) for element in root.iter())
        assert not {"style", "script", "use", "image"} & {
            element.tag.removeprefix(f"{{{SVG}}}") for element in root.iter()
        }
        assert "var(" not in picture.svg
        assert "light-dark" not in picture.svg
        assert picture.svg.count("http") == 1


def test_colours_are_those_of_the_light_theme(board):
    root = elements(pictures_of(board)[0])
    discs = [one for one in root.iter(f"{{{SVG}}}circle") if float(one.get("r")) > 5]
    assert {disc.get("fill") for disc in discs} == {"#0b5cad", "#ffffff"}
    assert root.find("s:rect", NAMES).get("fill") == "#ffffff"


def test_charts_of_reports_have_their_legend():
    chart, histogram = pictures_of(report())
    texts = ["".join(text.itertext()) for text in elements(chart).iter(f"{{{SVG}}}text")]
    assert texts[-2:] == ["Laplace", "Gauß <b>"]
    colours = {path.get("stroke") for path in elements(chart).iter(f"{{{SVG}}}path") if path.get("fill") == "none"}
    assert {"#1668a8", "#b3490a"} <= colours
    height = [float(each.get("height")) for each in map(elements, (chart, histogram))]
    assert height[0] > height[1]
    assert "Ages" in histogram.title


@pytest.mark.parametrize("page", ["", "no page", "<figure>", "<figure></p></figure>"])
def test_a_page_without_pictures_has_none(page):
    assert pictures_of(page) == []


@pytest.mark.parametrize(
    "page",
    [
        "<svg></svg>",
        '<figure><svg viewBox="0 0 9 9"></svg></figure>',
        '<svg data-picture="a" data-size="" class="" viewBox="0 0 a 1" width="a" height="1"><title>A</title></svg>',
        "<div>" * 100_000 + '<svg class="chart wide logit" viewBox="0 0 880 560"></svg>',
    ],
)
def test_a_page_of_earlier_releases_or_of_others_is_refused_in_words(page):
    with pytest.raises(ValueError, match="only pages that this release writes can: write the page anew"):
        pictures_of(page)


def test_the_command_refuses_a_page_of_an_earlier_release(tmp_path):
    page = tmp_path / "old.html"
    page.write_text('<figure><svg class="chart wide logit"></svg></figure>', encoding="utf-8")
    done = invoke("pictures", page, "-o", tmp_path / "out")
    assert (done.exit_code, f"{page}: its pictures cannot be saved" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


def test_a_page_embeds_a_picture_as_it_is_saved(board):
    for picture in [*pictures_of(board), *pictures_of(report())]:
        shapes = picture.svg.partition("</title>")[2].partition(">")[2]
        embedded = re.sub(
            r"var\([\w-]+,([^()]*)\)| (?:class|tabindex|aria-[a-z]+|data-[a-z]+)=\"[^\"]*\"", r"\1", board + report()
        )
        assert shapes.strip() in embedded


def test_a_page_has_the_colours_of_its_pictures(board):
    light = board[: board.index("@media")]
    assert all(f"--{name}: {colour};" in light for name, colour in PALETTE.items())
    assert set(re.findall(r"var\((--[\w-]+),", board)) <= {f"--{name}" for name in PALETTE}


def test_files_are_svg_and_png_by_their_suffix(board, tmp_path):
    pytest.importorskip("resvg_py")
    picture = pictures_of(board)[0]
    assert picture.save(tmp_path / "a.svg").read_text(encoding="utf-8") == picture.svg
    content = picture.save(tmp_path / "a.png", scale=1).read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", content[16:24])
    root = elements(picture)
    assert (width, height) == (round(float(root.get("width"))), round(float(root.get("height"))))
    with pytest.raises(ValueError, match=r"as .svg, .pdf, .png; got 'a.gif'"):
        picture.save(tmp_path / "a.gif")


def test_a_pdf_has_the_size_of_the_picture(board, tmp_path):
    pytest.importorskip("weasyprint")
    picture = pictures_of(board)[0]
    content = picture.save(tmp_path / "a.pdf").read_bytes()
    # pdflatex warns of pictures in versions after 1.5.
    assert content.startswith(b"%PDF-1.5")
    parts = (re.split(rb"[\r\n]*endstream", part)[0] for part in re.split(rb"stream\r?\n", content)[1:])
    inner = b"\n".join(zlib.decompress(part) for part in parts if part.startswith(b"x"))
    (box,) = re.finditer(rb"/MediaBox ?\[ ?0 0 ([\d.]+) ([\d.]+) ?\]", inner)
    root = elements(picture)
    # A unit of SVG is .75 points.
    assert [float(side) for side in box.groups()] == pytest.approx(
        [0.75 * float(root.get(side)) for side in ("width", "height")], abs=0.1
    )


def test_names_in_a_pdf_are_drawn_over_their_outline(board, monkeypatch):
    weasyprint = pytest.importorskip("weasyprint")
    drawn = []

    class Recorded(weasyprint.HTML):
        def __init__(self, string):
            drawn.append(string)
            super().__init__(string=string)

    monkeypatch.setattr(weasyprint, "HTML", Recorded)
    pictures_of(board)[0].pdf()
    outlined, plain, *_ = re.findall(r"<g ([^>]*)>((?:\s*<text [^>]*>\w+</text>\s*)+)</g>", drawn[0])
    assert ("paint-order" in outlined[0], "stroke" in plain[0]) == (True, False)
    assert outlined[1] == plain[1]
    assert re.search("Alpha|Beta|Gamma|Delta", plain[1])


def test_pdf_without_its_extra_names_it(board, monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(ValueError, match=r"pip install 'tokumei\[pdf\]'"):
        pictures_of(board)[0].pdf()


def test_files_have_short_names_and_the_mode_of_the_umask(board, tmp_path):
    assert [picture.name for picture in pictures_of(board)] == [
        "utility-bank-decoys-hard-logit",
        "utility-bank-decoys-hard-linear",
        "matrix-rows-bank-decoys-hard",
        "matrix-members-bank-decoys-hard",
    ]
    before = os.umask(0o022)
    try:
        saved = [picture.save(tmp_path / f"{picture.name}.svg") for picture in pictures_of(board)]
        saved.append(BoardResult(played(0, plays=2)).save(tmp_path / "board.tex"))
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in saved} == {0o644}


def test_png_without_its_extra_names_it(board, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ValueError, match=r"pip install 'tokumei\[png\]'"):
        pictures_of(board)[0].png()


def test_the_command_writes_every_picture(board, tmp_path):
    page = tmp_path / "board.html"
    page.write_text(board, encoding="utf-8")
    done = invoke("pictures", page, "-o", tmp_path / "made" / "here")
    assert done.exit_code == 0, done.output
    files = sorted((tmp_path / "made" / "here").iterdir())
    assert [file.suffix for file in files] == [".svg"] * 4
    assert sorted(done.stdout.split("\n")[:-1]) == [str(file) for file in files]


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"text", 4, "there is no picture in"),
        (b"\xff\xfe", 2, "is no page of Tokumei"),
        (None, 2, "there is no such file"),
    ],
)
def test_what_is_no_page_is_refused_in_words(tmp_path, content, code, message):
    page = tmp_path / "page.html"
    if content is not None:
        page.write_bytes(content)
    done = invoke("pictures", page, "-o", tmp_path / "out")
    assert (done.exit_code, message in done.stderr) == (code, True)
    assert not (tmp_path / "out").exists()


def test_the_page_of_a_database_is_drawn(tmp_path):
    with Store(tmp_path / "a.db") as store:
        store.add(played(0, plays=3))
    assert invoke("board", "--db", tmp_path / "a.db", "--html", tmp_path / "a.html").exit_code == 0
    assert len(pictures_of((tmp_path / "a.html").read_text(encoding="utf-8"))) == 4
