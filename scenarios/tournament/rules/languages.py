"""Languages of the site and of a folder: catalogues of texts, the visitor's choice, and a text in that language.

A catalogue is a file of gettext, ``catalogues/ja.po``. Its key is the English text of a template, or the pattern of a
`Sentence`; a text without an entry stays English. Scripts, which ask for JSON, get English.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from contextvars import ContextVar
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

from metrics.columns import Sentence

LANGUAGES = {"en": "English", "ja": "日本語"}
"""Languages of the site and their names in themselves; the first is that of the code."""
LANGUAGE = ContextVar("language", default="en")
"""Language in which the current request is answered."""
_TEXT = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
_ENTRY = re.compile(rf"^msgid {_TEXT}^msgstr {_TEXT}", re.MULTILINE)


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """Texts in a language by their English ones; empty for English."""
    path = resources.files("scenarios.tournament.rules") / "catalogues" / f"{language}.po"
    entries = _ENTRY.findall(path.read_text(encoding="utf-8")) if path.is_file() else []
    # Quoted lines behind each other are one text, for gettext as for Python.
    pairs = (tuple(ast.literal_eval(f"({text})") for text in entry) for entry in entries)
    return {english: translated for english, translated in pairs if english}


def translated(text: str) -> str:
    """A text of a template in the visitor's language."""
    return catalogue(LANGUAGE.get()).get(text, text)


def worded(value: Any) -> Any:
    """A sentence, or a word of a closed list such as a phase, in the visitor's language; anything else as it is."""
    if isinstance(value, StrEnum):
        return translated(value.value)
    if not isinstance(value, Sentence):
        return value
    return translated(value.pattern).format(**{name: worded(one) for name, one in value.values.items()})


def listed_word(word: str) -> Sentence:
    """A word of a closed list, such as a phase, or a goal in a stratum, which has no entry of its own."""
    paragraph, among, stratum = word.partition(" among ")
    said = Sentence(paragraph)
    return Sentence("{goal} among {stratum}", goal=said, stratum=stratum) if among else said


def said_in(language: str, value: str) -> str:
    """A sentence in a language, for a file that has one."""
    token = LANGUAGE.set(language)
    try:
        return str(worded(value))
    finally:
        LANGUAGE.reset(token)


def preferred(chosen: str, accepted: str) -> str:
    """Language of a visitor: the chosen one, or that of the site's which the browser's header likes best."""
    wishes = {chosen: 2.0}
    for wish in accepted.split(","):
        tag, _, quality = wish.strip().partition(";q=")
        liked = float(quality) if re.fullmatch(r"[01](\.\d{0,3})?", quality) else 1.0
        wishes.setdefault(tag.partition("-")[0].casefold(), liked)
    # Of equal ones the first that the browser names.
    return max((one for one in wishes if one in LANGUAGES and wishes[one]), key=wishes.__getitem__, default="en")
