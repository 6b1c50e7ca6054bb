"""Shuffled columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from defense_tools import apply, table
from defense_tools import people as known_people
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses import (
    RecordSwapping,
)
from defenses.base.defense import released_frame
from defenses.perturbation.swapping import RankSwapping, Shuffle, swapped_ranks
from metrics.columns.domains import CategoricalDomain, NumericDomain
from scenarios.running.methods.invented_people import people
from scenarios.tables.seeds import generator


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


def test_swapped_records_agree_on_what_is_similar():
    records = table(town=list("uvuvuv"), age=[1, 1, 2, 2, 3, 3], job=list("xxyyzz"))
    release = apply(RecordSwapping(columns=["town"], rate=1.0), records)
    assert release.frame["town"].tolist() == list("vuvuvu")
    pd.testing.assert_frame_equal(release.frame[["age", "job"]], records.frame[["age", "job"]])
    assert release.channel is None
    assert release.origin.tolist() == list(range(6))


def test_similarity_gives_way_from_the_last_column_on():
    records = table(town=list("uvwt"), age=list("1122"), job=list("xyxy"))
    for similar, expected in ((["age"], "vutw"), (["job"], "wtuv"), (["age", "job"], "vutw"), (["job", "age"], "wtuv")):
        swapped = apply(RecordSwapping(columns=["town"], similar=similar, rate=1.0), records).frame
        assert "".join(swapped["town"]) == expected
    # Two of one town cannot trade; they wait for whoever is left, however different.
    waiting = table(town=list("uuvv"), age=list("1122"))
    assert apply(RecordSwapping(columns=["town"], rate=1.0), waiting).frame["town"].tolist() == list("vvuu")
    alone = table(town=list("uuu"), age=[1, 2, 3])
    assert apply(RecordSwapping(columns=["town"], rate=1.0), alone).frame["town"].tolist() == list("uuu")


def test_swapping_keeps_joint_counts_and_the_rate():
    records = people(500, generator(0, "people"), missing=True)
    defense = RecordSwapping(columns=["city", "grade"], similar=["age"], rate=0.2)
    release = apply(defense, records)
    before = apply(RecordSwapping(columns=["city"], rate=1e-9), records).frame
    pairs = ["city", "grade"]
    counted = [frame[pairs].fillna("?").value_counts().sort_index() for frame in (before, release.frame)]
    pd.testing.assert_series_equal(*counted)
    changed = (release.frame[pairs].fillna("?") != before[pairs].fillna("?")).any(axis=1)
    # Of the hundred drawn almost all find somebody in another of the 24 groups.
    assert 90 <= changed.sum() <= 100
    unchanged = ["age", "income", "illness"]
    pd.testing.assert_frame_equal(release.frame[unchanged], before[unchanged])
    bins = records.domain("age").codes(records.frame["age"])
    assert len(np.unique(bins[changed])) > 1


def test_swapping_refuses():
    for rate in (0, -1, 1.1, np.nan):
        with pytest.raises(ValueError, match="rate"):
            RecordSwapping(columns=["a"], rate=rate)
    with pytest.raises(ValueError, match="at least one column"):
        RecordSwapping(columns=[])
    with pytest.raises(ValueError, match="similar: column 'a'"):
        RecordSwapping(columns=["a"], similar=["a"])
    with pytest.raises(ValueError, match="no released column 'z'"):
        apply(RecordSwapping(columns=["z"]), table(a=[1]))


def test_shuffle_keeps_columns_and_breaks_rows():
    records = known_people(500)
    release = apply(Shuffle(), records)
    original = released_frame(records)
    for name in release.frame.columns:
        assert sorted(map(str, release.frame[name])) == sorted(map(str, original[name]))
    assert (release.origin == -1).all()
    twin = table(x=np.arange(2000), y=np.arange(2000))
    mixed = apply(Shuffle(), twin).frame
    # The correlation of independent permutations has standard deviation 1 / sqrt(1999).
    assert abs(np.corrcoef(mixed["x"], mixed["y"])[0, 1]) < 5 / np.sqrt(1999)
