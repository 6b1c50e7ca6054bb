"""Lines of Japanese pages: no small kana begins one, and no option, word with a hyphen or heading's word is broken."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from browser_tools import chromium
from docutils import nodes
from docutils.utils import new_document
from japanese_lines import keep_words

SITE = Path(__file__).parents[2] / "docs" / "site"
SHEET = SITE / "static" / "site.css"
CODE = '種は<code class="docutils literal"><span class="pre">--anonymize-until</span></code>、'
COMMAND = """<div class="highlight-console"><div class="highlight"><pre><span class="gp">$ </span>tokumei\
<span class="w"> </span>init<span class="w"> </span>--originals<span class="w"> </span><span class="m">50</span>\
<span class="w"> </span>--attack-until<span class="w"> </span><span class="m">2030</span>-06-17T12:00\
</pre></div></div>"""
HEADING = "<h2>一意な人はどれくらいいるか</h2><h2>はじめに：CSVファイルからボードまで</h2>"
LINES = """width => {
  document.body.style.width = `${width}px`;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), lines = [];
  let bottom = -1;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    for (let at = 0; at < node.length; at++) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const box = range.getClientRects()[0];
      if (!box) continue;
      if (box.top > bottom - 3) lines.push("");
      lines[lines.length - 1] += node.data[at];
      bottom = box.bottom;
    }
  }
  return lines;
}"""


@pytest.fixture(scope="module")
def page():
    """A page of the browser, whose start takes longer than a test."""
    with chromium() as browser:
        yield browser.new_page()


def show(page, text):
    sheet = SHEET.read_text(encoding="utf-8") + "body { margin: 0; }"
    page.set_content(f'<!doctype html><html lang="ja"><style>{sheet}</style><body>{text}</body></html>')


@pytest.mark.thorough
def test_no_line_begins_with_a_small_kana_and_no_option_is_broken(page):
    show(page, "ページをチェックしてアップロードします。" * 15)
    for width in range(100, 400, 7):
        found = page.evaluate(LINES, width)
        assert len(found) > 2
        assert not [line for line in found if line[0] in "ァィゥェォッャュョー。"]
    show(page, CODE * 8)
    for width in range(200, 400, 7):
        found = page.evaluate(LINES, width)
        assert sum(line.count("--anonymize-until") for line in found) == 8
        assert not [line for line in found if line[0] == "、"]


def test_commands_and_headings_break_between_words(page):
    show(page, COMMAND)
    for width in range(230, 380, 10):
        found = page.evaluate(LINES, width)
        assert len(found) > 1
        for word in ("--originals", "--attack-until", "2030-06-17T12:00"):
            assert any(word in line for line in found)
    show(page, HEADING)
    # How wide a heading is depends on the fonts of the machine.
    found = next(lines for width in range(300, 100, -10) if len(lines := page.evaluate(LINES, width)) > 2)
    assert all(any(word in line for line in found) for word in ("いいるか", "ファイルから", "ボードまで"))


def test_words_with_a_hyphen_are_marked_outside_of_code():
    document = new_document("page")
    document += nodes.paragraph("", "", nodes.Text("文字コードはUTF-8、k-匿名性は"), nodes.literal("", "make-it"))
    app = SimpleNamespace(config=SimpleNamespace(language="ja"), builder=SimpleNamespace(format="html"))
    keep_words(app, document, "page")
    assert [node.astext() for node in document.findall(nodes.inline)] == ["UTF-8", "k-匿名性"]
    assert document.astext() == "文字コードはUTF-8、k-匿名性はmake-it"


def test_marked_words_are_kept_whole(page):
    show(page, '文字コードは<span class="whole">UTF-8</span>です。' * 9)
    for width in range(200, 400, 7):
        assert sum(line.count("UTF-8") for line in page.evaluate(LINES, width)) == 9


@pytest.mark.thorough
def test_no_space_follows_a_full_stop():
    """Bold text ends before its full stop: behind one, Markdown would need a space to see the end."""
    for page in (SITE / "ja").glob("*.md"):
        assert not re.findall(r".*。\*{0,2} (?!\|).*", page.read_text(encoding="utf-8")), page.name
