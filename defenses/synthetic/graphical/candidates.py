"""Candidates for measurement: scores of sets of columns by how far a model is from the records."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from defenses.base.queries.counts import counted
from defenses.synthetic.counted_columns import MeasuredTable
from defenses.synthetic.graphical.clique_tree import Columns, model_cells
from defenses.synthetic.graphical.estimation import GraphicalModel, NoisyMarginal, Placement
from defenses.synthetic.graphical.sampled_rows import sampled_rows
from defenses.synthetic.graphical.workload import CandidateCounts, downward_closure
from metrics.columns import Floats, Integers

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
