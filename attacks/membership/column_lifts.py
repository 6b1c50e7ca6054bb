"""Lifts of a column: how much more likely a value is, given a released cell, than in the population."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from attacks.base.sides import SharedColumn
from defenses.base.microdata import Microdata
from metrics.columns.arrays import Floats, gathered
from metrics.columns.cells import CategoricalCells, NumericCells
from metrics.columns.domains import Domain

Singles = NDArray[np.float32]

# Standard deviations of the Gaussian parts, as shares of the population's ranks.
WIDTHS = (0.01, 0.05, 0.2)
# Points of the population at which the mean of a Gaussian part is taken, and steps to which ranks are rounded.
GRID, RANKS = 200, 256


def part_count(column: SharedColumn) -> int:
    """Number of parts of the kernel in a column: two, and one for each width in a column of numbers."""
    return 2 + len(WIDTHS) * isinstance(column.cells, NumericCells)


@dataclass(frozen=True)
class Population:
    """Values of a column in the population.

    Attributes
    ----------
    values : ndarray of object, shape (people,)
        None where missing.
    domain : Domain
        Domain of the column.
    """

    values: NDArray[Any]
    domain: Domain

    @cached_property
    def numbers(self) -> Floats:
        """Numbers in ascending order, without missing ones."""
        numbers = np.asarray(self.values, dtype=float)
        return np.sort(numbers[~np.isnan(numbers)])

    @cached_property
    def number_counts(self) -> NDArray[Any]:
        """Number of people with each distinct number."""
        return np.asarray(np.unique(self.numbers, return_counts=True)[1])

    @cached_property
    def category_counts(self) -> NDArray[np.intp]:
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
    """The population of each column: the auxiliary people, or the candidates if nobody there has the column.

    Parameters
    ----------
    auxiliary : Microdata
        The auxiliary people.
    """

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

    Parameters
    ----------
    column : SharedColumn
        Both sides.
    populations : Populations
        The population of each column.
    """

    def __init__(self, column: SharedColumn, populations: Populations) -> None:
        self._covers = column.contains()
        people = populations.of(column)
        cells = column.cells
        self._numeric = isinstance(cells, NumericCells)
        if not isinstance(cells, CategoricalCells):
            assert isinstance(cells, NumericCells)  # noqa: S101 (cells are of two kinds)
            low, high = cells.hull()
            inside = np.searchsorted(people.numbers, high, side="right") - np.searchsorted(people.numbers, low)
            covered = np.where(cells.missing, people.values.size - people.numbers.size, inside)
            self._share = _share(covered, people.number_counts)
            self._prepare_near(cells, (low, high), column.values.astype(float), people)
            return
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
        self._alone: NDArray[np.bool_] | None = None
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
