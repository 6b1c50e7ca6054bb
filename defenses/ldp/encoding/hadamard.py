"""Sylvester's Hadamard matrices: H[i, j] = (-1)^(number of bits set in both i and j)."""

from __future__ import annotations

import numpy as np

from metrics.columns import Booleans, Floats, Integers64


def minus(rows: Integers64, columns: Integers64) -> Booleans:
    """Return where H is -1; rows and columns broadcast."""
    shared = np.asarray(rows & columns)
    for shift in (32, 16, 8, 4, 2, 1):
        shared = shared ^ (shared >> shift)
    return np.asarray((shared & 1).astype(bool))


def transform(table: Floats) -> Floats:
    """Fast Hadamard transform: the product of each row with H, shape (rows, m), m a power of two.

    It takes m log2 m steps a row.
    """
    rows, m = table.shape
    result = np.array(table, dtype=float)
    half = 1
    while half < m:
        pairs = result.reshape(rows, m // (2 * half), 2, half)
        first, second = pairs[:, :, 0], pairs[:, :, 1]
        total = first + second
        np.subtract(first, second, out=second)
        first[...] = total
        half *= 2
    return result
