"""Text of others, such as error messages and names, as a terminal may show it."""

from __future__ import annotations

import re
from collections.abc import Iterable

# The known name that is nearest to an unknown one, for messages.


def nearest_name(name: str, known: Iterable[str], cutoff: float = 0.5) -> str | None:
    """The most similar known name, whatever its case, or None if none is similar.

    Examples
    --------
    >>> nearest_name("mondrain", ["Identity", "Mondrian"])
    'Mondrian'
    """
    import difflib

    lowered = {other.lower(): other for other in known}
    containing = [other for other in lowered if len(name) > 3 and name.lower() in other]
    if containing:
        return lowered[min(containing, key=len)]
    near = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=cutoff)
    return lowered[near[0]] if near else None


# C0 and C1 controls except newline and tab, marks that reverse the direction of text, and lone surrogates.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Escape control characters as Python does; newlines and tabs stay.

    Examples
    --------
    >>> print(printable("red \x1b[31m"))
    red \x1b[31m
    """
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def one_line(error: BaseException) -> str:
    """Message of an exception in one printable line; its type's name if it has no message."""
    try:
        text = str(error)
    except Exception:
        text = ""
    plain = printable(" ".join(text.split()))
    # A sentence stays one.
    return (text if plain == text else plain) or type(error).__name__
