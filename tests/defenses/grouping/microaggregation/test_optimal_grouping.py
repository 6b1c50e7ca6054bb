"""Optimal univariate grouping: least sum of squares, group sizes, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.grouping.microaggregation.univariate_microaggregation import optimal_groups


def within(values: np.ndarray, groups: np.ndarray) -> float:
    return sum(float(((values[groups == g] - values[groups == g].mean()) ** 2).sum()) for g in np.unique(groups))


def least_sum(values: np.ndarray, k: int) -> float:
    """Least sum of squares over all ways to cut the sorted values into runs of at least k, by recursion."""
    ordered = np.sort(values)
    best = [0.0]
    for end in range(1, len(ordered) + 1):
        runs = [best[start] + float(np.var(ordered[start:end])) * (end - start) for start in range(end - k + 1)]
        best.append(min(runs, default=np.inf))
    return best[-1]


VALUES = given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 1000), st.integers(0, 10**6))


def check_univariate_groups_are_optimal_ties_or_not(n: int, k: int, distinct: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, distinct, n).astype(float)
    k = min(k, n)
    groups = optimal_groups(values, k)
    sizes = np.bincount(groups)
    assert sizes.sum() == n
    assert k <= sizes.min() <= sizes.max() < 2 * k
    assert within(values, groups) == pytest.approx(least_sum(values, k), rel=1e-9, abs=1e-9)
    assert (np.diff(groups[np.argsort(values, kind="stable")]) >= 0).all()


@pytest.mark.thorough
@settings(max_examples=100, deadline=None)
@VALUES
def test_univariate_groups_are_optimal_ties_or_not(n: int, k: int, distinct: int, seed: int) -> None:
    check_univariate_groups_are_optimal_ties_or_not(n, k, distinct, seed)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@VALUES
def test_univariate_groups_are_optimal_ties_or_not_in_many_tables(n: int, k: int, distinct: int, seed: int) -> None:
    check_univariate_groups_are_optimal_ties_or_not(n, k, distinct, seed)


@pytest.mark.thorough
def test_univariate_groups_keep_their_digits() -> None:
    values = np.random.default_rng(0).normal(size=150)
    far = optimal_groups(values + 1e8, 3)
    assert within(values, far) == pytest.approx(least_sum(values, 3), rel=1e-6)
    assert optimal_groups([5.0, 1.0, 6.0, 2.0], 2).tolist() == [1, 0, 1, 0]
    assert optimal_groups([3.0], 1).tolist() == [0]


@pytest.mark.thorough
def test_univariate_groups_of_a_hundred_thousand_end() -> None:
    groups = optimal_groups(np.random.default_rng(0).normal(size=100_000), 5)
    assert 5 <= np.bincount(groups).min() <= np.bincount(groups).max() < 10


@pytest.mark.parametrize(
    ("numbers", "k", "why"),
    [
        ([1.0], 2, "k = 2 for n = 1"),
        ([1.0], 0, "k = 0"),
        ([], 1, "n = 0"),
        ([np.nan], 1, "finite"),
        ([[1.0]], 1, "one-dimensional"),
    ],
)
def test_univariate_groups_refuse(numbers: object, k: int, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        optimal_groups(numbers, k)  # type: ignore[arg-type]
