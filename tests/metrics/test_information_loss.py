"""Information loss of generalized tables."""

from __future__ import annotations

import pandas as pd
import pytest

from metrics import (
    CategoricalDomain,
    NumericDomain,
    average_class_size,
    discernibility,
    generalization_loss,
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
