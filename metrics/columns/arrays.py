"""Type aliases for arrays, and the expansion of tables over codes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.columns import refuse

# Columns that a table must have.


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
    refuse(name not in columns, f"there is no column {name!r}; the table has {', '.join(map(str, columns))}")


Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Booleans = NDArray[np.bool_]
Integers64 = NDArray[np.int64]
Words64 = NDArray[np.uint64]
"""Unsigned 64-bit integers: seeds, hashes and random bits."""


def gathered(table: NDArray[Any], rows: Integers, columns: Integers) -> NDArray[Any]:
    """Entry of a table for each pair of a row code and a column code, as ``table[np.ix_(rows, columns)]`` but faster.

    Parameters
    ----------
    table : ndarray, shape (r, c)
        The table.
    rows : ndarray of int, shape (n,)
        Row of the table for each row of the result.
    columns : ndarray of int, shape (m,)
        Column of the table for each column of the result.

    Returns
    -------
    ndarray, shape (n, m)
        A new array.

    Notes
    -----
    Gathering columns goes entry by entry, gathering rows copies blocks of memory. So columns are gathered while there
    are few rows.
    """
    if 2 * len(table) <= rows.size:
        return np.take(np.take(table, columns, axis=1), rows, axis=0)
    return np.take(np.take(table, rows, axis=0), columns, axis=1)
