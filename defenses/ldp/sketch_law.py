"""The exact law of a count-mean sketch's estimates, drawn without drawing persons."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from defenses.ldp.count_mean_sketch import CountMeanSketch
from defenses.ldp.hashing import buckets, seeds_of
from metrics.columns.arrays import Floats, Integers64
from metrics.columns.parameters import refuse

_CELLS = 1 << 20
"""Number of cells of the sketch that are drawn at a time."""


def draw_estimates(protocol: CountMeanSketch, counts: ArrayLike, rng: Generator) -> Floats:
    """Estimates of all counts from reports of many persons, drawn from their joint law; the time depends on no person.

    Parameters
    ----------
    protocol : CountMeanSketch
        The sketch, with its public hash functions.
    counts : array_like of int, shape (d,)
        Number of persons with each value.
    rng : Generator
        Draws the reports' sum.

    Returns
    -------
    ndarray of float, shape (d,)
        As `CountMeanSketch.estimate` of one report of each person.

    Raises
    ------
    ValueError
        If there is not one count, a non-negative integer, for each value of the protocol.

    Notes
    -----
    Persons draw their functions independently. So the persons with one value split over the k functions as a
    multinomial vector, independently of other values. Let s persons have function l, c of them with a value in column
    j. Signs are flipped independently. So the number of plus signs in cell (l, j) is Bin(c, p) + Bin(s - c, 1 - p).
    Given the split, cells are independent. Only cells that hold a value enter an estimate. Values that collide share a
    cell, and its noise.
    """
    values = np.asarray(counts)
    refuse(
        values.shape != (protocol.d,) or values.dtype.kind not in "iu" or (values < 0).any(),
        f"counts must be {protocol.d} non-negative integers, one for each value",
    )
    left: Integers64 = values.astype(np.int64)
    n, k, m = int(left.sum()), int(protocol.k), int(protocol.m)
    seeds = seeds_of(protocol.hash_seed, k)
    step = max(1, _CELLS // protocol.d)
    total = np.zeros(protocol.d)
    for start in range(0, k, step):
        rows = min(step, k - start)
        here = rng.binomial(left, rows / (k - start))
        left = left - here
        split = rng.multinomial(here, np.full(rows, 1 / rows)).T
        columns = buckets(seeds[start : start + rows, None], np.arange(protocol.d), m)
        cells, cell_of_value = np.unique(np.arange(rows)[:, None] * m + columns, return_inverse=True)
        cell_of_value = cell_of_value.reshape(rows, protocol.d)
        inside = np.bincount(cell_of_value.ravel(), weights=split.ravel(), minlength=cells.size).astype(np.int64)
        senders = split.sum(axis=1)[cells // m]
        plus = rng.binomial(inside, protocol.p) + rng.binomial(senders - inside, 1 - protocol.p)
        debiased = protocol.c / 2 * (2 * plus - senders) + senders / 2
        total += debiased[cell_of_value].sum(axis=0)
    # A row of the sketch is k times the debiased sum, and the estimate takes the mean over the k rows.
    return np.asarray(m / (m - 1) * (total - n / m))
