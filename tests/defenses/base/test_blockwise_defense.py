"""Releases that are made block by block, of tables in memory."""

import numpy as np
import pytest
from defense_tools import table
from scipy import stats

from defenses import AdditiveNoise, Sampling, Shuffle, StratifiedSampling
from defenses.base import RecordsInMemory


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("defenses.base.blocks.BLOCK", 3)


def test_every_set_of_rows_is_equally_likely(small_blocks):
    # The statistic exceeds its bound with probability 1e-6.
    records, rng = table(x=np.arange(5)), np.random.default_rng(0)
    counts = np.zeros(32)
    for _ in range(600):
        counts[(1 << Sampling(rate=0.4).apply(records, rng).origin).sum()] += 1
    pairs = counts[counts > 0]
    assert pairs.size == 10
    assert stats.chisquare(pairs).pvalue > 1e-6


def test_strata_are_sampled_apart(small_blocks):
    # The statistic exceeds its bound with probability 1e-6.
    records, rng = table(town=list("accaccca")), np.random.default_rng(1)
    towns = records.frame["town"].to_numpy()
    taken = np.zeros(8)
    for _ in range(600):
        origin = StratifiedSampling(by="town", rate=1 / 3).apply(records, rng).origin
        taken[origin] += 1
        counted = [int((towns[origin] == town).sum()) for town in "ac"]
        assert counted in ([1, 1], [1, 2])
    expected = np.where(towns == "a", taken[towns == "a"].mean(), taken[towns == "c"].mean())
    assert abs(taken - expected).max() < 5 * np.sqrt(600 / 3 * 2 / 3)


def test_permutations_of_a_column_are_equally_likely(small_blocks):
    # The statistic exceeds its bound with probability 1e-6.
    records, rng = table(x=list("aabab")), np.random.default_rng(2)
    counts = np.zeros(10)
    for _ in range(600):
        released = Shuffle().apply(records, rng).frame["x"]
        assert sorted(released) == list("aaabb")
        first, second = np.flatnonzero(released == "b")
        counts[[0, 4, 7, 9][first] + second - first - 1] += 1
    assert stats.chisquare(counts).pvalue > 1e-6


def test_a_deviation_is_that_of_all_numbers(small_blocks):
    numbers = np.array([1e9 + 1, 3.0, np.nan, -2.5, np.nan, np.nan, np.nan, 1e9, 7.0, 7.0])
    assert np.isclose(RecordsInMemory(table(x=numbers)).deviation("x"), np.nanstd(numbers), rtol=1e-14)
    assert RecordsInMemory(table(x=[0.1] * 10)).deviation("x") == 0


def test_blocks_draw_apart(small_blocks):
    records = table(x=[0.0, 100.0, 50.0] * 2)
    released = AdditiveNoise(columns=["x"]).apply(records, np.random.default_rng(3)).frame["x"].to_numpy()
    assert not np.isin(released[3:] - records.frame["x"][3:], released[:3] - records.frame["x"][:3]).any()
