"""Rows drawn from a tree of distributions."""

import numpy as np

from defenses.base.marginal_tree import drawn_rows, fitted


def test_rows_have_the_distributions_of_the_tree():
    first, second, third = np.array([0.5, 0.3, 0.2]), np.array([0.6, 0.4]), np.array([0.25, 0.75])
    table = fitted(np.array([[0.4, 0.1], [0.1, 0.2], [0.1, 0.1]]), first, second)
    np.testing.assert_allclose(table.sum(axis=1), first, atol=1e-6)
    np.testing.assert_allclose(table.sum(axis=0), second, atol=1e-6)
    rows = drawn_rows([first, second, third], {(1, 0): table.T}, 10_000, np.random.default_rng(0))
    drawn = np.zeros((3, 2))
    np.add.at(drawn, (rows[0], rows[1]), 1e-4)
    # Strata leave less than one row in a parent category to chance for each child.
    np.testing.assert_allclose(drawn, table, atol=1e-3)
    np.testing.assert_allclose(np.bincount(rows[2]) / 10_000, third, atol=1e-3)
