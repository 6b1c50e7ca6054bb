"""Models of how each column's values came to be released: kept, disturbed or replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import iadd
from typing import Any

import numpy as np

from attacks.base import SharedColumn, softmax
from attacks.linkage.fitting.column_tables import GAUSSIAN, ColumnTables, Noise
from metrics.columns import Array, Floats, Singles, sums_by_code

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


@dataclass(frozen=True)
class ColumnMechanism:
    """Mechanism of one column.

    - shares: Shares of kept, disturbed and replaced values.
    - noise: Noise of disturbed values; without meaning for columns without noise.
    - evenly: Whether values are replaced by all values of the domain equally likely, else by frequency.
    """

    shares: tuple[float, float, float]
    noise: Noise
    evenly: bool = False


SMALLEST_SHARE = 1e-4


class ColumnModels:
    """Mixture models of all columns, fitted together.

    The tables of all columns lie one after another in vectors, so that a step of the fit costs a few operations.
    Columns with noise come first, then those with typing errors. Vectors are in single precision where all columns
    allow it. Log-likelihoods are added up in the order of the given columns.
    """

    def __init__(self, columns: list[SharedColumn]) -> None:
        self.tables = [ColumnTables.start(column) for column in columns]
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
        self._latest: list[ColumnMechanism] | None = None
        self.adopt(
            [ColumnMechanism(tables.starting_shares(), Noise(GAUSSIAN, tables.deviation)) for tables in self.tables]
        )

    def adopt(self, mechanisms: list[ColumnMechanism]) -> None:
        """Take these models, one a column."""
        if mechanisms is self._latest:
            return
        self._latest = mechanisms
        ordered = [mechanisms[number] for number in self._turn]
        self._shares = np.array([mechanism.shares for mechanism in ordered])
        self._noises = [mechanism.noise for mechanism in ordered]
        self._evenly = [mechanism.evenly for mechanism in ordered]
        self._given_replaced = self._by_frequency.copy()
        for place, tables in enumerate(self._sorted):
            if self._evenly[place] and tables.evenly is not None:
                self._segment(self._given_replaced, place)[:] = tables.flat(tables.evenly)
        self._compute()

    def mechanisms(self) -> list[ColumnMechanism]:
        """The models, one a column."""
        if self._latest is None:
            shares = self._shares.tolist()
            self._latest = [
                ColumnMechanism(tuple(shares[place]), self._noises[place], self._evenly[place])
                for place in self._places
            ]
        return self._latest

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
        totals = np.zeros_like(self._shares)
        totals[:, 0] = self._sums(weight * self._kept_part)
        totals[: self._disturbable, 1] = self._sums(disturbed)
        weight *= self._replaced_part
        totals[:, 2] = self._sums(weight)
        if not totals.any():
            return 0.0  # a release without rows teaches nothing
        self._latest = None
        before = self._shares
        shares = np.maximum(totals / totals.sum(axis=1, keepdims=True), SMALLEST_SHARE * (before > 0))
        self._shares = shares / shares.sum(axis=1, keepdims=True)
        for place in range(self._noisy):
            self._noises[place] = self._noises[place].refitted(
                self._segment(self._distance, place), self._segment(disturbed, place), self._sorted[place].least_scale
            )
        self._compute()
        return float(np.abs(self._shares - before).max())

    def _compute(self) -> None:
        """Compute share times probability of each cell given each value (kept, disturbed, replaced), and their sum."""
        shares = self._shares.astype(self.precision)
        self._kept_part = np.repeat(shares[:, 0], self._sizes) * self._given_kept
        self._replaced_part = np.repeat(shares[:, 2], self._sizes) * self._given_replaced
        disturbed = np.empty(self._ends[self._disturbable], dtype=self.precision)
        shares_of_pairs = np.repeat(shares[self._noisy :, 1], self._sizes[self._noisy :])[: self._mistyped.size]
        np.multiply(self._mistyped, shares_of_pairs, out=disturbed[self._residual.size :])
        for place, noise in enumerate(self._noises[: self._noisy]):
            probability = noise.probability(self._table(self._residual, place), self._widths[place])
            vector = probability.ravel(order=self._sorted[place].order)
            np.multiply(vector, self._shares[place, 1], out=self._segment(disturbed, place))
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
