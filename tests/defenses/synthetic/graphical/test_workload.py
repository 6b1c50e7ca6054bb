"""Workloads: candidates with weights, and counts of all candidates at once."""

import numpy as np
import pytest

from defenses.base.queries.column_queries import counted
from defenses.synthetic.graphical import candidates as workload
from defenses.synthetic.graphical.candidates import CandidateCounts, default_workload, downward_closure


def test_candidates_are_all_subsets_with_their_shared_columns():
    sets, weights = downward_closure([(0, 1, 2), (1, 3)], 5)
    assert sets == [(0,), (1,), (2,), (3,), (4,), (0, 1), (0, 2), (1, 2), (1, 3), (0, 1, 2)]
    assert weights.tolist() == [1, 2, 1, 1, 0, 3, 2, 3, 3, 4]


def test_the_default_holds_triples_up_to_24_columns():
    assert default_workload(2) == [(0, 1)]
    assert default_workload(3) == [(0, 1, 2)]
    assert len(default_workload(24)) == 2024
    assert len(default_workload(25)) == 300
    assert default_workload(1) == [(0,)]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("block", [1, 250, 1 << 20])
def test_counts_of_all_candidates_equal_those_of_each(monkeypatch, block, missing):
    monkeypatch.setattr(workload, "BLOCK", block)
    rng = np.random.default_rng(0)
    sizes = (3, 1, 4, 2)
    codes = [rng.integers(-1 if missing else 0, size, 100) for size in sizes]
    sets, _ = downward_closure([(0, 1, 2), (2, 3)], 4)
    counts = CandidateCounts(sets, sizes)
    result = np.split(counts.counts(codes), counts.starts[1:])
    for columns, values in zip(sets, result, strict=True):
        expected = counted([codes[column] for column in columns], tuple(sizes[column] for column in columns))
        assert values.tolist() == expected.ravel().tolist()


def test_distances_are_sums_of_absolute_differences():
    counts = CandidateCounts([(0,), (0, 1)], (2, 2))
    first, second = np.array([3.0, 1, 2, 1, 1, 0]), np.array([4.0, 4, 0, 4, 4, 0])
    assert counts.distances(first, second, np.array([0.5, 0.25])).tolist() == [2, 2]
