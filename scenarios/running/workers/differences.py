"""Where two tables or two answers differ, without their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from defenses.base import MicrodataRelease


def difference(before: pd.DataFrame, after: pd.DataFrame) -> str:
    """The first part in which two tables differ.

    Returns
    -------
    str
        Such as ``column 'age'``, ``the rows`` or ``the columns``; an empty text if the tables are equal.

    Examples
    --------
    >>> difference(pd.DataFrame({"age": [1, 2]}), pd.DataFrame({"age": [1, 3]}))
    "column 'age'"
    """
    if list(before.columns) != list(after.columns):
        return "the columns"
    if not before.index.equals(after.index):
        return "the rows"
    changed = [name for name in before.columns if not before[name].equals(after[name])]
    return f"column {changed[0]!r}" if changed else ""


def released_difference(first: MicrodataRelease, second: MicrodataRelease) -> str:
    """The first part in which two releases differ, as in `difference`; ``the origins`` after the table."""
    changed = difference(first.frame, second.frame)
    return changed or ("" if np.array_equal(first.origin, second.origin) else "the origins")


def different_attribute(first: Any, second: Any) -> str:
    """Name of the first attribute in which two answers differ, such as those of claims.

    Objects without content that could be compared, such as functions, count as equal.

    Returns
    -------
    str
        An empty text if the answers are equal; ``type`` if they are of different types.

    Examples
    --------
    >>> from attacks import Decisions
    >>> different_attribute(Decisions([0.5, 1]), Decisions([0.5, 0]))
    'scores'
    """
    if type(first) is not type(second):
        return "type"
    one, other = vars(first), vars(second)
    for name in {**one, **other}:
        if name not in one or name not in other or not _same(one[name], other[name]):
            return str(name)
    return ""


def _same(first: Any, second: Any) -> bool:
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, pd.DataFrame | pd.Series | pd.Index):
        return bool(first.equals(second))
    if isinstance(first, np.ndarray):
        return bool(np.array_equal(first, second, equal_nan=first.dtype.kind in "fc"))
    if isinstance(first, Mapping):
        return first.keys() == second.keys() and all(_same(value, second[key]) for key, value in first.items())
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    if isinstance(first, float):
        return first == second or (first != first and second != second)
    if callable(first):
        return True
    if hasattr(first, "__dict__"):
        return not different_attribute(first, second)
    return "__eq__" not in dir(type(first)) or bool(first == second)
