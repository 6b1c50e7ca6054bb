"""Hadamard matrices of Sylvester's form: H[i, j] = (-1)^(number of bits that i and j share)."""

from __future__ import annotations

import numpy as np

from metrics.arrays import Booleans, Floats, Integers64


def minus(rows: Integers64, columns: Integers64) -> Booleans:
    """Where H is -1; rows and columns broadcast."""
    shared = np.asarray(rows & columns)
    for shift in (32, 16, 8, 4, 2, 1):
        shared = shared ^ (shared >> shift)
    return np.asarray((shared & 1).astype(bool))


def transform(table: Floats) -> Floats:
    """Product of each row with H, shape (rows, m), m a power of two, in rows m log2 m steps."""
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
