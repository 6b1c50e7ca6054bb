"""Tables spread over public bins, for comparing original and generalized tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.cells import escape_column, read_cells
from metrics.domains import Domain


@dataclass(frozen=True)
class Profile:
    """A table as one block of bins per column.

    Attributes
    ----------
    mass : ndarray of float, shape (rows, bins)
        Share of each row in each bin; a row sums to 1 in every block. A generalized cell spreads evenly over the values
        that it covers. The last bin of a block is the missing value.
    starts : ndarray of int, shape (columns,)
        First bin of each block.
    """

    mass: NDArray[np.float64]
    starts: NDArray[np.intp]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.mass.shape[0])

    @property
    def counts(self) -> NDArray[np.float64]:
        """Expected number of rows in each bin, shape (bins,)."""
        total: NDArray[np.float64] = self.mass.sum(axis=0)
        return total

    def block(self, column: int) -> NDArray[np.float64]:
        """Mass of one column, shape (rows, bins of the column)."""
        ends = np.append(self.starts[1:], self.mass.shape[1])
        return self.mass[:, self.starts[column] : ends[column]]

    def without(self, column: int) -> NDArray[np.float64]:
        """Mass of all other columns, shape (rows, their bins)."""
        ends = np.append(self.starts[1:], self.mass.shape[1])
        return np.delete(self.mass, np.s_[self.starts[column] : ends[column]], axis=1)


def profile(released: pd.DataFrame, domains: Mapping[str, Domain]) -> Profile:
    """Spread a released table over the bins of `domains`, with columns in the order of `domains`.

    Raises
    ------
    ValueError
        If a column is missing or a cell cannot be read; names column, row and cell.
    """
    blocks = []
    for name, domain in domains.items():
        if name not in released.columns:
            raise ValueError(f"the released table has no column {name!r}")
        cells = read_cells(released[name], domain)
        blocks.append(cells.mass()[cells.codes])
    starts = np.cumsum([0, *(block.shape[1] for block in blocks)])[:-1]
    mass = np.hstack(blocks) if blocks else np.zeros((len(released), 0))
    return Profile(mass, starts.astype(np.intp))


def original_profile(original: pd.DataFrame, domains: Mapping[str, Domain]) -> Profile:
    """Spread an original table (values, not cells) over the bins of `domains`."""
    return profile(pd.DataFrame({name: escape_column(original[name], domains[name]) for name in domains}), domains)


def check_comparable(original: pd.DataFrame, released: pd.DataFrame, domains: Mapping[str, Domain], need: str) -> None:
    """Raise ValueError unless both tables have rows and there is a column to compare; `need` starts the message."""
    for title, table in (("original", original), ("released", released)):
        if len(table) == 0:
            raise ValueError(f"the {title} table has no rows")
    if not domains:
        raise ValueError(f"{need} the domain of at least one column")
