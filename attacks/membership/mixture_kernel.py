r"""Mixture kernel: the density of mixed data that a table implies, relative to independent columns.

A row r spreads its mass over records x by a product over the columns, ∏ⱼ ∑ₖ wⱼₖ lⱼₖ(r, x). Each part lⱼₖ is a *lift*: a
density of x given r, over the density of x in the population. Part 0 is 1 everywhere: the cell is uninformative.
Part 1 is cover: 1 / P(cell) for the values that the cell covers, otherwise 0. For numbers, further parts are Gaussian
in the population's ranks, where all columns have one scale and no heavy tails.

The weights of a column state how exactly the cells of a table follow its records. Expectation-maximization fits them to
people in a table or outside it. The kernel takes plain and generalized cells, atoms and missing values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from attacks.base.attack import Knowledge
from attacks.base.sides import SharedColumn, shared_columns
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats, gathered
from metrics.cells import NumericCells
from metrics.domains import CategoricalDomain

# Standard deviations of the Gaussian parts, as shares of the population's ranks.
WIDTHS = (0.01, 0.05, 0.2)
# Points of the population at which the mean of a Gaussian part is taken.
GRID = 200
# Steps of expectation-maximization, pseudo-count of each part, and smallest posterior of a row that counts.
STEPS, PSEUDO_COUNT, NEGLIGIBLE = 12, 0.1, 1e-4

Weights = Sequence[Floats]
"""Weights of the parts, one array for each column; each sums to 1."""


def log_kernel(table: MicrodataRelease, knowledge: Knowledge, weights: Weights) -> Floats:
    """Logarithm of the kernel between every released row and every candidate, shape (rows, candidates).

    Parameters
    ----------
    table : MicrodataRelease
        The released rows.
    knowledge : Knowledge
        Holds the candidates. Its auxiliary people are the population.
    weights : sequence of ndarray
        Weights of the parts for each common column (`fitted_weights`).

    Raises
    ------
    ValueError
        If release and candidates share no column, or a cell or a value lies outside the column's domain.
    """
    columns = shared_columns(table, knowledge)
    total = np.zeros((len(table.frame), len(knowledge.candidates)))
    for column, weight in zip(columns, weights, strict=True):
        mixed = np.zeros((column.cells.missing.size, column.values.size))
        for share, part in zip(weight, _parts(column, knowledge), strict=True):
            mixed += share * part
        total += column.expand(np.log(mixed))
    return total


def log_density(table: MicrodataRelease, knowledge: Knowledge, weights: Weights) -> Floats:
    """Log-density of the table at each candidate, relative to independent columns, shape (candidates,).

    The parameters are those of `log_kernel`. A table without rows has the population's density: 0 for all.
    """
    return mean_over_rows(log_kernel(table, knowledge, weights))


def mean_over_rows(log_values: Floats) -> Floats:
    """Logarithm of the mean over rows, shape (candidates,), given logarithms of shape (rows, candidates)."""
    from scipy.special import logsumexp

    if not len(log_values):
        return np.zeros(log_values.shape[1])
    return np.asarray(logsumexp(log_values, axis=0) - np.log(len(log_values)))


def fitted_weights(
    samples: Sequence[tuple[MicrodataRelease, pd.DataFrame]], release: MicrodataRelease, knowledge: Knowledge
) -> Weights:
    """Fit the kernel to tables with people, by the likelihood of the people under the tables' densities.

    Parameters
    ----------
    samples : sequence of (MicrodataRelease, DataFrame)
        Tables, each with some people: all in the table, or all outside it.
    release : MicrodataRelease
        The release under attack; gives the columns where no sample has a row and a person.
    knowledge : Knowledge
        Holds the population.

    Returns
    -------
    sequence of ndarray
        Weights of the parts for each common column.

    Notes
    -----
    A step of expectation-maximization computes the posterior of each row and each column's part for each person. The
    new weights are the parts' mean posteriors, with a pseudo-count that keeps weights positive.

    References
    ----------
    Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm.
    """
    tables = [
        [(np.stack(list(_parts(column, of))), column) for column in shared_columns(table, of)]
        for table, people in samples
        if len(table.frame) and len(people)
        for of in [replace(knowledge, candidates=people)]
    ]
    columns = tables[0] if tables else [(None, column) for column in shared_columns(release, knowledge)]
    sizes = [2 + len(WIDTHS) * isinstance(column.cells, NumericCells) for _, column in columns]
    weights = [np.full(size, 1 / size) for size in sizes]
    for _ in range(STEPS if tables else 0):
        counts = [np.full(size, PSEUDO_COUNT) for size in sizes]
        for table in tables:
            for count, posterior in zip(counts, _posteriors(table, weights), strict=True):
                count += posterior
        weights = [count / count.sum() for count in counts]
    return weights


def _posteriors(table: Sequence[tuple[Floats, SharedColumn]], weights: Weights) -> Iterator[Floats]:
    """Expected number of people whose row explains a column by each part, one array of shape (parts,) a column."""
    from scipy.special import logsumexp

    mixed = [np.tensordot(weight, parts, axes=1) for weight, (parts, _) in zip(weights, table, strict=True)]
    pairs = np.zeros((table[0][1].cells.codes.size, table[0][1].codes.size))
    for mixture, (_, column) in zip(mixed, table, strict=True):
        pairs += gathered(np.log(mixture), column.cells.codes, column.codes)
    posterior = np.exp(pairs - logsumexp(pairs, axis=0))
    row, person = np.nonzero(posterior > NEGLIGIBLE)
    mass = posterior[row, person]
    for weight, mixture, (parts, column) in zip(weights, mixed, table, strict=True):
        cell, value = column.cells.codes[row], column.codes[person]
        yield weight * ((mass / mixture[cell, value]) * parts[:, cell, value]).sum(axis=1)


def _parts(column: SharedColumn, knowledge: Knowledge) -> Iterator[Floats]:
    """Lifts of each distinct cell and value, each of shape (cells, values)."""
    covers = column.contains()
    yield np.ones(covers.shape)
    people = _population(column, knowledge)
    if not isinstance(column.cells, NumericCells):
        domain = cast(CategoricalDomain, column.cells.domain)
        counts = np.bincount(domain.codes(people), minlength=domain.size + 1)
        names = np.array([*domain.categories, None], dtype=object)
        yield covers / _share(column.cells.contains(names) @ counts, counts)[:, None]
        return
    numbers = np.asarray(people, dtype=float)
    present = np.sort(numbers[~np.isnan(numbers)])
    low, high = column.cells.hull()
    inside = np.searchsorted(present, high, side="right") - np.searchsorted(present, low, side="left")
    covered = np.where(column.cells.missing, people.size - present.size, inside)
    yield covers / _share(covered, np.unique(present, return_counts=True)[1])[:, None]
    values = column.values.astype(float)
    grid = np.quantile(present, np.linspace(0, 1, GRID), method="nearest") if present.size else np.zeros(1)
    ends, right, points = (_rank(present, side) for side in (low, high, grid))
    to_values, to_grid = (
        np.maximum(np.maximum(ends[:, None] - to, to - right[:, None]), 0.0) for to in (_rank(present, values), points)
    )
    alone = column.cells.missing[:, None] | np.isnan(values)
    for width in WIDTHS:
        mean = np.exp(-0.5 * (to_grid / width) ** 2).mean(axis=1)
        mean = np.where(column.cells.missing, 1.0, mean) + 1 / (people.size + 1)
        # A missing value is near a missing cell only, and near what covers it.
        near = np.where(alone, covers, np.exp(-0.5 * (to_values / width) ** 2))
        yield near / mean[:, None]


def _population(column: SharedColumn, knowledge: Knowledge) -> NDArray[Any]:
    """Values of the auxiliary people, or of the candidates if nobody there has the column; None where missing."""
    frame = knowledge.auxiliary.frame
    auxiliary = column.name in frame and len(frame) > 0
    people = frame[column.name] if auxiliary else pd.Series(column.values).iloc[column.codes]
    return people.astype(object).where(people.notna(), None).to_numpy()


def _share(covered: NDArray[Any], counts: NDArray[Any]) -> Floats:
    """Share of the population in each cell, shape (cells,), never 0.

    Parameters
    ----------
    covered : ndarray of int, shape (cells,)
        Number of people whose value each cell covers.
    counts : ndarray of int, shape (values,)
        Number of people with each value.

    Notes
    -----
    A cell with one person or none gets the Good-Turing estimate for values that occur once, (2 N₂ + 1) / (N₁ + 1) / N,
    but at most 1 / N. Here N is the number of people, and N₁ and N₂ are the numbers of values that occur once and
    twice. Where nearly all values are distinct, equality thus weighs more than N people can show.

    References
    ----------
    Good (1953), The population frequencies of species and the estimation of population parameters.
    """
    people = max(1, int(counts.sum()))
    rare = min(1.0, (2 * np.count_nonzero(counts == 2) + 1) / (np.count_nonzero(counts == 1) + 1))
    return np.asarray(np.where(covered > 1, covered, rare) / people)


def _rank(ordered: Floats, numbers: Floats) -> Floats:
    """Mid-rank of numbers among ordered ones, as a share; NaN for a missing number."""
    below, upto = (np.searchsorted(ordered, numbers, side=side) for side in ("left", "right"))
    return np.where(np.isnan(numbers), np.nan, (below + upto) / 2 / max(1, ordered.size))
