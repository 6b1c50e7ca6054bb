"""Models of how each column's values came to be released: kept, disturbed or replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from operator import iadd
from typing import Any, Self

import numpy as np

from attacks.base import SharedColumn, softmax
from attacks.linkage.fitting.column_tables import ColumnTables, Noise, exchanged
from metrics.columns import Array, Booleans, Floats, Integers, Singles, sums_by_code

# Marginal likelihood of a release: each row stems from any candidate with equal probability.

# Bounds of ratios in single precision, so that products of a few stay finite.
SMALLEST_RATIO, LARGEST_RATIO = 1e-12, 1e12


def marginal_log_likelihood(log_likelihood: Array) -> float:
    """Sum over rows of the log of the mean likelihood over candidates, from finite log-likelihoods.

    Unlike the likelihood of the best matching, it does not grow with the number of candidates. A model that explains
    each row by some candidate or other gains nothing.
    """
    most = log_likelihood.max(axis=1, keepdims=True)
    return float((np.log(np.exp(log_likelihood - most).mean(axis=1)) + most[:, 0]).sum())


def candidate_weights(log_likelihood: Array) -> Singles:
    """Posterior of each candidate of each row by itself, shape (rows, candidates)."""
    return softmax(log_likelihood).astype(np.float32, copy=False)


def gains(weights: Singles, columns: Sequence[SharedColumn], ratios: Sequence[Floats]) -> Floats:
    """Gain in marginal log-likelihood by one more column, for each of several columns, shape (columns,).

    - weights, shape (rows, candidates): Posterior of each candidate of each row under the columns so far.
    - ratios, each, shape (cells, values): Likelihood ratio of each column; the reciprocal of a ratio takes a column
      away.
    """
    result = np.empty(len(columns))
    for number, (column, ratio) in enumerate(zip(columns, ratios, strict=True)):
        bounded = np.clip(ratio, SMALLEST_RATIO, LARGEST_RATIO).astype(np.float32)
        mean = np.einsum("ij,ij->i", weights, column.expand(bounded))
        result[number] = np.log(np.maximum(mean, 1e-30).astype(float)).sum()
    return result


# How the values of a column came to be released, as shares of kept, disturbed and replaced values.


class ByColumn:
    """Arrays with one entry a column."""

    def of(self, columns: Integers) -> Self:
        """The entries of some columns."""
        return type(self)(*(entries[columns] for entries in vars(self).values()))


@dataclass(frozen=True)
class Fit(ByColumn):
    """Mechanisms of all columns: arrays of one entry a column.

    - shares, shape (columns, 3): Shares of kept, disturbed and replaced values.
    - scale, offset, laplace: Noise of disturbed values, Gaussian or Laplace; without meaning for columns without noise.
    - even: Whether values are replaced by all values of the domain equally likely, else by frequency.
    - score: The log-likelihood that they reached on weighted pairs, -inf before.
    """

    shares: Floats
    scale: Floats
    offset: Floats
    laplace: Booleans
    even: Booleans
    score: Floats

    def noise(self, column: int) -> Noise:
        """Noise of a column."""
        return Noise(int(self.laplace[column]), float(self.scale[column]), float(self.offset[column]))


SMALLEST_SHARE = 1e-4


class ColumnModels:
    """Mixture models of all columns, fitted together.

    The tables of all columns lie one after another in vectors, so that a step of the fit costs a few operations.
    Columns with noise come first, then those with typing errors. Vectors are in single precision where all columns
    allow it. Log-likelihoods are added up in the order of the given columns.
    """

    def __init__(self, columns: list[SharedColumn]) -> None:
        self.by_rank = exchanged(columns)
        self.tables = [ColumnTables.start(column, by_rank=self.by_rank) for column in columns]
        # Positions in the vectors; `self._turn` leads from the columns' order to that of the vectors.
        kinds = [(not tables.noisy, not tables.disturbed) for tables in self.tables]
        self._turn = sorted(range(len(self.tables)), key=kinds.__getitem__)
        self._places = np.argsort(self._turn).tolist()
        self._sorted = [self.tables[number] for number in self._turn]
        self._sizes = np.array([tables.given_kept.size for tables in self._sorted])
        self._ends = [0, *np.cumsum(self._sizes).tolist()]
        self._noisy = sum(tables.noisy for tables in self._sorted)
        self._disturbable = sum(tables.disturbed for tables in self._sorted)
        residuals = [tables.flat(tables.residual) for tables in self._sorted if tables.residual is not None]
        residual = np.concatenate([*residuals, np.zeros(0)])
        absent = np.isnan(residual)
        # A missing number is infinitely far from all others, and adds nothing to the scale.
        distance = np.where(absent, 0.0, residual)
        double = any(tables.precision is np.float64 for tables in self.tables)
        self.precision: type[np.floating[Any]] = np.float64 if double else np.float32
        self._distance = distance.astype(self.precision)
        self._residual = np.where(absent, np.inf, self._distance).astype(self.precision)
        self._given_kept, self._by_frequency = (
            np.concatenate([tables.flat(table).astype(self.precision) for tables, table in pairs])
            for pairs in (
                [(tables, tables.given_kept) for tables in self._sorted],
                [(tables, tables.by_frequency) for tables in self._sorted],
            )
        )
        mistyped = [tables.flat(tables.mistyped) for tables in self._sorted if tables.mistyped is not None]
        self._mistyped = np.concatenate([*mistyped, np.zeros(0)]).astype(self.precision)
        self._widths = [tables.width.astype(self.precision) for tables in self._sorted]
        counts = [tables.given_kept.shape[0] for tables in self._sorted]
        codes = [tables.column.cells.codes for tables in self._sorted]
        self._by_cell = sums_by_code(codes, counts).astype(self.precision)
        self._by_value = [
            sums_by_code([tables.column.codes], [tables.given_kept.shape[1]]).astype(self.precision)
            for tables in self._sorted
        ]
        nothing, false = np.zeros(len(columns)), np.full(len(columns), False)
        shares = np.array([tables.starting_shares() for tables in self.tables])
        scale = np.array([tables.deviation for tables in self.tables])
        self.fit = Fit(shares, scale, nothing, false, false, nothing - np.inf)
        self._begin()

    def adopt(self, fit: Fit) -> None:
        """Take these mechanisms."""
        if fit is not self.fit:
            self.fit = fit
            self._begin()

    def _begin(self) -> None:
        """Compute what follows from the mechanisms."""
        self._given_replaced = self._by_frequency.copy()
        for place, (number, tables) in enumerate(zip(self._turn, self._sorted, strict=True)):
            if self.fit.even[number] and tables.evenly is not None:
                self._segment(self._given_replaced, place)[:] = tables.flat(tables.evenly)
        self._compute()

    def log_likelihood(self, precision: type[np.floating[Any]] | None = None) -> Array:
        """Log-likelihood of each released row under each candidate, shape (rows, candidates).

        Logarithms are taken and added up in `precision`, by default that of the models.
        """
        logarithm = np.log(self._likelihood, dtype=precision or self.precision)
        expanded = (self._sorted[place].column.expand(self._table(logarithm, place)) for place in self._places)
        return reduce(iadd, expanded)

    def separate_log_likelihood(self) -> float:
        """Log-likelihood of the release if every cell stems from a candidate of its own."""
        total = 0.0
        for place in self._places:
            column = self._sorted[place].column
            mean = self._table(self._likelihood, place) @ column.shares
            total += float(np.log(mean)[column.cells.codes].sum())
        return total

    def ratio(self, number: int) -> Array:
        """Likelihood of each distinct cell given each value against replacement, of a column, shape (cells, values)."""
        place = self._places[number]
        return self._table(self._likelihood, place) / self._table(self._given_replaced, place)

    def expected_counts(self, posterior: Array) -> list[Array]:
        """Expected number of rows with each distinct cell and value, as a vector for each column."""
        vector = self._collapsed(posterior)
        return [self._segment(vector, place) for place in self._places]

    def maximize(self, posterior: Array) -> float:
        """Set shares and scales to their most likely values under a posterior; return the largest change of a share."""
        weight = self._collapsed(posterior)
        weight /= self._likelihood
        disturbed = weight[: self._ends[self._disturbable]] * self._disturbed
        totals = np.zeros_like(self.fit.shares)
        totals[:, 0] = self._sums(weight * self._kept_part)
        totals[: self._disturbable, 1] = self._sums(disturbed)
        weight *= self._replaced_part
        totals[:, 2] = self._sums(weight)
        if not totals.any():
            return 0.0  # a release without rows teaches nothing
        before, totals, scale = self.fit.shares, totals[self._places], self.fit.scale.copy()
        shares = np.maximum(totals / totals.sum(axis=1, keepdims=True), SMALLEST_SHARE * (before > 0))
        for place, number in enumerate(self._turn[: self._noisy]):
            noise = self.fit.noise(number)
            scale[number] = noise.refitted(
                self._segment(self._distance, place), self._segment(disturbed, place), self.tables[number].least_scale
            ).scale
        self.fit = replace(self.fit, shares=shares / shares.sum(axis=1, keepdims=True), scale=scale)
        self._compute()
        return float(np.abs(self.fit.shares - before).max())

    def _compute(self) -> None:
        """Compute share times probability of each cell given each value (kept, disturbed, replaced), and their sum."""
        shares = self.fit.shares[self._turn].astype(self.precision)
        self._kept_part = np.repeat(shares[:, 0], self._sizes) * self._given_kept
        self._replaced_part = np.repeat(shares[:, 2], self._sizes) * self._given_replaced
        disturbed = np.empty(self._ends[self._disturbable], dtype=self.precision)
        shares_of_pairs = np.repeat(shares[self._noisy :, 1], self._sizes[self._noisy :])[: self._mistyped.size]
        np.multiply(self._mistyped, shares_of_pairs, out=disturbed[self._residual.size :])
        for place, number in enumerate(self._turn[: self._noisy]):
            probability = self.fit.noise(number).probability(self._table(self._residual, place), self._widths[place])
            vector = probability.ravel(order=self._sorted[place].order)
            np.multiply(vector, self.fit.shares[number, 1], out=self._segment(disturbed, place))
        self._disturbed = disturbed
        self._likelihood = self._kept_part.copy()
        self._likelihood[: disturbed.size] += disturbed
        self._likelihood += self._replaced_part

    def _segment(self, vector: Array, place: int) -> Array:
        return vector[self._ends[place] : self._ends[place + 1]]

    def _table(self, vector: Array, place: int) -> Array:
        """A column's part of a vector, shape (cells, values)."""
        tables = self._sorted[place]
        return self._segment(vector, place).reshape(tables.given_kept.shape, order=tables.order)

    def _collapsed(self, weights: Array) -> Array:
        """Weights of rows and candidates added up by distinct cell and distinct value, as a vector of all columns."""
        weights = weights.astype(self.precision, copy=False)
        # A product with a subnormal number takes a hundred times as long, and what it adds is lost in any sum.
        by_cell = self._by_cell @ np.where(weights < np.finfo(self.precision).tiny, 0, weights)
        result = np.empty(self._ends[-1], dtype=self.precision)
        first = 0
        for place, (tables, by_value) in enumerate(zip(self._sorted, self._by_value, strict=True)):
            last = first + tables.given_kept.shape[0]
            counts = by_value @ by_cell[first:last].T
            self._segment(result, place)[:] = counts.ravel(order="C" if tables.order == "F" else "F")
            first = last
        return result

    def _sums(self, vector: Array) -> list[float]:
        """Sum over each column's part of a vector."""
        ends = [end for end in self._ends if end <= vector.size]
        return [np.add.reduce(vector[first:last]) for first, last in pairwise(ends)]
