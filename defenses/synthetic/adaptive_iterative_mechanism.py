"""AIM: differentially private synthetic rows from adaptively chosen noisy marginals of a workload."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.random import Generator

from defenses.base import Microdata
from defenses.synthetic.graphical import (
    MOST_CELLS,
    Candidates,
    Columns,
    DrawnCodes,
    GraphicalSynthesis,
    Growth,
    MeasuredTable,
    check_pairs,
    check_workload,
    default_workload,
    estimated,
    noise,
)
from defenses.synthetic.graphical.estimation import sampled_rows
from defenses.synthetic.row_synthesizer import Zeros
from metrics.columns import Floats, Integers, check_integer, refuse, require

# A budget of zero-concentrated privacy that is spent in rounds of growing cost.

COUNTS = Fraction(9, 10)
"""Share of a round's cost that goes to counts; the rest goes to the selection."""


class AnnealedBudget:
    """A budget that is spent in rounds of one selection and one measurement each.

    - rounds: Number of rounds if their cost stayed the same.

    Notes
    -----
    All costs are exact. Counts with noise of variance v cost 1 / v (one record is replaced, which changes two counts by
    one), and a selection by the exponential mechanism costs epsilon^2 / 8.

    References
    ----------
    McKenna, Mullins, Sheldon and Miklau (2022), AIM, algorithm 4.
    """

    def __init__(self, total: Fraction, rounds: int) -> None:
        self.total = total
        self.remaining = total
        self._cost = total / rounds

    @property
    def variance(self) -> Fraction:
        """Variance of the noise on counts in this round."""
        return 1 / (COUNTS * self._cost)

    @property
    def epsilon(self) -> float:
        """Epsilon of this round's selection."""
        return math.sqrt(8 * (1 - COUNTS) * self._cost)

    @property
    def share_after_round(self) -> Fraction:
        """Share of the budget that is spent after this round."""
        return 1 - (self.remaining - self._cost) / self.total

    def spend_counts(self, times: int) -> None:
        """Spend what `times` measurements cost, without a selection."""
        self.remaining -= times * COUNTS * self._cost

    def start_round(self) -> None:
        """Let the round spend all that is left if that is at most two rounds' cost."""
        if self.remaining <= 2 * self._cost:
            self._cost = self.remaining

    def spend_round(self) -> None:
        """Spend what a selection and a measurement cost."""
        self.remaining -= self._cost

    def anneal(self) -> None:
        """Let all later rounds cost four times as much, so that their noise is half as large."""
        self._cost *= 4


ROUNDS = 4
"""Rounds for each column if no noise is ever reduced; the publication has 16."""
LARGE, STEPS, STEPS_IF_LARGE = 10_000, 25, 50
"""Steps of mirror descent after each measurement, and those for at least so many records; at the end twice as many."""
CELLS_PER_RECORD, CANDIDATE_CELLS_PER_RECORD = 20, 2
"""Largest numbers of cells of the model, and of a candidate, for each record."""
LEAST_EPSILON = 1e-6
"""Smallest epsilon of a selection; below it, the noise on counts is far larger and selections are even."""
PROPOSALS = 16
"""Selections that are drawn at a time until one keeps the model within its limit."""


