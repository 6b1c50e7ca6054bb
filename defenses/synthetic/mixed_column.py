"""A column of numbers or categories as synthesizers read and write it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base import Microdata, category_cells, category_codes, code_values, plain_numbers, stored_alike
from metrics.columns import Domain, Floats, Integers, NumericDomain

Drawn = NDArray[Any]
"""Values of new rows: numbers with NaN where missing, or codes of categories."""


@dataclass(frozen=True)
class MixedColumn:
    """A column of numbers, or of categories as codes.

    Attributes
    ----------
    original : Series, shape (n,)
        The column as the publisher holds it.
    domain : Domain, optional
        Its domain; None for a column of released cells.
    values : ndarray, shape (n,)
        Numbers, NaN where missing; or the code of each record's category.
    cells : ndarray of object, shape (categories + 1,), optional
        Released cell of each code, the missing value last; None for a column of numbers.
    """

    original: pd.Series[Any]
    domain: Domain | None
    values: NDArray[Any]
    cells: NDArray[Any] | None

    @property
    def numeric(self) -> bool:
        """Whether the column holds numbers."""
        return self.cells is None

    @cached_property
    def distinct(self) -> Floats:
        """The distinct numbers in ascending order, or the codes of all categories."""
        if self.cells is not None:
            return np.arange(self.cells.size, dtype=float)
        return np.unique(self.values[~np.isnan(self.values)])

    @cached_property
    def ranks(self) -> Integers:
        """Position of each record's value among `distinct`, shape (n,); -1 for a missing number.

        Trees split ranks as they split numbers. 32-bit features hold ranks exactly, but not all numbers.
        """
        if not self.numeric:
            return np.asarray(self.values, dtype=np.intp)
        return np.where(np.isnan(self.values), -1, np.searchsorted(self.distinct, self.values))

    def released(self, drawn: Drawn) -> pd.Series[Any]:
        """Released cells of new rows, shape (m,); numbers are rounded where the domain holds integers."""
        if self.cells is not None:
            return pd.Series(self.cells[drawn], dtype=object)
        whole = isinstance(self.domain, NumericDomain) and self.domain.integer
        return stored_alike(np.rint(drawn) if whole else drawn, self.original)


def mixed_column(records: Microdata, name: str) -> MixedColumn:
    """Read a column with at least one value.

    Raises
    ------
    ValueError
        If a value is no finite number or no category of the domain; names the column.
    """
    original = records.frame[name]
    if name in records.generalized:
        coded = code_values(original)
        return MixedColumn(original, None, coded.codes, np.append(coded.values, [None]))
    domain = records.domain(name)
    if isinstance(domain, NumericDomain):
        return MixedColumn(original, domain, plain_numbers(original), None)
    return MixedColumn(original, domain, category_codes(records, name), category_cells(domain))
