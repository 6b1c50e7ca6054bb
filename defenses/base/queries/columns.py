"""Columns as queries read them: numbers within public bounds, and categories or public bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from defenses.base.column_table import CodedTexts
from defenses.base.microdata import Microdata
from metrics.columns import (
    CategoricalDomain,
    Floats,
    NumericDomain,
    distinct_values,
    number_of,
    require,
    require_column,
    texts_of,
)

if TYPE_CHECKING:
    import pandas as pd

    Column = pd.Series[Any] | Floats | CodedTexts


def numbers(records: Microdata, column: str) -> Floats:
    """Numbers of a column, clipped into its declared bounds, shape (n,); missing ones become the middle of the bounds.

    Raises ValueError if there is no such column, its domain is categorical, or a value is missing and no bounds are
    declared.
    """
    require_column(records.frame.columns, column)
    values = as_numbers(records.frame[column])
    domain = records.domains.get(column)
    if isinstance(domain, CategoricalDomain):
        raise ValueError(f"column {column!r} holds categories; the query needs numbers")
    if domain is None:
        require(np.isfinite(values).all(), f"column {column!r} has missing or infinite values and no declared bounds")
        return values
    middle = domain.low + (domain.high - domain.low) / 2
    return np.asarray(np.clip(np.where(np.isnan(values), middle, values), domain.low, domain.high))


def codes(records: Microdata, column: str) -> NDArray[np.intp]:
    """Category or public bin of each record, shape (n,); -1 where it is missing or not in the domain.

    Raises ValueError if there is no such column.
    """
    require_column(records.frame.columns, column)
    domain = records.domain(column)
    if isinstance(domain, NumericDomain):
        result = domain.codes(as_numbers(records.frame[column]))
        return np.where(result == domain.size, -1, result)
    value_codes, distinct = coded(records.frame[column])
    positions = {name: position for position, name in enumerate(domain.categories)}
    code_of_value = [next((positions[text] for text in texts_of(value) if text in positions), -1) for value in distinct]
    return np.array([*code_of_value, -1], dtype=np.intp)[value_codes]


def labels(records: Microdata, column: str) -> list[str]:
    """Names of a column's categories, or its public bins as released cells.

    Raises ValueError if there is no such column.
    """
    require_column(records.frame.columns, column)
    domain = records.domain(column)
    return domain.cells() if isinstance(domain, NumericDomain) else list(domain.categories)


def require_selection(values: Floats) -> Floats:
    """Return the selected values.

    Raises ValueError if the query selects no record.
    """
    require(values.size, "the query selects no record")
    return values


def as_numbers(column: Column) -> Floats:
    """Numbers of a column without clipping, shape (n,); NaN where a value is missing or not a number.

    The number of a record depends on its own value only, not on the types of the other records' values.
    """
    if isinstance(column, np.ndarray):
        return column
    if not isinstance(column, CodedTexts):
        from pandas.api.types import is_complex_dtype, is_numeric_dtype

        if is_numeric_dtype(column) and not is_complex_dtype(column):
            return np.asarray(column.to_numpy(dtype=float, na_value=np.nan))
    value_codes, distinct = coded(column)
    return np.array([*map(number_of, distinct), np.nan])[value_codes]


def coded(column: Column) -> tuple[NDArray[np.intp], Sequence[Any]]:
    """Position of each value among the distinct ones, shape (n,), -1 where it is missing; and the distinct values."""
    return (column.codes, column.texts) if isinstance(column, CodedTexts) else distinct_values(column)