class AdaptiveIterativeMechanism(GraphicalSynthesis):
    """AIM: differentially private synthetic rows from adaptively chosen noisy marginals of a workload.

    There are as many rows as records. Numbers are counted by public bins and drawn uniformly inside a bin.

    - delta: Privacy parameter delta, in (0, 1).
    - workload, optional: Sets of columns whose joint counts should be preserved. The default is all sets of three
      released columns, or of two if there are more than 24.
    - most_cells: Largest number of cells of the model's junction tree, at least 1. There are at most 20 for each
      record, too, and 2 for each record in a measured set of several columns.
    - structural_zeros: Combinations of cells that cannot occur, in the grammar of `metrics.columns.cells`. They are
      public. The model gives those of categories and of whole bins a probability of nearly 0. Rows that hold one all
      the same are drawn again.

    Raises ValueError if a parameter is out of range. On `apply`, if a released column has no declared domain or too
    many values to be measured with any other. Also if the workload names an unknown column, a set has too many cells,
    or a structural zero cannot be read or avoided.

    Warns
    -----
    UserWarning
        If epsilon is too small to measure any set of several columns. Columns are then released independently.

    Notes
    -----
    Reads before its noise. Public: the number of records, names and order of the released columns, declared domains and
    their types, including whether numbers are integers. Protected: all values, and which of them are missing.

    The budget is the largest rho of zero-concentrated privacy that gives (epsilon, delta). It is spent in rounds, a
    tenth on selection and the rest on counts with discrete Gaussian noise:

    1. One-way counts of every column are measured, with a share of 1 / (4 columns) of the budget for each.
    2. Each round selects a set of columns by the exponential mechanism, measures its counts, and fits the model anew.
       Candidates are the subsets of the workload's sets. The score is w (D - N). D is the L1 distance of the
       candidate's counts from those of rows drawn from the model. N is the expected absolute noise on its counts. The
       weight w sums the columns that the candidate shares with each set of the workload, relative to the largest sum.
       Replacing a record moves a score by 2 at most.
    3. If a measurement changed its marginal by no more than its noise, all later rounds spend four times as much, which
       halves the noise (budget annealing). The last round spends all that is left.

    Some candidates are excluded. The junction tree may have at most `most_cells` times the share of the budget spent
    so far. The noise of a set of several columns may be at most 2n, the largest distance between two tables. Both
    follow from what is public or released. Selections are repeated until one is not excluded, and only this one is
    used. It has the distribution of the exponential mechanism on the candidates that are not excluded, at its cost: the
    ratio of any two probabilities is the same with and without the others.

    Rows are drawn from the model by column-wise rounding. Fitting and drawing are post-processing and cost no budget.
    Noise and choices are drawn exactly (`defenses.dp.exact`). Missing values and categories outside the domain are not
    counted and never released. No row stems from a record, and there is no channel.

    References
    ----------
    McKenna, Mullins, Sheldon and Miklau (2022), AIM: an adaptive and iterative mechanism for differentially private
    synthetic data, algorithms 1 to 4.
    Cesar and Rogers (2021), Bounding, concentrating, and truncating, section 4 (epsilon^2/8).
    """

    called = ("AIM", "Adaptive and Iterative Mechanism")

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        workload: Sequence[Sequence[str]] | None = None,
        most_cells: int = MOST_CELLS,
        structural_zeros: Zeros = (),
    ) -> None:
        super().__init__(epsilon=epsilon, delta=delta, structural_zeros=structural_zeros)
        self.most_cells = check_integer("most_cells", most_cells, low=1)
        refuse(
            workload is not None and not (_is_list(workload) and len(workload)),
            f"workload must be a list of at least one list of column names, got {workload!r}",
        )
        for columns in workload or ():
            require(
                _is_list(columns) and len(columns) and len(set(columns)) >= len(columns),
                f"workload must hold lists of different column names, got {columns!r}",
            )
        self.workload = workload

    def _check(self, records: Microdata) -> None:
        super()._check(records)
        check_pairs(records, self.most_cells)
        workload = self.workload or ()
        for name in chain.from_iterable(workload):
            records.check_released("workload", name)
        check_workload(records, workload, self.most_cells)

    def _fitted(self, table: MeasuredTable, rho: float, names: tuple[str, ...], rng: Generator) -> DrawnCodes:
        budget = AnnealedBudget(Fraction(rho), ROUNDS * len(names))
        measured = [table.measured((column,), budget.variance, rng) for column in range(len(names))]
        budget.spend_counts(len(names))
        steps = STEPS if table.n < LARGE else STEPS_IF_LARGE
        # The list of measurements grows.
        fitted = partial(estimated, table.sizes, measured, table.n, impossible=table.impossible)
        model = fitted(iterations=steps)
        most_cells = min(self.most_cells, CELLS_PER_RECORD * table.n)
        largest = min(self.most_cells, CANDIDATE_CELLS_PER_RECORD * table.n)
        workload = [tuple(sorted(map(names.index, columns))) for columns in self.workload or ()]
        workload = workload or default_workload(len(names))
        candidates = Candidates(table, workload, [single.present for single in measured], largest)
        while budget.remaining > 0:
            budget.start_round()
            rows = candidates.rows(model, rng)
            options, scores = candidates.scores(rows, float(budget.variance))
            limit = float(budget.share_after_round) * most_cells
            sets = [candidates.sets[option] for option in options]
            growth = Growth(model, measured, limit, table.impossible)
            chosen = self._first_fitting(sets, scores, growth, budget.epsilon, rng)
            measured.append(table.measured(chosen, budget.variance, rng))
            budget.spend_round()
            before = candidates.expected(chosen, model, rows)
            model = fitted(iterations=steps, start=model)
            change = np.abs(table.n * model.marginals[chosen] - before).sum()
            if change <= noise(before.size, float(budget.variance)):
                budget.anneal()
        if len(names) > 1 and all(len(marginal.columns) == 1 for marginal in measured):
            self._say_independent()
        model = fitted(iterations=2 * steps, start=model)
        return partial(sampled_rows, model)

    def _selected(self, scores: Floats, epsilon: float, sensitivity: float, runs: int, rng: Generator) -> Integers:
        """Choose evenly, at no cost, if epsilon is too small for exact probabilities."""
        if epsilon < LEAST_EPSILON:
            return rng.integers(scores.size, size=runs)
        return super()._selected(scores, epsilon, sensitivity, runs, rng)

    def _first_fitting(
        self, sets: list[Columns], scores: Floats, growth: Growth, epsilon: float, rng: Generator
    ) -> Columns:
        """Select a set that lets the model stay within its limit; single columns always do."""
        allowed: dict[int, bool] = {}
        while True:
            left = np.array([option for option in range(len(sets)) if allowed.get(option, True)])
            for place in self._selected(scores[left], epsilon, 2.0, PROPOSALS, rng):
                option = int(left[place])
                if option not in allowed:
                    allowed[option] = growth.fits(sets[option])
                if allowed[option]:
                    return sets[option]


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
