"""Conversions between retention probability, epsilon and k."""

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.pram import (
    epsilon,
    epsilon_for_k,
    epsilon_for_retention,
    k_for_epsilon,
    optimal_retention,
    pk,
    retention_epsilon,
    retention_for_epsilon,
    retention_pk,
    transition_matrix,
)


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
