"""Tables over the distinct cells and values of a column, from which its model is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from attacks.base import SharedColumn
from metrics.columns import Array, Booleans, CategoricalCells, Floats, Integers, NumericCells

# Noise families of a numeric column: Gaussian and Laplace, with scale and offset.

GAUSSIAN, LAPLACE = 0, 1
# Ratios of scale to interval at which the sum of the probabilities over a grid is tabulated; beyond them it is 1.
_RATIOS = np.linspace(0.1, 3.0, 200)
_STEPS = np.arange(-40, 41)[:, None] / _RATIOS
_SUMS = tuple(
    np.minimum(1.0, height / _RATIOS * np.exp(exponent)).sum(axis=0)
    for height, exponent in ((1 / np.sqrt(2 * np.pi), -0.5 * _STEPS**2), (0.5, -np.abs(_STEPS)))
)


def sum_over_grid(family: int, ratio: Floats) -> Floats:
    """Sum over an even grid of density times interval, each at most 1, by ratio of scale to interval.

    Divided by it, the probabilities of all numbers of the grid add up to 1, also where noise is finer than the grid.
    """
    if ratio.size and ratio.min() > _RATIOS[-1]:
        return np.ones(1)
    return np.asarray(np.interp(ratio, _RATIOS, _SUMS[family], left=1.0, right=1.0))


@dataclass(frozen=True)
class Noise:
    """Noise of a numeric column.

    - family: `GAUSSIAN` or `LAPLACE`.
    - scale: Standard deviation of Gaussian noise, mean absolute value of Laplace noise; in the column's unit.
    - offset: Centre of the noise, in the column's unit.
    """

    family: int
    scale: float
    offset: float = 0.0

    def probability(self, residual: Array, width: Array) -> Array:
        """Probability of each released number given an original number, on the grid of numbers that occur.

        - residual: Released minus original number; infinite where one of them is missing, with probability 0.
        - width: Length of the interval of numbers that the released number stands for.
        """
        result: Array = residual - self.offset if self.offset else residual.copy()
        if self.family == LAPLACE:
            np.abs(result, out=result)
            result *= -1 / self.scale
            height = 0.5 / self.scale
        else:
            result *= result
            result *= -0.5 / self.scale**2
            height = 1 / (self.scale * np.sqrt(2 * np.pi))
        np.exp(result, out=result)
        result *= width * height
        np.minimum(1.0, result, out=result)
        result /= sum_over_grid(self.family, self.scale / width).astype(result.dtype, copy=False)
        return result

    def refitted(self, distance: Array, weight: Array, least: float) -> Noise:
        """Same family and offset with the most likely scale.

        - distance: Released minus original number, 0 where one of them is missing.
        - weight: Expected number of disturbed values of each entry; 0 where one is missing.
        - least: Lower bound of the scale.
        """
        total = float(weight.sum())
        if not total > 0:
            return self
        deviation = distance - self.offset if self.offset else distance
        power = np.abs if self.family == LAPLACE else np.square
        mean = float(power(deviation).ravel() @ weight.ravel()) / total
        return Noise(self.family, max(mean if self.family == LAPLACE else float(np.sqrt(mean)), least), self.offset)


# Weights of released cells that overlap: how often a kept value shows as each of the cells that cover it.

# Rounds of proportional fitting. With fifty, weights follow the sampling noise of rare cells: where candidates were
# twice the rows and 5 % of all cells suppressed, 1 % fewer rows were found.
ROUNDS = 5


def covering_weights(
    frequency: Floats, share: Floats, over_cells: Callable[[Floats], Floats], over_values: Callable[[Floats], Floats]
) -> Floats:
    """Fit weights of cells so that kept values give about the observed frequencies of the cells, shape (cells,).

    A value shows as a cell that covers it with probability weight / sum of the weights of all cells that cover it. The
    first weights are frequencies divided by the share of candidates that a cell covers. They are right where
    generalization and suppression do not depend on the value. Proportional fitting then follows cells that occur more
    or less often than that. Weights are 0 for cells that do not occur, and for overlapping cells that cover no
    candidate's value.

    - frequency, shape (cells,): Share of released rows with each distinct cell.
    - share, shape (values,): Share of candidates with each distinct value.
    - over_cells: Sums weights of cells over the cells that cover each value.
    - over_values: Sums weights of values over the values that each cell covers.

    Source: Deming and Stephan (1940), On a least squares adjustment of a sampled frequency table when the expected
    marginal totals are known.
    """
    occurs = (frequency > 0).astype(float)
    if over_cells(occurs).max(initial=0.0) <= 1:
        return occurs  # no two cells overlap
    covered = over_values(share)
    weight = np.divide(frequency, covered, out=np.zeros_like(covered), where=covered > 0)
    for _ in range(ROUNDS):
        reached = over_cells(weight)
        expected = weight * over_values(np.divide(share, reached, out=np.zeros_like(share), where=reached > 0))
        weight = np.divide(weight * frequency, expected, out=np.zeros_like(weight), where=expected > 0)
    return weight


def coded_ends(numbers: Floats, count: Integers, values: Floats, share: Floats) -> Booleans:
    """Pairs of an end of the released numbers and a value beyond it, if numbers are coded there, shape (cells, values).

    They are if values at and beyond the end explain its frequency, and values at the end alone do not. A gain in
    log-likelihood must pay for a parameter, as in the Bayesian information criterion.

    - numbers, shape (cells,): Distinct released numbers, NaN where missing.
    - count, shape (cells,): Number of rows with each.
    - values, share, shape (values,): Distinct values of the candidates, and the share of candidates with each.

    Source: Hundepool and others (2012), Statistical disclosure control, section 3.3.3, for top and bottom coding.
    """
    # One row holds the end by definition and says nothing.
    rows, coded = count.sum() - 1, np.zeros((numbers.size, values.size), dtype=bool)
    if np.isnan(numbers).all():
        return coded
    for end, sign in ((np.nanmin(numbers), 1), (np.nanmax(numbers), -1)):
        beyond, observed = sign * values <= sign * end, count[numbers == end].sum() - 1
        chances = np.array([share[values == end].sum(), share[beyond].sum(), observed / max(1, rows)])
        # A value that nobody has counts as that of half a candidate.
        chances = np.clip(chances, share.min() / 2, 1 - share.min() / 2)
        alone, together, best = observed * np.log(chances) + (rows - observed) * np.log(1 - chances)
        price = 0.5 * np.log1p(rows) + 1
        if together > alone + price and together > best - price:
            coded |= np.outer(numbers == end, beyond)
    return coded


# Share of the numbers between the ends that candidates have, below which released numbers that all are candidates' are
# no coincidence.
COINCIDENCE = 0.5


def occupancy(column: SharedColumn) -> float:
    """Share of the numbers between the candidates' ends, at their least distance, that candidates have."""
    values = np.sort(column.values)
    return float(values.size * np.nanmin(np.diff(values)) / (np.nanmax(values) - values[0]))


