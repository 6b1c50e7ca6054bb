"""Text of others, such as error messages and names, as a terminal may show it."""

from __future__ import annotations

import re

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
    return printable(" ".join(text.split())) or type(error).__name__
