"""A blocking pass: candidates sorted by the values of a few columns, in which each row's cells cover ranges."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from attacks.base import each_of_ranges
from attacks.linkage.blocks.column_mixture import ColumnMixture
from attacks.linkage.blocks.run_coded_column import RunCodedColumn, Runs, disjoint_runs, weight_of_runs
from metrics.columns import Booleans, Floats, Integers, Integers32, Integers64

# Groups of values that a cell may cover in a column before the last one, and their mean number over rows.
MOST_GROUPS, MEAN_GROUPS = 64, 3.0
# Half the width of the window around a number with noise, in standard deviations, and the share of noise within it.
WINDOW, INSIDE = 2.0, 0.9545
# Least share of noise for which numbers are looked up in a window.
LEAST_NOISE = 0.1


@dataclass(frozen=True)
class SearchColumn:
    """A column by which candidates are looked up.

    - good: Probability that a row's window covers the value of its candidate.
    - fine, coarse: Windows of the cells over positions, and over groups.
    - starts, coarse_starts, shape (cells + 1,): First of the runs of each cell.
    - group, shape (size,): Group of each position; groups are runs of positions.
    - covered, shape (cells,): Number of groups that each cell covers.
    - share, shape (cells,): Share of candidates in the window of each cell.
    - inner, outer, shape (cells,): Log of the mean probability of each cell over all candidates, from values in its
      window and from others.
    """

    column: RunCodedColumn
    good: float
    fine: Runs
    starts: Integers
    group: Integers32
    coarse: Runs
    coarse_starts: Integers
    covered: Integers
    share: Floats
    inner: Floats
    outer: Floats

    @property
    def blur(self) -> float:
        """Mean share of candidates in a row's groups over that in its windows, logarithm."""
        share = weight_of_runs(self.coarse, np.bincount(self.group, weights=self.column.share), self.column.cells)
        weight = self.column.count / max(1, self.column.codes.size)
        return float(np.log((share * weight).sum() + 1e-12) - np.log((self.share * weight).sum() + 1e-12))


def search_column(model: ColumnMixture) -> SearchColumn:
    """Windows and groups of a column under its learned model.

    Values that every cell's window covers together make one group. Where cells cover more than three groups in the
    mean, neighbouring groups are united.
    """
    column = model.column
    fine, good = column.runs, 1 - float(model.shares[2])
    inside = 0.0
    if model.noisy and model.shares[1] >= LEAST_NOISE:
        inside = INSIDE
        fine, good = _windows(model), float(model.shares[0] + INSIDE * model.shares[1])
    elif model.noisy:
        good = float(model.shares[0])
    elif column.errors is not None:
        pairs, kept = column.errors.pairs, column.runs
        fine = disjoint_runs(
            np.r_[kept.owner, pairs.cell], np.r_[kept.low, pairs.value], np.r_[kept.high, pairs.value + 1]
        )
        inside, good = 1.0, float(model.shares[0] + model.shares[1])
    group = _groups(column, fine)
    coarse = _over_groups(fine, group)
    starts = np.searchsorted(fine.owner, np.arange(column.cells + 1))
    coarse_starts = np.searchsorted(coarse.owner, np.arange(column.cells + 1))
    share = weight_of_runs(fine, column.share, column.cells)
    covered = _covered(column, coarse)
    inner, outer = (np.log(np.maximum(part, 1e-300)) for part in model.window_parts(share, WINDOW, inside))
    return SearchColumn(column, good, fine, starts, group, coarse, coarse_starts, covered, share, inner, outer)


def _windows(model: ColumnMixture) -> Runs:
    """Runs of the values around the numbers, and those of other cells as they are."""
    column = model.column
    present, cells = column.numbers[:-1], np.flatnonzero(model.number)
    reach = WINDOW * model.deviation
    low = np.searchsorted(present, column.written[cells] - reach)
    high = np.searchsorted(present, column.written[cells] + reach, side="right")
    other = ~model.number[column.runs.owner]
    return disjoint_runs(
        np.r_[column.runs.owner[other], cells], np.r_[column.runs.low[other], low], np.r_[column.runs.high[other], high]
    )


def _groups(column: RunCodedColumn, fine: Runs) -> Integers32:
    """Group of each position."""
    border = np.zeros(column.size + 1, dtype=bool)
    border[fine.low] = border[fine.high] = True
    group = np.cumsum(border[:-1]) - border[0]
    mass = np.cumsum(column.share) - column.share / 2
    pieces = int(group[-1]) + 1
    while _mean_groups(column, _over_groups(fine, group.astype(np.int32))) > MEAN_GROUPS and pieces > 2:
        pieces //= 2
        # Groups of about equal numbers of candidates.
        bins = np.minimum((mass * pieces).astype(int), pieces - 1)
        group = np.cumsum(np.r_[False, bins[1:] != bins[:-1]])
    return np.asarray(group, dtype=np.int32)


def _mean_groups(column: RunCodedColumn, coarse: Runs) -> float:
    """Mean number of groups that a row's cell covers, without cells that cover more than half of them."""
    covered = _covered(column, coarse)
    narrow = covered <= max(1, coarse.high.max(initial=0) / 2)
    weight = column.count * narrow
    return float((covered * weight).sum() / max(1, weight.sum()))


