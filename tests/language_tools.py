"""Texts of the tournament's site, found in its templates and code."""

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

from jinja2 import nodes

import leaderboard
import metrics
import scenarios
from scenarios.tournament.site.pages.answers import environment

PACKAGES = [Path(package.__file__).parent for package in (scenarios, leaderboard, metrics)]
TEMPLATES = sorted((PACKAGES[0] / "tournament" / "site" / "templates").glob("*.html"))
_SAID = ("alt", "aria-label", "data-head", "placeholder", "title")
"""Attributes that people read or hear."""
_WORD = re.compile(r"[A-Za-z]{2,}")


def template_texts(path):
    """Texts that a template hands to gettext."""
    texts = set()
    for _, _, message in environment().extract_translations(path.read_text(encoding="utf-8")):
        texts |= {message} if isinstance(message, str) else set(message) - {None}
    return texts


def sentences():
    """Patterns of all sentences in the code."""
    found = set()
    for path in (path for package in PACKAGES for path in package.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "Sentence" in source:
            found |= _patterns(source, path)
    return found - {""}


def _patterns(source, path):
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Sentence", "Sentence.joined"):
            if ast.unparse(node.args[0]) == "paragraph":
                # Paragraphs of the page of rules, which `texts` adds.
                continue
            texts = {one.value for one in _constants(node.args[0])}
            assert texts, f"{path}, line {node.lineno}: the pattern of a sentence is a literal"
            found |= texts
    return found


def _constants(node):
    """Literal texts that an expression may be."""
    if isinstance(node, ast.IfExp):
        return [*_constants(node.body), *_constants(node.orelse)]
    return [node] if isinstance(node, ast.Constant) else []


class _Read(HTMLParser):
    """What people read of a page: its texts, and the attributes that are read to them."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def handle_data(self, data):
        self.texts.append(data)

    def handle_starttag(self, tag, attrs):
        self.texts += [value for name, value in attrs if name in _SAID and value]


def read_texts(html):
    """Texts of a page that people read."""
    reader = _Read()
    reader.feed(html)
    return [text for text in map(str.strip, reader.texts) if text]


def raw_texts(path):
    """English texts in a template that do not go through gettext."""
    source = path.read_text(encoding="utf-8")
    bare = re.sub(
        r"<style>.*?</style>|\{%-? trans.*?endtrans -?%\}|\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", source, flags=re.DOTALL
    )
    found = [text for text in read_texts(bare) if _WORD.search(text)]
    for choice in environment().parse(source).find_all(nodes.CondExpr):
        sides = (choice.expr1, choice.expr2)
        found += [one.value for one in sides if isinstance(one, nodes.Const) and re.match("[A-Z]|.* ", str(one.value))]
    return found


def fields(text):
    """Placeholders of a text, by which values come into it."""
    return set(re.findall(r"%\((\w+)\)s", text)) | set(re.findall(r"(?<!\{)\{(\w+)", text.replace("{{", "")))


ENGLISH = re.compile(r"[A-Za-z]+ [A-Za-z]+ [A-Za-z]+")
NAMES_OF_THINGS = re.compile(r"Bank Marketing: .*|tokumei tournament score")


def japanese(answer, status=200):
    """Text of a page that says nothing in English."""
    assert answer.status_code == status, answer.text
    assert '<html lang="ja">' in answer.text
    said = read_texts(answer.text)
    assert not [text for text in said if ENGLISH.search(NAMES_OF_THINGS.sub("", text))]
    return "\n".join(said)


def followed(visitor, answer):
    """The page to which a form leads."""
    assert answer.status_code == 303, answer.text
    return japanese(visitor.get(answer.headers["location"]))


def post(visitor, path, data=None, *, page, files=None):
    """Send a form of a page with its number, as a browser does."""
    number = re.search(r'name="once" value="([^"]+)"', visitor.get(page).text)
    return visitor.post(path, {"once": number[1] if number else "", **(data or {})}, page=page, files=files)
