"""Precision and non-uniform entropy of generalized tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from metric_tools import DOMAINS, people

from metrics import (
    CategoricalDomain,
    NumericDomain,
    average_class_size,
    discernibility,
    generalization_loss,
    generalization_precision,
    non_uniform_entropy,
    normalized_certainty_penalty,
)


def test_losses_of_cells() -> None:
    domains = {"age": NumericDomain(0, 100), "job": CategoricalDomain(("a", "b", "c", "d"))}
    frame = pd.DataFrame({"age": ["[20,40]", "7", "*", None], "job": ["{a|b}", "c", "*", "{a|b|d}"]})
    assert normalized_certainty_penalty(frame, domains) == pytest.approx((0.2 + 0 + 1 + 0 + 0.5 + 0 + 1 + 0.75) / 8)
    assert generalization_loss(frame, domains) == pytest.approx((0.2 + 0 + 1 + 0 + 1 / 3 + 0 + 1 + 2 / 3) / 8)
    assert normalized_certainty_penalty(pd.DataFrame({"a": [5, 5]}), {"a": NumericDomain(5, 5)}) == 0
    wide = pd.DataFrame({"age": ["[-50,200]"]})
    assert normalized_certainty_penalty(wide, {"age": domains["age"]}) == 1
    with pytest.raises(ValueError, match="no column 'x'"):
        normalized_certainty_penalty(frame, {"x": domains["age"]})
    with pytest.raises(ValueError, match="0 rows"):
        generalization_loss(frame.iloc[:0], domains)


def test_sizes_of_hand_made_classes() -> None:
    frame = pd.DataFrame({"q": ["a"] * 4 + ["b"] * 4 + ["c"] * 5})
    assert discernibility(frame, ["q"]) == 16 + 16 + 25
    assert average_class_size(frame, ["q"]) == pytest.approx(13 / 3)


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
