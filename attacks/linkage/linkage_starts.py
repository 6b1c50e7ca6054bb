"""Starts of expectation maximization: sets of columns, half of whose values are taken as kept."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from attacks.linkage.column_tables import ColumnTables
from attacks.linkage.marginal_likelihood import candidate_weights, gains, marginal_log_likelihood

# Largest number of columns that the greedy start adds, and sets of largest entropy that are tried.
ADDED, ENTROPY_SETS = 12, 2


def entropy_sizes(columns: int) -> list[int]:
    """Sizes of the sets of columns of largest entropy: 2, 3, 4, 6, 9, 13, ..., fewer than all columns."""
    sizes, size = [], 2.0
    while int(size) < columns:
        sizes.append(int(size))
        size = max(size * 1.5, size + 1)
    return sizes


def starting_evidence(tables: list[ColumnTables]) -> Iterator[NDArray[np.float32]]:
    """Evidence of several sets of columns: log-likelihood ratios of shape (rows, candidates).

    The sets are all columns, the 2, 3, 4, 6, ... columns of largest entropy, and a greedy set. It begins with the
    column of largest entropy and adds the column of largest gain in marginal likelihood, one by one. Of the sets of
    largest entropy, only the two of largest marginal likelihood are tried.

    Parameters
    ----------
    tables : list of ColumnTables
        The tables of each column.
    """
    evidence = _Evidence(tables)
    order = np.argsort([-one.information() for one in tables], kind="stable").tolist()
    total, sizes, sets = evidence.nothing(), entropy_sizes(len(order)), []
    for position, number in enumerate(order):
        total = evidence.added(total, number)
        if position + 1 in sizes:
            sets.append((marginal_log_likelihood(total), total))
            sets = sorted(sets, key=lambda one: -one[0])[:ENTROPY_SETS]
    yield total
    for _, one in sets:
        yield one
    yield evidence.greedy(order)


class _Evidence:
    """Log-likelihood ratios of kept or disturbed against replaced values, added up column by column."""

    def __init__(self, tables: list[ColumnTables]) -> None:
        self.columns = [one.column for one in tables]
        self.ratios = [one.starting_ratio() for one in tables]

    def nothing(self) -> NDArray[np.float32]:
        """Evidence of no column."""
        column = self.columns[0]
        return np.zeros((column.cells.codes.size, column.codes.size), dtype=np.float32)

    def added(self, total: NDArray[np.float32], number: int) -> NDArray[np.float32]:
        """Evidence with one more column."""
        logarithm = np.log(self.ratios[number]).astype(np.float32)
        return np.asarray(total + self.columns[number].expand(logarithm), dtype=np.float32)

    def greedy(self, order: list[int]) -> NDArray[np.float32]:
        """Evidence of the first column and of those that gain most, one by one, while a column gains."""
        chosen, total = order[:1], self.added(self.nothing(), order[0])
        while len(chosen) <= ADDED:
            others = [number for number in order if number not in chosen]
            columns, ratios = [self.columns[one] for one in others], [self.ratios[one] for one in others]
            gain = gains(candidate_weights(total), columns, ratios)
            if not gain.size or gain.max() <= 0:
                break
            chosen.append(others[int(gain.argmax())])
            total = self.added(total, chosen[-1])
        return total
