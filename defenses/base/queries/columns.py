"""Columns as queries read them: numbers within public bounds, and categories or public bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base.microdata import Microdata
from metrics.arrays import Floats
from metrics.domains import CategoricalDomain, NumericDomain

LARGEST_EXACT = 2.0**53
"""Below it every integer is a floating-point number."""


def numbers(records: Microdata, column: str) -> Floats:
    """Numbers of a column, clipped into its declared bounds, shape (n,); missing ones become the middle of the bounds.

    Raises
    ------
    ValueError
        If there is no such column, its domain is categorical, or a value is missing and no bounds are declared.
    """
    require_column(records, column)
    values = as_numbers(records.frame[column])
    domain = records.domains.get(column)
    if isinstance(domain, CategoricalDomain):
        raise ValueError(f"column {column!r} holds categories; the query needs numbers")
    if domain is None:
        if not np.isfinite(values).all():
            raise ValueError(f"column {column!r} has missing or infinite values and no declared bounds")
        return values
    middle = domain.low + (domain.high - domain.low) / 2
    return np.asarray(np.clip(np.where(np.isnan(values), middle, values), domain.low, domain.high))


def codes(records: Microdata, column: str) -> NDArray[np.intp]:
    """Category or public bin of each record, shape (n,); -1 where it is missing or not in the domain.

    Raises
    ------
    ValueError
        If there is no such column.
    """
    require_column(records, column)
    domain = records.domain(column)
    if isinstance(domain, NumericDomain):
        result = domain.codes(as_numbers(records.frame[column]))
        return np.where(result == domain.size, -1, result)
    value_codes, distinct = distinct_values(records.frame[column])
    positions = {name: position for position, name in enumerate(domain.categories)}
    code_of_value = [next((positions[text] for text in texts_of(value) if text in positions), -1) for value in distinct]
    return np.array([*code_of_value, -1], dtype=np.intp)[value_codes]


def labels(records: Microdata, column: str) -> list[str]:
    """Names of a column's categories, or its public bins as released cells.

    Raises
    ------
    ValueError
        If there is no such column.
    """
    require_column(records, column)
    domain = records.domain(column)
    return domain.cells() if isinstance(domain, NumericDomain) else list(domain.categories)


def filled(values: Floats) -> Floats:
    """Return the selected values.

    Raises
    ------
    ValueError
        If the query selects no record.
    """
    if not values.size:
        raise ValueError("the query selects no record")
    return values


def require_column(records: Microdata, column: str) -> None:
    """Raise ValueError unless the records have the column."""
    if column not in records.frame.columns:
        raise ValueError(f"there is no column {column!r}; the table has {', '.join(map(str, records.frame.columns))}")


def as_numbers(column: pd.Series[Any]) -> Floats:
    """Numbers of a column without clipping, shape (n,); NaN where a value is missing or not a number.

    The number of a record depends on its own value only, not on the types of the other records' values.
    """
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column):
        return np.asarray(column.to_numpy(dtype=float, na_value=np.nan))
    value_codes, distinct = distinct_values(column)
    return np.array([*map(_number, distinct), np.nan])[value_codes]


def distinct_values(column: pd.Series[Any]) -> tuple[NDArray[np.intp], Sequence[Any]]:
    """Position of each value among the distinct ones, shape (n,), -1 where it is missing; and the distinct values.

    Values of different types differ: ``pandas.factorize`` would make 1, 1.0 and True one value, the first in the table.
    Then one record would decide as which text the others count.
    """
    if column.dtype != object or pd.api.types.infer_dtype(column, skipna=True) == "string":
        value_codes, distinct = pd.factorize(column)
        return np.asarray(value_codes, dtype=np.intp), list(distinct)
    positions: dict[Any, int] = {}
    values: list[Any] = []
    result = np.full(len(column), -1, dtype=np.intp)
    for row, value in enumerate(column):
        if _is_missing(value):
            continue
        try:
            position = positions.setdefault((type(value), value), len(values))
        except TypeError:  # A list, for example, is not hashable.
            position = len(values)
        if position == len(values):
            values.append(value)
        result[row] = position
    return result, values


def texts_of(value: Any) -> tuple[str, ...]:
    """Texts that a value equals.

    An integer equals "72" and "72.0", however it is stored: one missing or fractional number in a column makes pandas
    store all its integers as floating-point numbers.
    """
    if isinstance(value, int | float | complex | np.number) and not isinstance(value, bool):
        number = _number(value)
        if number.is_integer() and abs(number) < LARGEST_EXACT:
            return str(int(number)), str(number)
    try:
        return (str(value),)
    except Exception:
        return ()


def _number(value: Any) -> float:
    """Return a value as a number, NaN if it is none. Text with underscores or other digits than 0-9 is none."""
    if isinstance(value, complex | np.complexfloating) and value.imag == 0:
        # One complex number in a column makes pandas store all its numbers as complex.
        value = value.real
    if isinstance(value, str):
        if not value.isascii() or "_" in value:
            return math.nan
    # NumPy counts a duration among its integers.
    elif not isinstance(value, np.bool_ | Real | Decimal) or isinstance(value, np.timedelta64):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except ValueError:
        return math.nan


def _is_missing(value: Any) -> bool:
    """Whether a cell is missing, in any of the forms that pandas knows, or a decimal that is not a number."""
    if isinstance(value, Decimal):
        return value.is_nan()
    return pd.api.types.is_scalar(value) and bool(pd.isna(value))
