"""Rows of random bits, packed eight to a byte, and their sums by column."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from metrics.columns import Booleans, Integers, Integers64, chunks

Bytes = NDArray[np.uint8]

# A byte's eight bits as the eight bytes of a word: sums of up to 255 such words count each bit without a carry.
_SPREAD = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).view(np.uint64).ravel()
_WITHOUT_CARRY = 255


def random_bits(count: int, probability: float, rng: Generator) -> Booleans:
    """Draw independent bits, shape (count,), each set with `probability` < 1.

    A random byte below floor(256 probability) sets the bit. A byte equal to it, one in 256, sets the bit with the
    remaining probability. So the probability is correct up to 2^-61 and rounded up.
    """
    words = rng.integers(1 << 64, size=-(-count // 8), dtype=np.uint64)
    draws = words.view(np.uint8)[:count]
    threshold = int(256 * probability)
    bits: Booleans = draws < threshold
    ties = np.flatnonzero(draws == threshold)
    bits[ties] = rng.random(ties.size) < 256 * probability - threshold
    return bits


def one_hot_reports(values: Integers64, width: int, unset: float, set_other: float, rng: Generator) -> Bytes:
    """Randomize the bits of one-hot rows.

    - values of shape (n,): The column in which each row is 1.
    - unset, set_other: Probabilities that the row's own bit becomes 0, and that another bit becomes 1.
    - returns shape (n, ceil(width / 8)): Packed rows; surplus bits are 0.
    """
    packed = np.empty((values.size, -(-width // 8)), dtype=np.uint8)
    # Tables of single bits take a few megabytes at most.
    for rows in chunks(values.size, width):
        own = values[rows]
        bits = random_bits(own.size * width, set_other, rng).reshape(own.size, width)
        bits[np.arange(own.size), own] = rng.random(own.size) >= unset
        packed[rows] = np.packbits(bits, axis=1)
    return packed


def bits_at(packed: Bytes, rows: Integers, columns: Integers) -> Booleans:
    """Return the bits at rows and columns, which broadcast."""
    return np.asarray((packed[rows, columns >> 3] >> (7 - (columns & 7)).astype(np.uint8) & 1).astype(bool))


def column_counts(packed: Bytes, width: int) -> Integers64:
    """Count the set bits of each column, shape (width,)."""
    counts = (_counted(packed[start : start + _WITHOUT_CARRY]) for start in range(0, len(packed), _WITHOUT_CARRY))
    return np.asarray(sum(counts, np.zeros(8 * packed.shape[1], dtype=np.int64))[:width])


def grouped_counts(packed: Bytes, group: Integers, groups: int, width: int) -> NDArray[np.int32]:
    """Count the set bits of each column within each group of rows, shape (groups, width)."""
    counts = np.zeros((groups, 8 * packed.shape[1]), dtype=np.int32)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(groups + 1))
    for number, rows in _runs(order, starts):
        counts[number] += _counted(packed[rows])
    return counts[:, :width]


def _runs(order: Integers, starts: Integers) -> Iterator[tuple[int, Integers]]:
    """Yield each nonempty group's number with its rows, at most as many at a time as can be summed without a carry."""
    for number in np.flatnonzero(np.diff(starts)).tolist():
        for start in range(int(starts[number]), int(starts[number + 1]), _WITHOUT_CARRY):
            yield number, order[start : min(start + _WITHOUT_CARRY, int(starts[number + 1]))]


def _counted(packed: Bytes) -> Bytes:
    """Number of set bits in each column of at most 255 packed rows."""
    return np.asarray(_SPREAD[packed].sum(axis=0, dtype=np.uint64).view(np.uint8))
