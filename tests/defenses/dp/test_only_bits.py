"""Mechanisms draw integers from fair bits only: no floating-point number is drawn before the noise is added."""

import numpy as np
import pandas as pd
import pytest

from defenses import Curator, Microdata, UnaccountedCurator
from defenses.base.queries import ContingencyTable, Correlation, Count, Histogram, Mean, Median, Mode, Sum, Variance
from defenses.dp import (
    BinaryTree,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    ReportNoisyMax,
    SparseVector,
    Staircase,
    release_degree_counts,
    release_edge_count,
    release_triangle_count,
)
from defenses.pram.perturbation import noisy_histogram
from defenses.synthetic.graphical.estimation import CountedColumns
from defenses.synthetic.spanning_trees import Budget, _chosen_pairs, _noisy_shares, _noisy_tables
from metrics.columns.domains import CategoricalDomain, NumericDomain


class OnlyBits(np.random.Generator):
    """A generator that refuses to draw anything but integers."""

    def __init__(self, seed=0):
        super().__init__(np.random.PCG64(seed))

    def __getattribute__(self, name):
        if name not in {"integers", "bit_generator", "__class__"}:
            raise AssertionError(f"the mechanism draws with Generator.{name}")
        return super().__getattribute__(name)


RECORDS = Microdata(
    pd.DataFrame({"age": [20, 30, 90, 41], "job": ["a", "b", "a", None]}),
    domains={"age": NumericDomain(0, 100, cuts=(25, 50)), "job": CategoricalDomain(("a", "b"))},
)
QUERIES = [
    Count(),
    Sum("age"),
    Mean("age"),
    Variance("age"),
    Correlation("age", "age"),
    Median("age"),
    Mode("job"),
    Histogram("job"),
    ContingencyTable(("age", "job")),
]


def test_floating_point_draws_are_caught():
    with pytest.raises(AssertionError, match="gumbel"):
        OnlyBits().gumbel(size=3)


@pytest.mark.parametrize("mechanism", [Laplace, Gaussian, DiscreteLaplace, DiscreteGaussian, Staircase])
def test_noise(mechanism):
    mechanism(epsilon=0.5).release(3, OnlyBits())


@pytest.mark.parametrize("mechanism", [Exponential, ReportNoisyMax])
def test_selections(mechanism):
    mechanism(epsilon=0.5).release([3.0, 1.5, 3.0], OnlyBits())


def test_streams_and_graphs():
    SparseVector(epsilon=0.5).release([1.0, 2.0], OnlyBits())
    release_edge_count([[0, 1]], 3, OnlyBits(), epsilon=1.0, level="node", bound=1)
    release_degree_counts([[0, 1]], 3, OnlyBits(), epsilon=1.0, bound=1)
    release_degree_counts([[0, 1]], 3, OnlyBits(), epsilon=1.0, bound=1, level="node")
    release_triangle_count([[0, 1]], 3, OnlyBits(), epsilon=1.0)
    BinaryTree(epsilon=0.5).release([1, 2], OnlyBits())


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
@pytest.mark.parametrize(
    "curator", [Curator(), Curator(mechanism="gaussian", delta=1e-6), UnaccountedCurator()], ids=repr
)
def test_curators(curator, query):
    generator = OnlyBits()
    curator.apply(RECORDS, generator).open(generator).answer(query)


def test_noisy_histograms_and_marginals():
    noisy_histogram([5, 3, 0], 0.5, OnlyBits())
    generator = np.random.default_rng(3)
    table = CountedColumns(list(generator.integers(0, 3, (3, 200))), (3, 3, 3))
    budget = Budget(1.0, 3)
    shares = _noisy_shares(table, budget, OnlyBits())
    pairs = _chosen_pairs(table, shares, budget, OnlyBits())
    _noisy_tables(table, [*pairs, (0, 1)], shares, budget, OnlyBits())
