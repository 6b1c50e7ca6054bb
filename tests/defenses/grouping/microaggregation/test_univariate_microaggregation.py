"""Univariate microaggregation: release, guarantee, missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defenses import (
    Microdata,
    UnivariateMicroaggregation,
)
from metrics import NumericDomain, k_anonymity


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


@pytest.mark.thorough
@settings(max_examples=80, deadline=None)
@given(st.integers(1, 30), st.integers(1, 6), st.floats(0, 1), st.integers(0, 10**6))
def test_univariate_guarantee_with_missing_values(n: int, k: int, missing: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = min(k, n)
    numbers = np.where(rng.random(n) < missing, np.nan, rng.integers(0, 9, n))
    records = Microdata(pd.DataFrame({"a": numbers}), quasi_identifiers=("a",), domains={"a": NumericDomain(0, 9)})
    release = UnivariateMicroaggregation(k=k).apply(records, rng)
    assert k_anonymity(release.frame, ("a",)) >= k
