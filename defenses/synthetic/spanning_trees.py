"""MST: differentially private synthetic rows from a spanning tree of noisy marginals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations

import numpy as np
from numpy.random import Generator

from defenses.base import Microdata, drawn_rows, fitted, project_to_simplex, spanning_forest
from defenses.dp.exact import discrete_gaussian
from defenses.dp.selection import Exponential
from defenses.synthetic.graphical import (
    MOST_CELLS,
    Columns,
    CountedColumns,
    DrawnCodes,
    GraphicalSynthesis,
    MeasuredTable,
    MergedValues,
    NoisyMarginal,
    averaged,
    check_pairs,
    estimated,
)
from defenses.synthetic.graphical.estimation import sampled_rows
from metrics.columns import Booleans, Floats, Integers

MOST_PAIR_CELLS = 100_000
"""Largest number of cells in a measured two-way marginal."""


@dataclass(frozen=True)
class Budget:
    """Split of a zCDP budget among the three steps, and the resulting noise.

    Each step gets a third of rho. With a single column there is nothing to choose, and its counts get all of rho.

    - rho: Total budget of zero-concentrated differential privacy.
    - columns: Number of released columns, at least 1.
    """

    rho: float
    columns: int

    @property
    def single(self) -> Fraction:
        """Variance of the noise on one-way counts; replacing a record moves each column by sqrt 2 in L2 norm."""
        return Fraction(2 * self.columns) / (2 * Fraction(self.rho) / (3 if self.columns > 1 else 1))

    @property
    def choice(self) -> float:
        """Epsilon of each of `columns` - 1 choices by the exponential mechanism; each costs rho = epsilon^2 / 8."""
        # Rounding never makes the choices cost more than a third.
        return math.sqrt(8 * self.rho / 3 / max(1, self.columns - 1)) * (1 - 2.0**-50)

    @property
    def pair(self) -> Fraction:
        """Variance of the noise on the two-way counts of each of `columns` - 1 pairs."""
        return Fraction(2 * max(1, self.columns - 1)) / (2 * Fraction(self.rho) / 3)


class PrivateMarginals(GraphicalSynthesis):
    """A variant of MST: differentially private synthetic rows from a forest of noisy marginals worth their noise.

    There are as many rows as records. Numbers are counted by public bins and drawn uniformly inside a bin.

    Parameters
    ----------
    epsilon : float
        Privacy parameter epsilon, positive.
    delta : float
        Privacy parameter delta, in (0, 1).
    structural_zeros : sequence of mapping of str to str
        Combinations of cells that cannot occur, in the grammar of `metrics.columns.cells`. They are public. Rows that
        hold one are drawn again.

    Raises
    ------
    ValueError
        If a parameter is out of range; on `apply`, if a released column has no declared domain.
        On `apply`, if a structural zero cannot be read or avoided.

    Warns
    -----
    UserWarning
        If no pair is chosen, so that all columns are released independently.

    Notes
    -----
    Reads before its noise. Public: the number of records, names and order of the released columns, declared domains and
    their types, including whether numbers are integers. Protected: all values, and which of them are missing.

    The budget is the largest rho of zero-concentrated privacy that gives (epsilon, delta). It is split into three
    parts (a single part for a single column):

    1. One-way counts of every column with discrete Gaussian noise, projected to a distribution.
    2. Pairs of columns, chosen one after the other by the exponential mechanism so that they form no cycle. The score
       of a pair is an L1 distance less a penalty. The distance is that of its counts from those of independent columns
       with the distributions of step 1. Replacing a record moves it by 2 at most. The penalty is the expected absolute
       noise of measuring the pair, which is public. Stopping has the score 0: at a small epsilon no pair is worth its
       noise, and columns stay independent. If the noise on each pair exceeds 2n, nothing is chosen.
    3. Two-way counts of the chosen pairs with discrete Gaussian noise, fitted to the one-way distributions by
       iterative proportional fitting.

    Rows are drawn from the tree, parents before children. All later steps are post-processing and cost no budget. n is
    public. Missing values and categories outside the domain are not counted and never released. Noise and
    choices are drawn exactly (`defenses.dp.exact`). No row stems from a record, and there is no channel.

    References
    ----------
    McKenna, Miklau and Sheldon (2021), Winning the NIST contest, algorithm 1 (MST).
    McKenna, Mullins, Sheldon and Miklau (2022), AIM, section 4 (the penalty for noise).
    Cesar and Rogers (2021), Bounding, concentrating, and truncating, section 4 (epsilon^2/8).
    Deming and Stephan (1940) (iterative proportional fitting; `defenses.base.marginal_tree`).
    """

    called = ("MST with a noise penalty", "MST variant")

    def _fitted(self, table: MeasuredTable, rho: float, names: tuple[str, ...], rng: Generator) -> DrawnCodes:
        budget = Budget(rho, len(names))
        shares = _noisy_shares(table, budget, rng)
        pairs = _chosen_pairs(table, shares, budget, rng)
        if len(names) > 1 and not pairs:
            self._say_independent()
        return partial(drawn_rows, shares, _noisy_tables(table, pairs, shares, budget, rng))


def _noisy_shares(table: CountedColumns, budget: Budget, rng: Generator) -> list[Floats]:
    """Noisy distribution of every column, each of shape (size,)."""
    noise = np.split(discrete_gaussian(budget.single, sum(table.sizes), rng), np.cumsum(table.sizes)[:-1])
    return [project_to_simplex(table.counts((column,)) + z, table.n) / table.n for column, z in enumerate(noise)]


def _chosen_pairs(table: CountedColumns, shares: list[Floats], budget: Budget, rng: Generator) -> list[tuple[int, int]]:
    """Choose the pairs of columns to measure; they form a forest, which is empty where noise exceeds any dependence."""
    n, columns = table.n, len(table.sizes)
    possible = [pair for pair in combinations(range(columns), 2) if table.cells(pair) <= MOST_PAIR_CELLS]
    noise = math.sqrt(2 / math.pi * float(budget.pair))
    # Two tables of n records are 2n apart at most. Sizes, n and the noise are public.
    if all(noise * table.cells(pair) > 2 * n for pair in possible):
        return []
    scores = np.array(
        [
            np.abs((table.counts((a, b)) - n * np.outer(shares[a], shares[b])).ravel()).sum()
            - noise * table.cells((a, b))
            for a, b in possible
        ]
    )
    mechanism = Exponential(epsilon=budget.choice, sensitivity=2)

    def choose(joining: Integers) -> int | None:
        # The last option is to measure no further pair.
        option = mechanism.release(np.append(scores[joining], 0.0), rng)
        return None if option == joining.size else int(joining[option])

    return spanning_forest(columns, possible, choose)


def _noisy_tables(
    table: CountedColumns, pairs: list[tuple[int, int]], shares: list[Floats], budget: Budget, rng: Generator
) -> dict[tuple[int, int], Floats]:
    """Noisy joint distribution of each pair, shape (size of the first, size of the second)."""
    if not pairs:
        return {}
    sizes = [table.cells(pair) for pair in pairs]
    noise = np.split(discrete_gaussian(budget.pair, sum(sizes), rng), np.cumsum(sizes)[:-1])
    tables = {}
    for pair, z in zip(pairs, noise, strict=True):
        first, second = shares[pair[0]], shares[pair[1]]
        independent = np.outer(first, second)
        counts = project_to_simplex(table.counts(pair).ravel() + z, table.n).reshape(independent.shape)
        # A small independent part keeps rows and columns nonempty if the one-way counts are nonzero.
        tables[pair] = fitted(counts / table.n + 1e-6 * independent, first, second)
    return tables


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