def _covered(column: RunCodedColumn, coarse: Runs) -> Integers:
    """Number of groups that each distinct cell covers, shape (cells,)."""
    groups = int(coarse.high.max(initial=0))
    return weight_of_runs(coarse, np.ones(groups), column.cells).astype(np.intp)


def _over_groups(fine: Runs, group: Integers32) -> Runs:
    return disjoint_runs(fine.owner, group[fine.low], group[fine.high - 1] + 1)


class Ranges(NamedTuple):
    """Ranges of a pass's sorted candidates that rows cover, by ascending row; arrays of shape (ranges,).

    - row: Index among the rows that were asked about.
    - low, high: From the position `low` up to, not including, `high`.
    """

    row: Integers
    low: Integers
    high: Integers


class BlockingPass:
    """Candidates sorted by some columns, the last one at full resolution and the others by groups of values.

    The last column is that with the most runs or the finest windows.
    """

    def __init__(self, columns: list[SearchColumn], candidates: Integers) -> None:
        self.columns = columns
        self._levels: list[tuple[Integers64, int]] = []
        key = np.zeros(candidates.size, dtype=np.int64)
        for column in columns[:-1]:
            width = int(column.group[-1]) + 1
            joined = key * width + column.group[column.column.values[candidates]]
            distinct, key = np.unique(joined, return_inverse=True)
            self._levels.append((distinct, width))
        key = key * columns[-1].column.size + columns[-1].column.values[candidates]
        order = np.argsort(key, kind="stable")
        self.order = candidates[order]
        self._sorted = key[order]

    def ranges(self, rows: Integers) -> tuple[Ranges, Integers]:
        """Ranges that the rows' windows cover, and the rows that cover too many groups to be looked up."""
        covered = (column.covered[column.column.codes[rows]] for column in self.columns[:-1])
        wide = np.logical_or.reduce([np.zeros(rows.size, dtype=bool), *(groups > MOST_GROUPS for groups in covered)])
        row = np.flatnonzero(~wide)
        key = np.zeros(row.size, dtype=np.int64)
        for column, (distinct, width) in zip(self.columns[:-1], self._levels, strict=True):
            cells = column.column.codes[rows[row]]
            source, run = each_of_ranges(column.coarse_starts[cells], column.coarse_starts[cells + 1])
            piece, group = each_of_ranges(column.coarse.low[run], column.coarse.high[run])
            source = source[piece]
            joined = key[source] * width + group
            place = np.minimum(np.searchsorted(distinct, joined), distinct.size - 1)
            present = distinct[place] == joined
            row, key = row[source[present]], place[present]
        column = self.columns[-1]
        cells = column.column.codes[rows[row]]
        source, run = each_of_ranges(column.starts[cells], column.starts[cells + 1])
        row, key = row[source], key[source] * column.column.size
        low = np.searchsorted(self._sorted, key + column.fine.low[run])
        high = np.searchsorted(self._sorted, key + column.fine.high[run])
        filled = high > low
        return Ranges(row[filled], low[filled], high[filled]), np.flatnonzero(wide)


def members(ranges: Ranges) -> tuple[Integers, Integers]:
    """Row and position among the sorted candidates of every pair, each of shape (pairs,)."""
    source, position = each_of_ranges(ranges.low, ranges.high)
    return ranges.row[source], position


# Choice of blocking passes: which columns to look candidates up by, within a budget of pairs.

# Columns that are looked up at most, and columns of one pass.
MOST_COLUMNS, DEEPEST = 10, 5
# Passes in all, and rows and candidates of the sample on which pairs are counted.
MOST_PASSES, SAMPLED_ROWS, SAMPLED_CANDIDATES = 16, 400, 100_000
# A row is looked up in a pass if it has at most so many times the mean number of pairs.
LARGEST = 10
# Passes end at this recall, or when the best one adds less.
ENOUGH, LEAST_GAIN = 0.9998, 2e-4
# Cost of looking a row up in a pass, and of each combination of groups that its cells cover, in pairs.
LOOK_UP, COMBINATION = 20.0, 5.0


@dataclass(frozen=True)
class BlockingPlan:
    """Blocking passes and their expected recall.

    - columns: Columns that passes use, by position in the table.
    - search: The windows of these columns.
    - passes: Columns of each pass, by position in `search`; the last one is looked up at full resolution.
    - most_pairs: Pairs of a row up to which it is looked up in a pass.
    - recall: Expected share of rows whose candidate is among those they are compared with.
    - pairs: Expected mean number of pairs of a row.
    """

    columns: tuple[int, ...]
    search: list[SearchColumn]
    passes: tuple[tuple[int, ...], ...]
    most_pairs: int
    recall: float
    pairs: float


def patterns(columns: int) -> Booleans:
    """All subsets of some columns, shape (2 ** columns, columns)."""
    return np.asarray((np.arange(2**columns)[:, None] >> np.arange(columns)) & 1, dtype=bool)


