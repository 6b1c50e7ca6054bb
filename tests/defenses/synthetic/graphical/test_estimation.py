"""Estimation: consistent marginals are met, inconsistent ones are the nearest possible, and a start saves steps."""

import numpy as np
import pytest
from test_graphical_belief_propagation import marginal

from defenses.synthetic.graphical.estimation import NoisyMarginal, averaged, estimated

SIZES = (3, 2, 4, 3)
SETS = ((0, 1), (1, 2), (0, 2), (2, 3), (1,))


def shares(seed=0):
    counts = np.random.default_rng(seed).dirichlet(np.ones(np.prod(SIZES)))
    return counts.reshape(SIZES)


def test_consistent_marginals_are_met():
    truth = shares()
    exact = [NoisyMarginal(columns, 1000 * marginal(truth, columns), 1.0) for columns in SETS]
    model = estimated(SIZES, exact, 1000, iterations=5000)
    for columns in SETS:
        np.testing.assert_allclose(model.marginals[columns], marginal(truth, columns), atol=1e-3)


def test_one_noisy_column_gives_its_projection():
    from defenses.base.simplex import project_to_simplex

    counts = np.array([60.0, -7.0, 30.0, 25.0])
    model = estimated((4,), [NoisyMarginal((0,), counts, 4.0)], 100, iterations=2000)
    np.testing.assert_allclose(100 * model.marginals[0,], project_to_simplex(counts, 100), atol=0.01)


def test_the_loss_is_the_least_of_all_distributions():
    """Inconsistent noisy pairs: a general optimizer over all cells of the joint distribution finds no smaller loss."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(3)
    sizes, sets = (2, 3, 2), ((0, 1), (1, 2), (0, 2))
    truth = rng.dirichlet(np.ones(12)).reshape(sizes)
    noisy = [
        NoisyMarginal(columns, 100 * marginal(truth, columns) + rng.normal(0, 5, [sizes[c] for c in columns]), variance)
        for columns, variance in zip(sets, (1.0, 4.0, 25.0), strict=True)
    ]

    def loss(cells):
        return sum(
            np.sum((100 * marginal(cells.reshape(sizes), each.columns) - each.counts) ** 2) / each.variance
            for each in noisy
        )

    least = minimize(
        loss, np.full(12, 1 / 12), bounds=[(0, 1)] * 12, constraints={"type": "eq", "fun": lambda p: p.sum() - 1}
    ).fun
    model = estimated(sizes, noisy, 100, iterations=5000)
    reached = sum(np.sum((100 * model.marginals[each.columns] - each.counts) ** 2) / each.variance for each in noisy)
    assert reached == pytest.approx(least, rel=1e-2)
    assert estimated(sizes, noisy, 100, iterations=0).marginals[0, 1] == pytest.approx(np.full((2, 3), 1 / 6))


def test_a_start_saves_steps():
    truth = shares(1)
    exact = [NoisyMarginal(columns, 1000 * marginal(truth, columns), 1.0) for columns in SETS]
    first = estimated(SIZES, exact[:-1], 1000, iterations=500)
    error = [
        max(np.abs(model.marginals[columns] - marginal(truth, columns)).max() for columns in SETS)
        for model in (
            estimated(SIZES, exact, 1000, iterations=10),
            estimated(SIZES, exact, 1000, iterations=10, start=first),
        )
    ]
    assert error[1] < 0.5 * error[0]


def test_measurements_of_the_same_columns_are_averaged_by_their_variances():
    one, other = (NoisyMarginal((0,), np.array(counts), v) for counts, v in (([10.0, 0.0], 1.0), ([40.0, 30.0], 2.0)))
    (both,) = averaged([one, other]).values()
    np.testing.assert_allclose(both.counts, [20, 10])
    assert both.variance == pytest.approx(2 / 3)


def test_variances_of_single_cells_count():
    noisy = [
        NoisyMarginal((0,), np.array([80.0, 20.0]), np.array([1.0, 1.0])),
        NoisyMarginal((0,), np.array([20.0, 80.0]), np.array([99.0, 99.0])),
    ]
    assert estimated((2,), noisy, 100, iterations=500).marginals[0,][0] == pytest.approx(0.794, abs=1e-3)
