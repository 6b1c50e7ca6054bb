"""Columns that a table must have."""

from __future__ import annotations

from collections.abc import Collection


def require_column(columns: Collection[object], name: str) -> None:
    """Raise ValueError unless the name is one of the table's columns.

    Parameters
    ----------
    columns : collection
        Names of the table's columns.
    name : str
        The column that is needed.

    Raises
    ------
    ValueError
        If there is no such column; the message names it and those that there are.
    """
    if name not in columns:
        raise ValueError(f"there is no column {name!r}; the table has {', '.join(map(str, columns))}")