def covers(passes: tuple[tuple[int, ...], ...], table: Booleans) -> Booleans:
    """Whether each pass's columns are all in each subset, shape (passes, subsets)."""
    return np.array([table[:, list(one)].all(axis=1) for one in passes], dtype=bool).reshape(len(passes), len(table))


def blocking_plan(columns: list[SearchColumn], bits: Floats, budget: float, rng: Generator) -> BlockingPlan:
    """Choose blocking passes greedily, by the recall that a pass adds for each pair.

    A pass finds the candidate of a row if the windows of all its columns hold the candidate's values. The model
    replaces columns independently. Pairs are counted for a sample of rows and candidates.

    - bits, shape (columns,): Information that each column gives; the ten most informative ones are looked up.
    - budget: Mean number of pairs of a row.
    """
    chosen = [int(column) for column in np.argsort(-bits, kind="stable")[:MOST_COLUMNS]]
    search = [columns[column] for column in chosen]
    rows, candidates = search[0].column.codes.size, search[0].column.values.size
    sample = np.sort(rng.choice(rows, min(rows, SAMPLED_ROWS), replace=False))
    people = np.sort(rng.choice(candidates, min(candidates, SAMPLED_CANDIDATES), replace=False))
    table = patterns(len(search))
    good = np.array([column.good for column in search])
    probability = np.where(table, good, 1 - good).prod(axis=1)
    most_pairs = max(1, int(LARGEST * budget))
    options = _options(search, sample, candidates, most_pairs)
    cost = np.full((len(options), sample.size), np.inf)
    steps = np.empty(cost.shape)
    for number, option in enumerate(options):
        looked_up = [search[column] for column in option]
        cost[number] = _pairs(looked_up, sample, people, candidates)
        steps[number] = LOOK_UP + COMBINATION * _combinations(looked_up, sample)
    cost[cost > most_pairs] = np.inf
    found = covers(tuple(options), table)
    missing = np.ones((sample.size, table.shape[0])) * probability
    spent, pairs = np.zeros(sample.size), np.zeros(sample.size)
    passes: list[tuple[int, ...]] = []
    while options and len(passes) < MOST_PASSES and 1 - missing.sum(axis=1).mean() < ENOUGH:
        gain = np.where(np.isfinite(cost), found.astype(float) @ missing.T, 0.0)
        price = np.where(np.isfinite(cost), cost + steps, LOOK_UP)
        mean_gain, mean_price = gain.mean(axis=1), price.mean(axis=1)
        affordable = (mean_gain >= LEAST_GAIN) & (spent.mean() + mean_price <= budget)
        if not affordable.any():
            break
        best = int(np.argmax(np.where(affordable, mean_gain / mean_price, -1.0)))
        usable = np.isfinite(cost[best])
        spent += price[best]
        pairs[usable] += cost[best][usable]
        missing[usable] *= ~found[best]
        passes.append(options[best])
    recall = 1 - float(missing.sum(axis=1).mean())
    return BlockingPlan(tuple(chosen), search, tuple(passes), most_pairs, recall, float(pairs.mean()))


def _options(search: list[SearchColumn], sample: Integers, candidates: int, most_pairs: int) -> list[tuple[int, ...]]:
    """Sets of columns that are worth counting, each with the column to be looked up at full resolution last."""
    blur = np.array([column.blur for column in search])
    share = np.array([np.log(np.maximum(one.share[one.column.codes[sample]], 1 / candidates)) for one in search])
    groups = [float(np.minimum(one.covered, MOST_GROUPS)[one.column.codes[sample]].mean()) for one in search]
    options = []
    for size in range(1, min(DEEPEST, len(search)) + 1):
        for chosen in combinations(range(len(search)), size):
            # As if columns were independent, with a margin for dependence.
            expected = np.exp(share[list(chosen)].sum(axis=0) + np.log(candidates))
            if (expected <= 20 * most_pairs).mean() < 0.05:
                continue
            last = max(chosen, key=lambda column: (blur[column], search[column].column.size))
            # Columns in which cells cover few groups come first, so that there are few combinations at once.
            first = sorted((column for column in chosen if column != last), key=lambda column: groups[column])
            options.append((*first, last))
    return options


def _combinations(columns: list[SearchColumn], sample: Integers) -> Floats:
    """Number of combinations of groups that each sampled row is looked up by, in all steps together."""
    groups = [np.minimum(column.covered, MOST_GROUPS)[column.column.codes[sample]] for column in columns[:-1]]
    products = np.cumprod([np.ones(sample.size), *groups], axis=0)
    return np.asarray(products[1:].sum(axis=0) + products[-1])


def _pairs(columns: list[SearchColumn], sample: Integers, people: Integers, candidates: int) -> Floats:
    """Estimated number of candidates in the windows of each sampled row; infinite where a row is not looked up."""
    ranges, wide = BlockingPass(columns, people).ranges(sample)
    counted = np.bincount(ranges.row, weights=ranges.high - ranges.low, minlength=sample.size)
    pairs = np.asarray(counted * (candidates / people.size), dtype=float)
    pairs[wide] = np.inf
    return pairs
