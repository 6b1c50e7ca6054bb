from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from defenses import Microdata, Shuffle
from metrics import (
    CategoricalDomain,
    NumericDomain,
    generalization_precision,
    non_uniform_entropy,
    propensity_mean_squared_error,
    query_error,
)

DOMAINS = {"age": NumericDomain(0, 99, True, (25, 50, 75)), "job": CategoricalDomain(("a", "b", "c", "d"))}


def people(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n)
    return pd.DataFrame({"age": age, "job": np.array(list("abcd"), dtype=object)[age // 25]})


def test_precision() -> None:
    heights = {"age": 4, "job": 2, "fixed": 0}
    assert generalization_precision({"age": 0, "job": 0}, heights) == 1
    assert generalization_precision({"age": 4, "job": 2}, heights) == 0
    assert generalization_precision({"age": 1, "job": 1}, heights) == pytest.approx(1 - (1 / 4 + 1 / 2) / 2)
    assert generalization_precision({"age": 1}, heights, suppressed=0.2) == pytest.approx(1 - 0.8 / 4 - 0.2)
    assert generalization_precision({"fixed": 0}, heights, suppressed=1) == 1
    for arguments, why in [
        (({}, heights), "at least one"),
        (({"age": 5}, heights), "levels 0 to 4, got 5"),
        (({"age": -1}, heights), "levels 0 to 4"),
        (({"sex": 0}, heights), "lacks column 'sex'"),
    ]:
        with pytest.raises(ValueError, match=why):
            generalization_precision(*arguments)
    with pytest.raises(ValueError, match="suppressed"):
        generalization_precision({"age": 1}, heights, suppressed=np.nan)


def test_entropy_by_hand() -> None:
    original = pd.DataFrame({"job": ["a", "a", "b", "c"]})
    domains = {"job": DOMAINS["job"]}
    # Bits there are: log2 of 4/2, 4/2, 4/1, 4/1. Bits lost: log2 of 3/2, 3/2, 3/1 and none.
    released = pd.DataFrame({"job": ["{a|b}", "{a|b}", "{a|b}", "c"]})
    assert non_uniform_entropy(original, released, domains) == pytest.approx((2 * np.log2(1.5) + np.log2(3)) / 6)
    assert non_uniform_entropy(original, original, domains) == 0
    assert non_uniform_entropy(original, pd.DataFrame({"job": ["*"] * 4}), domains) == 1
    assert non_uniform_entropy(original.iloc[:2], released.iloc[:2], domains) == 0


def test_entropy_of_numbers_and_missing_values() -> None:
    original = pd.DataFrame({"age": [1, 2, 3, np.nan]})
    released = pd.DataFrame({"age": ["[1,2]", "[1,2]", "3", None]})
    domains = {"age": DOMAINS["age"]}
    assert non_uniform_entropy(original, released, domains) == pytest.approx(2 / 8)
    assert non_uniform_entropy(original, pd.DataFrame({"age": ["*"] * 4}), domains) == 1
    # A set of segments: 1 and 3 to 5 cover the values 1 and 3, half-open 1 to 3 the values 1 and 2.
    pieces = pd.DataFrame({"age": ["{1|[3,5]}", "[1,3)", "{1|[3,5]}", "*"]})
    assert non_uniform_entropy(original, pieces, domains) == pytest.approx((1 + 1 + 1 + 2) / 8)
    with pytest.raises(ValueError, match="row 2"):
        non_uniform_entropy(original, pieces.assign(age=["1", "2", "[1,3)", "*"]), domains)
    with pytest.raises(ValueError, match="row 3"):
        non_uniform_entropy(original, pieces.assign(age=["1", "2", "3", "4"]), domains)


def test_entropy_refuses() -> None:
    table = people(3)
    with pytest.raises(ValueError, match="column 'age', row 0: '100' does not cover"):
        non_uniform_entropy(table, table.assign(age=100), DOMAINS)
    with pytest.raises(ValueError, match="one length"):
        non_uniform_entropy(table, table.iloc[:2], DOMAINS)
    with pytest.raises(ValueError, match="0 rows"):
        non_uniform_entropy(table.iloc[:0], table.iloc[:0], DOMAINS)
    with pytest.raises(ValueError, match="no column 'job'"):
        non_uniform_entropy(table, table[["age"]], DOMAINS)


@pytest.mark.parametrize("order", [1, 2])
def test_propensity_of_extremes(order: int) -> None:
    table = people(800)
    assert propensity_mean_squared_error(table, table, DOMAINS, order=order) == pytest.approx(0, abs=1e-6)
    fresh = propensity_mean_squared_error(table, people(800, seed=1), DOMAINS, order=order)
    # By chance (p - 1) / (8 * 1600) is expected, p - 1 = 3 for four free cells: 0.0002, and chi-squared beyond 0.002.
    assert fresh < 0.002
    far = propensity_mean_squared_error(table, table.assign(age=10, job="d"), DOMAINS, order=order)
    assert far > 0.15
    suppressed = pd.DataFrame("*", index=range(400), columns=["age", "job"])
    assert 0 <= propensity_mean_squared_error(table, suppressed, DOMAINS, order=order) <= 2 / 9


def test_pairs_of_columns_show_that_associations_are_lost() -> None:
    table = people(800)
    records = Microdata(table, quasi_identifiers=("age", "job"), domains=DOMAINS)
    shuffled = Shuffle().apply(records, np.random.default_rng(0)).frame
    assert propensity_mean_squared_error(table, shuffled, DOMAINS, order=1) == pytest.approx(0, abs=1e-6)
    assert propensity_mean_squared_error(table, shuffled, DOMAINS, order=2) > 0.1


def test_query_error() -> None:
    table = people(500)
    rng = np.random.default_rng(0)
    assert query_error(table, table, DOMAINS, rng) == 0
    near = query_error(table, people(500, seed=1), DOMAINS, np.random.default_rng(0))
    far = query_error(table, table.assign(age=10, job="d"), DOMAINS, np.random.default_rng(0))
    assert 0 < near < far <= 1
    assert query_error(table, table.assign(age=10), {"age": DOMAINS["age"]}, rng, count=50) > 0


def test_comparisons_refuse() -> None:
    table = people(3)
    rng = np.random.default_rng(0)
    for empty in ((table.iloc[:0], table), (table, table.iloc[:0])):
        with pytest.raises(ValueError, match="no rows"):
            propensity_mean_squared_error(*empty, DOMAINS)
        with pytest.raises(ValueError, match="no rows"):
            query_error(*empty, DOMAINS, rng)
    with pytest.raises(ValueError, match="order"):
        propensity_mean_squared_error(table, table, DOMAINS, order=3)
    with pytest.raises(ValueError, match="at least one column"):
        propensity_mean_squared_error(table, table, {})
    with pytest.raises(ValueError, match="at least one column"):
        query_error(table, table, {}, rng)
    for count in (0, 1.5, True):
        with pytest.raises(ValueError, match="count"):
            query_error(table, table, DOMAINS, rng, count=count)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no column 'job'"):
        query_error(table, table[["age"]], DOMAINS, rng)
