"""Transition matrices: exact Pk-anonymity, epsilon, invariant PRAM, bad input."""

from itertools import combinations_with_replacement, permutations, product
from math import inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.pram import (
    epsilon,
    epsilon_for_k,
    epsilon_for_retention,
    invariant,
    k_for_epsilon,
    optimal_retention,
    pk,
    retention_epsilon,
    retention_for_epsilon,
    retention_pk,
    transition_matrix,
)


def permanent(matrix):
    n = len(matrix)
    return sum(np.prod([matrix[i, s[i]] for i in range(n)]) for s in permutations(range(n)))


def brute_force_k(matrix, n):
    """Largest posterior of 'row j is person i's' over every original and released table, up to their order."""
    d = len(matrix)
    worst = 0.0
    for table in combinations_with_replacement(range(d), n):
        for released in combinations_with_replacement(range(d), n):
            likelihood = matrix[np.ix_(released, table)]
            total = permanent(likelihood)
            if total > 0:
                for i, j in product(range(n), repeat=2):
                    rest = np.delete(np.delete(likelihood, j, 0), i, 1)
                    worst = max(worst, likelihood[j, i] * (permanent(rest) if n > 1 else 1) / total)
    return 1 / worst


def random_matrix(rng, d, zeros):
    matrix = rng.dirichlet(np.full(d, 0.7), size=d).T
    if zeros:
        matrix[rng.integers(d), rng.integers(d)] = 0
        matrix[:, matrix.sum(axis=0) == 0] = 1
    return matrix / matrix.sum(axis=0)


@pytest.mark.thorough_beyond(3)
@pytest.mark.long_for("False-4-3", "True-4-3")
@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 2), (3, 2), (4, 2), (2, 3), (3, 3), (4, 3)])
@pytest.mark.parametrize("zeros", [False, True])
def test_pk_equals_brute_force(n, d, zeros):
    rng = np.random.default_rng(10 * n + d)
    for _ in range(2 if n * d == 12 else 6):
        matrix = random_matrix(rng, d, zeros)
        assert pk(matrix, n) == pytest.approx(brute_force_k(matrix, n), rel=1e-9)


def test_pk_of_degenerate_matrices():
    assert pk(np.eye(3), 5) == 1
    assert pk(np.full((3, 3), 1 / 3), 5) == 5
    assert pk([[1, 1], [0, 0]], 5) == pytest.approx(brute_force_k(np.array([[1.0, 1], [0, 0]]), 3) + 2) == 5
    assert pk([[1]], 4) == 4


def test_retention_forms_equal_the_matrix_forms():
    rng = np.random.default_rng(1)
    for _ in range(200):
        retention = rng.random(rng.integers(2, 8)) ** rng.choice([0.2, 1, 4])
        if rng.random() < 0.3:
            retention[rng.integers(retention.size)] = rng.integers(2)
        matrix = transition_matrix(retention)
        np.testing.assert_allclose(matrix.sum(axis=0), 1)
        assert retention_epsilon(retention) == pytest.approx(epsilon(matrix), abs=1e-12)
        assert retention_pk(retention, 50) == pytest.approx(pk(matrix, 50), rel=1e-9)


def test_epsilon_of_zeros():
    assert epsilon([[1, 0], [0, 1]]) == inf
    assert epsilon([[1, 1], [0, 0]]) == 0
    assert epsilon([[1]]) == 0


def test_transition_matrix_of_one_category():
    assert transition_matrix([1.0]).tolist() == [[1]]
    assert (retention_epsilon([1.0]), retention_pk([1.0], 9)) == (0, 9)


