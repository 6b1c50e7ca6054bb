"""Queries: what they select, what they answer exactly, and what they refuse."""

import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest

from defenses.base.microdata import Microdata
from defenses.base.queries import (
    Condition,
    ContingencyTable,
    Correlation,
    Count,
    Covariance,
    Histogram,
    Maximum,
    Mean,
    Median,
    Minimum,
    Mode,
    Quantile,
    Query,
    Sum,
    Variance,
)
from metrics.columns.domains import CategoricalDomain, NumericDomain


def records(**changes):
    columns = {
        "city": ["Nara", "Uji", "Nara", "Ōsaka", None, "Nara"],
        "age": [20.0, 30.0, 40.0, np.nan, 60.0, 200.0],
        "spent": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
    return Microdata(
        pd.DataFrame({**columns, **changes}),
        domains={
            "city": CategoricalDomain(("Nara", "Uji", "Ōsaka", "Kōbe")),
            "age": NumericDomain(0, 100, cuts=(25, 50)),
            "spent": NumericDomain(0, 10),
        },
    )


NARA = Condition("city", values=("Nara",))
ODD = np.array([False, True] * 3)
EVERY = [
    Count(),
    Count(where=(NARA, Condition("age", interval=(10, 50))), members=ODD),
    Sum("age", where=(NARA,)),
    Mean("age"),
    Variance("age"),
    Maximum("age"),
    Minimum("age"),
    Median("age"),
    Quantile("age", 0.25),
    Histogram("city"),
    Mode("city"),
    ContingencyTable(("city", "age")),
    Covariance("age", "spent"),
    Correlation("age", "spent", members=~ODD),
]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        (Count(), 6),
        (Count(where=(NARA,)), 3),
        (Count(where=(NARA,), members=ODD), 1),
        (Count(where=(Condition("age", interval=(30, 40)),)), 2),
        (Count(where=(Condition("age", interval=(150, math.inf)),)), 1),
        (Count(where=(Condition("spent", values=(2, 3.0)),)), 2),
        (Count(where=(NARA, Condition("age", interval=(0, 30)))), 1),
        # A missing age counts as 50, the middle of the bounds; 200 as 100.
        (Sum("age"), 20 + 30 + 40 + 50 + 60 + 100),
        (Sum("age", where=(NARA,)), 160),
        (Sum("age", members=np.zeros(6, dtype=bool)), 0),
        (Mean("age"), 50),
        (Variance("spent"), 35 / 12),
        (Maximum("age"), 100),
        (Minimum("spent", where=(NARA,)), 1),
        (Median("spent"), 3.5),
        (Quantile("spent", 0.2), 2),
        (Mode("city"), "Nara"),
        (Mode("age"), "[25,50)"),
        (Covariance("spent", "spent"), 35 / 12),
        (Correlation("spent", "spent"), 1),
    ],
)
def test_exact_answers(query, answer):
    assert query.exact(records()) == (answer if isinstance(answer, str) else pytest.approx(answer))


def test_counts_by_public_cells():
    # The missing city is counted nowhere, nor is one that the domain lacks.
    assert Histogram("city").exact(records()).tolist() == [3, 1, 1, 0]
    assert Histogram("city").exact(records(city=["Atlantis"] * 6)).tolist() == [0, 0, 0, 0]
    assert Histogram("age").exact(records()).tolist() == [1, 2, 2]
    table = ContingencyTable(("city", "age")).exact(records())
    assert table.shape == (4, 3)
    assert table.sum() == 4
    assert table[0].tolist() == [1, 1, 1]


def test_constant_columns_are_uncorrelated():
    assert Correlation("age", "spent").exact(records(age=[5.0] * 6)) == 0


@pytest.mark.parametrize("query", EVERY, ids=lambda query: type(query).__name__)
def test_queries_survive_writing_and_pickling(query):
    copy = Query.from_dict(json.loads(json.dumps(query.to_dict())))
    assert copy == query
    assert hash(copy) == hash(query)
    assert pickle.loads(pickle.dumps(query)) == query
    assert query != Count(where=(Condition("age", interval=(1, 2)),))


