"""Log-likelihoods of a channel in coded form, so that blocks of pairs cost a few look-ups each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from defenses.base.channel_parts import Likelihood
from metrics.arrays import Integers

Places = NDArray[np.int32]
Single = NDArray[np.float32]

# A column in which a pair is impossible costs as much as a factor of e^-1000: pairs are then ranked by the number of
# such columns, and an assignment exists even where a candidate file and a release contradict each other.
IMPOSSIBLE = -1000.0
# Entries of a table of distinct cells and distinct values: up to FINE of them it is exact; beyond, a smooth
# log-likelihood is read off representatives, and any other from a table up to LARGEST.
FINE, LARGEST = 2**21, 2**26
# Representatives of the cells and of the values of a smooth column.
REPRESENTATIVES = 1024


class Factor(ABC):
    """Log-likelihood of one part of a channel for pairs of rows and candidates; at least `IMPOSSIBLE`."""

    @abstractmethod
    def block(self, rows: Integers, candidates: Integers) -> Single:
        """Every one of the rows with every one of the candidates, shape (rows, candidates)."""


@dataclass(frozen=True)
class TableFactor(Factor):
    """A part that has few kinds of cells and of values, or is read off representatives of them.

    Attributes
    ----------
    table : ndarray of float32, shape (cells, values)
        Log-likelihoods.
    cells : ndarray of int, shape (rows,)
        The kind of each row's cell.
    values : ndarray of int, shape (candidates,)
        The kind of each candidate's value.
    """

    table: Single
    cells: Integers
    values: Integers

    def block(self, rows: Integers, candidates: Integers) -> Single:
        """Every one of the rows with every one of the candidates, shape (rows, candidates)."""
        # Two gathers are four times as fast as one by both codes at once.
        return np.take(np.take(self.table, self.cells[rows], axis=0), self.values[candidates], axis=1)


@dataclass(frozen=True)
class PairFactor(Factor):
    """A part that is computed pair by pair.

    Attributes
    ----------
    likelihood : Likelihood
        The part, bound to both sides.
    """

    likelihood: Likelihood

    def block(self, rows: Integers, candidates: Integers) -> Single:
        """Every one of the rows with every one of the candidates, shape (rows, candidates)."""
        exact = self.likelihood.at(rows[:, None], candidates[None, :])
        return np.maximum(exact, IMPOSSIBLE).astype(np.float32)


def coded(likelihood: Likelihood) -> Factor:
    """A part in coded form: exact where it has few distinct pairs of cells and values, approximate where it is smooth.

    Smooth is what leaves half of all pairs possible (noise, means of groups). Its cells and its values are then
    represented by at most about 1,000 each, one half of them at equal shares of the rows and one half at equal
    distances, since tails matter most.
    """
    left, cells = _distinct(likelihood.released)
    right, values = _distinct(likelihood.original)
    if left.shape[0] * right.shape[0] > FINE:
        cell_kinds, value_kinds = _representatives(left, cells), _representatives(right, values)
        table = _tabulated(likelihood, left[cell_kinds[0]], right[value_kinds[0]])
        if (table > IMPOSSIBLE).mean() > 0.5:
            return TableFactor(table, cell_kinds[1][cells], value_kinds[1][values])
        if left.shape[0] * right.shape[0] > LARGEST:
            return PairFactor(likelihood)
    return TableFactor(_tabulated(likelihood, left, right), cells, values)


def total(factors: Iterable[Factor], rows: Integers, candidates: Integers) -> Single:
    """Log-likelihood of every one of the rows under every one of the candidates, shape (rows, candidates)."""
    result = np.zeros((rows.size, candidates.size), dtype=np.float32)
    for factor in factors:
        result += factor.block(rows, candidates)
    return result


def at_pairs(likelihoods: Iterable[Likelihood], rows: Integers, candidates: Places | Integers) -> NDArray[np.float64]:
    """Exact log-likelihoods of pairs of positions, broadcast against each other; at least `IMPOSSIBLE` a part."""
    result = np.zeros(np.broadcast_shapes(rows.shape, candidates.shape))
    for likelihood in likelihoods:
        result += np.maximum(likelihood.at(rows, candidates), IMPOSSIBLE)
    return result


def _distinct(side: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], Integers]:
    """Distinct rows of one side, ascending by its first array, and which of them each row is."""
    stacked = np.column_stack(side)
    if stacked.shape[1] == 1:
        distinct, codes = np.unique(stacked[:, 0], return_inverse=True)
        return distinct[:, None], codes
    kinds = np.unique(stacked, axis=0, return_inverse=True)
    return kinds[0], kinds[1].ravel()


def _tabulated(likelihood: Likelihood, left: NDArray[Any], right: NDArray[Any]) -> Single:
    """Log-likelihoods of distinct cells under distinct values, in chunks that need little memory beside the table."""
    table = np.empty((left.shape[0], right.shape[0]), dtype=np.float32)
    values = [column[None, :] for column in right.T]
    step = max(1, 2**18 // max(1, right.shape[0]))
    for start in range(0, left.shape[0], step):
        part = left[start : start + step]
        table[start : start + step] = np.maximum(
            likelihood.kernel(*(column[:, None] for column in part.T), *values), IMPOSSIBLE
        )
    return table


def _representatives(kinds: NDArray[Any], codes: Integers) -> tuple[Integers, Integers]:
    """Integers of representatives among distinct rows, and the nearest of them for each distinct row.

    A row whose first entry is no finite number represents itself.
    """
    key = kinds[:, 0].astype(float)
    finite = np.flatnonzero(np.isfinite(key))
    if finite.size <= REPRESENTATIVES:
        return np.arange(key.size), np.arange(key.size)
    count = np.bincount(codes, minlength=key.size)[finite]
    shares = np.searchsorted(np.cumsum(count), np.linspace(0, count.sum(), REPRESENTATIVES // 2 + 1)[1:])
    steps = np.searchsorted(key[finite], np.linspace(key[finite[0]], key[finite[-1]], REPRESENTATIVES // 2))
    chosen = np.unique(np.minimum(np.concatenate([shares, steps]), finite.size - 1))
    others = np.flatnonzero(~np.isfinite(key))
    nearest = np.empty(key.size, dtype=np.intp)
    middles = (key[finite[chosen]][1:] + key[finite[chosen]][:-1]) / 2
    nearest[finite] = np.searchsorted(middles, key[finite])
    nearest[others] = chosen.size + np.arange(others.size)
    return np.concatenate([finite[chosen], others]), nearest
