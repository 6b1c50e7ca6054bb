"""Where two tables differ, without their values."""

from __future__ import annotations

import pandas as pd


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
