"""Lines of Japanese pages: no small kana begins one, and an option of a command is not broken."""

import re
from pathlib import Path

from browser_tools import chromium

SITE = Path(__file__).parents[2] / "docs" / "site"
SHEET = SITE / "static" / "site.css"
CODE = '種は<code class="docutils literal"><span class="pre">--anonymize-until</span></code>、'
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


def test_no_line_begins_with_a_small_kana_and_no_option_is_broken():
    style = SHEET.read_text(encoding="utf-8")
    with chromium() as browser:
        page = browser.new_page()

        def show(text):
            sheet = f"{style}body {{ margin: 0; }}"
            page.set_content(f'<!doctype html><html lang="ja"><style>{sheet}</style><body>{text}</body></html>')

        show("ページをチェックしてアップロードします。" * 5)
        for width in range(100, 400, 7):
            found = page.evaluate(LINES, width)
            assert len(found) > 2
            assert not [line for line in found if line[0] in "ァィゥェォッャュョー。"]
        show(CODE * 8)
        for width in range(200, 400, 7):
            found = page.evaluate(LINES, width)
            assert sum(line.count("--anonymize-until") for line in found) == 8
            assert not [line for line in found if line[0] == "、"]


def test_no_space_follows_a_full_stop():
    """Bold text ends before its full stop: behind one, Markdown would need a space to see the end."""
    for page in (SITE / "ja").glob("*.md"):
        assert not re.findall(r".*。\*{0,2} (?!\|).*", page.read_text(encoding="utf-8")), page.name
