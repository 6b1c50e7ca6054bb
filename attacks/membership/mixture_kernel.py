r"""Mixture kernel: the density of mixed data that a table implies, relative to independent columns.

A row r spreads its mass over records x by a product over the columns, ∏ⱼ ∑ₖ wⱼₖ lⱼₖ(r, x). Each part lⱼₖ is a *lift*: a
density of x given r, over the density of x in the population. Part 0 is 1 everywhere: the cell is uninformative.
Part 1 is cover: 1 / P(cell) for the values that the cell covers, otherwise 0. For numbers, further parts are Gaussian
in the population's ranks, where all columns have one scale and no heavy tails.

The weights of a column state how exactly the cells of a table follow its records. Expectation-maximization fits them to
people in a table or outside it. The kernel takes plain and generalized cells, atoms and missing values.
Kernels are computed in single precision (`attacks.membership.mixture_kernel`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from attacks.base import Knowledge, SharedColumn, common_columns, shared_columns
from defenses.base import Microdata, MicrodataRelease
from metrics.columns import Array, Booleans, Domain, Floats, Integers, NumericCells, Singles, gathered, sums_by_code

# Lifts of a column: how much more likely a value is, given a released cell, than in the population.


# Standard deviations of the Gaussian parts, as shares of the population's ranks.
WIDTHS = (0.01, 0.05, 0.2)
# Points of the population at which the mean of a Gaussian part is taken, and steps to which ranks are rounded.
GRID, RANKS = 200, 256


def part_count(column: SharedColumn) -> int:
    """Number of parts of the kernel in a column: two, and one for each width in a column of numbers."""
    return 2 + len(WIDTHS) * isinstance(column.cells, NumericCells)


@dataclass(frozen=True)
class Population:
    """Values of a column in the population, shape (people,); None where missing."""

    values: Array
    domain: Domain

    @cached_property
    def numbers(self) -> Floats:
        """Numbers in ascending order, without missing ones."""
        numbers = np.asarray(self.values, dtype=float)
        return np.sort(numbers[~np.isnan(numbers)])

    @cached_property
    def number_counts(self) -> Array:
        """Number of people with each distinct number."""
        return np.asarray(np.unique(self.numbers, return_counts=True)[1])

    @cached_property
    def category_counts(self) -> Integers:
        """Number of people in each category or bin, shape (domain.size + 1,); missing values come last."""
        return np.bincount(self.domain.codes(self.values), minlength=self.domain.size + 1)

    @cached_property
    def points(self) -> Floats:
        """Ranks of evenly spaced people with a number."""
        if not self.numbers.size:
            return self.ranks(np.zeros(1))
        return self.ranks(np.quantile(self.numbers, np.linspace(0, 1, GRID), method="nearest"))

    def ranks(self, numbers: Floats) -> Floats:
        """Mid-rank of numbers, as a share rounded to 1/256; NaN for a missing number."""
        below, upto = np.searchsorted(self.numbers, numbers), np.searchsorted(self.numbers, numbers, side="right")
        share = np.round(RANKS * (below + upto) / 2 / max(1, self.numbers.size)) / RANKS
        return np.where(np.isnan(numbers), np.nan, share)


@dataclass(frozen=True)
class Populations:
    """The population of each column: the auxiliary people, or the candidates if nobody there has the column."""

    auxiliary: Microdata
    _columns: dict[str, Population] = field(default_factory=dict, init=False, repr=False, compare=False)

    def of(self, column: SharedColumn) -> Population:
        """Population of a column; that of auxiliary people is made once."""
        frame = self.auxiliary.frame
        if column.name not in frame or not len(frame):
            return _population(pd.Series(column.values).iloc[column.codes], column.cells.domain)
        if column.name not in self._columns:
            self._columns[column.name] = _population(frame[column.name], column.cells.domain)
        return self._columns[column.name]


def _population(people: pd.Series[Any], domain: Domain) -> Population:
    return Population(people.astype(object).where(people.notna(), None).to_numpy(), domain)


class ColumnLifts:
    """Lifts of each distinct cell and value of a column, by part of the mixture kernel.

    Ranks of numbers are rounded to 1/256, less than half of the smallest standard deviation. Few distinct ranks remain,
    for which the Gaussian parts are computed.
    """

    def __init__(self, column: SharedColumn, populations: Populations) -> None:
        self._covers = column.contains()
        people = populations.of(column)
        cells = column.cells
        self._numeric = isinstance(cells, NumericCells)
        if isinstance(cells, NumericCells):
            low, high = cells.hull()
            inside = np.searchsorted(people.numbers, high, side="right") - np.searchsorted(people.numbers, low)
            covered = np.where(cells.missing, people.values.size - people.numbers.size, inside)
            self._share = _share(covered, people.number_counts)
            self._prepare_near(cells, (low, high), column.values.astype(float), people)
        else:
            uncertain = cells.missing | cells.or_missing | cells.suppressed
            covered = cells.member @ people.category_counts[:-1] + uncertain * people.category_counts[-1]
            self._share = _share(covered, people.category_counts)

    def _prepare_near(
        self, cells: NumericCells, ends: tuple[Floats, Floats], values: Floats, people: Population
    ) -> None:
        absent = np.isnan(values)
        hulls = np.nan_to_num(np.stack([people.ranks(end) for end in ends], axis=1))
        distinct, self._hull = np.unique(hulls, axis=0, return_inverse=True)
        ranks, self._rank = np.unique(np.nan_to_num(people.ranks(values)), return_inverse=True)
        to_ranks, to_points = (_beyond(distinct, to) for to in (ranks, people.points))
        widths = np.array(WIDTHS, dtype=np.float32)[:, None, None]
        mean = _gaussian(to_points, widths).mean(axis=2, keepdims=True) + np.float32(1 / (people.values.size + 1))
        self._near = _gaussian(to_ranks, widths) / mean
        # A missing value is near a missing cell only, and near what covers it.
        self._alone: Booleans | None = None
        if absent.any() or cells.missing.any():
            self._alone = cells.missing[:, None] | absent
            self._mean = np.where(cells.missing, 1.0 + 1 / (people.values.size + 1), mean[:, self._hull, 0])

    def mixed(self, weight: Floats) -> Singles:
        """Weighted sum of the parts, shape (cells, values)."""
        exact = (weight[1] / self._share).astype(np.float32)[:, None]
        result: Singles = self._covers * exact
        if not self._numeric:
            result += np.float32(weight[0])
            return result
        near = np.tensordot(weight[2:].astype(np.float32), self._near, axes=1) + np.float32(weight[0])
        smooth = gathered(near, self._hull, self._rank)
        if self._alone is not None:
            level = (weight[2:, None] / self._mean).sum(axis=0).astype(np.float32)[:, None]
            np.copyto(smooth, self._covers * level + np.float32(weight[0]), where=self._alone)
        result += smooth
        return result

    def parts(self) -> Singles:
        """Lifts by part, shape (parts, cells, values)."""
        exact = self._covers / self._share[:, None]
        if not self._numeric:
            return np.stack([np.ones_like(exact), exact]).astype(np.float32)
        near = np.stack([gathered(part, self._hull, self._rank) for part in self._near])
        if self._alone is not None:
            near = np.where(self._alone, self._covers / self._mean[:, :, None], near)
        return np.concatenate([np.ones_like(exact)[None], exact[None], near]).astype(np.float32)


def _beyond(hulls: Floats, ranks: Floats) -> Singles:
    """How far each rank lies outside each hull, shape (hulls, ranks)."""
    beyond = np.maximum(hulls[:, :1] - ranks, ranks - hulls[:, 1:])
    return np.maximum(beyond, 0.0).astype(np.float32)


def _gaussian(distance: Singles, widths: Singles) -> Singles:
    return np.asarray(np.exp(np.float32(-0.5) * np.square(distance / widths)), dtype=np.float32)


def _share(covered: Array, counts: Array) -> Floats:
    """Share of the population in each cell, shape (cells,), never 0.

    A cell with one person or none gets the Good-Turing estimate for values that occur once, but at most 1 / N. The
    estimate is (2 N₂ + 1) / (N₁ + 1) / N. Here N is the number of people, and N₁ and N₂ are the numbers of values that
    occur once and twice. Where nearly all values are distinct, equality thus weighs more than N people can show.

    - covered, shape (cells,): Number of people whose value each cell covers.
    - counts, shape (values,): Number of people with each value.

    Source: Good (1953), The population frequencies of species and the estimation of population parameters.
    """
    people = max(1, int(counts.sum()))
    rare = min(1.0, (2 * np.count_nonzero(counts == 2) + 1) / (np.count_nonzero(counts == 1) + 1))
    return np.asarray(np.where(covered > 1, covered, rare) / people)


# Most steps of expectation-maximization, largest change of a weight at which they end, and pseudo-count of each part.
STEPS, SETTLED, PSEUDO_COUNT = 12, 2e-3, 0.1

Weights = Mapping[str, Floats]
"""Weights of the parts by column; each array sums to 1. Tables may have their columns in different orders."""


def log_kernel(
    table: MicrodataRelease, knowledge: Knowledge, weights: Weights, populations: Populations | None = None
) -> Singles:
    """Logarithm of the kernel between every released row and every candidate, shape (rows, candidates).

    - weights: Weights of the parts for each common column (`fitted_weights`).
    - populations: Those of the auxiliary people, to save computing them anew.

    A ValueError is raised if release and candidates share no column, or if a cell or a value lies outside the column's
    domain.
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


def mean_over_rows(log_values: Array) -> Floats:
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
    """Fit the kernel's weights by column to tables with people, by the people's likelihood under the tables' densities.

    A step of expectation-maximization computes the posterior of each row and each column's part for each person. The
    new weights are the parts' mean posteriors, with a pseudo-count that keeps weights positive.

    - samples: Tables, each with some people: all in the table, or all outside it.
    - release: The release under attack; gives the columns and their order.
    - populations: Those of the auxiliary people, to save computing them anew.

    Source: Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm.
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
        self._sums = sums_by_code([column.cells.codes for column in columns], cells).astype(np.float32)

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
