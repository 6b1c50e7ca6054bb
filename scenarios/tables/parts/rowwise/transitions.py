"""Fast draws from the columns of one transition matrix, block by block."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.pram.matrix import check_matrix
from metrics.arrays import Floats, Integers


@dataclass(frozen=True)
class Transitions:
    """A transition matrix with a guide to its cumulative probabilities.

    Parameters
    ----------
    levels : ndarray, shape (d, d)
        Cumulative probabilities of the releases (columns) of each original category (rows).
    guide : ndarray of int32, shape (d, d)
        Entry [j, g] is the first release of category j whose cumulative probability exceeds g / d.

    Notes
    -----
    A draw is the first release whose cumulative probability exceeds a uniform number, as in
    `defenses.pram.sampling.draw`; equal generators give equal draws. The guide makes it O(1) on average.

    References
    ----------
    Chen and Asau (1974), On generating random variates from an empirical distribution.
    """

    levels: Floats = field(repr=False)
    guide: NDArray[np.int32] = field(repr=False)

    @classmethod
    def of(cls, matrix: ArrayLike) -> Transitions:
        """Prepare a transition matrix, shape (d, d), whose columns sum to 1.

        Raises
        ------
        ValueError
            If it is no transition matrix.
        """
        array = check_matrix(matrix)
        levels = np.cumsum(array, axis=0)
        levels = np.ascontiguousarray((levels / levels[-1]).T)
        d = len(levels)
        starts = np.arange(d) / d
        guide = np.array([np.searchsorted(row, starts, side="right") for row in levels], dtype=np.int32)
        return cls(levels, guide)

    def draw(self, codes: Integers, rng: Generator) -> Integers:
        """Draw the release of each record.

        Parameters
        ----------
        codes : ndarray of int, shape (n,)
            Categories from 0 to d - 1.
        """
        d = len(self.levels)
        uniform = rng.random(codes.size)
        # u d may be rounded up to the next integer; then the guide would start behind the draw.
        cell = np.minimum((uniform * d).astype(np.int64), d - 1)
        cell -= cell / d > uniform
        released = self.guide[codes, cell].astype(np.int64)
        levels = self.levels.ravel()
        base = codes * d
        behind = np.flatnonzero(levels[base + released] <= uniform)
        while behind.size:
            released[behind] += 1
            behind = behind[levels[base[behind] + released[behind]] <= uniform[behind]]
        return released