def test_invariant_keeps_the_histogram_and_epsilon():
    rng = np.random.default_rng(3)
    for _ in range(20):
        matrix = random_matrix(rng, 4, zeros=False)
        counts = rng.integers(0, 9, 4) + np.array([1, 0, 0, 0])
        kept = invariant(matrix, counts)
        np.testing.assert_allclose(kept @ counts, counts, atol=1e-9)
        np.testing.assert_allclose(kept.sum(axis=0), 1)
        assert epsilon(kept) <= epsilon(matrix) + 1e-9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: epsilon([[0.5, 0.5], [0.5, 0.6]]), "column 1 sums to 1.1"),
        (lambda: epsilon([[0.5, 1.5], [0.5, -0.5]]), "column 1, row 0"),
        (lambda: epsilon([[np.nan, 1], [0.5, 0]]), "column 0, row 0"),
        (lambda: epsilon([0.5, 0.5]), "square"),
        (lambda: epsilon(np.ones((2, 3)) / 2), "square"),
        (lambda: epsilon(np.empty((0, 0))), "square"),
        (lambda: pk(np.eye(2), 0), "n must"),
        (lambda: pk(np.eye(2), 2.5), "n must"),
        (lambda: transition_matrix([0.5, 1.2]), "category 1"),
        (lambda: transition_matrix([]), "vector"),
        (lambda: transition_matrix([0.5]), "one category"),
        (lambda: invariant(np.eye(2), [1, 2, 3]), "histogram has 3"),
        (lambda: invariant(np.eye(2), [0, 0]), "all zero"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_worst_odds_of_replacement():
    p = retention_for_epsilon(log(3), 2)
    assert p == pytest.approx(0.75)
    assert pk(transition_matrix([p, p]), 3) == pytest.approx(1 + 2 / 9)


def test_k_of_epsilon_is_exact_for_replacement_and_a_lower_bound_otherwise():
    rng = np.random.default_rng(2)
    assert retention_pk(np.full(6, retention_for_epsilon(1.3, 6)), 100) == pytest.approx(k_for_epsilon(1.3, 100))
    above = 0
    for _ in range(60):
        retention = optimal_retention(rng.integers(0, 30, 5) + 1, rng.uniform(0.2, 3))
        bound = k_for_epsilon(max(retention_epsilon(retention), 1e-12), 100)
        exact = retention_pk(retention, 100)
        assert exact >= bound * (1 - 1e-9)
        above += exact > 1.01 * bound
    assert above > 5


def test_the_printed_equality_fails_for_unequal_retention():
    # Miura and Hasegawa, Theorem 2.13, says k - 1 = (N - 1) e^(-2 epsilon). By hand: epsilon = log 2, and the odds of a
    # released pair are (.7/.4) / (.3/.6) = 3.5, so that k - 1 = 2/3.5.
    matrix = transition_matrix([0.7, 0.6])
    assert pk(matrix, 3) == retention_pk([0.7, 0.6], 3) == pytest.approx(1 + 4 / 7)
    assert k_for_epsilon(epsilon(matrix), 3) == pytest.approx(1.5)
    equal = transition_matrix([0.7, 0.7])
    assert pk(equal, 3) == pytest.approx(k_for_epsilon(epsilon(equal), 3))


@given(st.floats(1e-6, 30), st.integers(2, 1000), st.integers(2, 10**6))
@settings(max_examples=50, deadline=None)
def test_conversions_return(level, d, n):
    assert epsilon_for_retention(retention_for_epsilon(level, d), d) == pytest.approx(level, rel=1e-3, abs=1e-9)
    assert epsilon_for_k(k_for_epsilon(min(level, 8), n), n) == pytest.approx(min(level, 8), rel=1e-6, abs=1e-9)


def test_conversions_at_the_ends():
    assert retention_for_epsilon(inf, 5) == retention_for_epsilon(2.0, 1) == 1
    assert epsilon_for_retention(1.0, 5) == epsilon_for_retention(0.0, 5) == inf
    assert epsilon_for_retention(0.2, 5) == pytest.approx(0, abs=1e-12)
    assert epsilon_for_retention(1, 1) == 0
    assert (epsilon_for_k(1, 10), epsilon_for_k(10, 10), epsilon_for_k(1, 1)) == (inf, 0, inf)
    assert (k_for_epsilon(inf, 10), k_for_epsilon(3.0, 1)) == (1, 1)
    assert [round(epsilon_for_k(k, 32561), 3) for k in (2, 10, 100)] == [5.195, 4.097, 2.898]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: retention_for_epsilon(0, 3), "epsilon"),
        (lambda: retention_for_epsilon(np.nan, 3), "epsilon"),
        (lambda: retention_for_epsilon(1, 0), "d must"),
        (lambda: epsilon_for_retention(1.1, 3), "p must"),
        (lambda: epsilon_for_retention(0.5, 1), "p must be 1"),
        (lambda: epsilon_for_k(0.5, 10), "k must"),
        (lambda: epsilon_for_k(11, 10), "k must"),
        (lambda: epsilon_for_k(np.nan, 10), "k must"),
        (lambda: k_for_epsilon(-1, 10), "epsilon"),
        (lambda: k_for_epsilon(1, 0), "n must"),
    ],
)
def test_bad_levels_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
