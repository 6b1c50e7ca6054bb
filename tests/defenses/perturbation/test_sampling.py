"""Simple random sampling."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from defense_tools import apply, table
from scipy import stats

from defenses import Microdata, StratifiedSampling
from defenses.perturbation.sampling import Sampling


def test_sample_has_its_size_and_is_uniform():
    records = table(x=list(range(10)))
    rng = np.random.default_rng(3)
    hits = np.zeros(10)
    for _ in range(600):
        release = Sampling(rate=0.3).apply(records, rng)
        assert release.frame["x"].tolist() == release.origin.tolist() == sorted(set(release.origin.tolist()))
        assert len(release.frame) == 3
        hits[release.origin] += 1
    # Of 10 hits the variances sum to 600 * 10 * 0.21; scaled by 9 / 10 of that they are chi-square with 9 degrees.
    statistic = ((hits - 180) ** 2).sum() / (600 * 0.21 * 10 / 9)
    assert stats.chi2.sf(statistic, 9) > 1e-4
    assert len(apply(Sampling(rate=0.01), records).frame) == 1
    assert len(apply(Sampling(rate=1.0), records).frame) == 10


@pytest.mark.parametrize("role", ["person", "group"])
def test_whole_people_and_groups_are_sampled(role):
    unit = np.random.default_rng(1).permutation(np.repeat(np.arange(30), np.arange(30) % 3 + 1)).astype(object)
    unit[unit == 29] = None
    frame = pd.DataFrame({"unit": unit, "x": np.arange(unit.size)})
    records = Microdata(frame, identifiers=("unit",), quasi_identifiers=("x",), **{role: "unit"})
    times = np.zeros(unit.size)
    for seed in range(200):
        release = apply(Sampling(rate=0.4), records, seed)
        drawn = frame["unit"].iloc[release.origin]
        # The three rows that name nobody are units of their own: 32 units, of which 13 are sampled.
        assert drawn.nunique() + drawn.isna().sum() == 13
        assert all(drawn.value_counts()[name] == (unit == name).sum() for name in drawn.dropna().unique())
        times[release.origin] += 1
    # 32 rates of 200 draws each: one is more than 4.5 deviations from 13/32 with a probability below .0003.
    assert np.abs(times / 200 - 13 / 32).max() < 4.5 * np.sqrt(13 / 32 * 19 / 32 / 200)


def test_people_of_one_row_each_are_drawn_as_rows_are():
    frame = pd.DataFrame({"id": [f"p{row}" for row in range(20)], "x": range(20)})
    alone = Microdata(frame, identifiers=("id",), quasi_identifiers=("x",))
    named = Microdata(frame, identifiers=("id",), quasi_identifiers=("x",), person="id")
    assert apply(Sampling(), alone).origin.tolist() == apply(Sampling(), named).origin.tolist()


def test_every_stratum_gives_its_share():
    records = table(town=["a"] * 50 + ["b"] * 25 + ["c"] * 3 + [None] * 12, age=np.arange(90))
    for seed in range(20):
        release = apply(StratifiedSampling(by="town", rate=0.3), records, seed)
        assert release.channel.sampling_rate == 0.3
        assert (np.diff(release.origin) > 0).all()
        assert (release.frame["age"] == release.origin).all()
        taken = release.frame["town"].fillna("?").value_counts().reindex(["a", "b", "c", "?"], fill_value=0)
        assert (np.abs(taken - 0.3 * np.array([50, 25, 3, 12])) < 1).all()
        assert len(release.frame) == 27
    assert len(apply(StratifiedSampling(by="town", rate=1.0), records).frame) == 90


@pytest.mark.long
def test_everybody_is_sampled_alike():
    records = table(town=list("aaaaaaabbc"))
    taken = np.zeros(10)
    for seed in range(600):
        np.add.at(taken, apply(StratifiedSampling(by="town", rate=0.35), records, seed).origin, 1)
    # Ten counts of a binomial variable with mean 210 and deviation 11.7; beyond 4 of these lies one in 15,000.
    assert np.abs(taken - 210).max() < 4 * 11.7


def test_stratified_sampling_refuses():
    for rate in (0, -0.1, 1.1, np.nan, "1"):
        with pytest.raises(ValueError, match="rate"):
            StratifiedSampling(by="a", rate=rate)
    with pytest.raises(ValueError, match="columns"):
        StratifiedSampling(by=3)
    with pytest.raises(ValueError, match="no released column 'z'"):
        apply(StratifiedSampling(by="z"), table(a=[1]))
    assert apply(StratifiedSampling(by="a"), table(a=[])).frame.empty
