"""Rows of one table that are about one person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base import SharedColumn, with_text_errors
from attacks.linkage.fellegi_sunter import OFTEN, PRIOR, SELDOM, ComparedColumn
from attacks.linkage.likeliest_candidates import CHUNK_PAIRS, likeliest_of_all
from metrics.columns import Floats, Integers, chunks, require

# Largest number of rows: all pairs are compared, and so many take a quarter of an hour.
MOST_ROWS = 50_000
# Probability from which two rows are said to be about one person.
SAME = 0.5
# Rows by which the share of a value beside another one is drawn to its share in the table. With 3, 20 or none such, 6,
# 20 and nearly all of 300 different people of Adult were grouped; with 8 rows 8 were.
SHRINKAGE = 8.0
# Rounds of expectation maximization, and the change of a probability below which they end.
ROUNDS, SETTLED = 200, 1e-4


@dataclass(frozen=True)
class Duplicates:
    """Rows of a table in groups, each of which is about one person.

    - group, shape (rows,): Number of each row's group, from 0 in the order of first rows; -1 for rows that stand alone.
    - confidence, shape (rows,): Probability of the row's likeliest pair; of a row that stands alone, that it has no
      other row.
    """

    group: Integers
    confidence: Floats


class _Pairs(NamedTuple):
    """Pairs of rows, shape (pairs,), the first row before the second one."""

    first: Integers
    second: Integers


def duplicates(columns: list[SharedColumn], rng: Generator) -> Duplicates:
    """Find the rows of a table that are about one person, by the Fellegi-Sunter model.

    All pairs of rows are compared, and the 40 likeliest of each row are weighed. Comparisons are those of
    `FellegiSunter`. The probability that two different people agree is the share of other rows that agree with the
    first one, so that rare values weigh more. Expectation maximization learns how often rows of one person agree, and
    how many such pairs there are. Pairs with a probability of one half or more make groups: a row belongs to the group
    of each row that it is paired with.

    Columns of different people may depend on each other by pairs (`_chance_of_pairs`). Where more columns depend on
    each other and rows are few, confidences are too high. Of 300 different people of Adult, 8 were grouped with a
    confidence of about .8; of 1,000, none was. In FEBRL 1, 2 and 3 precision and recall are .98 or more.

    `rng` breaks ties between equally likely pairs. Too many rows raise a ValueError.

    Source: Fellegi and Sunter (1969), A theory for record linkage; Winkler (1988), Using the EM algorithm for weight
    computation in the Fellegi-Sunter model; Christen (2012), Data matching, chapter 7, for groups.
    """
    rows = columns[0].codes.size
    require(rows <= MOST_ROWS, f"the table has {rows:,} rows; at most {MOST_ROWS:,} can be compared with each other")
    if rows < 2:
        return Duplicates(np.full(rows, -1), np.ones(rows))
    compared = [ComparedColumn(column) for column in with_text_errors(columns, itself=True)]
    chances = [_chances(one) for one in compared]
    pairs = _likely_pairs(compared, chances, rng)
    probability = _probabilities(compared, chances, pairs, rows)
    return _groups(pairs, probability, rows)


def _chances(compared: ComparedColumn) -> Floats:
    """Logarithm of the share of other rows with each outcome beside each distinct cell, shape (cells, outcomes)."""
    codes, values = compared.column.cells.codes, compared.column.codes
    count = np.bincount(values, minlength=len(compared.column.values)).astype(float)
    first = np.unique(codes, return_index=True)[1]
    outcomes = len(compared.names) + 1
    others = np.empty((first.size, outcomes))
    for cells in chunks(first.size, count.size, CHUNK_PAIRS):
        _, place, outcome = compared.outcomes(first[cells])
        for number in range(outcomes):
            others[cells, number] = (outcome[place] == number) @ count
    # A row agrees with itself.
    others[:, 1] -= 1
    return np.asarray(np.log((others + PRIOR) / (codes.size - 1 + PRIOR * outcomes)))


def _starting_matches(outcomes: int) -> Floats:
    """Logarithms of the probabilities of a column's outcomes within pairs of one person, before anything is known."""
    return np.log([SELDOM, OFTEN] if outcomes == 2 else [SELDOM, *[OFTEN / (outcomes - 1)] * (outcomes - 1)])


