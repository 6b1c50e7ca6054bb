"""Belief propagation equals the joint distribution on small domains, also with extreme potentials."""

import numpy as np
import pytest
from test_clique_tree import random_sets

from defenses.synthetic.graphical.clique_tree import CliqueTree
from defenses.synthetic.graphical.estimation import BeliefPropagation


def joint(sizes, potentials):
    """The whole distribution, one axis a column."""
    log = np.zeros(sizes)
    for columns, potential in potentials.items():
        log = log + potential.reshape([size if number in columns else 1 for number, size in enumerate(sizes)])
    shares = np.exp(log - log.max())
    return shares / shares.sum()


def marginal(shares, columns):
    ascending = shares.sum(axis=tuple(number for number in range(shares.ndim) if number not in columns))
    return ascending.transpose(np.argsort(np.argsort(columns)))


@pytest.mark.thorough_beyond(32)
@pytest.mark.parametrize("scale", [1, 10, 1000])
@pytest.mark.parametrize("seed", range(25))
def test_beliefs_equal_the_joint_distribution(seed, scale):
    rng = np.random.default_rng(seed)
    sizes, sets = random_sets(rng)
    potentials = {columns: scale * rng.normal(size=[sizes[column] for column in columns]) for columns in set(sets)}
    tree = CliqueTree.of(sizes, sets)
    inference = BeliefPropagation(tree, sets)
    shares = joint(sizes, potentials)
    beliefs = inference.beliefs(potentials)
    for clique, belief in zip(tree.cliques, beliefs, strict=True):
        np.testing.assert_allclose(belief, marginal(shares, clique), atol=1e-11)
    marginals = inference.marginals(beliefs)
    assert set(marginals) == set(sets)
    for columns, values in marginals.items():
        np.testing.assert_allclose(values, marginal(shares, columns), atol=1e-11)


def test_potentials_far_apart_leave_no_zero_over_zero():
    """The child allows only what its parent's own potential makes unlikely by e^-2000."""
    potentials = {
        (0, 1): np.array([[0.0, -5000.0], [0.0, 0.0]]),
        (1, 2): np.array([[-2000.0, -9000.0], [0.0, -3000.0]]),
    }
    tree = CliqueTree.of((2, 2, 2), potentials)
    beliefs = BeliefPropagation(tree, potentials).beliefs(potentials)
    assert all(np.isfinite(belief).all() and belief.sum() == pytest.approx(1) for belief in beliefs)
    np.testing.assert_allclose(
        BeliefPropagation(tree, potentials).marginals(beliefs)[0, 1], [[0, 0], [0, 1]], atol=1e-12
    )


def test_without_potentials_all_is_uniform():
    tree = CliqueTree.of((2, 3), [])
    beliefs = BeliefPropagation(tree, [(0,), (1,)]).beliefs({})
    assert sorted(belief.ravel()[0] for belief in beliefs) == pytest.approx([1 / 3, 1 / 2])
