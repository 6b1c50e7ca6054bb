r"""A strongly universal family of hash functions with 64-bit seeds, equal on devices and server.

The function with seed s maps a value v to one of g buckets: h(v) = floor(g u / 2^32) with u the upper half of
a x(v) + b mod 2^64. The 32-bit key x(v) is a fixed bijection of v, and a and b are two 64-bit words derived from the
seed.

For a and b uniform and independent, u(v) and u(w) are independent and uniform for v != w: multiply-shift with words
twice as long as keys is strongly universal. So two values share a bucket with probability 1/g up to g 2^-32. The keys
are scrambled, so that simple relations between values, such as equal distances, do not carry over to keys. Hashes of
three or four values are then close to independent as well.

References
----------
Dietzfelbinger (1996), Universal hashing and k-wise independent random variables via integer arithmetic without
primes; Steele, Lea and Flood (2014) for the words made of a seed; Appleby (2011), MurmurHash3, for the keys.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from metrics.columns import Integers64, Words64

# Number of products computed at a time, so that they fit a core's cache.
_AT_ONCE = 1 << 15
_GOLDEN = 0x9E3779B97F4A7C15


def words(seeds: Words64) -> tuple[Words64, Words64]:
    """Return the multiplier a and the offset b of each seed."""
    return _scrambled(seeds), _scrambled(seeds + np.uint64(_GOLDEN))


def seeds_of(family: int, count: int) -> Words64:
    """Return the seeds of `count` public functions; another `family` has other seeds."""
    start = _scrambled(np.array([family % (1 << 64)], dtype=np.uint64))
    return _scrambled(start + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(2 * _GOLDEN % (1 << 64) + 1))


def buckets(seeds: Words64, values: NDArray[np.integer], size: int) -> Integers64:
    """Return the bucket of each value under its seed; the two broadcast.

    - values: In 0, ..., 2^32 - 1.
    - size: Number of buckets, at least 1 and at most 2^31.
    """
    a, b = words(seeds)
    upper = (a * keys(values) + b) >> np.uint64(32)
    return np.asarray(((upper * np.uint64(size)) >> np.uint64(32)).astype(np.int64))


def hits(seeds: Words64, bucket: NDArray[np.integer], size: int, d: int) -> Integers64:
    """Count the functions that map each of the values 0, ..., d - 1 into their given bucket, shape (d,).

    - seeds of shape (n,): Seeds of the functions.
    - bucket of shape (n,): A bucket for each function.
    - size: Number of buckets, at least 2.

    Notes
    -----
    floor(g u / 2^32) = y is equivalent to ceil(y 2^32/g) <= u < ceil((y + 1) 2^32/g), a test of a x + b alone. It takes
    a product, a sum and a comparison for each pair of function and value.
    """
    counts = np.zeros(d, dtype=np.int64)
    for start in range(0, seeds.size, _AT_ONCE):
        a, b = words(seeds[start : start + _AT_ONCE])
        low, width = _interval(bucket[start : start + _AT_ONCE], size)
        b -= low
        rows = max(1, _AT_ONCE // a.size)
        product = np.empty((rows, a.size), dtype=np.uint64)
        inside = np.empty((rows, a.size), dtype=bool)
        for first in range(0, d, rows):
            key = keys(np.arange(first, min(first + rows, d)))[:, None]
            table, hit = product[: len(key)], inside[: len(key)]
            np.multiply(key, a, out=table)
            np.add(table, b, out=table)
            np.less(table, width, out=hit)
            counts[first : first + len(key)] += np.count_nonzero(hit, axis=1)
    return counts


def keys(values: NDArray[np.integer]) -> Words64:
    """Return the 32-bit key of each value, a bijection."""
    key = np.array(values, dtype=np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        key ^= key >> np.uint32(shift)
        key *= np.uint32(factor)
    key ^= key >> np.uint32(16)
    return key.astype(np.uint64)


def _interval(bucket: NDArray[np.integer], size: int) -> tuple[Words64, Words64]:
    """Start and length of the interval of words a x + b that fall into each bucket."""
    ends = [
        (((bucket.astype(np.uint64) + np.uint64(step)) << np.uint64(32)) + np.uint64(size - 1)) // np.uint64(size)
        for step in (0, 1)
    ]
    return ends[0] << np.uint64(32), (ends[1] - ends[0]) << np.uint64(32)


def _scrambled(seeds: Words64) -> Words64:
    """Bijection of 64-bit words with unrelated images of near words (splitmix64)."""
    word = seeds + np.uint64(_GOLDEN)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(word ^ (word >> np.uint64(31)))
