"""Empirical distributions of columns, with their quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import CodedColumn, code_column
from defenses.synthetic.mixed_column import Drawn, MixedColumn
from metrics.columns import Floats, Integers, NumericDomain

# Order of unordered categories that lets a tree split them like numbers.


def category_order(codes: Integers, size: int, responses: Floats) -> Floats:
    """Rank of each category by the first principal component of its mean responses, shape (size,).

    With a single response this is the order of the category's means. A tree's best split of the categories into two
    sets is then a cut of that order (Breiman et al. 1984, theorem 4.5). With several responses it is an approximation.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Category of each record.
    size : int
        Number of categories; those without records come last.
    responses : ndarray of float, shape (n, responses)
        Numbers, or indicators of classes.

    References
    ----------
    Coppersmith, Hong and Hosking (1999), Partitioning nominal attributes in decision trees, section 4.
    """
    counts = np.bincount(codes, minlength=size).astype(float)
    sums = np.column_stack([np.bincount(codes, weights=response, minlength=size) for response in responses.T])
    means = sums / np.maximum(counts, 1.0)[:, None]
    centered = means - responses.mean(axis=0)
    covariance = (centered * counts[:, None]).T @ centered
    component = np.linalg.eigh(covariance)[1][:, -1]
    scores = np.where(counts > 0, centered @ component, np.inf)
    rank = np.empty(size)
    rank[np.argsort(scores, kind="stable")] = np.arange(size)
    return rank


def split_ranks(column: MixedColumn, responses: Floats) -> Floats:
    """Numbers by which a tree splits a column, shape (n,): ranks of numbers, or of categories by their responses."""
    if column.cells is None:
        return column.ranks.astype(float)
    return np.asarray(category_order(column.ranks, column.cells.size, responses)[column.ranks])


@dataclass(frozen=True)
class CategoryDistribution:
    """Empirical distribution of categories or released cells, in the order of their codes.

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
        """Mid-rank of each record as a share, shape (n,)."""
        share = self._counts() / self.codes.size
        return np.asarray((np.cumsum(share) - share / 2)[self.codes])

    def at(self, shares: Floats) -> Drawn:
        """Codes of the quantiles at these shares, shape (m,)."""
        return _codes_at(self._counts(), shares)

    def smoothed_at(self, shares: Floats, smoothing: float, rng: Generator) -> Drawn:
        """Codes of the quantiles of the smoothed distribution, shape (m,)."""
        return _codes_at(self._counts() + smoothing * pd.notna(self.cells), shares)

    def _counts(self) -> Integers:
        return np.bincount(self.codes, minlength=self.cells.size)


@dataclass(frozen=True)
class NumberDistribution:
    """Distribution of numbers, interpolated linearly between the middles of steps; a missing number is the last.

    Attributes
    ----------
    domain : NumericDomain
        Range and bins of the numbers.
    coded : CodedColumn
        The column coded by its domain, with at least one number.
    """

    domain: NumericDomain
    coded: CodedColumn

    def shares(self) -> Floats:
        """Mid-rank of each record as a share, shape (n,)."""
        counts = self.coded.counts
        twice_the_rank = 2 * np.cumsum(counts) - counts
        return np.asarray((twice_the_rank / 2 / self.coded.codes.size)[self.coded.codes])

    def at(self, shares: Floats) -> Drawn:
        """Interpolated quantiles at these shares, rounded where the domain holds integers; shape (m,)."""
        present = slice(self.coded.missing)
        ordered = np.repeat(self.coded.values[present], self.coded.counts[present])
        rank = shares * self.coded.codes.size
        values = np.interp(rank - 0.5, np.arange(ordered.size), ordered)
        return np.where(rank < ordered.size, np.rint(values) if self.domain.integer else values, np.nan)

    def smoothed_at(self, shares: Floats, smoothing: float, rng: Generator) -> Drawn:
        """Quantiles of the smoothed distribution, uniform inside each public bin, shape (m,)."""
        domain = self.domain
        edges = np.ceil(domain.edges) if domain.integer else domain.edges
        # A bin strictly between two integers holds no integer.
        possible = ~(domain.integer & (np.diff(edges) == 0))
        bins = domain.codes(self.coded.values)
        counts = np.bincount(bins, weights=self.coded.counts, minlength=domain.size + 1)
        code = _codes_at(counts + smoothing * np.append(possible, 0), shares)
        low, high = np.append(edges[:-1], np.nan)[code], np.append(edges[1:], np.nan)[code]
        values = low + rng.random(code.size) * (high - low)
        return np.asarray(np.floor(values) if domain.integer else values)


def distribution(column: MixedColumn) -> CategoryDistribution | NumberDistribution:
    """Distribution of a column with at least one value."""
    if column.cells is not None:
        return CategoryDistribution(column.values, column.cells)
    assert isinstance(column.domain, NumericDomain)  # noqa: S101 (other columns have cells)
    return NumberDistribution(column.domain, code_column(column.original, column.domain))


def _codes_at(weights: NDArray[Any], shares: Floats) -> Integers:
    """Code at each share in [0, 1), shape (m,), given the weights of the codes; codes of weight 0 never occur."""
    cumulative = np.cumsum(weights, dtype=float)
    last = int(np.flatnonzero(weights)[-1])
    return np.asarray(np.minimum(np.searchsorted(cumulative, shares * cumulative[-1], side="right"), last))
