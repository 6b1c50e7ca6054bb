"""MDAV: groups are those of the published algorithm, of k to 2k - 1 records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses.grouping.microaggregation.mdav import groups


def naive_mdav(points: np.ndarray, k: int) -> np.ndarray:
    """The published algorithm, word for word, on points in Euclidean space."""
    group = np.full(len(points), -1)
    left = list(range(len(points)))
    formed = 0

    def farthest(center: np.ndarray) -> int:
        return max(left, key=lambda i: float(((points[i] - center) ** 2).sum()))

    def close_group(start: int) -> None:
        nonlocal formed
        members = sorted(left, key=lambda i: float(((points[i] - points[start]) ** 2).sum()))[:k]
        for member in members:
            group[member] = formed
            left.remove(member)
        formed += 1

    while len(left) >= 3 * k:
        first = farthest(points[left].mean(axis=0))
        close_group(first)
        close_group(farthest(points[first]))
    if len(left) >= 2 * k:
        close_group(farthest(points[left].mean(axis=0)))
    group[left] = formed
    return group


def indicators(codes: np.ndarray) -> np.ndarray:
    return np.concatenate([np.eye(column.max() + 1)[column] for column in codes.T], axis=1) / np.sqrt(2)


def same_partition(left: np.ndarray, right: np.ndarray) -> bool:
    pairs = set(zip(left.tolist(), right.tolist(), strict=True))
    return len(pairs) == len(set(left.tolist())) == len(set(right.tolist()))


@pytest.mark.parametrize("seed", range(12))
def test_groups_are_those_of_the_published_algorithm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 90)), int(rng.integers(1, 8))
    k = min(k, n)
    numbers = rng.normal(size=(n, 3))
    assert same_partition(groups(numbers, k), naive_mdav(numbers, k))
    codes = rng.integers(0, 4, size=(n, 2))
    mixed = np.column_stack([numbers, indicators(codes)])
    assert same_partition(groups(numbers, k, codes), naive_mdav(mixed, k))


POINTS = given(st.integers(1, 70), st.integers(1, 9), st.integers(0, 10**6), st.integers(1, 5))


def check_groups_hold_k_to_2k_less_one_records_ties_or_not(n: int, k: int, seed: int, distinct: int) -> None:
    rng = np.random.default_rng(seed)
    k = min(k, n)
    numbers, codes = rng.integers(0, distinct, size=(n, 2)), rng.integers(0, distinct, size=(n, 2))
    for result in (groups(numbers, k), groups(numbers, k, codes), groups(np.zeros((n, 0)), k, codes)):
        sizes = np.bincount(result)
        assert sizes.sum() == n
        assert k <= sizes.min() <= sizes.max() < 2 * k
    assert (groups(numbers, k, codes) == groups(numbers, k, codes)).all()


@pytest.mark.thorough
@settings(max_examples=100, deadline=None)
@POINTS
def test_groups_hold_k_to_2k_less_one_records_ties_or_not(n: int, k: int, seed: int, distinct: int) -> None:
    check_groups_hold_k_to_2k_less_one_records_ties_or_not(n, k, seed, distinct)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@POINTS
def test_groups_hold_k_to_2k_less_one_records_ties_or_not_in_many_tables(
    n: int, k: int, seed: int, distinct: int
) -> None:
    check_groups_hold_k_to_2k_less_one_records_ties_or_not(n, k, seed, distinct)


def test_two_clouds_are_found() -> None:
    points = np.array([[0.0], [10.0], [1.0], [11.0], [2.0], [12.0]])
    assert same_partition(groups(points, 3), np.array([0, 1] * 3))
    assert groups(np.zeros((5, 2)), 3).tolist() == [0] * 5


@pytest.mark.parametrize(
    ("numbers", "k", "categories", "why"),
    [
        ([[1.0]], 2, None, "k = 2 for n = 1"),
        ([[1.0]], 0, None, "k = 0"),
        (np.zeros((0, 2)), 1, None, "n = 0"),
        ([1.0, 2.0], 1, None, "axes"),
        ([[np.nan]], 1, None, "finite"),
        ([[1.0]], 1, [[-1]], "at least 0"),
        ([[1.0]], 1, [[1], [2]], "1 rows"),
    ],
)
def test_groups_refuse(numbers: object, k: int, categories: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        groups(numbers, k, categories)  # type: ignore[arg-type]
