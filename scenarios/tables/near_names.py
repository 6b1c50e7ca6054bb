"""Names near an unknown one, for messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from metrics.columns import nearest_name

LISTED = 40
"""Largest number of names that an error message lists."""


def suggestion(name: str, known: Mapping[str, Any] | Sequence[str]) -> str:
    """The end of an error message about an unknown name.

    Examples
    --------
    >>> suggestion("mondrain", ["Identity", "Mondrian"])
    "; did you mean 'Mondrian'?"
    """
    near = nearest_name(name, known)
    if near is not None:
        return f"; did you mean {near!r}?"
    return f"; known are {', '.join(sorted(known))}" if len(known) <= LISTED else "; `tokumei list` shows what there is"
