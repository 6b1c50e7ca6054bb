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
from defenses.grouping.microaggregation.optimal_grouping import optimal_groups
from defenses.grouping.microaggregation.representatives import group_frequent, group_medians
from metrics import CategoricalDomain, NumericDomain, k_anonymity
from scenarios.conformance.people import people
from scenarios.seeds import generator

VARIANTS = (Microaggregation, KMeansMicroaggregation, GowerMicroaggregation, UnivariateMicroaggregation)
MULTIVARIATE = VARIANTS[:3]


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


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 1000), st.integers(0, 10**6))
def test_univariate_groups_are_optimal_ties_or_not(n: int, k: int, distinct: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, distinct, n).astype(float)
    k = min(k, n)
    groups = optimal_groups(values, k)
    sizes = np.bincount(groups)
    assert sizes.sum() == n
    assert k <= sizes.min() <= sizes.max() < 2 * k
    assert within(values, groups) == pytest.approx(least_sum(values, k), rel=1e-9, abs=1e-9)
    assert (np.diff(groups[np.argsort(values, kind="stable")]) >= 0).all()


def test_univariate_groups_keep_their_digits() -> None:
    values = np.random.default_rng(0).normal(size=300)
    far = optimal_groups(values + 1e8, 3)
    assert within(values, far) == pytest.approx(least_sum(values, 3), rel=1e-6)
    assert optimal_groups([5.0, 1.0, 6.0, 2.0], 2).tolist() == [1, 0, 1, 0]
    assert optimal_groups([3.0], 1).tolist() == [0]


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


def test_medians_and_most_frequent_numbers() -> None:
    values = np.array([5.0, 1.0, 9.0, 5.0, np.nan, 2.0, 4.0, np.nan, np.nan])
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2])
    np.testing.assert_array_equal(group_medians(values, groups), [5.0, 2.0, np.nan])
    np.testing.assert_array_equal(group_frequent(values, groups), [5.0, 2.0, np.nan])
    np.testing.assert_array_equal(group_medians(values[:3], groups[:3]), [5.0])


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 10**6))
def test_medians_and_modes_are_those_of_pandas(n: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice([1.0, 2.0, 3.0, np.nan], n)
    groups = np.unique(rng.integers(0, count, n), return_inverse=True)[1]
    by_group = pd.Series(values).groupby(groups)
    lower = by_group.quantile(0.5, interpolation="lower")
    np.testing.assert_array_equal(group_medians(values, groups), lower.to_numpy())
    frequent = by_group.agg(lambda group: group.mode().min())
    np.testing.assert_array_equal(group_frequent(values, groups), frequent.to_numpy())


def test_representatives_are_released() -> None:
    table = pd.DataFrame({"age": [1, 1, 10, 50, 52, 60], "grade": ["low", "high", "low", "high", "high", "mid"]})
    domains = {"age": NumericDomain(0, 99, True), "grade": CategoricalDomain(("low", "mid", "high"), ordered=True)}
    records = Microdata(table, quasi_identifiers=("age", "grade"), domains=domains)

    def released(representative: str) -> pd.DataFrame:
        return Microaggregation(k=3, representative=representative).apply(records, np.random.default_rng(0)).frame

    # The lower three ages are a group, as are the upper three.
    assert released("mean")["age"].tolist() == [4] * 3 + [54] * 3
    assert released("median")["age"].tolist() == [1] * 3 + [52] * 3
    assert released("mode")["age"].tolist() == [1] * 3 + [50] * 3
    assert released("median")["grade"].tolist() == ["low"] * 3 + ["high"] * 3
    assert released("mode")["grade"].tolist() == ["low"] * 3 + ["high"] * 3


def test_the_median_category_is_the_middle_one() -> None:
    table = pd.DataFrame({"grade": ["low", "low", "mid", "high", "high", None]})
    grades = CategoricalDomain(("low", "mid", "high"), ordered=True)
    for domain, cell in ((grades, "mid"), (CategoricalDomain(grades.categories), "low")):
        records = Microdata(table, quasi_identifiers=("grade",), domains={"grade": domain})
        release = Microaggregation(k=6, representative="median").apply(records, np.random.default_rng(0))
        assert (release.frame["grade"] == cell).all()


@pytest.mark.parametrize("variant", MULTIVARIATE)
@pytest.mark.parametrize("representative", ["mean", "median", "mode"])
def test_every_variant_keeps_its_promise(variant: type[Microaggregation], representative: str) -> None:
    for number in range(6):
        rng = generator(number, "variants")
        records = people(40 + 40 * number, rng, missing=number % 2 == 0, constant=number == 3)
        defense = variant(k=2 + number, representative=representative)
        release = defense.apply(records, rng)
        assert k_anonymity(release.frame, records.quasi_identifiers) >= 2 + number
        assert defense.guarantee(records).k == 2 + number
        assert release.origin.tolist() == list(range(len(records)))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(1, 7), st.integers(1, 5), st.integers(0, 10**6))
