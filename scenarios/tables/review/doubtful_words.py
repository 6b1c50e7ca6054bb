"""Categories whose word usually means a missing value."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from scenarios.tables.reading.number_forms import MISSING, WORDS

_WORDS = WORDS | {word.casefold() for word in MISSING}


def doubtful_words(categories: Mapping[str, Iterable[str]]) -> list[str]:
    """Notes on categories that may mean a missing value, one line a word.

    Parameters
    ----------
    categories : mapping of str to iterable of str
        Categories of each column that nobody has declared.
    """
    columns: dict[str, list[str]] = {}
    for name, texts in categories.items():
        for text in {text.strip() for text in texts}:
            if text.casefold() in _WORDS:
                columns.setdefault(text, []).append(name)
    return [
        f"{', '.join(names)}: {text} is a category; if it means a missing value, give --na {shlex.quote(text)}"
        for text, names in sorted(columns.items())
    ]