def _likely_pairs(compared: list[ComparedColumn], chances: list[Floats], rng: Generator) -> _Pairs:
    """The likeliest pairs of each row before anything is learned, each pair once."""
    rows = compared[0].column.codes.size
    gains = [_starting_matches(chance.shape[1]) - chance for chance in chances]

    def weights(some: Integers) -> Floats:
        parts = (one.weights(some, gain, rare=False) for one, gain in zip(compared, gains, strict=True))
        total = np.asarray(sum(parts, np.zeros((some.size, rows))))
        total[np.arange(some.size), some] = -np.inf
        return total

    near = likeliest_of_all(weights, rows, rows, rng)
    row, place = np.nonzero(np.isfinite(near.log_likelihood))
    other = near.candidate[row, place].astype(np.int64)
    pair = np.unique(np.minimum(row, other) * rows + np.maximum(row, other))
    return _Pairs(*np.divmod(pair, rows))


def _probabilities(compared: list[ComparedColumn], chances: list[Floats], pairs: _Pairs, rows: int) -> Floats:
    """Probability that each pair is about one person, shape (pairs,), learned by expectation maximization."""
    outcomes: list[NDArray[np.int8]] = [one.at(*pairs) for one in compared]
    chance = _chance_of_pairs(compared, chances, pairs, outcomes)
    matches = [_starting_matches(table.shape[1]) for table in chances]
    everything = rows * (rows - 1) / 2
    odds = np.log(rows / everything)
    probability = np.zeros(chance.size)
    for _ in range(ROUNDS):
        weight = sum((one[outcome] for one, outcome in zip(matches, outcomes, strict=True)), odds - chance)
        before, probability = probability, 1 / (1 + np.exp(-np.clip(weight, -50, 50)))
        if np.abs(probability - before).max(initial=0.0) < SETTLED:
            break
        found = probability.sum()
        odds = np.log((found + PRIOR) / (everything - found + PRIOR))
        matches = [
            np.log((np.bincount(outcome, probability, one.size) + PRIOR) / (found + PRIOR * one.size))
            for one, outcome in zip(matches, outcomes, strict=True)
        ]
    return probability


def _chance_of_pairs(
    compared: list[ComparedColumn], chances: list[Floats], pairs: _Pairs, outcomes: list[NDArray[np.int8]]
) -> Floats:
    """Logarithm of the probability that two people have the outcomes of each pair, shape (pairs,).

    Columns depend on each other: who agrees in the job agrees more often in the income. Where the pair agrees in
    another column, the share is taken among the rows with that value, without the two rows. Of all such columns before
    this one, that of the largest share counts. Columns of many values come first.
    """
    codes = [one.column.cells.codes for one in compared]
    sizes = [np.bincount(code)[code] for code in codes]
    order = np.argsort([size.mean() for size in sizes], kind="stable").tolist()
    total = np.zeros(pairs.first.size)
    for place, number in enumerate(order):
        own = chances[number][codes[number][pairs.first], outcomes[number]]
        largest = own.copy()
        for other in order[:place]:
            both = np.flatnonzero((outcomes[number] == 1) & (outcomes[other] == 1))
            joint = np.unique(np.column_stack([codes[other], codes[number]]), axis=0, return_inverse=True)[1].ravel()
            row = pairs.first[both]
            shared = np.maximum(np.bincount(joint)[joint][row] - 2, 0) + SHRINKAGE * np.exp(own[both])
            share = shared / (np.maximum(sizes[other][row] - 2, 0) + SHRINKAGE)
            largest[both] = np.maximum(largest[both], np.log(share))
        total += largest
    return total


def _groups(pairs: _Pairs, probability: Floats, rows: int) -> Duplicates:
    """Groups of the rows that likely pairs connect."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    same = probability >= SAME
    first, second = pairs.first[same], pairs.second[same]
    _, label = connected_components(coo_array((np.ones(first.size), (first, second)), shape=(rows, rows)), False)
    best = np.zeros(rows)
    for side in pairs:
        np.maximum.at(best, side, probability)
    several = np.bincount(label)[label] > 1
    _, start, place = np.unique(label[several], return_index=True, return_inverse=True)
    group = np.full(rows, -1)
    group[several] = np.argsort(np.argsort(start))[place]
    return Duplicates(group, np.where(several, best, 1 - best))


def scored_pairs(group: Integers, person: Integers) -> tuple[float, float, float]:
    """Precision, recall and F1 of the pairs of rows that share a group, against those that share a person.

    Each is 1 where there is nothing to find and nothing was said. Both arrays have shape (rows,), with -1 for none.
    """

    def pairs(*labels: Integers) -> float:
        known = np.all([label >= 0 for label in labels], axis=0)
        count = np.unique(np.column_stack(labels)[known], axis=0, return_counts=True)[1].astype(float)
        return float((count * (count - 1) / 2).sum())

    said, true, both = pairs(group), pairs(person), pairs(group, person)
    return (
        both / said if said else 1.0,
        both / true if true else 1.0,
        2 * both / (said + true) if said + true else 1.0,
    )
