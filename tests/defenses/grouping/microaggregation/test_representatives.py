"""Representatives of groups: means, medians and modes, and their release."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses import (
    Microaggregation,
    Microdata,
)
from defenses.grouping.microaggregation.representatives import group_frequent, group_means, group_medians, group_modes
from metrics import CategoricalDomain, NumericDomain


def test_representatives() -> None:
    group = np.array([0, 0, 1, 1, 1])
    assert group_means(np.array([1.0, 4.0, np.nan, 2.0, 3.0]), group).tolist() == [2.5, 2.5]
    assert np.isnan(group_means(np.array([1.0, 4.0, np.nan, np.nan, np.nan]), group)).tolist() == [False, True]
    assert group_modes(np.array([3, 1, 2, 2, 0]), group, 4).tolist() == [1, 2]


def test_medians_and_most_frequent_numbers() -> None:
    values = np.array([5.0, 1.0, 9.0, 5.0, np.nan, 2.0, 4.0, np.nan, np.nan])
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2])
    np.testing.assert_array_equal(group_medians(values, groups), [5.0, 2.0, np.nan])
    np.testing.assert_array_equal(group_frequent(values, groups), [5.0, 2.0, np.nan])
    np.testing.assert_array_equal(group_medians(values[:3], groups[:3]), [5.0])


@pytest.mark.thorough
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
