"""Rank swapping."""

import numpy as np
import pandas as pd
import pytest
from defense_tools import apply, table
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.perturbation.rank_swapping import RankSwapping, swapped_ranks
from metrics.columns.domains import CategoricalDomain, NumericDomain


@pytest.mark.thorough
@given(st.integers(1, 60), st.integers(0, 59), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_swaps_are_mutual_and_within_the_window(total, window, seed):
    window = min(window, total - 1)
    partner = swapped_ranks(total, window, np.random.default_rng(seed))
    np.testing.assert_array_equal(partner[partner], np.arange(total))
    assert (np.abs(partner - np.arange(total)) <= window).all()


@pytest.mark.thorough
@given(
    st.lists(st.one_of(st.none(), st.integers(0, 20)), min_size=1, max_size=60),
    st.floats(0.01, 1),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_rank_swapping_keeps_values_and_window(numbers, window, seed):
    records = table({"x": NumericDomain(0, 20, True)}, x=pd.Series(numbers, dtype=float))
    original = records.frame["x"].to_numpy()
    released = apply(RankSwapping(window=window), records, seed).frame["x"].to_numpy()
    np.testing.assert_array_equal(np.sort(released), np.sort(original))
    np.testing.assert_array_equal(np.isnan(released), np.isnan(original))
    present = ~np.isnan(original)
    ranks = np.sort(original[present])
    width = max(1, int(window * present.sum()))
    gap = np.maximum(
        np.searchsorted(ranks, released[present]) - np.searchsorted(ranks, original[present], side="right") + 1,
        np.searchsorted(ranks, original[present]) - np.searchsorted(ranks, released[present], side="right") + 1,
    )
    assert (gap <= width).all()


@pytest.mark.parametrize("window", [0.001, 0.01, 0.05, 1.0])
def test_most_values_move(window):
    numbers = np.random.default_rng(2).permutation(3000)
    released = apply(RankSwapping(window=window), table(x=numbers)).frame["x"].to_numpy()
    assert (released != numbers).mean() > 0.7


def test_rank_swapping_follows_the_order_of_the_domain():
    domain = CategoricalDomain(("low", "middle", "*"), ordered=True)
    records = table({"c": domain}, c=["*"] * 40 + ["low"] * 40 + ["middle"] * 40)
    released = apply(RankSwapping(window=0.05), records).frame["c"]
    assert not (released[:40] == "low").any()
    assert not (released[40:80] == "\\*").any()
    assert (released[80:] == "low").any()
