"""Hash functions: collision rates, independence, and agreement of device and server."""

import numpy as np
import pytest

from defenses.ldp.encoding.hashing import buckets, hits, keys, seeds_of


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("size", [2, 3, 5, 55, 1024])
def test_hashes_collide_as_often_as_chance(size):
    # 8 pairs, 5 sizes, 5 standard errors: a false alarm in 4 of 10^5 runs.
    n = 400_000
    seeds = np.random.default_rng(size).integers(1 << 64, size=n, dtype=np.uint64)
    for v, w in ((0, 1), (1, 2), (0, 2), (7, 1023), (100, 101), (12, 13), (0, 2**32 - 1), (3, 3 + 2**31)):
        same = buckets(seeds, np.array([v]), size) == buckets(seeds, np.array([w]), size)
        assert abs(same.mean() - 1 / size) <= 5 * np.sqrt((1 - 1 / size) / size / n)


def test_hashes_of_neighbours_are_as_good_as_independent():
    # Three values in one bucket: 1/g^2, also for equally spaced ones; 5 standard errors.
    n, size = 1_000_000, 4
    seeds = np.random.default_rng(0).integers(1 << 64, size=n, dtype=np.uint64)
    first, second, third = (buckets(seeds, np.array([value]), size) for value in (10, 11, 12))
    rate = ((first == second) & (second == third)).mean()
    assert abs(rate - 1 / 16) <= 5 * np.sqrt(15 / 256 / n)


def test_device_and_server_hash_alike():
    seeds = np.random.default_rng(0).integers(1 << 64, size=40_000, dtype=np.uint64)
    for size, d in ((2, 5), (3, 3), (56, 70), (65_536, 4)):
        bucket = np.random.default_rng(1).integers(size, size=seeds.size)
        table = buckets(seeds[:, None], np.arange(d), size) == bucket[:, None]
        assert (hits(seeds, bucket, size, d) == table.sum(axis=0)).all()
    # Devices and servers of other versions must agree.
    pinned = buckets(np.array([0, 1, 2**64 - 1], dtype=np.uint64)[:, None], np.array([0, 1, 2**32 - 1]), 1000)
    assert pinned.tolist() == [[431, 623, 272], [745, 850, 878], [912, 737, 985]]
    assert np.unique(keys(np.arange(100_000))).size == 100_000
    assert np.unique(seeds_of(7, 1000)).size == 1000
    assert not np.isin(seeds_of(7, 1000), seeds_of(8, 1000)).any()
