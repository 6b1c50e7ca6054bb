"""Digits of released numbers: whole ones as integers, which pandas stores as floats beside missing values; rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.values import LARGEST_EXACT


def all_whole(numbers: NDArray[Any]) -> bool:
    """Return True if all numbers that are not missing are integers that a floating-point number holds exactly."""
    if numbers.dtype.kind != "f":
        return True
    present = numbers[~np.isnan(numbers)]
    return bool(((np.abs(present) <= LARGEST_EXACT) & (present == np.rint(present))).all())


def integer_column(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column of numbers, as one of type ``Int64`` if they are stored as floating-point numbers and all are whole."""
    numbers = column.to_numpy()
    if numbers.dtype.kind != "f" or not all_whole(numbers):
        return column
    missing = np.isnan(numbers)
    integers = np.where(missing, 0, numbers).astype(np.int64)
    return pd.Series(pd.arrays.IntegerArray(integers, missing), index=column.index, name=column.name)


def integer_cell(cell: Any) -> Any:
    """A cell, as an integer if it is a whole floating-point number; other cells are returned unchanged."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() and abs(cell) <= LARGEST_EXACT else cell


def rounded_cell(decimals: int, cell: Any) -> Any:
    """A cell, rounded if it is a floating-point number; other cells are returned unchanged."""
    return round(cell, decimals) if isinstance(cell, float) else cell
