"""Candidates for measurement: scores of sets of columns by how far a model is from the records."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import Generator

from defenses.base.queries.column_queries import counted
from defenses.synthetic.graphical.clique_tree import Columns, model_cells
from defenses.synthetic.graphical.estimation import (
    GraphicalModel,
    MeasuredTable,
    NoisyMarginal,
    Placement,
    sampled_rows,
)
from metrics.columns import Floats, Integers

# Workloads of marginals: the candidates that they imply, and distances between tables on them.

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

    - workload: Sets of columns, each ascending.
    - returns: The candidates, smaller ones first.
    - returns shape (candidates,): Their weights.

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

    - sizes: Number of values of each column.
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

        - codes, each of shape (n,): Value of each row in each column; rows with a negative code are not counted.
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


FEWEST_ROWS = 1000
"""Fewest rows that are drawn from a model to compare it with the records."""
MOST_COUNTS = 20_000_000
"""Most cells of all candidates together; the largest candidates are left out beyond it."""


class Candidates:
    """Sets of columns that may be measured, with their weights.

    Parameters
    ----------
    table : MeasuredTable
        The records.
    workload : sequence of tuple of int
        Sets of columns, each ascending.
    present : sequence of float
        Estimated share of the records that have a value in each column.
    most_cells : int
        Largest number of cells of a candidate of several columns.
    """

    def __init__(
        self, table: MeasuredTable, workload: Sequence[Columns], present: Sequence[float], most_cells: int
    ) -> None:
        sets, weights = downward_closure(workload, len(table.sizes))
        cells = np.array([table.cells(columns) for columns in sets])
        single = np.array([len(columns) == 1 for columns in sets])
        order = np.argsort(np.where(single, 0, cells), kind="stable")
        fits = np.zeros(len(sets), dtype=bool)
        fits[order] = np.cumsum(cells[order]) <= MOST_COUNTS
        fits = single | (fits & (cells <= most_cells))
        self.table = table
        self.sets = [columns for columns, kept in zip(sets, fits, strict=True) if kept]
        self.weights = weights[fits] / weights.max()
        self._present = np.array([math.prod(present[column] for column in columns) for columns in self.sets])
        self._cells, self._single = cells[fits], single[fits]
        self._counted: tuple[Integers, CandidateCounts, Floats] | None = None

    def rows(self, model: GraphicalModel, rng: Generator) -> list[Integers]:
        """Draw rows from a model, as many as there are records or 1,000."""
        return sampled_rows(model, max(self.table.n, FEWEST_ROWS), rng)

    def scores(self, rows: list[Integers], variance: float) -> tuple[Integers, Floats]:
        """Positions of the sets that may be measured with noise of this variance, and their scores.

        A score depends on one record by at most 2: the L1 distance of its counts moves by 2, and weights are at most 1.

        Parameters
        ----------
        rows : list of ndarray of int
            Rows drawn from the model.
        variance : float
            Variance of the noise.
        """
        n = self.table.n
        options = np.flatnonzero(self._single | (noise(self._cells, variance) <= 2 * n))
        if self._counted is None or not np.array_equal(options, self._counted[0]):
            counts = CandidateCounts([self.sets[option] for option in options], self.table.sizes)
            self._counted = options, counts, counts.counts(self.table.codes)
        _, counts, exact = self._counted
        distances = counts.distances(exact, counts.counts(rows), self._present[options] * n / rows[0].size)
        return options, self.weights[options] * (distances - noise(self._cells[options], variance))

    def expected(self, columns: Columns, model: GraphicalModel, rows: list[Integers]) -> Floats:
        """Expected counts of a set: from a clique of the model, or from the drawn rows if no clique holds it."""
        n = self.table.n
        for clique, belief in zip(model.tree.cliques, model.beliefs, strict=True):
            if set(columns) <= set(clique):
                return np.asarray(n * Placement(columns, clique, self.table.sizes).summed(belief))
        drawn = counted([rows[column] for column in columns], self.table.shape(columns))
        return drawn * (n / rows[0].size)


def noise(cells: Integers | int, variance: float) -> Floats:
    """Expected sum of absolute noise on so many counts."""
    return np.asarray(math.sqrt(2 / math.pi * variance) * cells)


@dataclass(frozen=True)
class Growth:
    """How large the model may become by the next measurement.

    Parameters
    ----------
    model : GraphicalModel
        The model so far.
    measured : sequence of NoisyMarginal
        The measurements so far.
    limit : float
        Largest number of cells of the junction tree.
    impossible : collection of tuple of int
        Sets of columns of which cells are impossible.
    """

    model: GraphicalModel
    measured: Sequence[NoisyMarginal]
    limit: float
    impossible: Collection[Columns] = ()

    def fits(self, columns: Columns) -> bool:
        """Return whether a clique holds the set already, or the junction tree stays within the limit with it."""
        if any(set(columns) <= set(clique) for clique in self.model.tree.cliques):
            return True
        known = {marginal.columns for marginal in self.measured}
        return model_cells(self.model.tree.sizes, [*known, *self.impossible, columns]) <= self.limit
