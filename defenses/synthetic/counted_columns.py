"""The records as exact counts of sets of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from metrics.columns.arrays import Floats, Integers

Columns = tuple[int, ...]
"""Numbers of columns in ascending order, or their sizes."""


@dataclass(frozen=True)
class CountedColumns:
    """Records as positions of values in public domains.

    Parameters
    ----------
    codes : list of ndarray of int, each of shape (n,)
        Position of each record's value in each column; -1 where it is missing or not in the domain.
    sizes : tuple of int
        Number of values of each column.
    """

    codes: list[Integers] = field(repr=False)
    sizes: Columns

    @property
    def n(self) -> int:
        """Number of records, which is public."""
        return int(self.codes[0].size)

    def cells(self, columns: Columns) -> int:
        """Number of combinations of values of the columns."""
        return math.prod(self.sizes[column] for column in columns)

    def shape(self, columns: Columns) -> tuple[int, ...]:
        """Number of values of each of the columns."""
        return tuple(self.sizes[column] for column in columns)

    def counts(self, columns: Columns) -> Floats:
        """Exact counts, one axis for each column; n for no column. They are private."""
        if not columns:
            return np.array(float(self.n))
        return counted([self.codes[column] for column in columns], self.shape(columns))


def counted(codes: Sequence[Integers], shape: tuple[int, ...]) -> Floats:
    """Number of rows in each combination of values, one axis for each column; rows with a negative code do not count.

    Parameters
    ----------
    codes : sequence of ndarray of int, each of shape (n,)
        Value of each row in each column.
    shape : tuple of int
        Number of values of each column.
    """
    flat = codes[0]
    valid = codes[0] >= 0
    for code, size in zip(codes[1:], shape[1:], strict=True):
        flat = flat * size + code
        valid = valid & (code >= 0)
    if not valid.all():
        flat = flat[valid]
    return np.bincount(flat, minlength=math.prod(shape)).astype(float).reshape(shape)
