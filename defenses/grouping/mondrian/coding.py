"""Codes of many columns at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from defenses.base import CodedColumn, Microdata, code_column, plain_numbers
from metrics.columns import Domain, Floats, Integers, NumericDomain

_PARALLEL = 1 << 16
"""Number of rows from which threads are worth their start."""

_Argument = TypeVar("_Argument")
_Result = TypeVar("_Result")


def each_column(function: Callable[[_Argument], _Result], columns: Iterable[_Argument], rows: int) -> list[_Result]:
    """Results of a function of each column; on all processors if the table has many rows.

    NumPy and Arrow release the interpreter's lock while they sort and format.
    """
    if rows < _PARALLEL:
        return [function(column) for column in columns]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(function, columns))


def code_columns(records: Microdata, names: Iterable[str]) -> dict[str, CodedColumn]:
    """Code columns of records by their domains, as `defenses.base.columns.code_column` does.

    Parameters
    ----------
    records : Microdata
        The records.
    names : iterable of str
        Names of columns.

    Raises
    ------
    ValueError
        If a value is no finite number or no category of the domain; names the column.
    """
    names = list(names)
    domains = {name: records.domain(name) for name in names}
    coded = each_column(lambda name: _code(records, name, domains[name]), names, len(records))
    return dict(zip(names, coded, strict=True))


def _code(records: Microdata, name: str, domain: Domain) -> CodedColumn:
    column = records.frame[name]
    if not isinstance(domain, NumericDomain):
        return code_column(column, domain)
    codes, numbers = code_numbers(plain_numbers(column))
    values = numbers
    if (codes == numbers.size).any():
        values = np.append(numbers, np.nan)
    return CodedColumn(values, codes, numbers.size)


def code_numbers(numbers: Floats) -> tuple[Integers, Floats]:
    """Code numbers by their ascending distinct values.

    Parameters
    ----------
    numbers : ndarray of float, shape (n,)
        The numbers; NaN where missing.

    Returns
    -------
    codes : ndarray of int, shape (n,)
        Position of each number among the distinct ones; `distinct.size` where missing.
    distinct : ndarray of float, shape (distinct,)
        The distinct numbers, ascending, without NaN.
    """
    order = np.argsort(numbers)
    # -0.0 becomes 0.0, so that it does not matter which of equal numbers comes first.
    ascending = numbers[order] + 0.0
    first = np.empty(ascending.size, dtype=bool)
    first[:1] = True
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    present = ascending.size - int(np.isnan(ascending).sum())
    first[present + 1 :] = False
    distinct = ascending[:present][first[:present]]
    codes = np.empty(ascending.size, dtype=np.intp)
    codes[order] = np.cumsum(first) - 1
    return codes, distinct
