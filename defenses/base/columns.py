"""Reading and coding of columns whose cells are plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base.microdata import Microdata
from metrics.columns import (
    Domain,
    Given,
    Integers,
    NumericDomain,
    check_real,
    distinct_cells,
    escape,
    is_mixed,
    read_cells,
    refuse_rows,
    require,
)


def check_columns(columns: Given) -> Given:
    """Return the parameter `columns` if it is None or a list of distinct column names; otherwise raise ValueError."""
    if columns is None:
        return columns
    require(
        isinstance(columns, Sequence)
        and not isinstance(columns, str)
        and all(isinstance(name, str) for name in columns)
        and len(set(columns)) == len(columns),
        f"columns must be a list of column names, each once, got {columns!r}",
    )
    return columns


def check_number_or_numbers(name: str, value: Given, columns: Any, **bounds: Any) -> Given:
    """Return a checked number for all `columns`, or a mapping of columns to numbers; bounds are those of `check_real`.

    Raises ValueError if a number is out of bounds, both a mapping and `columns` are given, or `columns` is no list of
    names.
    """
    if isinstance(value, Mapping):
        require(columns is None, f"columns goes with a single {name}; a mapping of {name}s names its own columns")
        for column, number in value.items():
            check_real(f"{name}[{column!r}]", number, **bounds)
    else:
        check_real(name, value, **bounds)
    check_columns(columns)
    return value


def is_number_column(column: pd.Series[Any]) -> bool:
    """Tell whether a column is stored as numbers; Booleans are categories."""
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def is_numeric(records: Microdata, name: str) -> bool:
    """Tell whether a column is numeric by its declared domain, or by its storage if no domain is declared."""
    declared = records.domains.get(name)
    return is_number_column(records.frame[name]) if declared is None else isinstance(declared, NumericDomain)


def filled(records: Microdata, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that hold at least one value; methods leave the others unchanged."""
    return tuple(name for name in names if records.frame[name].notna().any())


