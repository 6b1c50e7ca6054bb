"""Graph queries by hand, and the curator that answers them with noise."""

import numpy as np
import pandas as pd
import pytest

from defenses import Curator, ExactCurator, GraphCurator, Microdata
from defenses.base.queries import BudgetSpent, Condition, Count, DegreeCounts, EdgeCount, Query, TriangleCount
from defenses.dp.graphs import degree_counts_sensitivity, triangle_count_sensitivity, triangles
from metrics.columns.domains import CategoricalDomain
from scenarios import load

ABCD = CategoricalDomain(tuple("abcd"))


def graph(*edges, people=ABCD, others=None):
    """A graph of the pairs given as two letters."""
    frame = pd.DataFrame(
        {"user": [edge[0] for edge in edges], "other": [edge[1] for edge in edges], "friend": ["yes"] * len(edges)},
        dtype=object,
    )
    domains = {"user": people, "other": others or people, "friend": CategoricalDomain(("no", "yes"))}
    return Microdata(frame, quasi_identifiers=("user", "other"), domains=domains)


def test_queries_by_hand():
    records = graph("ab", "bc", "ca", "cd")
    assert EdgeCount().exact(records) == 4
    assert TriangleCount().exact(records) == 1
    assert DegreeCounts(bound=2).exact(records).tolist() == [0, 1, 3]
    assert DegreeCounts(bound=3).exact(records).tolist() == [0, 1, 2, 1]
    parted = records.with_frame(records.frame.assign(friend=["yes", "no", "yes", None]))
    assert EdgeCount().exact(parted) == 2
    assert DegreeCounts(bound=3).exact(parted).tolist() == [1, 2, 1, 0]
    session = ExactCurator().apply(records, np.random.default_rng(0)).open(np.random.default_rng(0))
    assert session.answer(TriangleCount()) == 1


def test_queries_round_trip():
    for query in (EdgeCount(), DegreeCounts(bound=3), TriangleCount(tie="knows", joined="1")):
        assert Query.from_dict(query.to_dict()) == query
    with pytest.raises(ValueError, match="bound must be an integer of at least 1, got 0"):
        DegreeCounts(bound=0)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (graph("ab", "ba"), "at most once"),
        (graph("aa"), "one person twice"),
        (graph("ax"), "undeclared person"),
        (graph("ab", others=CategoricalDomain(tuple("abc"))), "the same persons"),
        (load("city").records, "no column 'user' of a graph"),
    ],
)
def test_records_that_are_no_graph(records, message):
    with pytest.raises(ValueError, match=message):
        EdgeCount().exact(records)


def test_triangles_of_the_generated_network():
    records = load("friends").records
    edges, persons = EdgeCount().graph(records)
    assert (persons, len(records)) == (30, 435)
    assert TriangleCount().exact(records) == triangles(edges, persons) > 0


@pytest.mark.thorough
@pytest.mark.usefixtures("tables_are_read_once")
@pytest.mark.parametrize("level", ["edge", "node"])
def test_noise_has_the_stated_scale(level):
    records, runs = load("friends").records, 600
    release = GraphCurator(epsilon=3.0, level=level, bound=8).apply(records, np.random.default_rng(0))
    sensitivities = {
        EdgeCount(): 1 if level == "edge" else 8,
        TriangleCount(): triangle_count_sensitivity(30, level),
        DegreeCounts(bound=8): degree_counts_sensitivity(30, level, 8),
    }
    for query, sensitivity in sensitivities.items():
        answers = np.array(
            [np.ravel(release.open(np.random.default_rng(seed)).answer(query))[0] for seed in range(runs)]
        )
        # Laplace noise of scale sensitivity / 1 for a third of the budget; 5 standard errors of a deviation.
        assert answers.std() == pytest.approx(np.sqrt(2) * sensitivity, rel=max(0.15, 5 * np.sqrt(5 / 4 / runs)))


def test_the_budget_is_kept():
    session = (
        GraphCurator(epsilon=1.0)
        .apply(load("friends").records, np.random.default_rng(0))
        .open(np.random.default_rng(1))
    )
    session.answer(EdgeCount(), 0.6)
    assert session.remaining == pytest.approx(0.4)
    with pytest.raises(BudgetSpent):
        session.answer(EdgeCount(), 0.5)
    assert session.refused == 1
    assert isinstance(session.answer(TriangleCount()), float)


def test_what_it_does_not_answer_costs_nothing():
    records = load("friends").records
    session = GraphCurator().apply(records, np.random.default_rng(0)).open(np.random.default_rng(1))
    for query, message in (
        (Count(), "a curator of a graph cannot answer Count"),
        (EdgeCount(where=Condition("friend", values=("yes",))), "the whole graph only"),
        (EdgeCount(members=np.ones(len(records), dtype=bool)), "the whole graph only"),
        (EdgeCount(tie="knows"), "no column 'knows'"),
    ):
        with pytest.raises(ValueError, match=message):
            session.answer(query)
    for epsilon in (0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="epsilon"):
            session.answer(EdgeCount(), epsilon)
    assert session.remaining == 1
    other = Curator().apply(records, np.random.default_rng(0)).open(np.random.default_rng(1))
    with pytest.raises(ValueError, match="a curator cannot answer EdgeCount"):
        other.answer(EdgeCount())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": np.nan}, "epsilon"),
        ({"level": "triangle"}, "level must be one of 'edge', 'node', 'person'"),
        ({"bound": 0}, "bound"),
        ({"queries": 0}, "queries"),
        ({"epsilon": 1e-9}, "epsilon must give each"),
    ],
)
def test_refuses_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        GraphCurator(**parameters)


def test_a_person_may_be_absent_and_the_number_of_persons_is_noised():
    """At epsilon 3,000 noise of scale 18 / 1,000 changes a count with a probability below 1e-20."""
    records = load("friends").records
    frame = records.frame
    gone = frame["user"] == "person 01"
    fewer = records.with_frame(frame[~gone].reset_index(drop=True))
    curator = GraphCurator(epsilon=3000.0, level="person")
    for table, persons in ((records, 30), (fewer, 29)):
        session = curator.apply(table, np.random.default_rng(0)).open(np.random.default_rng(1))
        assert session.answer(DegreeCounts(bound=29, present=True)).sum() == persons
        assert session.answer(DegreeCounts(bound=29)).sum() == 30
    assert "or not in it" in curator.guarantee(records).statement
