"""Models of how each column's values came to be released: kept, disturbed or replaced."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from attacks.base.sides import SharedColumn
from metrics.arrays import Floats, Integers
from metrics.cells import NumericCells

# Shares of kept, disturbed and replaced values before anything is known.
START = np.array([0.5, 0.3, 0.2])
SMALLEST_SHARE = 1e-4
# Number of rows that the candidates' values count for in the frequencies of replaced cells.
PRIOR = 2.0


@dataclass(frozen=True)
class ColumnTables:
    """What the model of one column starts from.

    Attributes
    ----------
    column : SharedColumn
        Both sides of the column.
    given_kept, given_replaced : ndarray of float
        Probability of a distinct cell given a distinct value if the value was kept, shape (cells, values), and if it
        was replaced, shape (cells, 1).
    residual : ndarray of float, shape (cells, values), or None
        Released minus original number, NaN where one of them is missing; None for columns without noise.
    deviation : float
        Standard deviation of the noise, in the column's unit.
    width : ndarray of float, shape (cells, 1)
        Length of the interval of numbers that each cell stands for, in the column's unit; 1 for columns without noise.
    """

    column: SharedColumn
    given_kept: Floats
    given_replaced: Floats
    residual: Floats | None
    deviation: float
    width: Floats

    @classmethod
    def start(cls, column: SharedColumn) -> ColumnTables:
        """Return the tables of a column before anything is learned."""
        cells = column.cells
        count = np.bincount(cells.codes, minlength=cells.missing.size)
        # Where cells overlap, a kept value shows as one of those that cover it, in proportion to their frequency.
        covering = column.contains() * (count / max(1, cells.codes.size))[:, None]
        reached = covering.sum(axis=0)
        given_kept = np.divide(covering, reached, out=np.zeros_like(covering), where=reached > 0)
        # Few rows determine cell frequencies badly: a single row would make its cell look like everybody's.
        share = np.bincount(column.codes, minlength=len(column.values)) / column.codes.size
        given_replaced = (count + PRIOR * (given_kept @ share)) / (cells.codes.size + PRIOR)
        if not isinstance(cells, NumericCells) or not cells.plain.all() or len(column.values) < 2:
            return cls(column, given_kept, given_replaced[:, None], None, 1.0, np.ones((1, 1)))
        given_kept = column.contains().astype(float)
        values, numbers = column.values.astype(float), cells.hull()[0]
        # A number stands for the interval to its released neighbours, of which `width` is its own share.
        width = interval_lengths(numbers, np.r_[numbers, values])
        given_replaced *= np.minimum(1.0, width / interval_lengths(numbers, numbers))
        deviation = 0.3 * float(np.nanstd(values)) or 1.0
        return cls(column, given_kept, given_replaced[:, None], numbers[:, None] - values, deviation, width[:, None])

    @property
    def order(self) -> Any:
        """Memory layout of the tables, "C" or "F"."""
        return "C" if self.given_kept.flags.c_contiguous else "F"

    def flat(self, table: Floats) -> Floats:
        """Return a table over cells and values as a vector."""
        return np.broadcast_to(table, self.given_kept.shape).ravel(order=self.order)


class ColumnModels:
    """Mixture models of all columns, fitted together.

    The tables of all columns lie one after another in vectors, those of columns with noise first: a step of the fit
    costs a few operations on long vectors.

    Parameters
    ----------
    columns : list of SharedColumn
        The common columns; their order is that in which log-likelihoods are added up.
    """

    def __init__(self, columns: list[SharedColumn]) -> None:
        starts = [ColumnTables.start(column) for column in columns]
        # Positions in the vectors; `self._turn` leads from the columns' order to that of the vectors.
        self._turn = sorted(range(len(starts)), key=lambda number: starts[number].residual is None)
        self._tables = [starts[number] for number in self._turn]
        self._sizes = np.array([tables.given_kept.size for tables in self._tables])
        self._ends = [0, *np.cumsum(self._sizes).tolist()]
        self._noisy = sum(tables.residual is not None for tables in self._tables)
        self._given_kept = np.concatenate([tables.flat(tables.given_kept) for tables in self._tables])
        self._given_replaced = np.concatenate([tables.flat(tables.given_replaced) for tables in self._tables])
        residuals = [tables.flat(tables.residual) for tables in self._tables if tables.residual is not None]
        residual = np.concatenate([*residuals, np.zeros(0)])
        absent = np.isnan(residual)
        # A missing number is infinitely far from all others, and adds nothing to the variance.
        self._residual = np.where(absent, np.inf, residual)
        self._squared = np.where(absent, 0.0, residual) ** 2
        widths = [tables.flat(tables.width) for tables in self._tables[: self._noisy]]
        self._width = np.concatenate([*widths, np.zeros(0)])
        self._least_deviations = np.array([tables.width.min() / 2 for tables in self._tables[: self._noisy]])
        self._by_cell = _sums_by_code([tables.column.cells.codes for tables in self._tables], self._cells)
        self._entries = np.concatenate([self._entry_of_each_pair(position) for position in range(len(starts))])
        self.shares = np.array([_starting_shares(number < self._noisy) for number in range(len(starts))])
        self.deviations = np.array([tables.deviation for tables in self._tables[: self._noisy]])
        self._compute()

    @property
    def _cells(self) -> list[int]:
        return [tables.given_kept.shape[0] for tables in self._tables]

    def log_likelihood(self) -> Floats:
        """Log-likelihood of each released row under each candidate, shape (rows, candidates)."""
        logarithm = np.log(self._likelihood)
        total: Floats | None = None
        for position in np.argsort(self._turn).tolist():
            tables = self._tables[position]
            vector = logarithm[self._ends[position] : self._ends[position + 1]]
            expanded = tables.column.expand(vector.reshape(tables.given_kept.shape, order=tables.order))
            if total is None:
                total = expanded
            else:
                total += expanded
        assert total is not None  # noqa: S101 (there is a column)
        return total

    def maximize(self, posterior: Floats) -> float:
        """Set shares and deviations to their most likely values if rows match candidates as in `posterior`.

        Returns
        -------
        float
            The largest change of a share.
        """
        weight = self._collapsed(posterior)
        weight /= self._likelihood
        split = self._ends[self._noisy]
        disturbed = weight[:split] * self._disturbed
        totals = np.zeros_like(self.shares)
        totals[:, 0] = self._sums(weight * self._kept_part)
        totals[: self._noisy, 1] = self._sums(disturbed)
        weight *= self._replaced_part
        totals[:, 2] = self._sums(weight)
        squares = self._sums(disturbed * self._squared)
        if not totals.any():
            return 0.0  # a release without rows teaches nothing
        before = self.shares
        shares = np.maximum(totals / totals.sum(axis=1, keepdims=True), SMALLEST_SHARE * (before > 0))
        self.shares = shares / shares.sum(axis=1, keepdims=True)
        size = totals[: self._noisy, 1]
        variances = np.divide(squares, size, out=self.deviations**2, where=size > 0)
        self.deviations = np.where(size > 0, np.maximum(np.sqrt(variances), self._least_deviations), self.deviations)
        self._compute()
        return float(np.abs(self.shares - before).max())

    def _compute(self) -> None:
        """Compute share times probability of each cell given each value (kept, disturbed, replaced), and their sum."""
        self._kept_part = np.repeat(self.shares[:, 0], self._sizes) * self._given_kept
        self._replaced_part = np.repeat(self.shares[:, 2], self._sizes) * self._given_replaced
        sizes = self._sizes[: self._noisy]
        density = self._residual / np.repeat(self.deviations, sizes)
        density *= density
        density *= -0.5
        np.exp(density, out=density)
        density /= np.repeat(self.deviations * np.sqrt(2 * np.pi), sizes)
        density *= self._width
        np.minimum(1.0, density, out=density)
        density *= np.repeat(self.shares[: self._noisy, 1], sizes)
        self._disturbed = density
        self._likelihood = self._kept_part.copy()
        self._likelihood[: density.size] += density
        self._likelihood += self._replaced_part

    def _collapsed(self, weights: Floats) -> Floats:
        """Weights of rows and candidates added up by distinct cell and distinct value, as a vector of all columns."""
        by_cell = self._by_cell @ weights
        return np.asarray(np.bincount(self._entries, weights=by_cell.ravel(), minlength=self._ends[-1]), dtype=float)

    def _entry_of_each_pair(self, position: int) -> Integers:
        """Position in the vectors of each distinct cell of a column with each candidate, flat."""
        tables = self._tables[position]
        entries = self._ends[position] + np.arange(tables.given_kept.size)
        positions: Integers = entries.reshape(tables.given_kept.shape, order=tables.order)[
            :, tables.column.codes
        ].ravel()
        return positions

    def _sums(self, vector: Floats) -> list[float]:
        """Sum over each column's part of a vector."""
        ends = [end for end in self._ends if end <= vector.size]
        return [np.add.reduce(vector[first:last]) for first, last in pairwise(ends)]


