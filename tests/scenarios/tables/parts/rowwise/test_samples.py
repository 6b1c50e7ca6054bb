"""Samples of tables that are read in parts."""

import numpy as np
from numpy.random import SeedSequence
from scipy import stats

from scenarios.tables.parts.records import Block
from scenarios.tables.parts.rowwise.samples import SequentialSample, _Urn, selection


def test_every_set_of_rows_is_equally_likely():
    # The statistic exceeds its bound with probability 1e-6.
    counts = np.zeros(32)
    for seed in range(4000):
        select = selection(5, 2, SeedSequence(seed))
        chosen = [*select(Block(0, 0, {"x": np.zeros(3)})), *select(Block(1, 3, {"x": np.zeros(2)}))]
        counts[np.dot(chosen, 1 << np.arange(5))] += 1
    pairs = counts[counts > 0]
    assert pairs.size == 10
    assert stats.chisquare(pairs).pvalue > 1e-6


def test_strata_are_sampled_apart():
    strata = np.array([0, 2, 2, 2, 0, 2])
    wanted, left = np.array([1, 0, 3]), np.array([3, 0, 5])
    select = SequentialSample(SeedSequence(1), left, wanted, lambda block: block.columns["x"])
    chosen = np.append(select(Block(0, 0, {"x": strata})), select(Block(1, 6, {"x": np.array([0, 2])})))
    assert np.bincount(np.append(strata, [0, 2])[chosen], minlength=3).tolist() == [1, 0, 3]


def test_an_urn_is_emptied_in_random_order():
    # The statistic exceeds its bound with probability 1e-6.
    counts = np.zeros(10)
    rng = np.random.default_rng(2)
    for _ in range(3000):
        urn = _Urn("x", np.array([3, 0, 2]))
        order = np.concatenate([urn.draw(3, rng), urn.draw(2, rng)])
        assert sorted(order) == [0, 0, 0, 2, 2]
        first, second = np.flatnonzero(order == 2)
        counts[[0, 4, 7, 9][first] + second - first - 1] += 1
    assert stats.chisquare(counts).pvalue > 1e-6
