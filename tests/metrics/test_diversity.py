"""l-diversity, t-closeness and alpha-anonymity."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import (
    alpha_anonymity,
    discernibility,
    entropy_l_diversity,
    equivalence_classes,
    k_anonymity,
    l_diversity,
    recursive_l_diversity,
    t_closeness_equal,
    t_closeness_ordered,
)

QUASI = ("zip", "age")
# The salaries and diseases of Li, Li and Venkatasubramanian (2007), tables 3 and 5.
PATIENTS = pd.DataFrame(
    {
        "zip": ["476**"] * 3 + ["4790*"] * 3 + ["476**"] * 3,
        "age": ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3,
        "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10],
        "disease": list("ugsgfbbps"),
    }
)


def test_worked_example_of_t_closeness() -> None:
    # The paper's section 5.1: {3k, 4k, 5k} is at 0.375 from {3k, …, 11k}, {6k, 8k, 11k} at 0.167.
    assert t_closeness_ordered(PATIENTS, QUASI, "salary") == pytest.approx(0.375)
    # Each class has three of nine different salaries: 3 (1/3 - 1/9).
    assert t_closeness_equal(PATIENTS, QUASI, "salary") == pytest.approx(2 / 3)
    middle = np.array([1, 1, 1, 0, 0, 0, 1, 1, 1])
    assert t_closeness_ordered(PATIENTS.assign(middle=middle), ("middle",), "salary") == pytest.approx(0.5 / 3)


def test_hand_made_classes() -> None:
    frame = pd.DataFrame({"q": ["a"] * 4 + ["b"] * 4 + ["c"] * 5, "s": list("xxyz") + list("xyzz") + list("xxxyy")})
    assert l_diversity(frame, ["q"], "s") == 2
    assert entropy_l_diversity(frame, ["q"], "s") == pytest.approx((5 / 3) ** 0.6 * (5 / 2) ** 0.4)
    # Counts 2 1 1, 2 1 1 and 3 2: with c = 2 the first two need 2 < 2 * 2, l = 2, the last 3 < 2 * 2, l = 2.
    assert recursive_l_diversity(frame, ["q"], "s", 2) == 2
    # With c = 1.5 the last class fails l = 2, since 3 < 1.5 * 2 is false; with c = 0.5 already l = 1.
    assert recursive_l_diversity(frame, ["q"], "s", 1.5) == 1
    assert recursive_l_diversity(frame, ["q"], "s", 0.5) == 0
    assert alpha_anonymity(frame, ["q"], "s") == pytest.approx(3 / 5)
    # The table holds x, y, z 6, 4, 3 times in 13. The last class is off by 3/5 - 6/13 + 2/5 - 4/13 = 3/13, the
    # second, which has z twice in four, by 2/4 - 3/13.
    assert t_closeness_equal(frame, ["q"], "s") == pytest.approx(2 / 4 - 3 / 13)
    assert t_closeness_equal(frame, ["q"], "s", classes=np.repeat([0, 1], [8, 5])) == pytest.approx(3 / 13)


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(1, 40))
    values = {
        name: draw(st.lists(st.integers(0, most), min_size=n, max_size=n))
        for name, most in (("p", 2), ("q", 3), ("s", 6))
    }
    return pd.DataFrame(values)


TABLES = given(tables(), st.floats(0.1, 4))


def check_measures_match_their_definitions(frame: pd.DataFrame, c: float) -> None:
    quasi = ["p", "q"]
    parts = [part["s"] for _, part in frame.groupby(quasi)]
    support = np.sort(frame["s"].unique())
    table = np.array([(frame["s"] == value).mean() for value in support])
    shares = [np.array([(part == value).mean() for value in support]) for part in parts]
    known = equivalence_classes(frame, quasi)
    assert known.max() + 1 == len(parts)
    assert k_anonymity(frame, quasi, classes=known) == min(map(len, parts))
    assert l_diversity(frame, quasi, "s", classes=known) == min(part.nunique() for part in parts)
    entropies = [-sum(p * np.log(p) for p in share if p > 0) for share in shares]
    assert entropy_l_diversity(frame, quasi, "s", classes=known) == pytest.approx(np.exp(min(entropies)))
    assert alpha_anonymity(frame, quasi, "s", classes=known) == pytest.approx(max(map(np.max, shares)))
    assert t_closeness_equal(frame, quasi, "s", classes=known) == pytest.approx(
        max(np.abs(share - table).sum() / 2 for share in shares)
    )
    steps = max(1, len(support) - 1)
    assert t_closeness_ordered(frame, quasi, "s", classes=known) == pytest.approx(
        max(np.abs(np.cumsum(share - table)).sum() / steps for share in shares), abs=1e-12
    )
    counts = [np.sort(part.value_counts())[::-1] for part in parts]
    levels = [sum(bool(r[0] < c * r[i:].sum()) for i in range(len(r))) for r in counts]
    assert recursive_l_diversity(frame, quasi, "s", c, classes=known) == min(levels)
    assert discernibility(frame, quasi) == sum(len(part) ** 2 for part in parts)


@pytest.mark.thorough
@settings(max_examples=50, deadline=None)
@TABLES
def test_measures_match_their_definitions(frame: pd.DataFrame, c: float) -> None:
    check_measures_match_their_definitions(frame, c)


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@TABLES
def test_measures_match_their_definitions_in_many_tables(frame: pd.DataFrame, c: float) -> None:
    check_measures_match_their_definitions(frame, c)


def test_the_order_of_categories_counts() -> None:
    frame = pd.DataFrame({"q": [0, 0, 1, 1], "s": ["low", "mid", "mid", "high"]})
    order = ["low", "mid", "high"]
    # Class shares (1/2, 1/2, 0) against (1/4, 1/2, 1/4): cumulative differences 1/4 and 1/4, over 2 steps.
    assert t_closeness_ordered(frame, ["q"], "s", order=order) == pytest.approx(0.25)
    # A value that nobody has makes the steps shorter: (1/4 + 1/4 + 1/4) / 3 with one amid, (1/4 + 1/4) / 3 at an end.
    assert t_closeness_ordered(frame, ["q"], "s", order=["low", "mid", "upper", "high"]) == pytest.approx(0.25)
    assert t_closeness_ordered(frame, ["q"], "s", order=[*order, "top"]) == pytest.approx(0.5 / 3)
    with pytest.raises(ValueError, match="order lacks this value"):
        t_closeness_ordered(frame, ["q"], "s", order=order[:2])
    with pytest.raises(ValueError, match="repeats 'low'"):
        t_closeness_ordered(frame, ["q"], "s", order=["low", *order])
    with pytest.raises(ValueError, match="row 1: a missing value"):
        t_closeness_ordered(pd.DataFrame({"q": [0, 0], "s": [1, np.nan]}), ["q"], "s")


def test_constant_and_missing_sensitive_values() -> None:
    frame = pd.DataFrame({"q": [0, 1], "s": ["x", "x"]})
    assert t_closeness_ordered(frame, ["q"], "s") == t_closeness_equal(frame, ["q"], "s") == 0
    assert l_diversity(pd.DataFrame({"q": [0, 0], "s": ["x", None]}), ["q"], "s") == 2


def test_measures_refuse() -> None:
    frame = pd.DataFrame({"q": [1], "s": [2]})
    with pytest.raises(ValueError, match="no rows"):
        l_diversity(frame.iloc[:0], ["q"], "s")
    with pytest.raises(ValueError, match="'q' is a quasi-identifier"):
        l_diversity(frame, ["q"], "q")
    for c in (0, -1, np.nan, np.inf):
        with pytest.raises(ValueError, match="c must be"):
            recursive_l_diversity(frame, ["q"], "s", c)


def test_columns_that_are_none_are_refused():
    frame = pd.DataFrame([[1, 2, 3]], columns=["q", "q", "s"])
    with pytest.raises(ValueError, match="no column"):
        l_diversity(frame, ["s"], ["q"])
    with pytest.raises(ValueError, match="mixes"):
        t_closeness_ordered(pd.DataFrame({"q": [1, 1], "s": [1, "a"]}), ["q"], "s")
