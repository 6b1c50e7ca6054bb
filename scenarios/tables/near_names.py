"""Names near an unknown one, for messages."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from metrics.columns import nearest_name

LISTED = 40
"""Largest number of names that an error message lists."""


def known_as(name: str, classes: Mapping[str, Any]) -> str | None:
    """The key of the class or function that a name means in another spelling, or by a name that the field knows.

    Examples
    --------
    >>> known_as("fellegi-sunter", {"FellegiSunter": object}), known_as("pram", {"FellegiSunter": object})
    ('FellegiSunter', None)
    """
    plain = _plain(name)
    by_name = (key for key in classes if _plain(key) == plain)
    by_field = (
        key for key, one in classes.items() if plain in map(_plain, getattr(one, "__dict__", {}).get("called", ()))
    )
    meant = field_terms().get(plain)
    return next(by_name, None) or next(by_field, meant if meant in classes else None)


@cache
def field_terms() -> dict[str, str]:
    """Terms of the field, and what each means here: another name, or words about what stands closest."""
    with Path(__file__).with_name("field_terms.csv").open(encoding="utf-8", newline="") as file:
        return {_plain(term): meaning for term, meaning in csv.reader(file)}


def _plain(name: str) -> str:
    """Letters and digits of a name in lower case and American spelling."""
    letters = re.sub(r"[\W_]", "", name.casefold())
    return letters.replace("isation", "ization").replace("ised", "ized").replace("neighbor", "neighbour")


def suggestion(name: str, known: Mapping[str, Any] | Sequence[str]) -> str:
    """The end of an error message about an unknown name.

    Examples
    --------
    >>> suggestion("mondrain", ["Identity", "Mondrian"])
    "; did you mean 'Mondrian'?"
    """
    meant, near = field_terms().get(_plain(name), ""), nearest_name(name, known)
    if " " in meant and _plain(near or "") != _plain(name):
        return f"; {meant}"
    if near is not None:
        return f"; did you mean {near!r}?"
    return f"; known are {', '.join(sorted(known))}" if len(known) <= LISTED else "; `tokumei list` shows what there is"
