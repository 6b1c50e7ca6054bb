"""Positions of combinations of codes among those of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from metrics.arrays import Integers

_KEY = 1 << 62
"""Bound of a key."""


@dataclass(frozen=True)
class KeySpace:
    """Distinct combinations of codes, by a key that is one integer.

    Attributes
    ----------
    sizes : tuple of int
        Number of codes of each column.
    ranks : tuple of (ndarray of int or None)
        For each column, the keys of the columns before it, ascending, whose positions replace them; None where no key
        would become too large without it.
    keys, order : ndarray of int, shape (combinations,)
        The keys, ascending, and the position of the combination of each.

    Examples
    --------
    >>> space = KeySpace.of([np.array([0, 1, 1]), np.array([5, 5, 7])])
    >>> space.positions([np.array([1, 0, -1]), np.array([7, 7, 5])]).tolist()
    [2, -1, -1]
    """

    sizes: tuple[int, ...]
    ranks: tuple[Integers | None, ...]
    keys: Integers
    order: Integers

    @classmethod
    def of(cls, columns: Sequence[Integers], largest: int = _KEY) -> Self:
        """Arrange distinct combinations.

        Parameters
        ----------
        columns : sequence of ndarray of int, each of shape (combinations,)
            Codes of each column.
        largest : int
            Bound of a key, above the square of the number of combinations.
        """
        sizes = tuple(int(codes.max(initial=0)) + 1 for codes in columns)
        keys: Integers = np.zeros(columns[0].size, dtype=np.int64)
        bound = 1
        ranks: list[Integers | None] = []
        for codes, size in zip(columns, sizes, strict=True):
            ranked = None
            if bound * size >= largest:
                ranked, keys = np.unique(keys, return_inverse=True)
                bound = ranked.size
            ranks.append(ranked)
            keys = keys * size + codes
            bound *= size
        order = np.argsort(keys, kind="stable")
        return cls(sizes, tuple(ranks), keys[order], order)

    def positions(self, columns: Sequence[Integers]) -> Integers:
        """Position of each combination, shape (n,); -1 for one that is not among them.

        Parameters
        ----------
        columns : sequence of ndarray of int, each of shape (n,)
            Codes of each column; -1 for a value that no combination has.
        """
        keys: Integers = np.zeros(columns[0].size, dtype=np.int64)
        present = np.ones(keys.size, dtype=bool)
        for codes, size, ranked in zip(columns, self.sizes, self.ranks, strict=True):
            if ranked is not None:
                keys = _found(ranked, keys)
                present &= keys >= 0
            present &= (codes >= 0) & (codes < size)
            keys = keys * size + codes
        place = _found(self.keys, np.where(present, keys, -1))
        return np.where(place >= 0, self.order[place], -1)


def _found(ascending: Integers, keys: Integers) -> Integers:
    """Position of each key in an ascending array, shape (n,); -1 where it is not there."""
    place = np.minimum(np.searchsorted(ascending, keys), ascending.size - 1)
    return np.where(ascending[place] == keys, place, -1)