def test_no_group_of_any_variant_is_smaller_than_k(n: int, k: int, distinct: int, seed: int) -> None:
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


def test_k_means_groups_are_about_as_alike_as_those_of_mdav() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2000, 3))
    none = np.zeros((2000, 0), dtype=np.intp)

    def spread(variant: type[Microaggregation]) -> float:
        groups = variant(k=5)._groups(points, none, np.random.default_rng(0))
        return sum(within(column, groups) for column in points.T) / float((points**2).sum())

    # Groups at random would leave 4/5 of the spread.
    assert spread(KMeansMicroaggregation) < 1.15 * spread(Microaggregation) < 0.1


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
    found = mdav.groups(numbers, k, codes, distance="absolute")
    expected = gower_mdav(numbers, codes, k)
    pairs = set(zip(found.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == found.max() + 1 == expected.max() + 1


def test_gower_does_not_let_an_outlier_rule() -> None:
    # By squares the millionaire is alone in her corner whatever the job; by Gower a job weighs as much as her range.
    table = pd.DataFrame({"income": [0, 1, 0, 1, 0, 1000.0], "job": list("xyxyxy")})
    records = Microdata(table, quasi_identifiers=("income", "job"))
    release = GowerMicroaggregation(k=3).apply(records, np.random.default_rng(0))
    assert release.frame["job"].tolist() == list("xyxyxy")
    with pytest.raises(ValueError, match="distance must be one of squared, absolute"):
        mdav.groups(np.zeros((2, 1)), 1, distance="gower")


def test_univariate_release() -> None:
    table = pd.DataFrame({"age": [1, 9, 2, 8, 3, 7], "pay": [6.0, 5, 4, 3, 2, 1], "job": list("abcdef")})
    records = Microdata(table, quasi_identifiers=("age", "pay", "job"))
    defense = UnivariateMicroaggregation(k=3)
    release = defense.apply(records, np.random.default_rng(0))
    assert release.frame["age"].tolist() == [2, 8] * 3
    assert release.frame["pay"].tolist() == [5.0] * 3 + [2.0] * 3
    assert release.frame["job"].tolist() == list("abcdef")
    assert defense.guarantee(records).k is None
    assert "each of age, pay alone" in defense.guarantee(records).statement
    single = Microdata(table[["age"]], quasi_identifiers=("age",))
    assert defense.guarantee(single).k == 3
    assert release.channel is not None
    assert release.channel.columns == {"age", "pay"}


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 30), st.integers(1, 6), st.floats(0, 1), st.integers(0, 10**6))
def test_univariate_promise_with_missing_values(n: int, k: int, missing: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = min(k, n)
    numbers = np.where(rng.random(n) < missing, np.nan, rng.integers(0, 9, n))
    records = Microdata(pd.DataFrame({"a": numbers}), quasi_identifiers=("a",), domains={"a": NumericDomain(0, 9)})
    release = UnivariateMicroaggregation(k=k).apply(records, rng)
    assert k_anonymity(release.frame, ("a",)) >= k


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_refuse(variant: type[Microaggregation]) -> None:
    for k in (0, -1, 1.5, np.nan, True):
        with pytest.raises(ValueError, match="k must be"):
            variant(k=k)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="representative must be one of mean, median, mode"):
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
