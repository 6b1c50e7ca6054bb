"""Agreement of released rows with candidates, comparison by comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attacks.base.sides import SharedColumn
from metrics.arrays import Integers
from metrics.cells import NumericCells


@dataclass(frozen=True)
class Agreement:
    """Which comparisons each pair of row and candidate agrees in.

    Attributes
    ----------
    names : tuple of str
        The comparisons.
    columns : tuple of str
        The column of each comparison; a pair agrees in at most one comparison of a column.
    patterns : ndarray of int8, shape (pairs, comparisons)
        1 where a pair agrees, 0 where it does not; pairs run through all candidates of one row, then of the next.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    patterns: NDArray[np.int8]

    def of_pairs(self, pairs: Integers) -> Agreement:
        """Return the agreement of the pairs at these positions."""
        return Agreement(self.names, self.columns, self.patterns[pairs])

    def of_comparisons(self, names: Sequence[str]) -> NDArray[np.int8]:
        """Patterns of the named comparisons, in the order of `names`, shape (pairs, names)."""
        if tuple(names) == self.names:
            return self.patterns
        return np.take(self.patterns, [self.names.index(name) for name in names], axis=1)


def compare(columns: list[SharedColumn]) -> Agreement:
    """Compare every released row with every candidate.

    A cell agrees with a value that it covers. Where all cells are plain, numbers are compared a second time by public
    bins. Equal numbers do not agree in that comparison too.
    """
    names: list[str] = []
    compared: list[str] = []
    tables: list[NDArray[np.int8]] = []
    for column in columns:
        covered = column.expand(column.contains().view(np.int8))
        names.append(column.name)
        compared.append(column.name)
        tables.append(covered.ravel())
        if isinstance(column.cells, NumericCells) and column.cells.plain.all():
            domain = column.cells.domain
            same_bin = domain.codes(column.cells.hull()[0])[:, None] == domain.codes(column.values)
            names.append(f"{column.name} (bins)")
            compared.append(column.name)
            tables.append((column.expand(same_bin.view(np.int8)) - covered).ravel())
    return Agreement(tuple(names), tuple(compared), np.ascontiguousarray(np.stack(tables).T))
