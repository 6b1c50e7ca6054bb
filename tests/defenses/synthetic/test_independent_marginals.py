"""Independent marginals: distributions kept, associations lost, smoothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from defense_tools import apply, table
from scipy import stats

from defenses import (
    IndependentMarginals,
)
from metrics import CategoricalDomain, NumericDomain

GRADES = CategoricalDomain(("low", "middle", "high"), ordered=True)


def test_marginals_are_kept_and_associations_lost():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 6000)
    names = np.array(GRADES.categories, dtype=object)
    records = table({"a": GRADES, "b": GRADES}, a=names[first], b=names[first])
    frame = apply(IndependentMarginals(), records).frame
    counts = pd.crosstab(frame["a"], frame["b"])
    # Independent and as frequent as they were: both tests wrongly fail with one chance in a thousand each.
    assert stats.chi2_contingency(counts).pvalue > 1e-3
    expected = pd.Series(names[first]).value_counts().reindex(GRADES.categories)
    assert stats.chisquare(frame["a"].value_counts().reindex(GRADES.categories), expected).pvalue > 1e-3


def test_smoothing_gives_everything_a_chance():
    records = table({"a": GRADES, "x": NumericDomain(0, 10, False, (5,))}, a=["low"] * 2000, x=[1.0] * 2000)
    exact, smooth = (apply(IndependentMarginals(smoothing=s), records).frame for s in (0, 2000))
    assert set(exact["a"]) == {"low"}
    assert exact["x"].between(0, 5).all()
    # Counts 4000, 2000, 2000 of 8000, and 4000 and 2000 of 6000: 500 rows with a deviation of 19, and 1/3 with 0.011.
    assert smooth["a"].value_counts()["middle"] == pytest.approx(1000 / 2, abs=100)
    assert (smooth["x"] >= 5).mean() == pytest.approx(1 / 3, abs=0.05)
    for smoothing in (-1, np.nan, np.inf, "1"):
        with pytest.raises(ValueError, match="smoothing"):
            IndependentMarginals(smoothing=smoothing)


def test_bins_without_integers_stay_empty():
    records = table({"x": NumericDomain(0, 3, True, (1.2, 1.7, 2.5))}, x=[0, 1, 2, 3] * 100)
    drawn = apply(IndependentMarginals(smoothing=50), records).frame["x"]
    assert set(drawn) == {0, 1, 2, 3}