def exchanged(columns: list[SharedColumn]) -> bool:
    """Whether rows seem to have exchanged their numbers, if at all: each released number is that of some candidate.

    Noise on few candidates' numbers gives others. Numbers of which candidates have nearly all say nothing.
    """
    many = [
        column
        for column in columns
        if isinstance(column.cells, NumericCells) and column.cells.plain.all() and len(column.values) > SMALL_GRID
    ]
    known = all(column.contains().any(axis=1).all() for column in many)
    return known and min(map(occupancy, many), default=1.0) < COINCIDENCE


# Number of rows that the candidates' values count for in the frequencies of replaced cells.
PRIOR = 2.0
# Shares of kept, disturbed and replaced values before anything is known.
START = np.array([0.5, 0.3, 0.2])
# Largest number of distinct numbers whose gaps say nothing about how likely they are.
SMALL_GRID = 12
# The first scale of noise, in standard deviations of the column.
FIRST_SCALE = 0.3
# Numbers whose squares, summed over pairs, are finite in single precision.
LARGEST_SINGLE = 1e14
# Number of scales that starts try, each a third of the one before.
SCALES = 8


@dataclass(frozen=True)
class ColumnTables:
    """What the model of one column starts from.

    - given_kept, shape (cells, values): Probability of a distinct cell given a distinct value if the value was kept.
    - by_frequency, shape (cells, 1): Probability of a distinct cell if values are replaced by frequency.
    - evenly, shape (cells, 1): The same if all values of the domain are equally likely; None where some cells hold
      several values.
    - residual, shape (cells, values): Released minus original number, NaN where one of them is missing; None for
      columns without noise. The unit is that of the column, or ranks among candidates where numbers were exchanged.
    - deviation: Standard deviation of the noise at the start, in that unit.
    - width, shape (cells, 1): Length of the interval of numbers that each cell stands for, in that unit; 1 for columns
      without noise.
    - mistyped, shape (cells, values): As `given_kept`, if the value was released with a typing error; None for columns
      without typing errors.
    """

    column: SharedColumn
    given_kept: Floats
    by_frequency: Floats
    evenly: Floats | None
    residual: Floats | None
    deviation: float
    width: Floats
    mistyped: Floats | None = None

    @classmethod
    def start(cls, column: SharedColumn, *, by_rank: bool = False) -> ColumnTables:
        """Return the tables of a column before anything is learned.

        - by_rank: Whether noise is measured in ranks among candidates. Exchanges are between near ranks, and their
          distance in the column's unit depends on the number.
        """
        cells = column.cells
        count = np.bincount(cells.codes, minlength=cells.missing.size)
        frequency = count / max(1, cells.codes.size)
        share = column.shares
        covers = column.contains().astype(float)
        # Where cells overlap, a kept value shows as one of those that cover it.
        covering = covers * covering_weights(frequency, share, covers.T.__matmul__, covers.__matmul__)[:, None]
        reached = covering.sum(axis=0)
        given_kept = np.divide(covering, reached, out=np.zeros_like(covering), where=reached > 0)
        # Few rows determine cell frequencies badly: a single row would make its cell look like everybody's.
        by_frequency = (count + PRIOR * (given_kept @ share)) / (cells.codes.size + PRIOR)
        if not isinstance(cells, NumericCells) or not cells.plain.all() or len(column.values) < 2:
            evenly = None
            if isinstance(cells, CategoricalCells) and cells.plain.all():
                evenly = np.where(cells.missing, by_frequency, 1 / max(1, cells.domain.size))[:, None]
            mistyped = None
            if column.errors is not None:
                mistyped = column.errors.ratio_table(covers.shape) * by_frequency[:, None]
            return cls(column, given_kept, by_frequency[:, None], evenly, None, 1.0, np.ones((1, 1)), mistyped)
        values, numbers = column.values.astype(float), cells.hull()[0]
        given_kept = np.maximum(covers, coded_ends(numbers, count, values, share))
        if by_rank:
            ranked = np.sort(values[column.codes])
            values, numbers = (
                np.where(np.isnan(side), np.nan, np.searchsorted(ranked, side) + np.searchsorted(ranked, side, "right"))
                for side in (values, numbers)
            )
        # A number stands for the interval to its released neighbours, of which `width` is its own share.
        occurring = np.r_[numbers, values]
        width = interval_lengths(numbers, occurring)
        # On a small grid, such as that of ratings, numbers are replaced like categories.
        if np.unique(occurring[~np.isnan(occurring)]).size > SMALL_GRID:
            by_frequency *= np.minimum(1.0, width / interval_lengths(numbers, numbers))
        span = max(float(np.nanmax(occurring) - np.nanmin(occurring)), 0.0) + float(np.nanmedian(width))
        evenly = np.where(cells.missing, by_frequency, np.minimum(1.0, width / span))[:, None]
        deviation = FIRST_SCALE * float(np.nanstd(values)) or 1.0
        residual = numbers[:, None] - values
        return cls(column, given_kept, by_frequency[:, None], evenly, residual, deviation, width[:, None])

    @property
    def order(self) -> Any:
        """Memory layout of the tables, "C" or "F"."""
        return "C" if self.given_kept.flags.c_contiguous else "F"

    @property
    def noisy(self) -> bool:
        """Whether values may be disturbed by noise."""
        return self.residual is not None

    @property
    def disturbed(self) -> bool:
        """Whether values may be disturbed by noise or by typing errors."""
        return self.noisy or self.mistyped is not None

    @cached_property
    def least_scale(self) -> float:
        """Lower bound of the scale of noise, in the column's unit."""
        return float(self.width.min() / 2)

    @cached_property
    def precision(self) -> type[np.floating[Any]]:
        """Single precision, unless squares of numbers or of the scale are out of its range."""
        if self.residual is None:
            return np.float32
        largest = float(np.nanmax(np.abs(self.residual), initial=0.0))
        return np.float32 if largest < LARGEST_SINGLE and self.least_scale > 1 / LARGEST_SINGLE else np.float64

    def flat(self, table: Floats) -> Floats:
        """Return a table over cells and values as a vector."""
        return np.broadcast_to(table, self.given_kept.shape).ravel(order=self.order)

    def starting_shares(self) -> tuple[float, float, float]:
        """Shares of kept, disturbed and replaced values before anything is known."""
        kept, disturbed, replaced = (
            START * [1, self.disturbed, 1] / START[[0, 1, 2] if self.disturbed else [0, 2]].sum()
        ).tolist()
        return kept, disturbed, replaced

    def starting_ratio(self) -> Floats:
        """Likelihood of kept or disturbed against replaced values before anything is known, shape (cells, values).

        Noise has several scales, each a third of the one before and equally likely.
        """
        shares = self.starting_shares()
        ratio = shares[0] * self.given_kept
        if self.mistyped is not None:
            ratio += shares[1] * self.mistyped
        if self.residual is not None:
            residual = np.where(np.isnan(self.residual), np.inf, self.residual).astype(self.precision)
            scales = np.maximum(self.deviation / 3.0 ** np.arange(SCALES), self.least_scale)
            for scale in scales:
                ratio += Noise(GAUSSIAN, float(scale)).probability(residual, self.width) * (shares[1] / SCALES)
        ratio /= self.by_frequency
        ratio += shares[2]
        return ratio

    def information(self) -> float:
        """Mean surprise, in nats, that a released cell covers a candidate's value."""
        column = self.column
        covered = np.maximum(column.contains() @ column.shares, 1 / column.codes.size)
        return float(-np.log(covered)[column.cells.codes].mean())


def interval_lengths(numbers: Floats, occurring: Floats) -> Floats:
    """Length of the interval that each number stands for, among the numbers that occur; 1 where missing.

    It is half the distance between the next smaller and the next larger number that occurs. The smallest and the
    largest number stand for as much as the longest interval between them. Each of `numbers` occurs or is NaN.
    """
    occurring = np.unique(occurring[~np.isnan(occurring)])
    if occurring.size < 2:
        return np.ones(numbers.size)
    between = (occurring[2:] - occurring[:-2]) / 2
    widest = float(between.max()) if between.size else float(occurring[1] - occurring[0])
    lengths = np.r_[widest, between, widest][np.minimum(np.searchsorted(occurring, numbers), occurring.size - 1)]
    return np.where(np.isnan(numbers), 1.0, lengths)