def public_or_filled(records: Microdata, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns with a public domain, and those of the others that hold at least one value.

    Methods with a guarantee choose their columns by this function. Randomizing a column with a public domain, and its
    share of the budget, must not depend on the records. A table without records has none: its size is public.
    """
    if not len(records):
        return ()
    inferred = records.not_public(names)
    with_values = filled(records, inferred)
    return tuple(name for name in names if name not in inferred or name in with_values)


def plain_numbers(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Numbers of a column, original or released, shape (n,); NaN where missing.

    Raises ValueError if a cell is not a plain, finite number; names column and row (from 0).
    """
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    refuse_rows(
        (np.isnan(numbers) & column.notna().to_numpy()) | np.isinf(numbers),
        lambda row: (
            f"column {column.name!r}, row {row}: the cell is no plain number; "
            "a step that reads numbers must come before steps that generalize or suppress them"
        ),
    )
    return numbers


def plain_codes(column: pd.Series[Any], domain: Domain) -> NDArray[np.intp]:
    """Category or public bin of each released cell, shape (n,); `domain.size` if missing.

    Raises ValueError if a cell is not a single category or bin of the domain; names column and row (from 0).
    """
    if isinstance(domain, NumericDomain):
        codes, distinct = pd.factorize(column.astype(object), use_na_sentinel=True)
        code_of_cell = np.append(pd.Index(domain.cells()).get_indexer(pd.Index(distinct, dtype=object)), domain.size)
        result = code_of_cell[codes]
        wrong = result < 0
    else:
        cells = read_cells(column, domain)
        wrong = ~cells.plain[cells.codes]
        code_of_cell = np.where(cells.missing, domain.size, cells.contains(domain.categories).argmax(axis=1))
        result = code_of_cell[cells.codes]
    refuse_rows(
        wrong,
        lambda row: (
            f"column {column.name!r}, row {row}: the cell is not one of the "
            f"{domain.size} {'bins' if isinstance(domain, NumericDomain) else 'categories'} of its domain"
        ),
    )
    return np.asarray(result, dtype=np.intp)


def category_codes(records: Microdata, name: str) -> NDArray[np.intp]:
    """Category or public bin of each record in a column, shape (n,); the size of the domain if missing.

    Raises ValueError if a value is not a number or not a category of the domain; names the column.
    """
    return codes_in_domain(records.frame[name], records.domain(name))


def codes_in_domain(column: pd.Series[Any], domain: Domain) -> NDArray[np.intp]:
    """Category or public bin of each value of a column, shape (n,); the size of the domain if missing."""
    return domain.codes(plain_numbers(column) if isinstance(domain, NumericDomain) else column)


@dataclass(frozen=True)
class CodedColumn:
    """A column of records as its distinct values and one code per record.

    Attributes
    ----------
    values : ndarray, shape (size,)
        The distinct values; None or NaN stands for the missing one, if any value is missing.
    codes : ndarray of int, shape (n,)
        Position of each record's value in `values`.
    missing : int
        Code of a missing value; `size` if none is missing.
    """

    values: NDArray[Any]
    codes: Integers
    missing: int

    @property
    def size(self) -> int:
        """Number of distinct values, including the missing one."""
        return int(self.values.size)

    @property
    def counts(self) -> Integers:
        """Number of records with each value, shape (size,)."""
        return np.bincount(self.codes, minlength=self.size)

    def by_record(self) -> NDArray[Any]:
        """Value of each record, shape (n,)."""
        return np.asarray(self.values[self.codes])


def code_values(column: pd.Series[Any], *, ascending: bool = False) -> CodedColumn:
    """Code a column by its values as they are stored, in order of appearance unless `ascending`.

    Parameters
    ----------
    column : Series, shape (n,)
        Original values or released cells.
    ascending : bool
        Whether values are sorted, by their texts if their types differ; a missing value then comes last.
    """
    if is_mixed(column):
        codes, values = distinct_cells(column)
        if ascending:
            order = _ascending(values)
            codes, values = np.argsort(order)[codes], values[order]
    else:
        codes, distinct = pd.factorize(column, sort=ascending, use_na_sentinel=False)
        values = np.asarray(distinct, dtype=object)
    missing = np.flatnonzero(pd.isna(values))
    return CodedColumn(values, codes, int(missing[0]) if missing.size else values.size)


def _ascending(values: NDArray[np.object_]) -> NDArray[np.intp]:
    """Order that sorts distinct values, or their texts if they cannot be compared; a missing one comes last."""
    missing = pd.isna(values)
    present = np.flatnonzero(~missing).tolist()
    try:
        present.sort(key=lambda code: values[code])
    except TypeError:
        present.sort(key=lambda code: str(values[code]))
    return np.array([*present, *np.flatnonzero(missing)], dtype=np.intp)


def code_column(column: pd.Series[Any], domain: Domain) -> CodedColumn:
    """Code a column by its domain, with a missing value last.

    The values of a numeric column are its distinct numbers in ascending order. Those of a categorical column are all
    categories of its domain, in the domain's order.

    Parameters
    ----------
    column : Series, shape (n,)
        Original values.
    domain : Domain
        Declared or inferred domain of the column.

    Raises
    ------
    ValueError
        If a value is no finite number or no category of the domain; names the column.
    """
    if isinstance(domain, NumericDomain):
        codes, values = pd.factorize(plain_numbers(column), sort=True, use_na_sentinel=True)
        count = values.size
        codes = np.where(codes < 0, count, codes)
    else:
        codes, values = codes_in_domain(column, domain), np.array(domain.categories, dtype=object)
        count = domain.size
    if (codes == count).any():
        values = np.append(values, [np.nan if isinstance(domain, NumericDomain) else None])
    return CodedColumn(values, codes, count)


def category_count(records: Microdata, name: str) -> int:
    """Number of categories or public bins of a column, plus one if any value is missing."""
    return records.domain(name).size + int(records.frame[name].isna().any())


def category_cells(domain: Domain) -> NDArray[np.object_]:
    """Released cells of all categories or public bins, then of the missing value, shape (size + 1,)."""
    names = domain.cells() if isinstance(domain, NumericDomain) else [escape(name) for name in domain.categories]
    return np.array([*names, None], dtype=object)


def stored_alike(numbers: NDArray[np.float64], column: pd.Series[Any]) -> pd.Series[Any]:
    """Numbers as a released column: integers if `column` stores integers and all numbers are below 2**53."""
    exact = pd.api.types.is_integer_dtype(column) and bool((np.abs(numbers) < 2**53).all())
    exact = exact and bool((numbers == np.rint(numbers)).all())
    return pd.Series(numbers.astype(np.int64) if exact else numbers, name=column.name)
