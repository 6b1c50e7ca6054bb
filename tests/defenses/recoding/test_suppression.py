"""Record suppression."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from defense_tools import apply, table
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses import CellSuppression, Channel, GlobalRecoding, Microdata, Pipeline, RecordSuppression
from defenses.recoding.suppression import suppressed_cells
from metrics import CategoricalDomain, NumericDomain, k_anonymity
from scenarios.running.methods.invented_people import people
from scenarios.tables.seeds import generator


def test_cell_suppression_by_hand():
    records = table(age=[30, 30, 30, 41, 42, 43], job=list("aaabbb"), town=list("uuuvvv"))
    release = apply(CellSuppression(k=3), records)
    assert release.frame["age"].tolist() == ["30", "30", "30", "*", "*", "*"]
    assert release.frame["job"].tolist() == list("aaabbb")
    assert release.origin.tolist() == list(range(6))
    assert [part.columns for part in release.channel.parts] == [("age",)]
    assert CellSuppression(k=3).guarantee(records).k == 3
    unchanged = apply(CellSuppression(k=1), records)
    pd.testing.assert_frame_equal(unchanged.frame, records.frame)
    assert unchanged.channel == Channel()


def test_importance_decides_which_cells_go():
    records = table(a=[1, 1, 2, 2], b=list("xyxy"))
    first = apply(CellSuppression(k=2, importance={"a": 5}), records).frame
    assert (first["b"] == "*").all()
    assert not (first["a"] == "*").any()
    other = apply(CellSuppression(k=2, importance={"b": 5}), records).frame
    assert (other["a"] == "*").all()
    assert not (other["b"] == "*").any()


def test_the_rest_takes_others_along():
    # Nothing goes with the single (2, y); one of the four (1, x) is spared, while three can spare none of theirs.
    spared = apply(CellSuppression(k=2), table(a=[1, 1, 1, 1, 2], b=list("xxxxy"))).frame
    assert (spared == "*").all(axis=1).tolist() == [False, False, True, False, True]
    whole = apply(CellSuppression(k=3), table(a=[1, 1, 1, 2], b=list("xxxy"))).frame
    assert (whole == "*").all(axis=None)


@pytest.mark.thorough
@settings(max_examples=150, deadline=None)
@given(st.integers(1, 40), st.integers(0, 5), st.integers(1, 6), st.integers(1, 5), st.integers(0, 10**6))
def test_cell_suppression_keeps_its_guarantee(n, p, k, values, seed):
    rng = np.random.default_rng(seed)
    k = min(k, n)
    frame = pd.DataFrame(
        {f"c{i}": rng.choice(np.array([*"vwxyz"[:values], None], dtype=object), n) for i in range(p)},
        index=range(n),
    )
    names = tuple(frame.columns)
    domains = {name: CategoricalDomain(tuple("vwxyz")) for name in names}
    release = apply(CellSuppression(k=k), Microdata(frame, quasi_identifiers=names, domains=domains))
    assert k_anonymity(release.frame, names) >= k
    kept = (release.frame == frame) | (release.frame.isna() & frame.isna())
    assert (kept | (release.frame == "*")).all(axis=None)


@pytest.mark.thorough
def test_more_columns_than_are_tried_in_every_way():
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, 2 + column, 300) for column in range(14)])
    gone = suppressed_cells(codes, 5, np.ones(14))
    released = pd.DataFrame(np.where(gone, -1, codes)).rename(columns=str)
    assert k_anonymity(released, tuple(released.columns)) >= 5
    # The columns with the most values go first.
    assert gone[:, -4:].all()
    assert not gone[:, :2].all()


def smallest_class(rows):
    return np.unique(rows, axis=0, return_counts=True)[1].min()


@pytest.mark.thorough
def test_greedy_is_near_the_fewest_cells():
    # Exhaustive search over all ways to suppress 4 x 2 cells.
    patterns = [np.reshape(pattern, (4, 2)) for pattern in product([False, True], repeat=8)]
    patterns.sort(key=np.sum)
    greedy = fewest = 0
    for seed in range(40):
        block = np.random.default_rng(seed).integers(0, 3, (4, 2))
        best = next(pattern for pattern in patterns if smallest_class(np.where(pattern, -1, block)) >= 2)
        gone = suppressed_cells(block, 2, np.ones(2))
        assert smallest_class(np.where(gone, -1, block)) >= 2
        assert best.sum() <= gone.sum()
        greedy, fewest = greedy + gone.sum(), fewest + best.sum()
    assert greedy <= 1.1 * fewest


def test_cell_suppression_refuses():
    records = table(a=[1, 2])
    for k in (0, -1, 1.5, np.nan, True):
        with pytest.raises(ValueError, match="k must be"):
            CellSuppression(k=k)
    for value in (0, -1, np.nan, "x"):
        with pytest.raises(ValueError, match=r"importance\['a'\]"):
            CellSuppression(importance={"a": value})
    with pytest.raises(ValueError, match="k = 3 for n = 2"):
        apply(CellSuppression(k=3), records)
    with pytest.raises(ValueError, match="importance: column 'z'"):
        apply(CellSuppression(k=1, importance={"z": 2}), records)


def test_numbers_as_released_cells_are_read_again():
    records = Microdata(
        pd.DataFrame({"age": [20, 20, 33.5, np.nan], "job": list("xxyy")}),
        quasi_identifiers=("age", "job"),
        domains={"age": NumericDomain(0, 99), "job": CategoricalDomain(("x", "y"))},
    )
    release = apply(CellSuppression(k=2), records)
    assert release.frame["age"].tolist() == ["20", "20", "*", "*"]
    likelihood = release.channel.likelihoods(release.frame, records.frame, dict(records.domains))
    assert (likelihood["age",].at(np.arange(4), np.arange(4)) == 0).all()


def test_suppression():
    records = table(a=[1, 1, 2, 2, 2, np.nan, np.nan], b=list("xxyyzww"))
    release = apply(RecordSuppression(k=2), records)
    assert release.origin.tolist() == [0, 1, 2, 3, 5, 6]
    assert release.frame["b"].tolist() == list("xxyyww")
    assert k_anonymity(release.frame, ["a", "b"]) == 2 == RecordSuppression(k=2).guarantee(records).k
    assert apply(RecordSuppression(k=3, columns=["a"]), records).origin.tolist() == [2, 3, 4]
    assert RecordSuppression(k=3, columns=["a"]).guarantee(records).k is None
    assert apply(RecordSuppression(k=7), records).frame.empty
    with pytest.raises(ValueError, match="k = 8 for n = 7"):
        apply(RecordSuppression(k=8), records)
    for k in (0, -1, 1.5, np.nan, True):
        with pytest.raises(ValueError, match="k must be"):
            RecordSuppression(k=k)


def test_recoding_then_suppression_leaves_large_classes():
    records = people(200, generator(0, "people"))
    steps = [GlobalRecoding(levels={"age": 2, "income": 2}), RecordSuppression(k=4)]
    release = apply(Pipeline(steps=steps), records)
    assert 0 < len(release.frame) < 200
    assert k_anonymity(release.frame, records.quasi_identifiers) >= 4
    truth = records.frame["grade"].to_numpy()[release.origin]
    assert (release.frame["grade"] == truth).all()
