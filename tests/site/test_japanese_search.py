"""Japanese words are found in compounds, in the browser as in the index."""

import json
import shutil
import subprocess
import threading
import unicodedata
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import pytest
from browser_tools import chromium
from japanese_words import LONGEST, SCRIPT, index_terms, is_japanese, query_terms

SENTENCES = (
    "準識別子の組が同じレコードは、k-匿名性では k 個以上になります。",
    "局所差分プライバシー（ε=1.5）とＰＲＡＭの遷移行列、20代",
    "メンバーシップ推定・攻撃者の優位性 (adversary's advantage) 人々",
    "tokumei run people.csv --max-advantage 0.2",
    "ﾌﾟﾗｲﾊﾞｼｰ",
    "、。（）-",
)
COMPOUNDS = ("準識別子", "匿名性", "対照群", "k-匿名性", "仮名加工", "攻撃者の優位性", "局所差分プライバシー", "群")
GLOSSARY = """\
用語集
======

.. list-table::
   :header-rows: 1

   * - 用語
     - 英語
     - 意味
   * - 準識別子（間接識別情報）
     - quasi-identifier
     - 組み合わせると個人の特定につながる属性。
   * - k-匿名性
     - k-anonymity
     - どの同値類にもk個のレコードがあること。
   * - 局所差分プライバシー
     - local differential privacy
     - 各利用者がランダム化すること。
"""
PAGES = {
    "index": "最初\n====\n\n.. raw:: html\n\n   <svg><text>図の文字</text></svg>\n\n"
    "準識別子とは何か。対照群を選ぶ。\n\n.. toctree::\n\n   glossary\n   group\n   some\n",
    "glossary": GLOSSARY,
    "group": "対照群を取り分ける\n==================\n\nこの対照群は、後では用意できません。\n",
    "some": "あ\n==\n\n攻撃の話。\n",
    "both": ":orphan:\n\nん\n==\n\nこの攻撃の優位性。\n",
}

AGAIN = """query => {
  history.replaceState(null, "", `?q=${query}`);
  document.getElementById("search-results").replaceChildren();
  Search.init();
}"""


def test_every_part_of_a_sentence_is_found():
    for sentence in (unicodedata.normalize("NFKC", one) for one in SENTENCES):
        terms = set(index_terms(sentence))
        for start in range(len(sentence)):
            for end in range(start + 1, len(sentence) + 1):
                part = sentence[start:end]
                # A part of a Latin word is no term.
                wanted = {term for term in query_terms(part) if is_japanese(term)}
                assert wanted <= terms
        assert set(query_terms(sentence)) <= terms


def test_terms_of_a_query_follow_each_other_without_gap():
    for compound in COMPOUNDS:
        terms = query_terms(compound)
        assert "".join(terms) == compound.replace("-", "")
        assert max(map(len, terms)) <= LONGEST
    assert query_terms("差分プライバシーと情報") == ["差分プ", "ライバシ", "ーと情報"]
    assert query_terms("、。") == []


@pytest.mark.thorough
def test_the_browser_splits_queries_as_python_does():
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node is installed")
    queries = [part for one in SENTENCES for part in (one, one[1:], one[:-2], one[3:9])]
    program = "const Scorer = {}, Documentation = { addTranslations() {} };" + SCRIPT
    program += f"console.log(JSON.stringify({json.dumps(queries)}.map(splitQuery)));"
    answer = subprocess.run([node, "-e", program], capture_output=True, check=True, encoding="utf-8")
    assert json.loads(answer.stdout) == [query_terms(one) for one in queries]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Address of a small site in Japanese."""
    pytest.importorskip("sphinx")
    from sphinx.application import Sphinx

    folder = tmp_path_factory.mktemp("japanese")
    for name, text in PAGES.items():
        (folder / f"{name}.rst").write_text(text, encoding="utf-8")
    settings = {"extensions": "japanese_search", "language": "ja", "html_theme": "basic", "project": "例"}
    app = Sphinx(folder, None, folder / "html", folder / "trees", "html", settings, status=None)
    app.build()
    handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder / "html"))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def page():
    """A page of the browser."""
    with chromium() as browser:
        yield browser.new_page()


@pytest.fixture(scope="module")
def titles(page):
    """Function that returns the titles of the results that the browser shows."""
    return lambda: [one.inner_text() for one in page.query_selector_all("ul.search > li > a")]


@pytest.fixture(scope="module")
def search(address, page):
    """Function that searches in the browser: number of results in words; target, excerpt and highlights of each."""

    def results(query):
        if page.url.startswith(address):
            # What `Search.init` does when a page is loaded, which is dear.
            page.evaluate(AGAIN, quote(query))
        else:
            page.goto(f"{address}/search.html?q={quote(query)}")
        page.wait_for_function("document.querySelector('.search-summary')?.innerText")
        page.wait_for_function("document.querySelectorAll('.search .context').length == Search.output.children.length")
        page.wait_for_timeout(50)
        found = page.query_selector_all("ul.search > li")
        rows = [
            (
                one.query_selector("a").get_attribute("href"),
                one.query_selector(".context").inner_text(),
                "".join(mark.inner_text() for mark in one.query_selector_all(".context .highlighted")),
            )
            for one in found
        ]
        return page.inner_text(".search-summary"), rows

    return results


@pytest.mark.thorough
def test_a_term_of_the_glossary_leads_to_its_row(search):
    said, found = search("準識別子")
    assert found[0][0] == "glossary.html#term-1"
    assert {target for target, _, _ in found[1:]} == {"glossary.html", "index.html"}
    assert said == "3件見つかりました。"
    assert found[0][1].startswith("準識別子（間接識別情報） quasi-identifier")
    assert found[0][2] == "準識別子"
    assert search("k-匿名性")[1][0][0] == "glossary.html#term-2"
    assert search("匿名性")[1][0][2] == "匿名性"
    assert search("quasi-identifier")[1][0][0] == "glossary.html#term-1"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("差分", "term-3"),
        ("local", "term-3"),
        ("k匿名性", "term-2"),
        ("k 匿名性", "term-2"),
        ("Ｋ－匿名性", "term-2"),
        ("quasi", "term-1"),
        ("間接識別情報", "term-1"),
    ],
)
def test_a_part_of_a_term_finds_its_row_first_whatever_its_hyphens(search, query, row):
    assert search(query)[1][0][0] == f"glossary.html#{row}"


@pytest.mark.thorough
def test_a_result_in_the_glossary_is_called_by_its_term(search, titles):
    search("匿名性")
    assert titles()[0] == "用語集 > k-匿名性"
    search("対照群")
    assert titles() == ["対照群を取り分ける", "最初"]


@pytest.mark.thorough
def test_excerpts_have_no_labels_of_pictures(search):
    (excerpt,) = (text for target, text, _ in search("準識別子")[1] if target == "index.html")
    assert "図の文字" not in excerpt
    assert "準識別子とは何か" in excerpt


@pytest.mark.thorough
def test_a_title_precedes_the_text(search):
    assert [target for target, _, _ in search("対照群")[1]] == ["group.html", "index.html"]
    assert search("群")[1]


@pytest.mark.thorough
def test_pages_with_all_words_precede_those_with_some(search):
    assert [target for target, _, _ in search("攻撃 優位性")[1]] == ["both.html", "some.html"]
