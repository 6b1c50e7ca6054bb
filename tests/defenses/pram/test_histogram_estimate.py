"""Histograms estimated from releases under PRAM."""

import numpy as np
import pytest

from defenses.pram import (
    bayesian_histogram,
    estimate_histogram,
    optimal_retention,
    replace,
    retention_for_epsilon,
    transition_matrix,
)


def test_estimate_inverts_the_expected_release():
    rng = np.random.default_rng(1)
    for _ in range(50):
        retention = rng.uniform(0.3, 1, rng.integers(1, 9))
        retention[retention.size == 1] = 1
        counts = rng.integers(0, 100, retention.size) + 1.0
        matrix = transition_matrix(retention)
        by_vector = estimate_histogram(matrix @ counts, retention)
        by_matrix = estimate_histogram(matrix @ counts, matrix)
        np.testing.assert_allclose(by_vector.counts, counts, rtol=1e-9)
        np.testing.assert_allclose(by_matrix.counts, counts, rtol=1e-9)
        covariance = np.linalg.inv(matrix) @ np.diag(matrix @ counts) @ np.linalg.inv(matrix).T - np.diag(counts)
        exact = np.sqrt(np.maximum(np.diag(covariance), 0))
        np.testing.assert_allclose(by_vector.errors, exact, rtol=1e-6, atol=1e-5)
        np.testing.assert_allclose(by_matrix.errors, exact, rtol=1e-6, atol=1e-5)


def test_errors_hold_on_a_large_release():
    # z above 3 has probability 0.0027; 99 % of 500 categories within 3 errors fails with probability below 1e-2, and
    # the seed is fixed.
    rng = np.random.default_rng(2)
    counts = rng.multinomial(300_000, rng.dirichlet(np.ones(500)))
    codes = np.repeat(np.arange(500), counts)
    for retention in (np.full(500, retention_for_epsilon(7.0, 500)), optimal_retention(counts, 8.5)):
        estimate = estimate_histogram(np.bincount(replace(codes, retention, rng), minlength=500), retention)
        assert (np.abs(estimate.counts - counts) <= 3 * estimate.errors).mean() >= 0.99


def test_bayesian_estimate_equals_the_inverse_inside_and_stays_positive_outside():
    retention = np.array([0.8, 0.7, 0.6])
    matrix = transition_matrix(retention)
    inside = matrix @ np.array([50.0, 30, 20])
    for mechanism in (retention, matrix):
        np.testing.assert_allclose(bayesian_histogram(inside, mechanism, tolerance=1e-13), [50, 30, 20], atol=1e-3)
    outside = np.array([95.0, 5, 0])
    assert (estimate_histogram(outside, retention).counts < 0).any()
    estimate = bayesian_histogram(outside, retention)
    assert (estimate >= 0).all()
    assert estimate.sum() == pytest.approx(100)

    def likelihood(v):
        return outside[:2] @ np.log((matrix @ v)[:2])

    rng = np.random.default_rng(3)
    assert all(likelihood(estimate) >= likelihood(100 * rng.dirichlet([8, 1, 0.3])) - 1e-6 for _ in range(500))


def test_bayesian_estimate_needs_no_inverse():
    even = np.full(4, 0.25)
    with pytest.raises(ValueError, match="no inverse"):
        estimate_histogram([1, 2, 3, 4], even)
    np.testing.assert_allclose(bayesian_histogram([1, 2, 3, 4], even), 2.5)


@pytest.mark.parametrize("d", [2, 3, 4, 6, 7, 50])
@pytest.mark.parametrize("excess", [0.0, 1e-15, 1e-12, 1e-9])
def test_one_uninformative_column_still_has_an_inverse(d, excess):
    retention = np.linspace(0.6, 0.9, d)
    retention[0] = 1 / d + excess
    counts = np.arange(10.0, 10 * d + 10, 10)
    matrix = transition_matrix(retention)
    found, dense = estimate_histogram(matrix @ counts, retention), estimate_histogram(matrix @ counts, matrix)
    np.testing.assert_allclose(found.counts, counts, rtol=1e-9)
    np.testing.assert_allclose(found.errors, dense.errors, rtol=1e-6)


def test_ill_conditioned_matrices_are_warned_of():
    with pytest.warns(RuntimeWarning, match="ill-conditioned"):
        estimate_histogram([5, 5, 5], np.full(3, 1 / 3 + 1e-5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: estimate_histogram([1, 2, 3], [0.5, 0.5]), "3 categories, the mechanism 2"),
        (lambda: estimate_histogram([1, -2], [0.5, 0.5]), "category 1"),
        (lambda: bayesian_histogram([1, 2], [[1, 1], [0, 0]]), "category 1"),
        (lambda: bayesian_histogram([1, 2], [0.5, 0.5], iterations=0), "iterations"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
