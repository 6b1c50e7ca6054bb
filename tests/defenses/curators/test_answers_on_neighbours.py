"""Answers on tables that differ in one record of any type: both tables are refused alike, or both are answered."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from defenses import Curator, Microdata, UnaccountedCurator
from defenses.base.queries import (
    Condition,
    ContingencyTable,
    Correlation,
    Count,
    Covariance,
    DegreeCounts,
    EdgeCount,
    Histogram,
    Maximum,
    Mean,
    Median,
    Minimum,
    Mode,
    Quantile,
    Query,
    Sum,
    TriangleCount,
    Variance,
)
from defenses.curators.planning import PLANNERS
from metrics.columns.domains import CategoricalDomain, NumericDomain

N = 12


class Mute:
    """An object without a text."""

    def __str__(self):
        raise RuntimeError("no text")


ODD_CELLS = [
    None,
    pd.NA,
    pd.NaT,
    math.nan,
    math.inf,
    -math.inf,
    -1.7e308,
    72.5,
    2**64,
    10**400,
    -(10**5000),
    True,
    np.bool_(False),
    "",
    "72",
    "72.0",
    "1_0",
    "nan",
    "Atlantis",
    "*",
    b"72",
    1j,
    Decimal("sNaN"),
    Decimal("72.0"),
    pd.Timestamp("2020-01-01"),
    np.timedelta64(1, "D"),
    (1, 2),
    [1],
    {"a": 1},
    Mute(),
]


def table(job="clerk", age=72, active=True, row=3):
    """Twelve records; the cells of one row are given, and the columns' types follow from all cells."""
    jobs = ["clerk", "nurse", "clerk", "1", "clerk", "nurse"] * 2
    ages = [72, 30, 41, 72, 18, 90] * 2
    actives = [True, False, True, True, False, True] * 2
    jobs[row], ages[row], actives[row] = job, age, active
    frame = pd.DataFrame({"job": column(jobs), "age": column(ages), "active": column(actives)})
    return Microdata(
        frame,
        domains={
            "job": CategoricalDomain(("clerk", "nurse", "1", "True")),
            "age": NumericDomain(18, 90, integer=True, cuts=(30, 60)),
            "active": CategoricalDomain(("True", "False", "1", "72", "72.0")),
        },
    )


def column(cells):
    """Cells as pandas stores them; where it stores them as no common type, as they are."""
    try:
        return pd.Series(cells)
    except OverflowError:
        return pd.Series(cells, dtype=object)


WHERE = [
    (),
    Condition("job", values=("clerk", "1", "")),
    Condition("job", values=(1, True, 72.5, "nan")),
    Condition("age", values=("72", "30.0")),
    Condition("age", values=(72, 30.0)),
    Condition("age", interval=(-math.inf, 40)),
    Condition("job", interval=(0, 100)),
    Condition("active", values=(True,)),
    Condition("active", values=("True", "0")),
    Condition("active", interval=(1, 1)),
]
QUERIES = [
    *(kind(where=where) for kind in (Count,) for where in WHERE),
    *(kind("age", where=where) for kind in (Sum, Mean, Median, Histogram, Mode) for where in WHERE[:6]),
    *(kind("age") for kind in (Variance, Maximum, Minimum)),
    Quantile("age", 0.25, where=WHERE[1]),
    Covariance("age", "age"),
    Correlation("age", "age"),
    *(Histogram(name) for name in ("job", "active")),
    Mode("job"),
    Mode("active"),
    ContingencyTable(("job", "age", "active")),
    Sum("age", members=np.arange(N) < 5),
    # Refused, on every table alike.
    Sum("job"),
    Mean("age", members=np.zeros(N, dtype=bool)),
    Count(members=np.ones(3, dtype=bool)),
    Histogram("name"),
]
NEIGHBOURS = [
    *({name: cell} for cell in ODD_CELLS for name in ("job", "age", "active")),
    {"job": "rare", "age": 90, "active": False},
    {"job": 1, "age": "72", "active": 1},
]
FIRST = table()
TABLES = [(cells, table(**cells)) for cells in NEIGHBOURS]


def outcome(curator, records, query):
    """Type and shape of the answer or the refusal's words, and the state of the generator if it is unchanged."""
    generator = np.random.default_rng(7)
    unchanged = generator.bit_generator.state
    try:
        answer = curator.apply(records, generator).open(generator).answer(query)
    except ValueError as refusal:
        # Refusals come before the noise.
        assert generator.bit_generator.state == unchanged
        return "refused", str(refusal)
    assert isinstance(answer, str) or np.isfinite(answer).all()
    return type(answer), np.shape(answer)


def test_every_query_is_among_them():
    assert set(PLANNERS) <= {type(query) for query in QUERIES}
    ours = {kind for kind in Query.kinds.values() if kind.__module__.startswith("defenses.")}
    # Queries about graphs have a curator of their own, with audits in `test_audit_graphs.py`.
    assert ours - {DegreeCounts, EdgeCount, TriangleCount} == set(PLANNERS)


CURATORS = [
    Curator(),
    Curator(mechanism="gaussian", delta=1e-6),
    Curator(neighbours="add or remove"),
    UnaccountedCurator(),
]


@pytest.mark.thorough_beyond(2)
@pytest.mark.usefixtures("tables_of_the_module_are_read_once")
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
def test_neighbours_are_answered_or_refused_alike(query):
    columns = {*query.subjects, *(condition.column for condition in query.where)}
    expected = [outcome(curator, FIRST, query) for curator in CURATORS]
    # Each cell meets each curator with every kind of query, and another one with each query.
    for turn, (cells, records) in enumerate(TABLES, QUERIES.index(query)):
        if columns & set(cells):
            place = turn % len(CURATORS)
            assert outcome(CURATORS[place], records, query) == expected[place], (CURATORS[place], cells)


@pytest.mark.thorough_beyond(9)
@pytest.mark.parametrize("where", WHERE, ids=str)
def test_no_record_changes_what_others_count_as(where):
    """Each row that is not replaced is selected as before, and counted in the same cell."""
    others = np.arange(N) != 3
    selected = Count(where=where).selected(table())
    for cells, records in TABLES:
        replaced = Count(where=where).selected(records)
        assert (replaced == selected)[others].all(), cells


@pytest.mark.parametrize("name", ["job", "age", "active"])
def test_no_record_changes_the_histogram_by_more_than_its_own_cells(name):
    counts = Histogram(name).exact(table())
    for cells, records in TABLES:
        assert np.abs(Histogram(name).exact(records) - counts).sum() <= 2, cells


def test_integers_and_truth_values_count_as_the_same_category_in_every_table():
    domain = {"x": CategoricalDomain(("1", "True", "72"))}
    for cells, counts in (
        ([1, 1, 72], [2, 0, 1]),
        ([1, 1, 72.5], [2, 0, 0]),
        ([1, 1, None], [2, 0, 0]),
        ([True, 1, 1], [2, 1, 0]),
        ([1, True, "72"], [1, 1, 1]),
    ):
        records = Microdata(pd.DataFrame({"x": column(cells)}), domains=domain)
        assert Histogram("x").exact(records).tolist() == counts
