"""Belief propagation against enumeration: exact on trees, close on small graphs with loops."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from attacks.attributes.reconstruction_of_columns import pairwise_beliefs
from scenarios.tables.seeds import generator

SIZES = (2, 3, 4, 2, 3)
CHAIN, STAR = [(0, 1), (1, 2), (2, 3), (3, 4)], [(0, 2), (1, 2), (2, 3), (2, 4)]
PAIR_AND_TRIPLE = [(0, 1), (2, 3), (3, 4)]
COMPLETE = [(j, k) for j in range(5) for k in range(j + 1, 5)]


def graph(edges, strength, instances=7):
    """Random factors; the logarithms of pairwise factors have the given standard deviation."""
    rng = generator(1, "graph", len(edges))
    unary = [rng.dirichlet(np.ones(size), instances) + 1e-3 for size in SIZES]
    return unary, {(j, k): np.exp(strength * rng.normal(size=(SIZES[j], SIZES[k]))) for j, k in edges}


def enumerated(unary, pairwise):
    marginals = [np.zeros(factor.shape) for factor in unary]
    for state in product(*map(range, SIZES)):
        weight = np.prod([factor[:, value] for factor, value in zip(unary, state, strict=True)], axis=0)
        weight = weight * np.prod([factor[state[j], state[k]] for (j, k), factor in pairwise.items()])
        for marginal, value in zip(marginals, state, strict=True):
            marginal[:, value] += weight
    return [marginal / marginal.sum(axis=1, keepdims=True) for marginal in marginals]


@pytest.mark.parametrize("damping", [0, 0.3])
@pytest.mark.parametrize("edges", [CHAIN, STAR, PAIR_AND_TRIPLE])
def test_beliefs_on_a_forest_are_the_marginals(edges, damping):
    unary, pairwise = graph(edges, 2.0)
    for belief, marginal in zip(
        pairwise_beliefs(unary, pairwise, iterations=200, damping=damping), enumerated(unary, pairwise), strict=True
    ):
        assert_allclose(belief, marginal, atol=1e-6)


def test_beliefs_on_a_graph_with_loops_are_close_to_the_marginals():
    unary, pairwise = graph(COMPLETE, 0.3)
    beliefs, marginals = pairwise_beliefs(unary, pairwise, iterations=100), enumerated(unary, pairwise)
    error = max(np.abs(belief - marginal).max() for belief, marginal in zip(beliefs, marginals, strict=True))
    without = pairwise_beliefs(unary, pairwise, iterations=0)
    start = max(np.abs(belief - marginal).max() for belief, marginal in zip(without, marginals, strict=True))
    assert error < 0.03 < start / 5


def test_without_iterations_or_pairs_the_unary_factors_remain():
    unary, pairwise = graph(CHAIN, 1.0)
    for arguments in ((unary, pairwise), (unary, {})):
        beliefs = pairwise_beliefs(*arguments, iterations=0)
        for belief, factor in zip(beliefs, unary, strict=True):
            assert_allclose(belief, factor / factor.sum(axis=1, keepdims=True))


def test_instances_do_not_influence_each_other_and_tiny_factors_do_not_underflow():
    unary, pairwise = graph(CHAIN, 1.0)
    tiny = [factor * 1e-250 for factor in unary]
    assert_allclose(pairwise_beliefs(tiny, pairwise)[2], pairwise_beliefs(unary, pairwise)[2], atol=1e-9)
    first = pairwise_beliefs([factor[:1] for factor in unary], pairwise, iterations=100)
    assert_allclose(first[2][0], pairwise_beliefs(unary, pairwise, iterations=100)[2][0], atol=1e-5)
    empty = pairwise_beliefs([factor[:0] for factor in unary], pairwise)
    assert [belief.shape for belief in empty] == [(0, size) for size in SIZES]
