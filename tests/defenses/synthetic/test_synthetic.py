"""Synthetic data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from defense_tools import apply, table
from scipy import stats

from defenses import (
    GaussianCopula,
    GlobalRecoding,
    IndependentMarginals,
    Microdata,
    Pipeline,
)
from metrics import CategoricalDomain, NumericDomain, read_cells
from scenarios.conformance.people import people
from scenarios.seeds import generator

GRADES = CategoricalDomain(("low", "middle", "high"), ordered=True)


@pytest.mark.parametrize("defense", [IndependentMarginals(), IndependentMarginals(smoothing=0), GaussianCopula()])
def test_synthetic_rows_stem_from_nobody_and_can_be_read(defense):
    for title, records in {
        "plain": people(300, generator(0, "people")),
        "missing": people(300, generator(0, "missing"), missing=True),
        "constant": people(30, generator(0, "constant"), constant=True),
        "one": people(1, generator(0, "one")),
        "none": people(0, generator(0, "none")),
    }.items():
        release = apply(defense, records)
        assert len(release.frame) == len(records)
        assert (release.origin == -1).all()
        assert release.channel is None
        assert list(release.frame.columns) == list(records.released_columns)
        for name in release.frame.columns:
            cells = read_cells(release.frame[name], records.domains[name])
            assert cells.plain.all()
        ages = release.frame["age"].dropna()
        assert ages.between(18, 95).all()
        assert (ages == ages.round()).all()
        if title == "missing":
            shares = release.frame.isna().mean(), records.frame[list(release.frame)].isna().mean()
            # Both sides vary by 0.017; four times sqrt(2) of that for four columns.
            assert np.abs(shares[0] - shares[1]).max() < 0.1
        elif len(records):
            assert release.frame.notna().all(axis=None)


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


def test_bins_without_whole_numbers_stay_empty():
    records = table({"x": NumericDomain(0, 3, True, (1.2, 1.7, 2.5))}, x=[0, 1, 2, 3] * 100)
    drawn = apply(IndependentMarginals(smoothing=50), records).frame["x"]
    assert set(drawn) == {0, 1, 2, 3}


def test_the_copula_keeps_distributions_and_correlations():
    rng = np.random.default_rng(0)
    normal = rng.multivariate_normal([0, 0, 0], [[1, 0.8, 0.5], [0.8, 1, 0.3], [0.5, 0.3, 1]], 4000)
    grade = np.array(GRADES.categories, dtype=object)[np.digitize(normal[:, 2], [-1, 1])]
    records = table({"grade": GRADES}, x=np.exp(normal[:, 0]), y=normal[:, 1], grade=grade)
    frame = apply(GaussianCopula(), records).frame
    # Rank correlations of 4,000 normal pairs vary by less than 0.016 on either side: four times sqrt(2) of that.
    synthetic, original = (
        table.assign(grade=GRADES.codes(table["grade"])).corr(method="spearman") for table in (frame, records.frame)
    )
    assert np.abs(synthetic.loc["x", "y"] - original.loc["x", "y"]) < 0.09
    # Steps of a category take a part of its correlation away.
    assert 0.7 < synthetic.loc["x", "grade"] / original.loc["x", "grade"] < 1.1
    assert stats.ks_2samp(frame["x"], records.frame["x"]).pvalue > 1e-3
    shares = [
        column.value_counts(normalize=True).reindex(GRADES.categories) for column in (frame["grade"], pd.Series(grade))
    ]
    assert np.abs(shares[0] - shares[1]).max() < 0.04
    assert frame["x"].min() >= records.frame["x"].min()
    assert not frame["x"].isin(records.frame["x"]).mean() > 0.01


def test_columns_without_an_order_and_generalized_ones():
    records = people(200, generator(0, "people"))
    for defense in (IndependentMarginals(), GaussianCopula()):
        release = apply(Pipeline(steps=[GlobalRecoding(levels={"age": 1, "city": 1}), defense]), records)
        assert (release.origin == -1).all()
        assert set(release.frame["age"].astype(str)) <= set(
            apply(GlobalRecoding(levels={"age": 1}), records).frame["age"].astype(str)
        )
    wholly = Microdata(records.frame.assign(income=np.nan), ("name",), ("age", "income"), (), dict(records.domains))
    for defense in (IndependentMarginals(), GaussianCopula()):
        assert apply(defense, wholly).frame["income"].isna().all()
    with pytest.raises(ValueError, match="column 'grade'"):
        apply(GaussianCopula(), table({"grade": GRADES}, grade=["low", "best"]))