def _starting_shares(noisy: bool) -> Floats:
    shares = START * [1, noisy, 1]
    return START if noisy else shares / shares.sum()


def _sums_by_code(codes: list[Integers], counts: list[int]) -> csr_array[Any]:
    """Matrix that adds up the rows of each code, for several codings of the rows, shape (sum of counts, rows)."""
    rows = np.concatenate([np.argsort(one, kind="stable") for one in codes])
    sizes = np.concatenate([np.bincount(one, minlength=count) for one, count in zip(codes, counts, strict=True)])
    return csr_array((np.ones(rows.size), rows, np.r_[0, np.cumsum(sizes)]), shape=(sum(counts), codes[0].size))


def interval_lengths(numbers: Floats, occurring: Floats) -> Floats:
    """Length of the interval that each number stands for, among the numbers that occur; 1 where missing.

    It is half the distance between the next smaller and the next larger number that occurs. The smallest and the
    largest number stand for as much as the longest interval between them.

    Parameters
    ----------
    numbers : ndarray of float, shape (n,)
        Among `occurring`, or NaN.
    occurring : ndarray of float, shape (m,)
        NaN is left out.
    """
    occurring = np.unique(occurring[~np.isnan(occurring)])
    if occurring.size < 2:
        return np.ones(numbers.size)
    between = (occurring[2:] - occurring[:-2]) / 2
    widest = float(between.max()) if between.size else float(occurring[1] - occurring[0])
    lengths = np.r_[widest, between, widest][np.minimum(np.searchsorted(occurring, numbers), occurring.size - 1)]
    return np.where(np.isnan(numbers), 1.0, lengths)
