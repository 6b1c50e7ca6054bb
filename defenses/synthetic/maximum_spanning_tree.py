"""MST: differentially private synthetic rows from a spanning tree of noisy two-way marginals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.random import Generator

from defenses.base import Microdata, project_to_simplex, spanning_forest
from defenses.synthetic.counted_columns import MeasuredTable
from defenses.synthetic.graphical import (
    MOST_CELLS,
    Columns,
    DrawnCodes,
    GraphicalSynthesis,
    MergedValues,
    NoisyMarginal,
    averaged,
    check_pairs,
    estimated,
)
from defenses.synthetic.graphical.estimation import sampled_rows
from metrics.columns import Booleans, Integers

ITERATIONS = 300
"""Steps of mirror descent."""


class MaximumSpanningTree(GraphicalSynthesis):
    """MST: differentially private synthetic rows from a spanning tree of noisy two-way marginals.

    There are as many rows as records. Numbers are counted by public bins and drawn uniformly inside a bin.

    Parameters
    ----------
    epsilon : float
        Privacy parameter epsilon, positive.
    delta : float
        Privacy parameter delta, in (0, 1).
    structural_zeros : sequence of mapping of str to str
        Combinations of cells that cannot occur, in the grammar of `metrics.columns.cells`. They are public. The model
        gives those of categories and of whole bins a probability of nearly 0. Rows that hold one all the same are drawn
        again.

    Raises
    ------
    ValueError
        If a parameter is out of range. On `apply`, if a released column has no declared domain or too many values to
        be measured with any other, or if a structural zero cannot be read or avoided.

    Warns
    -----
    UserWarning
        If epsilon is too small to measure any pair. The columns are then released independently.

    Notes
    -----
    Reads before its noise. Public: the number of records, names and order of the released columns, declared domains and
    their types, including whether numbers are integers. Protected: all values, and which of them are missing.

    The budget is the largest rho of zero-concentrated privacy that gives (epsilon, delta). Each step costs a third:

    1. One-way counts of every column with discrete Gaussian noise. Values with counts below three standard deviations
       of the noise are merged from here on, and get their shares back in the drawn rows.
    2. A spanning tree of the columns. Its edges are chosen one after the other by the exponential mechanism so that
       they form no cycle. The score of a pair is the L1 distance of its counts from those of the independent model of
       step 1. Replacing a record moves it by 2 at most.
    3. Two-way counts of the chosen pairs with discrete Gaussian noise.

    A graphical model is fitted to all noisy counts by mirror descent, and rows are drawn by column-wise rounding
    (`defenses.synthetic.graphical`). This is post-processing and costs no budget. Noise and choices are drawn exactly
    (`defenses.dp.exact`). Missing values and categories outside the domain are not counted and never released. No row
    stems from a record, and there is no channel.

    A pair is never measured if the expected absolute noise on its counts exceeds 2n, the largest distance between two
    tables of n records. Sizes after merging, n and the noise decide on it, so that it costs nothing. If no pair is
    left, the rest of the budget goes to a second measurement of the one-way counts. `PrivateMarginals` differs: it may
    stop before all columns are connected, merges no values, and fits each pair to the one-way counts.

    References
    ----------
    McKenna, Miklau and Sheldon (2021), Winning the NIST contest: a scalable and general approach to differentially
    private synthetic data, section 4 (MST).
    Cesar and Rogers (2021), Bounding, concentrating, and truncating, section 4 (epsilon^2/8).
    """

    called = ("MST", "NIST-MST", "Private-PGM MST")

    def _check(self, records: Microdata) -> None:
        super()._check(records)
        check_pairs(records)

    def _fitted(self, table: MeasuredTable, rho: float, names: tuple[str, ...], rng: Generator) -> DrawnCodes:
        third = Fraction(rho) / 3
        singles = _singles(table, third, rng)
        merged = [MergedValues(single) for single in singles]
        small = MeasuredTable(
            [values.recoded(column) for values, column in zip(merged, table.codes, strict=True)],
            tuple(values.size for values in merged),
        )
        pairs = _measurable(small, third)
        measured = []
        if pairs:
            tree = self._spanning_tree(small, [values.merged() for values in merged], pairs, third, rng)
            variance = Fraction(len(tree)) / third
            measured = [small.measured(pair, variance, rng) for pair in tree]
        else:
            if len(names) > 1:
                self._say_independent()
            again = averaged([*singles, *_singles(table, 2 * third, rng)])
            merged = [MergedValues(single) for single in again.values()]
        impossible = {columns: _merged(cells, columns, merged) for columns, cells in table.impossible.items()}
        counts = [values.merged() for values in merged]
        sizes = tuple(values.size for values in merged)
        model = estimated(sizes, [*counts, *measured], table.n, iterations=ITERATIONS, impossible=impossible)

        def draw(rows: int, rng: Generator) -> list[Integers]:
            drawn = sampled_rows(model, rows, rng)
            return [values.restored(column, rng) for values, column in zip(merged, drawn, strict=True)]

        return draw

    def _spanning_tree(
        self,
        table: MeasuredTable,
        singles: list[NoisyMarginal],
        pairs: list[tuple[int, int]],
        rho: Fraction,
        rng: Generator,
    ) -> list[tuple[int, int]]:
        """Choose pairs that connect all columns, as far as the possible pairs do; the choices cost rho together.

        Each of at most columns - 1 choices costs epsilon^2 / 8 of zero-concentrated privacy.
        """
        expected = [project_to_simplex(single.counts, table.n * single.present) for single in singles]
        scores = np.array(
            [np.abs(table.counts((a, b)) - np.outer(expected[a], expected[b]) / table.n).sum() for a, b in pairs]
        )
        epsilon = math.sqrt(8 * float(rho) / (len(table.sizes) - 1))

        def choose(joining: Integers) -> int | None:
            if not joining.size:
                return None
            return int(joining[self._selected(scores[joining], epsilon, 2.0, 1, rng)[0]])

        return spanning_forest(len(table.sizes), pairs, choose)


def _singles(table: MeasuredTable, rho: Fraction, rng: Generator) -> list[NoisyMarginal]:
    """Noisy one-way counts of every column, which cost rho together."""
    variance = len(table.sizes) / rho
    return [table.measured((column,), variance, rng) for column in range(len(table.sizes))]


def _merged(cells: Booleans, columns: Columns, merged: list[MergedValues]) -> Booleans:
    """Impossible cells after merging values of each column."""
    for axis, column in enumerate(columns):
        cells = merged[column].impossible(cells, axis)
    return cells


def _measurable(table: MeasuredTable, rho: Fraction) -> list[tuple[int, int]]:
    """Pairs on whose counts the expected absolute noise is at most 2n, if they share rho with a whole tree."""
    columns = len(table.sizes)
    noise = math.sqrt(2 / math.pi * max(1, columns - 1) / float(rho))
    largest = min(MOST_CELLS, 2 * table.n / noise)
    return [pair for pair in combinations(range(columns), 2) if table.cells(pair) <= largest]
