"""Grouping methods on counted combinations give the classes and cells that they give on records."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from defenses import Hierarchy, Incognito, Microdata, Mondrian
from defenses.base.columns import CodedColumn, code_column
from defenses.base.counted_table import ClassCells, CountedDefense, CountedTable, WeightedColumn
from metrics.classes import equivalence_classes
from metrics.columns.domains import CategoricalDomain

NAMES = ["age", "job", "size"]
AGES = Hierarchy.from_intervals([[3, 6], []], low=0, high=9, integer=True)


def counted(records):
    """The records as counted combinations, in random order, with the combination of each record."""
    coded = {name: code_column(records.frame[name], records.domain(name)) for name in NAMES}
    stacked = np.stack([column.codes for column in coded.values()], axis=1)
    distinct, where = np.unique(stacked, axis=0, return_inverse=True)
    shuffled = np.random.default_rng(len(records)).permutation(len(distinct))
    distinct, where = distinct[np.argsort(shuffled)], shuffled[where.ravel()]
    illness = code_column(records.frame["ill"], records.domain("ill"))
    histogram = csr_array((np.ones_like(where), (where, illness.codes)), shape=(len(distinct), illness.size))
    table = CountedTable(
        records,
        {
            name: CodedColumn(column.values, distinct[:, place].astype(np.uint8), column.missing)
            for place, (name, column) in enumerate(coded.items())
        },
        np.bincount(where),
        {"ill": histogram},
    )
    return table, where


@st.composite
def tables(draw):
    """Small tables with many equal rows, missing values and columns without variation."""
    rows = draw(st.integers(2, 150))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, draw(st.integers(1, 10)), rows),
            "job": rng.choice(["a", "b", "c", "d"][: draw(st.integers(1, 4))], rows),
            "size": rng.choice([0.5, 1.5, 2.5, np.nan] if draw(st.booleans()) else [0.5, 8.5], rows),
            "ill": rng.choice(["none", "cold", "flu"], rows, p=[0.5, 0.3, 0.2]),
        }
    )
    if draw(st.booleans()):
        frame["job"] = frame["job"].where(rng.random(rows) < 0.8, None)
    # A column without a value has no inferred domain; methods leave it as it is.
    frame.loc[0, ["job", "size"]] = ["a", 0.5]
    return Microdata(
        frame,
        quasi_identifiers=tuple(NAMES),
        sensitive=("ill",),
        domains={"ill": CategoricalDomain(("none", "cold", "flu"), ordered=True)},
        hierarchies={"age": AGES},
    )


OPTIONS = st.sampled_from(
    [
        {},
        {"l": 2},
        {"l": 1.5, "diversity": "entropy"},
        {"l": 2, "diversity": "recursive", "c": 2.0},
        {"t": 0.3},
        {"t": 0.2, "distance": "ordered"},
        {"alpha": 0.7},
    ]
)


def outcome(make):
    """What a call returns, or the words in which it refuses."""
    try:
        return make()
    except ValueError as refusal:
        return str(refusal)


def check(defense, records):
    """Compare the release of records with that of their combinations, or the refusals."""
    table, where = counted(records)
    assert isinstance(defense, CountedDefense)
    expected = outcome(lambda: defense.apply(records, np.random.default_rng(0)))
    recoding = outcome(lambda: defense.recode(table))
    if isinstance(expected, str):
        assert recoding == expected
        return
    expected = expected.frame
    assert recoding.guarantee == defense.guarantee(records)
    classes = recoding.classes[where]
    for name, cells in recoding.cells.items():
        released = pd.Series(cells.cells[cells.codes[classes]], dtype=object)
        pd.testing.assert_series_equal(
            released.where(released.notna(), None),
            expected[name].astype(object).where(expected[name].notna(), None),
            check_names=False,
        )
    # No class of records with equal cells is divided into more than the classes that share these cells.
    assert len(np.unique(classes)) >= equivalence_classes(expected, list(recoding.cells)).max() + 1


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(1, 12), OPTIONS)
def test_mondrian_on_combinations_equals_mondrian_on_records(records, k, options):
    check(Mondrian(k=k, **options), records)


@pytest.mark.thorough
@settings(max_examples=25, deadline=None)
@given(tables(), st.integers(1, 12), OPTIONS, st.sampled_from([0.0, 0.05, 0.5]))
def test_incognito_on_combinations_equals_incognito_on_records(records, k, options, suppression):
    check(Incognito(k=k, max_suppression=suppression, columns=["age"], **options), records)


def test_columns_of_combinations():
    column = CodedColumn(np.array(["a", "b", "c", None], dtype=object), np.array([2, 3, 0], dtype=np.uint8), 3)
    table = CountedTable(Microdata(pd.DataFrame({"x": ["a"]})), {"x": column}, np.array([5, 2, 1]))
    assert len(table) == 8
    assert table.weighted("x").counts.tolist() == [1, 0, 5, 2]
    occurring = table.occurring("x")
    assert occurring.values.tolist() == ["a", "c", None]
    assert occurring.codes.tolist() == [1, 2, 0]
    assert occurring.missing == 2
    assert WeightedColumn(column.values, column.codes, 3, np.ones(3, dtype=int)).counts.tolist() == [1, 0, 1, 1]


def test_equal_cells_are_listed_once():
    cells = ClassCells.of(np.array([0, 1, 2, 1]), np.array(["x", None, "x"], dtype=object))
    assert cells.cells[0] == "x"
    assert pd.isna(cells.cells[1])
    assert cells.codes.tolist() == [0, 1, 0, 1]
    assert cells.extended("*").cells.tolist()[2:] == ["*"]
    assert cells.extended("*").codes.tolist() == [0, 1, 0, 1, 2]
