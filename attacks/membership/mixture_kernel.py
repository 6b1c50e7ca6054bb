r"""Mixture kernel: the density of mixed data that a table implies, relative to independent columns.

A row r spreads its mass over records x by a product over the columns, ∏ⱼ ∑ₖ wⱼₖ lⱼₖ(r, x). Each part lⱼₖ is a *lift*: a
density of x given r, over the density of x in the population. Part 0 is 1 everywhere: the cell is uninformative.
Part 1 is cover: 1 / P(cell) for the values that the cell covers, otherwise 0. For numbers, further parts are Gaussian
in the population's ranks, where all columns have one scale and no heavy tails.

The weights of a column state how exactly the cells of a table follow its records. Expectation-maximization fits them to
people in a table or outside it. The kernel takes plain and generalized cells, atoms and missing values.
Kernels are computed in single precision (`attacks.membership.column_lifts`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attacks.base.attack import Knowledge
from attacks.base.sides import common_columns, shared_columns
from attacks.membership.column_lifts import ColumnLifts, Populations, Singles, part_count
from defenses.base.release import MicrodataRelease
from metrics.columns.arrays import Floats, Integers

# Most steps of expectation-maximization, largest change of a weight at which they end, and pseudo-count of each part.
STEPS, SETTLED, PSEUDO_COUNT = 12, 2e-3, 0.1

Weights = Mapping[str, Floats]
"""Weights of the parts by column; each array sums to 1. Tables may have their columns in different orders."""


def log_kernel(
    table: MicrodataRelease, knowledge: Knowledge, weights: Weights, populations: Populations | None = None
) -> Singles:
    """Logarithm of the kernel between every released row and every candidate, shape (rows, candidates).

    Parameters
    ----------
    table : MicrodataRelease
        The released rows.
    knowledge : Knowledge
        Holds the candidates. Its auxiliary people are the population.
    weights : mapping of str to ndarray
        Weights of the parts for each common column (`fitted_weights`).
    populations : Populations, optional
        Those of the auxiliary people, to save computing them anew.

    Raises
    ------
    ValueError
        If release and candidates share no column, or a cell or a value lies outside the column's domain.
    """
    return log_kernels(table, knowledge, [weights], populations)[0]


def log_kernels(
    table: MicrodataRelease, knowledge: Knowledge, kernels: Sequence[Weights], populations: Populations | None = None
) -> list[Singles]:
    """`log_kernel` for several kernels."""
    columns = shared_columns(table, knowledge)
    populations = populations or Populations(knowledge.auxiliary)
    totals = [np.zeros((len(table.frame), len(knowledge.candidates)), dtype=np.float32) for _ in kernels]
    for column in columns:
        lifts = ColumnLifts(column, populations)
        for total, weights in zip(totals, kernels, strict=True):
            mixed = lifts.mixed(weights[column.name])
            total += column.expand(np.log(mixed, out=mixed))
    return totals


def log_density(
    table: MicrodataRelease, knowledge: Knowledge, weights: Weights, populations: Populations | None = None
) -> Floats:
    """Log-density of the table at each candidate, relative to independent columns, shape (candidates,).

    The parameters are those of `log_kernel`. A table without rows has the population's density: 0 for all.
    """
    return mean_over_rows(log_kernel(table, knowledge, weights, populations))


def mean_over_rows(log_values: NDArray[Any]) -> Floats:
    """Logarithm of the mean over rows, shape (candidates,), given logarithms of shape (rows, candidates)."""
    if not len(log_values):
        return np.zeros(log_values.shape[1])
    most = log_values.max(axis=0)
    values = log_values - most
    np.exp(values, out=values)
    total = np.ones(len(values), dtype=values.dtype) @ values
    return np.asarray(np.log(total.astype(float)) + most - np.log(len(values)))


def fitted_weights(
    samples: Sequence[tuple[MicrodataRelease, pd.DataFrame]],
    release: MicrodataRelease,
    knowledge: Knowledge,
    populations: Populations | None = None,
) -> Weights:
    """Fit the kernel to tables with people, by the likelihood of the people under the tables' densities.

    Parameters
    ----------
    samples : sequence of (MicrodataRelease, DataFrame)
        Tables, each with some people: all in the table, or all outside it.
    release : MicrodataRelease
        The release under attack; gives the columns and their order.
    knowledge : Knowledge
        Holds the population.
    populations : Populations, optional
        Those of the auxiliary people, to save computing them anew.

    Returns
    -------
    mapping of str to ndarray
        Weights of the parts for each common column.

    Notes
    -----
    A step of expectation-maximization computes the posterior of each row and each column's part for each person. The
    new weights are the parts' mean posteriors, with a pseudo-count that keeps weights positive.

    References
    ----------
    Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm.
    """
    populations = populations or Populations(knowledge.auxiliary)
    names = common_columns(release, knowledge)
    lessons = [
        _Lesson(table, replace(knowledge, candidates=people), populations, names)
        for table, people in samples
        if len(table.frame) and len(people)
    ]
    sizes = lessons[0].sizes if lessons else [part_count(column) for column in shared_columns(release, knowledge)]
    present = np.arange(max(sizes)) < np.array(sizes)[:, None]
    weights = present / present.sum(axis=1, keepdims=True)
    for _ in range(STEPS if lessons else 0):
        counts = PSEUDO_COUNT * present + sum(lesson.counts(weights) for lesson in lessons)
        before, weights = weights, counts / counts.sum(axis=1, keepdims=True)
        if np.abs(weights - before).max() < SETTLED:
            break
    return {name: weight[:size] for name, weight, size in zip(names, weights, sizes, strict=True)}


class _Lesson:
    """A table with some people, from whom weights are learned.

    The distinct cells of all columns lie one below another: a step costs a few operations on long arrays.
    """

    def __init__(
        self, table: MicrodataRelease, knowledge: Knowledge, populations: Populations, names: Sequence[str]
    ) -> None:
        columns = sorted(shared_columns(table, knowledge), key=lambda column: names.index(column.name))
        self.sizes = [part_count(column) for column in columns]
        cells = [column.cells.missing.size for column in columns]
        self._first = np.cumsum([0, *cells[:-1]])
        self._column = np.repeat(np.arange(len(columns)), cells)
        self._codes = [first + column.cells.codes for first, column in zip(self._first, columns, strict=True)]
        self._parts = np.zeros((max(self.sizes), sum(cells), len(knowledge.candidates)), dtype=np.float32)
        for first, count, size, column in zip(self._first, cells, self.sizes, columns, strict=True):
            self._parts[:size, first : first + count] = ColumnLifts(column, populations).parts()[:, :, column.codes]
        self._sums = _sums_by_code(self._codes, sum(cells))

    def counts(self, weights: Floats) -> Floats:
        """Expected number of people whose row explains a column by each part, shape (columns, parts)."""
        share = weights[self._column].astype(np.float32)
        mixed = np.einsum("ck,kcp->cp", share, self._parts)
        logarithm = np.log(mixed)
        posterior = np.take(logarithm, self._codes[0], axis=0)
        for codes in self._codes[1:]:
            posterior += np.take(logarithm, codes, axis=0)
        posterior -= posterior.max(axis=0)
        np.exp(posterior, out=posterior)
        posterior /= posterior.sum(axis=0)
        of_cell = self._sums @ posterior
        of_cell /= mixed
        explained = np.einsum("cp,kcp->ck", of_cell, self._parts) * share
        return np.asarray(np.add.reduceat(explained, self._first, axis=0), dtype=float)


def _sums_by_code(codes: Sequence[Integers], count: int) -> csr_array[Any]:
    """Matrix that adds up the rows of each code, shape (codes, rows), in single precision."""
    every = np.concatenate(codes)
    rows = np.tile(np.arange(codes[0].size), len(codes))
    return csr_array((np.ones(every.size, dtype=np.float32), (every, rows)), shape=(count, codes[0].size))
