"""Workloads of marginals: the candidates that they imply, and distances between tables on them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from defenses.synthetic.graphical.clique_tree import Columns
from metrics.columns import Floats, Integers

# Combinations of rows and candidates that are counted at a time.
BLOCK = 1 << 20
# Columns up to which the default workload holds triples.
MOST_COLUMNS_OF_TRIPLES = 24


def default_workload(columns: int) -> list[Columns]:
    """All sets of three columns; of two if there are more than 24 columns; of all if there are fewer than three."""
    size = min(columns, 3 if columns <= MOST_COLUMNS_OF_TRIPLES else 2)
    return list(combinations(range(columns), size))


def downward_closure(workload: Sequence[Columns], columns: int) -> tuple[list[Columns], Floats]:
    """Candidates for measurement with their weights: all subsets of the workload's sets, and every single column.

    The weight of a candidate is the number of columns that it shares with a set of the workload, summed over the sets.

    Parameters
    ----------
    workload : sequence of tuple of int
        Sets of columns, each ascending.
    columns : int
        Number of columns.

    Returns
    -------
    list of tuple of int
        The candidates, smaller ones first.
    ndarray of float, shape (candidates,)
        Their weights.

    References
    ----------
    McKenna, Mullins, Sheldon and Miklau (2022), AIM, section 4.1.
    """
    subsets = {part for held in workload for size in range(1, len(held) + 1) for part in combinations(held, size)}
    candidates = sorted(subsets | {(column,) for column in range(columns)}, key=lambda part: (len(part), part))
    asked, offered = (_membership(sets, columns) for sets in (workload, candidates))
    return candidates, np.asarray((offered @ asked.T).sum(axis=1))


class CandidateCounts:
    """Counts of all candidates at once, one vector for a table.

    Parameters
    ----------
    candidates : sequence of tuple of int
        Sets of columns.
    sizes : tuple of int
        Number of values of each column.
    """

    def __init__(self, candidates: Sequence[Columns], sizes: Columns) -> None:
        most = max(map(len, candidates))
        # Shorter sets are filled up with an extra column that always holds 0.
        padded = [(*columns, *[len(sizes)] * (most - len(columns))) for columns in candidates]
        self._columns = np.array(padded, dtype=np.intp)
        self._sizes = np.array([*sizes, 1])[self._columns]
        self.cells = np.prod(self._sizes, axis=1)
        self.starts = np.cumsum(self.cells) - self.cells

    def counts(self, codes: Sequence[Integers]) -> Floats:
        """Counts of all candidates, one after the other; shape (all cells,).

        Parameters
        ----------
        codes : sequence of ndarray of int, each of shape (n,)
            Value of each row in each column; rows with a negative code are not counted.
        """
        n = codes[0].size
        values = np.stack([*codes, np.zeros(n, dtype=np.intp)])
        complete = bool((values >= 0).all())
        result = np.empty(int(self.cells.sum()))
        block = max(1, BLOCK // max(1, n))
        for first in range(0, len(self._columns), block):
            part = slice(first, first + block)
            cells = self.cells[part]
            flat = np.zeros((cells.size, n), dtype=np.intp)
            for columns, sizes in zip(self._columns[part].T, self._sizes[part].T, strict=True):
                flat *= sizes[:, None]
                flat += values[columns]
            flat += (np.cumsum(cells) - cells)[:, None]
            counted = flat.ravel() if complete else flat[(values[self._columns[part]] >= 0).all(axis=1)]
            start = self.starts[first]
            result[start : start + cells.sum()] = np.bincount(counted, minlength=int(cells.sum()))
        return result

    def distances(self, first: Floats, second: Floats, factors: Floats) -> Floats:
        """L1 distance between the first counts and `factors` times the second counts, for each candidate."""
        return np.asarray(np.add.reduceat(np.abs(first - np.repeat(factors, self.cells) * second), self.starts))


def _membership(sets: Sequence[Columns], columns: int) -> Floats:
    """1 where a set holds a column, shape (sets, columns)."""
    return np.array([[column in part for column in range(columns)] for part in sets], dtype=float)
