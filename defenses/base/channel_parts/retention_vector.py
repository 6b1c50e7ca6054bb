"""Channel part of PRAM with one retention probability per category, for one column or several jointly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base.channel_parts.part import ColumnsPart, Likelihood
from defenses.base.columns import plain_codes
from metrics.columns.arrays import Floats
from metrics.columns.parameters import require


@dataclass(frozen=True)
class RetentionVector(ColumnsPart):
    """A cell (one value of each column) is kept with its own probability, else replaced uniformly by another cell.

    The log-likelihood of released cell i under original cell j is log(p_j) for i = j and log((1 - p_j)/(d - 1)) for
    i != j, with d cells. It is -inf where either side holds a missing value that does not count as a category.

    Parameters
    ----------
    names : tuple of str
        The columns.
    domains : tuple of Domain
        Their domains; numbers are read as bins.
    sizes : tuple of int
        Number of categories of each column: those of its domain, and one more where missing values count as a category.
    retention : tuple of float
        Retention probability of each cell, shape (d,), with d the product of `sizes`; the category of the last column
        varies fastest.

    Raises
    ------
    ValueError
        If the lengths do not fit, or an entry of `retention` is not a probability.
    """

    kind: ClassVar[str] = "retention_vector"
    sizes: tuple[int, ...]
    retention: tuple[float, ...]

    def __post_init__(self) -> None:
        require(
            len(self.names) == len(self.domains) == len(self.sizes),
            "retention_vector: names, domains and sizes must have one entry a column",
        )
        cells = int(np.prod(self.sizes))
        require(
            len(self.retention) == cells,
            f"retention_vector: retention must have {cells} entries, got {len(self.retention)}",
        )
        require(
            all(0 <= probability <= 1 for probability in self.retention),
            "retention_vector: retention must hold probabilities",
        )

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of released rows under original rows."""
        cells = self.joined(
            [plain_codes(released[name], domain) for name, domain in zip(self.names, self.domains, strict=True)]
        )
        values = self.joined(
            [domain.codes(original[name]) for name, domain in zip(self.names, self.domains, strict=True)]
        )
        probability = np.array(self.retention)
        with np.errstate(divide="ignore"):
            same = np.where(values >= 0, np.log(probability)[values], -np.inf)
            other = np.where(values >= 0, np.log((1 - probability) / max(probability.size - 1, 1))[values], -np.inf)
        return Likelihood((cells,), (values, same, other), _kernel)

    def joined(self, codes: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
        """Cell of each row, shape (n,), from its categories; -1 where a category exceeds the column's size."""
        in_range = np.all([column < size for column, size in zip(codes, self.sizes, strict=True)], axis=0)
        cells = np.full(in_range.size, -1)
        cells[in_range] = np.ravel_multi_index(tuple(column[in_range] for column in codes), self.sizes)
        return cells


def _kernel(cell: NDArray[np.intp], value: NDArray[np.intp], same: Floats, other: Floats) -> Floats:
    return np.where(cell < 0, -np.inf, np.where(cell == value, same, other))