def test_masks_tell_queries_apart_and_cannot_be_changed():
    mask = ODD.copy()
    query = Count(members=mask)
    mask[:] = True
    assert query.exact(records()) == 3
    assert query != Count(members=~ODD)
    assert len({query, Count(members=ODD), Count()}) == 2
    with pytest.raises(ValueError, match="read-only"):
        query.members[0] = True


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Condition("a"), "either values or an interval"),
        (lambda: Condition("a", values=("x",), interval=(0, 1)), "either values or an interval"),
        (lambda: Condition("a", values="x"), "values must be a list, got the text 'x'"),
        (lambda: Condition("a", interval=(2, 1)), r"interval must ascend, got \[2, 1\]"),
        (lambda: Condition("a", interval=(math.nan, 1)), r"interval must ascend, got \[nan, 1\]"),
        (lambda: Condition("a", interval=("x", 1)), "interval must be two numbers"),
        (lambda: Condition("a", interval=(0, None)), "interval must be two numbers"),
        (lambda: Condition("a", interval=(0, 1, 2)), "interval must be two numbers"),
        (lambda: Condition("a", interval=(0, 10**400)), "interval must be two numbers"),
        (lambda: Condition("a", values=("x", pd.NA)), "values must be texts, finite numbers or booleans, got NAType"),
        (lambda: Condition("a", values=("x", None)), "booleans, got NoneType"),
        (lambda: Condition("a", values=(["x"],)), "booleans, got list"),
        (lambda: Condition("a", values=(pd.Timestamp(0),)), "booleans, got Timestamp"),
        (lambda: Condition("a", values=(math.nan,)), "booleans, got a number that is not finite"),
        (lambda: Condition("a", values=(np.float64("inf"),)), "booleans, got a number that is not finite"),
        (lambda: Condition("a", values=(10**400,)), "booleans, got a number that is not finite"),
        (lambda: Condition("a", values=(1j,)), "booleans, got complex"),
        (lambda: Count(where=("age",)), "where must be a Condition or several, got str"),
        (lambda: Count(members=[0, 1]), "members must be a boolean mask"),
        (lambda: Count(members=[[True]]), "members must be a boolean mask"),
        (lambda: Quantile("age", 1.5), r"level must be a number in \[0, 1\], got 1\.5"),
        (lambda: Quantile("age", math.nan), r"level must be a number in \[0, 1\], got nan"),
        (lambda: ContingencyTable(()), "columns must be a list of column names"),
        (lambda: ContingencyTable("city"), "columns must be a list of column names"),
        (lambda: ContingencyTable(("city", "city")), "columns must be a list of column names"),
        (lambda: Query.from_dict({"query": "Drop"}), "there is no query 'Drop'; known are"),
        (lambda: Query.from_dict({"query": "Sum"}), "query Sum: .*'column'"),
        (lambda: Query.from_dict({"query": "Count", "color": 1}), "query Count: .*'color'"),
    ],
)
def test_bad_queries_are_refused(make, message):
    with pytest.raises(ValueError, match=message) as refusal:
        make()
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (Sum("height"), "height"),
        (Count(where=(Condition("height", interval=(0, 1)),)), "height"),
        (Histogram("height"), "height"),
        (Sum("city"), "categories"),
        (Count(members=[True]), "6 truth values"),
        (Mean("age", members=np.zeros(6, dtype=bool)), "no record"),
        (Maximum("age", where=(Condition("city", values=("Kōbe",)),)), "no record"),
        (Correlation("age", "spent", members=np.zeros(6, dtype=bool)), "no record"),
    ],
)
def test_queries_that_do_not_fit_are_refused(query, message):
    with pytest.raises(ValueError, match=message):
        query.exact(records())


def test_without_declared_bounds_numbers_count_as_they_are_and_must_be_there():
    table = Microdata(pd.DataFrame({"x": [1.0, 250.0], "y": [1.0, np.nan], "z": [1.0, np.inf]}))
    assert Sum("x").exact(table) == 251
    for name in ("y", "z"):
        with pytest.raises(ValueError, match=name):
            Sum(name).exact(table)


def test_no_record():
    empty = records().take([])
    assert Count().exact(empty) == 0
    assert Sum("age").exact(empty) == 0
    assert Histogram("city").exact(empty).tolist() == [0, 0, 0, 0]
    with pytest.raises(ValueError, match="no record"):
        Mean("age").exact(empty)
