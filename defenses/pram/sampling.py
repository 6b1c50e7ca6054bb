"""Sampling of releases from a transition matrix."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.pram.matrix import check_matrix, check_retention
from metrics.columns import Integers, refuse, refuse_rows


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
    """Draw the release of each record from its category's column of a transition matrix; O(N log d + d^2).

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
    # Each entry is exact up to d 2^-52: sums and the random number are doubles. An entry below that may never occur.
    array = check_matrix(matrix)
    original = check_codes(codes, array.shape[0])
    levels = np.cumsum(array, axis=0)
    levels /= levels[-1]
    uniform = rng.random(original.size)
    order = np.argsort(original, kind="stable")
    released = np.empty_like(original)
    stops = np.cumsum(np.bincount(original, minlength=array.shape[0]))
    for category in np.unique(original).tolist():
        rows = order[stops[category - 1] if category else 0 : stops[category]]
        released[rows] = np.searchsorted(levels[:, category], uniform[rows], side="right")
    return released


def check_codes(codes: ArrayLike, d: int) -> Integers:
    """Return category codes as an array.

    Raises
    ------
    ValueError
        If they are not a vector of integers from 0 to d - 1; the message names the row.
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
