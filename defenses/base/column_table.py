"""Table of columns without pandas, whose import takes longer than most queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metrics.columns import Floats


@dataclass(frozen=True)
class CodedTexts:
    """A column of texts: its distinct texts and one code a row.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Position of each row's text in `texts`, -1 where it is missing.
    texts : tuple of str
        The distinct texts.
    """

    codes: NDArray[np.intp]
    texts: tuple[str, ...]

    def take(self, rows: NDArray[np.bool_]) -> CodedTexts:
        """The same column of some rows."""
        return CodedTexts(self.codes[rows], self.texts)


@dataclass(frozen=True)
class ColumnTable:
    """Columns of numbers and texts: the part of a pandas table that queries read (`defenses.base.queries`).

    Parameters
    ----------
    by_name : mapping of str to ndarray or CodedTexts, shape (n,) each
        Numbers as floats, NaN where missing; texts coded.
    rows : int
        Number of rows n.
    """

    by_name: Mapping[str, Floats | CodedTexts]
    rows: int

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.by_name)

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, name: str) -> Floats | CodedTexts:
        return self.by_name[name]

    def take(self, rows: NDArray[np.bool_]) -> ColumnTable:
        """The same columns of some rows.

        Parameters
        ----------
        rows : ndarray of bool, shape (n,)
            Which rows are taken.
        """
        taken = {
            name: column.take(rows) if isinstance(column, CodedTexts) else column[rows]
            for name, column in self.by_name.items()
        }
        return ColumnTable(taken, int(rows.sum()))
