"""Rows in random buckets on disk."""

from itertools import permutations

import numpy as np
import pytest
from numpy.random import SeedSequence
from scipy import stats

from defenses.base import ReleasedBlock
from scenarios.tables.parts.files.bucket_file import BucketFile


@pytest.mark.parametrize("count", [1200, pytest.param(4800, marks=pytest.mark.long)])
def test_every_order_of_the_rows_is_equally_likely(tmp_path, count):
    # The statistic exceeds its bound with probability 1e-6.
    counts = dict.fromkeys(permutations(range(4)), 0)
    for seed in range(count):
        buckets_on_disk = BucketFile(tmp_path / str(seed), ("x", "y"), 3, SeedSequence(seed), origins=True)
        for number, rows in enumerate(([0], [1, 2, 3])):
            codes = np.array(rows, dtype=np.int32)
            buckets_on_disk.add(ReleasedBlock(number, {"x": codes, "y": codes / 2}, codes.astype(np.int64)))
        rows = np.concatenate(list(buckets_on_disk.permuted()))
        assert (rows["c1"] * 2 == rows["c0"]).all()
        assert (rows["origin"] == rows["c0"]).all()
        counts[tuple(rows["c0"].tolist())] += 1
        (tmp_path / str(seed)).unlink()
    assert stats.chisquare(list(counts.values())).pvalue > 1e-6
