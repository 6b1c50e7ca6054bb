"""Choice of blocking passes: which columns to look candidates up by, within a budget of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import Generator

from attacks.linkage.blocks.blocking_pass import MOST_GROUPS, BlockingPass, SearchColumn
from metrics.columns.arrays import Booleans, Floats, Integers

# Columns that are looked up at most, and columns of one pass.
MOST_COLUMNS, DEEPEST = 10, 5
# Passes in all, and rows and candidates of the sample on which pairs are counted.
MOST_PASSES, SAMPLED_ROWS, SAMPLED_CANDIDATES = 16, 400, 100_000
# A row is looked up in a pass if it has at most so many times the mean number of pairs.
LARGEST = 10
# Passes end at this recall, or when the best one adds less.
ENOUGH, LEAST_GAIN = 0.998, 5e-4
# Cost of looking a row up in a pass, and of each combination of groups that its cells cover, in pairs.
LOOK_UP, COMBINATION = 20.0, 5.0


@dataclass(frozen=True)
class BlockingPlan:
    """Blocking passes and their expected recall.

    Attributes
    ----------
    columns : tuple of int
        Columns that passes use, by position in the table.
    search : list of SearchColumn
        The windows of these columns.
    passes : tuple of tuple of int
        Columns of each pass, by position in `search`; the last one is looked up at full resolution.
    most_pairs : int
        Pairs of a row up to which it is looked up in a pass.
    recall : float
        Expected share of rows whose candidate is among those they are compared with.
    pairs : float
        Expected mean number of pairs of a row.
    """

    columns: tuple[int, ...]
    search: list[SearchColumn]
    passes: tuple[tuple[int, ...], ...]
    most_pairs: int
    recall: float
    pairs: float

    @property
    def patterns(self) -> Booleans:
        """Which columns' windows hold the candidate's values, all possibilities, shape (2 ** columns, columns)."""
        return patterns(len(self.columns))

    def covered(self) -> Booleans:
        """Whether each pass finds the candidate in each pattern, shape (passes, 2 ** columns)."""
        return covers(self.passes, self.patterns)


def patterns(columns: int) -> Booleans:
    """All subsets of some columns, shape (2 ** columns, columns)."""
    return np.asarray((np.arange(2**columns)[:, None] >> np.arange(columns)) & 1, dtype=bool)


def covers(passes: tuple[tuple[int, ...], ...], table: Booleans) -> Booleans:
    """Whether each pass's columns are all in each subset, shape (passes, subsets)."""
    return np.array([table[:, list(one)].all(axis=1) for one in passes], dtype=bool).reshape(len(passes), len(table))


def blocking_plan(columns: list[SearchColumn], bits: Floats, budget: float, rng: Generator) -> BlockingPlan:
    """Choose blocking passes greedily, by the recall that a pass adds for each pair.

    A pass finds the candidate of a row if the windows of all its columns hold the candidate's values. Columns are
    replaced independently under the model. The number of pairs is counted for a sample of rows and candidates.

    Parameters
    ----------
    columns : list of SearchColumn
        Windows of the columns.
    bits : ndarray of float, shape (columns,)
        Information that each column gives; the ten most informative ones are looked up.
    budget : float
        Mean number of pairs of a row.
    rng : Generator
        Draws the samples.
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
    product, total = np.ones(sample.size), np.zeros(sample.size)
    for column in columns[:-1]:
        product = product * np.minimum(column.covered, MOST_GROUPS)[column.column.codes[sample]]
        total += product
    return total + product


def _pairs(columns: list[SearchColumn], sample: Integers, people: Integers, candidates: int) -> Floats:
    """Estimated number of candidates in the windows of each sampled row; infinite where a row is not looked up."""
    ranges, wide = BlockingPass(columns, people).ranges(sample)
    counted = np.bincount(ranges.row, weights=ranges.high - ranges.low, minlength=sample.size)
    pairs = np.asarray(counted * (candidates / people.size), dtype=float)
    pairs[wide] = np.inf
    return pairs
