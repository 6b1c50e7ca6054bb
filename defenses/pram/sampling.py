"""Sampling of releases from a transition matrix."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.pram.matrix import check_matrix, check_retention
from metrics.columns import Floats, Integers, refuse, refuse_rows


def replace(codes: ArrayLike, retention: ArrayLike, rng: Generator) -> Integers:
    """Keep each category with its retention probability, otherwise draw another one uniformly; O(N + d).

    Parameters
    ----------
    codes : array_like of int, shape (n,)
        Categories from 0 to d - 1.
    retention : array_like, shape (d,)
        Retention probabilities.

    Raises
    ------
    ValueError
        If a code is not a category or `retention` is not a vector of probabilities.

    Notes
    -----
    The decision compares a multiple of 2^-53 with p. It is exact for p >= 1/2, and otherwise rounds p up by less than
    2^-53. For p >= 1/d the epsilon of a release therefore grows by at most (d + 2) 2^-53.
    """
    probabilities = check_retention(retention)
    released = check_codes(codes, probabilities.size).copy()
    flipped = np.flatnonzero(rng.random(released.size) >= probabilities[released])
    if flipped.size:
        others = rng.integers(0, probabilities.size - 1, flipped.size)
        released[flipped] = others + (others >= released[flipped])
    return released


def draw(codes: ArrayLike, matrix: ArrayLike, rng: Generator) -> Integers:
    """Draw the release of each record from its category's column of a transition matrix; O(N + d^2).

    Parameters
    ----------
    codes : array_like of int, shape (n,)
        Categories from 0 to d - 1.
    matrix : array_like, shape (d, d)
        Columns sum to 1.

    Raises
    ------
    ValueError
        If a code is not a category or `matrix` is not a transition matrix.
    """
    transitions = Transitions.of(matrix)
    return transitions.draw(check_codes(codes, len(transitions.levels)), rng)


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
    A draw is the first release whose cumulative probability exceeds a uniform number; the guide makes it O(1) on
    average. An entry is exact up to d 2^-52, since sums and the random number are doubles; one below that may never
    occur.

    References
    ----------
    Chen and Asau (1974), On generating random variates from an empirical distribution.
    """

    levels: Floats = field(repr=False)
    guide: NDArray[np.int32] = field(repr=False)

    @classmethod
    def of(cls, matrix: ArrayLike) -> Transitions:
        """Prepare a transition matrix, shape (d, d), whose columns sum to 1.

        Raises ValueError if it is no transition matrix.
        """
        levels = np.cumsum(check_matrix(matrix), axis=0)
        levels = np.ascontiguousarray((levels / levels[-1]).T)
        d = len(levels)
        starts = np.arange(d) / d
        return cls(levels, np.array([np.searchsorted(row, starts, side="right") for row in levels], dtype=np.int32))

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


def check_codes(codes: ArrayLike, d: int) -> Integers:
    """Return category codes as an array.

    Raises ValueError if they are not a vector of integers from 0 to d - 1; the message names the row.
    """
    array = np.asarray(codes)
    refuse(
        array.ndim != 1 or (array.size and array.dtype.kind not in "iu"),
        f"codes must be a vector of integers, got shape {array.shape} of {array.dtype}",
    )
    refuse_rows(
        (array < 0) | (array >= d), lambda row: f"codes: row {row} has an unknown category, known are 0 to {d - 1}"
    )
    return array.astype(np.intp)
