"""Columns as distributions: the share of people at or below a value, and the value at a share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base.columns import category_cells, category_codes, plain_numbers, stored_alike
from defenses.base.microdata import Microdata
from metrics.arrays import Floats, Integers
from metrics.domains import NumericDomain


@dataclass(frozen=True)
class Distribution(ABC):
    """The empirical distribution of one column; a missing value counts as the last of all.

    Attributes
    ----------
    original : Series, shape (n,)
        The column as the publisher holds it.
    """

    original: pd.Series[Any]

    @abstractmethod
    def shares(self) -> Floats:
        """Share of records below each record plus half of those alike, shape (n,), inside (0, 1)."""

    @abstractmethod
    def at(self, shares: Floats) -> pd.Series[Any]:
        """Released cells at given shares in [0, 1), shape (m,)."""

    @abstractmethod
    def smoothed_at(self, shares: Floats, smoothing: float, rng: Generator) -> pd.Series[Any]:
        """Released cells at shares in [0, 1) once `smoothing` more records have every category or bin, shape (m,)."""


@dataclass(frozen=True)
class Categories(Distribution):
    """Categories in the order of their domain.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
        The cell of each record.
    cells : ndarray of object, shape (cells,)
        The released cell of each code.
    """

    codes: Integers
    cells: NDArray[Any]

    def shares(self) -> Floats:
        """Share of records below each record plus half of those alike, shape (n,)."""
        share = np.bincount(self.codes, minlength=self.cells.size) / self.codes.size
        return np.asarray((np.cumsum(share) - share / 2)[self.codes])

    def at(self, shares: Floats) -> pd.Series[Any]:
        """Released cells at given shares, shape (m,)."""
        count = np.bincount(self.codes, minlength=self.cells.size)
        return pd.Series(self.cells[_codes_at(count, shares)], dtype=object)

    def smoothed_at(self, shares: Floats, smoothing: float, rng: Generator) -> pd.Series[Any]:
        """Released cells from the smoothed distribution, shape (m,); nothing is added to the missing values."""
        count = np.bincount(self.codes, minlength=self.cells.size) + smoothing * pd.notna(self.cells)
        return pd.Series(self.cells[_codes_at(count, shares)], dtype=object)


@dataclass(frozen=True)
class Numbers(Distribution):
    """Numbers, with straight lines between the middles of the empirical distribution's steps.

    Attributes
    ----------
    numbers : ndarray of float, shape (n,)
        The values; NaN where missing, which is not everywhere.
    domain : NumericDomain
        What they may be.
    """

    numbers: Floats
    domain: NumericDomain

    def shares(self) -> Floats:
        """Share of records below each record plus half of those alike, shape (n,)."""
        ordered = np.sort(self.numbers)
        ranks = np.searchsorted(ordered, self.numbers, "left") + np.searchsorted(ordered, self.numbers, "right")
        return np.asarray(ranks / 2 / self.numbers.size)

    def at(self, shares: Floats) -> pd.Series[Any]:
        """Released numbers at given shares, shape (m,)."""
        ordered = np.sort(self.numbers[~np.isnan(self.numbers)])
        place = shares * self.numbers.size
        values = np.interp(place - 0.5, np.arange(ordered.size), ordered)
        values = np.where(place < ordered.size, np.rint(values) if self.domain.integer else values, np.nan)
        return stored_alike(values, self.original)

    def smoothed_at(self, shares: Floats, smoothing: float, rng: Generator) -> pd.Series[Any]:
        """Released numbers, even inside each public bin, shape (m,); nothing is added to the missing values."""
        domain = self.domain
        edges = np.ceil(domain.edges) if domain.integer else domain.edges
        # A bin between two integers holds none.
        possible = ~(domain.integer & (np.diff(edges) == 0))
        count = np.bincount(domain.codes(self.numbers), minlength=domain.size + 1) + smoothing * np.append(possible, 0)
        code = _codes_at(count, shares)
        low, high = np.append(edges[:-1], np.nan)[code], np.append(edges[1:], np.nan)[code]
        values = low + rng.random(code.size) * (high - low)
        return stored_alike(np.floor(values) if domain.integer else values, self.original)


def distribution(records: Microdata, name: str) -> Distribution:
    """Distribution of a column that holds some value, in a table of at least one record.

    Raises
    ------
    ValueError
        If a value is no finite number or no category of the domain; names the column.
    """
    column = records.frame[name]
    if name in records.generalized:
        codes, distinct = pd.factorize(column.astype(object), use_na_sentinel=False)
        return Categories(column, codes, np.asarray(distinct, dtype=object))
    domain = records.domain(name)
    if isinstance(domain, NumericDomain):
        return Numbers(column, plain_numbers(column), domain)
    return Categories(column, category_codes(records, name), category_cells(domain))


def _codes_at(weights: NDArray[Any], shares: Floats) -> Integers:
    """Code at each share in [0, 1), shape (m,), for codes with the given weights; none of weight 0."""
    cumulative = np.cumsum(weights, dtype=float)
    last = int(np.flatnonzero(weights)[-1])
    return np.asarray(np.minimum(np.searchsorted(cumulative, shares * cumulative[-1], side="right"), last))
