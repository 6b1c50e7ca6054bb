"""Microaggregation and all of its variants: release, guarantee and refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses import (
    GowerMicroaggregation,
    KMeansMicroaggregation,
    Microaggregation,
    Microdata,
    UnivariateMicroaggregation,
)
from defenses.grouping.microaggregation import mdav
from metrics import CategoricalDomain, NumericDomain, k_anonymity
from scenarios.running.methods.invented_people import people
from scenarios.tables.seeds import generator

VARIANTS = (Microaggregation, KMeansMicroaggregation, GowerMicroaggregation, UnivariateMicroaggregation)


MULTIVARIATE = VARIANTS[:3]


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


TABLES = given(st.integers(2, 50), st.integers(1, 8), st.integers(0, 10**6))


def check_guarantee_holds_with_missing_values_and_ties(n: int, k: int, seed: int) -> None:
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


@pytest.mark.thorough
@settings(max_examples=30, deadline=None)
@TABLES
def test_guarantee_holds_with_missing_values_and_ties(n: int, k: int, seed: int) -> None:
    check_guarantee_holds_with_missing_values_and_ties(n, k, seed)


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@TABLES
def test_guarantee_holds_with_missing_values_and_ties_in_many_tables(n: int, k: int, seed: int) -> None:
    check_guarantee_holds_with_missing_values_and_ties(n, k, seed)


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


def test_chosen_columns_limit_the_guarantee() -> None:
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


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("variant", MULTIVARIATE)
@pytest.mark.parametrize("representative", ["mean", "median", "mode"])
def test_every_variant_keeps_its_guarantee(variant: type[Microaggregation], representative: str) -> None:
    for number in range(6):
        rng = generator(number, "variants")
        records = people(40 + 40 * number, rng, missing=number % 2 == 0, constant=number == 3)
        defense = variant(k=2 + number, representative=representative)
        release = defense.apply(records, rng)
        assert k_anonymity(release.frame, records.quasi_identifiers) >= 2 + number
        assert defense.guarantee(records).k == 2 + number
        assert release.origin.tolist() == list(range(len(records)))


NUMBERS = given(st.integers(1, 60), st.integers(1, 7), st.integers(1, 5), st.integers(0, 10**6))


def check_no_group_of_any_variant_is_smaller_than_k(n: int, k: int, distinct: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = min(k, n)
    numbers = rng.integers(0, distinct, (n, 2)).astype(float)
    categories = rng.integers(0, distinct, (n, 1))
    for variant in MULTIVARIATE:
        for codes in (categories, np.zeros((n, 0), dtype=np.intp)):
            groups = variant(k=k)._groups(numbers, codes, rng)
            sizes = np.bincount(groups)
            assert sizes.sum() == n
            assert k <= sizes.min() <= sizes.max() < 2 * k


@pytest.mark.thorough
@settings(max_examples=30, deadline=None)
@NUMBERS
def test_no_group_of_any_variant_is_smaller_than_k(n: int, k: int, distinct: int, seed: int) -> None:
    check_no_group_of_any_variant_is_smaller_than_k(n, k, distinct, seed)


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@NUMBERS
def test_no_group_of_any_variant_is_smaller_than_k_in_many_tables(n: int, k: int, distinct: int, seed: int) -> None:
    check_no_group_of_any_variant_is_smaller_than_k(n, k, distinct, seed)


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_refuse(variant: type[Microaggregation]) -> None:
    for k in (0, -1, 1.5, np.nan, True):
        with pytest.raises(ValueError, match="k must be"):
            variant(k=k)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="representative must be one of 'mean', 'median', 'mode'"):
        variant(representative="midrange")
    with pytest.raises(ValueError, match="columns must be"):
        variant(columns=["a", "a"])
    records = Microdata(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), quasi_identifiers=("a",))
    with pytest.raises(ValueError, match="k = 3 for n = 2"):
        variant(k=3).apply(records, np.random.default_rng(0))
    with pytest.raises(ValueError, match="no released column 'z'"):
        variant(k=1, columns=["z"]).guarantee(records)
    if variant is UnivariateMicroaggregation:
        with pytest.raises(ValueError, match="column 'b' holds no numbers"):
            variant(k=1, columns=["b"]).apply(records, np.random.default_rng(0))
    infinite = Microdata(
        pd.DataFrame({"a": [1.0, np.inf]}), quasi_identifiers=("a",), domains={"a": NumericDomain(0, 9)}
    )
    with pytest.raises(ValueError, match="column 'a', row 1"):
        variant(k=1).apply(infinite, np.random.default_rng(0))


def gower_mdav(points: np.ndarray, codes: np.ndarray, k: int) -> np.ndarray:
    """MDAV word for word under Gower's distance; a category is at its mean distance from the average."""
    group, left, formed = np.full(len(points), -1), list(range(len(points))), 0

    def close_group(start: int) -> int:
        nonlocal formed
        distance = np.abs(points - points[start]).sum(axis=1) + (codes != codes[start]).sum(axis=1)
        members = sorted(left, key=lambda i: distance[i])[:k]
        for member in members:
            group[member] = formed
            left.remove(member)
        formed += 1
        return max(left, key=lambda i: distance[i], default=-1)

    def farthest() -> int:
        mean = points[left].mean(axis=0)
        return max(left, key=lambda i: np.abs(points[i] - mean).sum() + (codes[left] != codes[i]).mean(axis=0).sum())

    while len(left) >= 3 * k:
        close_group(close_group(farthest()))
    if len(left) >= 2 * k:
        close_group(farthest())
    group[left] = formed
    return group


@pytest.mark.parametrize("seed", range(8))
def test_gower_groups_are_those_of_the_published_algorithm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 80)), int(rng.integers(1, 6))
    numbers, codes = rng.random((n, 2)), rng.integers(0, 4, (n, 2))
    result = mdav.groups(numbers, k, codes, distance="absolute")
    expected = gower_mdav(numbers, codes, k)
    pairs = set(zip(result.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == result.max() + 1 == expected.max() + 1


def test_gower_does_not_let_an_outlier_rule() -> None:
    # By squares the millionaire is alone in her corner whatever the job; by Gower a job weighs as much as her range.
    table = pd.DataFrame({"income": [0, 1, 0, 1, 0, 1000.0], "job": list("xyxyxy")})
    records = Microdata(table, quasi_identifiers=("income", "job"))
    release = GowerMicroaggregation(k=3).apply(records, np.random.default_rng(0))
    assert release.frame["job"].tolist() == list("xyxyxy")
    with pytest.raises(ValueError, match="distance must be one of 'squared', 'absolute'"):
        mdav.groups(np.zeros((2, 1)), 1, distance="gower")


def within(values: np.ndarray, groups: np.ndarray) -> float:
    return sum(float(((values[groups == g] - values[groups == g].mean()) ** 2).sum()) for g in np.unique(groups))


def test_k_means_groups_are_about_as_alike_as_those_of_mdav() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2000, 3))
    none = np.zeros((2000, 0), dtype=np.intp)

    def spread(variant: type[Microaggregation]) -> float:
        groups = variant(k=5)._groups(points, none, np.random.default_rng(0))
        return sum(within(column, groups) for column in points.T) / float((points**2).sum())

    # Groups at random would leave 4/5 of the spread.
    assert spread(KMeansMicroaggregation) < 1.15 * spread(Microaggregation) < 0.1
