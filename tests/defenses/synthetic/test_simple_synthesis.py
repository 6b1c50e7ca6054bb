"""Interpolation between neighbours (SMOTE): where rows lie, votes, distances, and what attacks find."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from defense_tools import apply, table
from membership_tools import mean_score
from scipy import stats

from attacks import DistanceToClosestRecord
from defenses import (
    ClassificationTrees,
    GaussianCopula,
    IndependentMarginals,
    NeighbourInterpolation,
)
from metrics import CategoricalDomain, NumericDomain
from scenarios.datasets import load
from scenarios.games.candidate_file import Membership

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


def test_rows_lie_between_a_record_and_a_nearest_neighbour():
    x = np.array([0.0, 1.0, 10.0, 12.0, 50.0, 53.0])
    records = table({"x": NumericDomain(0, 100), "y": NumericDomain(0, 300)}, x=x, y=3 * x)
    frame = apply(NeighbourInterpolation(k=1, rows=3000), records).frame
    assert np.allclose(frame["y"], 3 * frame["x"])
    inside = [frame["x"].between(low, high) for low, high in ((0, 1), (10, 12), (50, 53))]
    assert np.sum(inside, axis=0).tolist() == [1] * 3000
    # Uniform between the two: 1,000 rows, false alarm 1e-4.
    from scipy import stats

    assert stats.kstest(frame["x"][inside[0]], "uniform").pvalue > 1e-4


def test_integers_are_rounded_and_the_category_of_the_most_neighbours_wins():
    domains = {"age": NumericDomain(0, 99, integer=True)}
    records = table(domains, age=[20, 21, 22, 23, 70, 71, 72, 73], job=list("aaab") + list("bbba"))
    voted = apply(NeighbourInterpolation(k=3, rows=500), records).frame
    assert voted["age"].dtype == np.int64
    assert voted["age"].between(20, 73).all()
    assert set(voted["job"]) == {"a", "b"}
    assert ((voted["job"] == "a") == (voted["age"] < 50)).all()
    picked = apply(NeighbourInterpolation(k=3, categories="pick", rows=500), records).frame
    assert set(map(tuple, picked.assign(age=picked["age"] > 50).drop_duplicates().to_numpy())) == {
        (False, "a"), (False, "b"), (True, "a"), (True, "b"),
    }  # fmt: skip


def test_a_row_between_a_missing_and_a_present_number_has_either():
    records = table({"x": NumericDomain(0, 9), "y": NumericDomain(0, 9)}, x=[1.0, 1.0], y=[4.0, np.nan])
    frame = apply(NeighbourInterpolation(k=1, rows=1000), records).frame
    assert set(frame["y"].dropna()) == {4.0}
    assert frame["y"].isna().mean() == pytest.approx(0.5, abs=0.06)


def test_more_equal_records_than_neighbours():
    records = table(x=[1.0] * 30 + [5.0], y=["a"] * 30 + ["b"])
    frame = apply(NeighbourInterpolation(k=2, rows=300), records).frame
    assert frame["x"].between(1, 5).all()


def test_many_votes_are_counted_in_blocks(monkeypatch):
    records = table(x=np.arange(50) % 7, y=[str(number % 11) for number in range(50)])
    at_once = apply(NeighbourInterpolation(), records).frame
    monkeypatch.setattr("defenses.synthetic.simple_synthesis.MOST_CELLS", 40)
    pd.testing.assert_frame_equal(apply(NeighbourInterpolation(), records).frame, at_once)


def test_bad_parameters_are_refused():
    for bad in (0, -1, 1.5, True, "5", None):
        with pytest.raises(ValueError, match="k must be an integer of at least 1"):
            NeighbourInterpolation(k=bad)
    with pytest.raises(ValueError, match="categories must be one of 'vote', 'pick', got 'mean'"):
        NeighbourInterpolation(categories="mean")
    with pytest.raises(ValueError, match="k must be less than the number of records, got k = 5 for n = 5"):
        apply(NeighbourInterpolation(), table(x=range(5)))


@pytest.mark.long
def test_rows_next_to_records_show_members():
    """Mean of three plays on 150 people of Adult."""
    game = Membership(records=load("adult").records, members=150, auxiliary=450)
    rates = [
        mean_score(defense, DistanceToClosestRecord(rounds=2), game, plays=3)
        for defense in (NeighbourInterpolation(k=1), ClassificationTrees(), NeighbourInterpolation(k=100))
    ]
    assert rates[0] > rates[1] > 0.5
    assert rates[0] > rates[2]
