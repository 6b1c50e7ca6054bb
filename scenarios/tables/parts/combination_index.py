"""Index of distinct combinations of codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.classes import LARGEST_KEY, joint_keys
from metrics.columns import Integers

_TABLE = 1 << 22
"""Largest number of keys that are looked up in a table, however few of them occur."""


@dataclass
class CombinationIndex:
    """Index of distinct combinations of codes, which finds the combination of each row of a block.

    Parameters
    ----------
    codes : mapping of str to ndarray of int, each of shape (combinations,)
        Code of each combination in each column; the combinations are distinct.
    largest : int
        Bound of a key, above the square of the number of combinations.

    Notes
    -----
    The codes of a row are the digits of an integer, its key. Keys are numbered anew where the next column would exceed
    62 bits. Keys are looked up in a hash table, which took 10 seconds for 100 million rows and 10 million combinations.
    A search in the sorted keys took 18 to 150 seconds, and a join in DuckDB 11.

    Examples
    --------
    >>> index = CombinationIndex({"age": np.array([0, 0, 2]), "sex": np.array([0, 1, 1])})
    >>> index.positions({"age": np.array([2, 0, 0, 2]), "sex": np.array([1, 1, 0, 0])}).tolist()
    [2, 1, 0, -1]
    """

    codes: Mapping[str, Integers] = field(repr=False)
    largest: int = LARGEST_KEY
    _sizes: dict[str, int] = field(init=False, repr=False)
    _numberings: dict[str, Any] = field(init=False, repr=False, default_factory=dict)
    _table: NDArray[np.int32] | None = field(init=False, repr=False, default=None)
    _hashed: Any = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        self._sizes = {name: int(codes.max(initial=0)) + 1 for name, codes in self.codes.items()}
        keys, bound, numbered = joint_keys(self.codes, self._sizes, self.largest)
        self._numberings = {name: pd.Index(before) for name, before in numbered.items()}
        if bound <= max(_TABLE, 8 * keys.size):
            self._table = np.full(bound, -1, dtype=np.int32)
            self._table[keys] = np.arange(keys.size)
        else:
            self._hashed = pd.Index(keys)

    def positions(self, codes: Mapping[str, NDArray[Any]]) -> Integers:
        """Position of the combination of each row, shape (rows,); -1 where it is not in the index.

        Parameters
        ----------
        codes : mapping of str to ndarray of int, each of shape (rows,)
            Code of each row in the columns of the index, and perhaps in others; -1 for a value that none has.
        """
        keys = np.zeros(next(iter(codes.values())).size, dtype=np.int64)
        for name, size in self._sizes.items():
            if name in self._numberings:
                keys = self._numberings[name].get_indexer(keys)
            # A negative key stays negative.
            keys = np.where((codes[name] >= 0) & (codes[name] < size), keys * size + codes[name], -1)
        if self._table is not None:
            return np.where(keys >= 0, self._table[keys], -1).astype(np.intp)
        return np.asarray(self._hashed.get_indexer(keys), dtype=np.intp)
