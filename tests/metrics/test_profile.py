"""Profiles: tables spread over public bins, in full and by their distinct cells."""

import numpy as np
import pandas as pd
import pytest

import metrics.profile
from metrics.columns.domains import CategoricalDomain, NumericDomain
from metrics.fidelity import RangeQueries, association
from metrics.profile import CodedProfile, DenseProfile, original_profile, profile

DOMAINS = {
    "age": NumericDomain(0, 99, integer=True, cuts=(20, 40, 60)),
    "job": CategoricalDomain(("cook", "nurse", "pilot")),
    "income": NumericDomain(0, 10, cuts=(5,)),
}
CELLS = {"age": ["23", "[20,59]", "*", None], "job": ["cook", "{cook|pilot}", "*", None], "income": [1.5, 7, 9, np.nan]}


@pytest.fixture
def released():
    rng = np.random.default_rng(1)
    return pd.DataFrame({name: rng.choice(np.array(cells, dtype=object), 300) for name, cells in CELLS.items()})


@pytest.fixture(params=["small", "pairs", "sums"])
def size(request, monkeypatch):
    """Which way the joint counts go: by the mass, by pairs of cells, or by sums over the cells of one column."""
    if request.param != "small":
        monkeypatch.setattr(metrics.profile, "_AT_ONCE", 299 if request.param == "pairs" else 3)
    return request.param


def test_both_kinds_hold_the_same_numbers(released, size, monkeypatch):
    coded = profile(released, DOMAINS)
    if size == "sums":
        # Fewer rows than pairs of cells.
        coded = coded.take(np.arange(5))
    dense = DenseProfile(coded.mass, coded.starts)
    assert coded.joint == pytest.approx(dense.joint)
    assert coded.counts == pytest.approx(dense.counts)
    assert (coded.rows, coded.bins) == (dense.rows, dense.bins)
    assert association(coded) == pytest.approx(association(dense))
    queries = RangeQueries.random(DOMAINS, 20, np.random.default_rng(2))
    product = (dense.mass @ queries.first) * (dense.mass @ queries.second)
    assert queries.answers(coded) == pytest.approx(product.mean(axis=0))
    for column in range(3):
        assert np.array_equal(coded.block(column), dense.block(column))
        assert np.array_equal(coded.without(column), dense.without(column))


def test_rows_are_taken_in_any_order(released):
    whole = profile(released, DOMAINS)
    assert np.array_equal(whole.take(np.array([5, 2, 2])).mass, whole.mass[[5, 2, 2]])


def test_values_in_single_bins_are_coded_by_bin():
    ages = pd.DataFrame({"age": np.arange(100), "job": ["cook"] * 100, "income": np.linspace(0, 10, 100)})
    table = original_profile(ages, DOMAINS)
    assert [len(cells) for cells in table.cells] == [5, 1, 3]
    assert table.counts[:5].tolist() == [20, 20, 20, 40, 0]
    assert np.array_equal(table.mass.sum(axis=1), np.full(100, 3.0))


def test_a_table_without_columns_or_rows():
    empty = CodedProfile([], [], 4)
    assert (empty.rows, empty.bins, empty.mass.shape, empty.joint.shape) == (4, 0, (4, 0), (0, 0))
    nobody = profile(pd.DataFrame({name: [] for name in DOMAINS}), DOMAINS)
    assert (nobody.rows, nobody.joint.sum()) == (0, 0)


def test_a_missing_column_is_named(released):
    with pytest.raises(ValueError, match="has no column 'job'"):
        profile(released.drop(columns="job"), DOMAINS)
