from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses import Microaggregation, Microdata
from defenses.grouping.microaggregation.mdav import groups
from defenses.grouping.microaggregation.representatives import group_means, group_modes
from metrics import CategoricalDomain, NumericDomain, k_anonymity


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


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 70), st.integers(1, 9), st.integers(0, 10**6), st.integers(1, 5))
def test_groups_hold_k_to_2k_less_one_records_ties_or_not(n: int, k: int, seed: int, distinct: int) -> None:
    rng = np.random.default_rng(seed)
    k = min(k, n)
    numbers, codes = rng.integers(0, distinct, size=(n, 2)), rng.integers(0, distinct, size=(n, 2))
    for found in (groups(numbers, k), groups(numbers, k, codes), groups(np.zeros((n, 0)), k, codes)):
        sizes = np.bincount(found)
        assert sizes.sum() == n
        assert k <= sizes.min() <= sizes.max() < 2 * k
    assert (groups(numbers, k, codes) == groups(numbers, k, codes)).all()


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


def test_representatives() -> None:
    group = np.array([0, 0, 1, 1, 1])
    assert group_means(np.array([1.0, 4.0, np.nan, 2.0, 3.0]), group).tolist() == [2.5, 2.5]
    assert np.isnan(group_means(np.array([1.0, 4.0, np.nan, np.nan, np.nan]), group)).tolist() == [False, True]
    assert group_modes(np.array([3, 1, 2, 2, 0]), group, 4).tolist() == [1, 2]


def test_records_release_their_group_in_place() -> None:
    table = pd.DataFrame(
        {
            "name": list("abcdef"),
            "age": [20, 60, 21, 61, 22, 64],
            "height": [1.5, 1.9, 1.6, 2.0, 1.7, 2.1],
            "job": ["x", "y|", "x", "y|", "z", "z"],
            "ill": list("uvwuvw"),
        }
    )
    before = table.copy(deep=True)
    quasi = ("age", "height", "job")
    records = Microdata(frame=table, identifiers=("name",), quasi_identifiers=quasi, sensitive=("ill",))
    defense = Microaggregation(k=3)
    release = defense.apply(records, np.random.default_rng(0))
    assert release.frame["age"].tolist() == [21, 62] * 3
    assert release.frame["age"].dtype == np.int64
    np.testing.assert_allclose(release.frame["height"], [1.6, 2.0] * 3)
    assert release.frame["job"].tolist() == ["x", "y\\|"] * 3
    assert release.frame["ill"].tolist() == list("uvwuvw")
    assert defense.guarantee(records).k == 3 == k_anonymity(release.frame, quasi)
    parts = {part.columns[0]: part for part in release.channel.parts}
    # Squared changes 1, 4, 0, 1, 1, 4; four of six keep their job.
    assert parts["age"].deviation == pytest.approx(np.sqrt(11 / 6))
    assert parts["job"].agreement == pytest.approx(4 / 6)
    pd.testing.assert_frame_equal(table, before)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 50), st.integers(1, 8), st.integers(0, 10**6))
def test_promise_holds_with_missing_values_and_ties(n: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = min(k, n)
    table = pd.DataFrame(
        {
            "a": rng.choice([0.5, 1.0, np.nan], n),
            "b": rng.integers(0, 3, n),
            "c": rng.choice(np.array(["x", "*", None], dtype=object), n),
            "other": rng.normal(size=n),
        }
    )
    quasi = tuple(name for name in "abc" if table[name].notna().any())
    records = Microdata(frame=table, quasi_identifiers=quasi)
    release = Microaggregation(k=k).apply(records, rng)
    assert k_anonymity(release.frame, quasi) >= k
    assert (release.frame["other"] == table["other"]).all()
    assert release.origin.tolist() == list(range(n))
    if release.channel is None:
        assert (table["a"].isna() & release.frame["a"].notna()).any()
    else:
        assert release.channel.columns == set(quasi)


def test_missing_numbers_keep_together() -> None:
    table = pd.DataFrame({"a": [np.nan, 2.0, np.nan, 2.0]})
    records = Microdata(frame=table, quasi_identifiers=("a",), domains={"a": NumericDomain(0, 9)})
    release = Microaggregation(k=2).apply(records, np.random.default_rng(0))
    np.testing.assert_array_equal(release.frame["a"], [np.nan, 2.0, np.nan, 2.0])
    assert release.channel is not None
    mixed = Microaggregation(k=4).apply(records, np.random.default_rng(0))
    np.testing.assert_array_equal(mixed.frame["a"], [2.0] * 4)
    assert mixed.channel is None


def test_without_quasi_identifiers_nothing_changes() -> None:
    table = pd.DataFrame({"a": [1, 2, 3]})
    pd.testing.assert_frame_equal(Microaggregation(k=2).apply(Microdata(table), np.random.default_rng(0)).frame, table)


def test_chosen_columns_limit_the_promise() -> None:
    records = Microdata(pd.DataFrame({"a": [1, 2], "b": [3, 4]}), quasi_identifiers=("a", "b"))
    assert Microaggregation(k=2, columns=["a"]).guarantee(records).k is None
    assert Microaggregation(k=2, columns=["b", "a"]).guarantee(records).k == 2


def test_refuses() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="k must be an integer"):
        Microaggregation(k=0)
    with pytest.raises(ValueError, match="columns"):
        Microaggregation(columns="age")
    records = Microdata(
        pd.DataFrame({"a": ["x", "y"]}), quasi_identifiers=("a",), domains={"a": CategoricalDomain(("x",))}
    )
    with pytest.raises(ValueError, match="column 'a'"):
        Microaggregation(k=1).apply(records, rng)
    for refused in (Microaggregation(k=3).apply, lambda table, _: Microaggregation(k=3).guarantee(table)):
        with pytest.raises(ValueError, match="k = 3 for n = 2"):
            refused(records, rng)
