"""Estimates of population uniques."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import (
    equivalence_classes,
    pitman_uniques,
    poisson_gamma,
    poisson_gamma_uniques,
    sample_uniques,
    snb_uniques,
    zayatz_uniques,
)
from scenarios.datasets import load

COLUMNS = ("age", "job", "marital", "education")
ESTIMATORS = (zayatz_uniques, pitman_uniques, snb_uniques)


def of_sizes(sizes: list[int] | np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"q": np.repeat(np.arange(len(sizes)), sizes)})


@pytest.mark.thorough
def test_poisson_gamma_on_bank_and_the_others_beside_it() -> None:
    people = load("bank").records.frame
    cells = int(np.prod([people[name].nunique() for name in COLUMNS]))
    assert (len(people), cells) == (45_211, 11_088)
    classes = equivalence_classes(people, COLUMNS)
    alone = np.bincount(classes)[classes] == 1
    assert alone.sum() == 998
    truth, estimates = [], []
    for seed in range(10):
        drawn = np.random.default_rng(seed).choice(len(people), 4521, replace=False)
        sample = people.iloc[drawn]
        shared = equivalence_classes(sample, COLUMNS)
        truth.append(alone[drawn].sum())
        gamma = poisson_gamma_uniques(sample, COLUMNS, population=len(people), cells=cells, classes=shared)
        others = [estimate(sample, COLUMNS, population=len(people), classes=shared) for estimate in ESTIMATORS]
        estimates.append([gamma, *others])
        assert all(0 < value < sample_uniques(sample, COLUMNS, classes=shared) for value in estimates[-1])
    # A sampled unique is there with probability 1/10: 99.8 are expected of the 998, and the mean of ten samples has a
    # standard deviation of 3; three of them leave it with 0.3 %, but the seeds are fixed.
    assert np.mean(truth) == pytest.approx(99.8, abs=9)
    gamma, zayatz, pitman, snb = np.mean(estimates, axis=0)
    # The lecture's figure is about 75; an estimate varies by 4 from sample to sample, the mean of ten by 1.3.
    assert 71 < gamma < 79
    assert gamma < np.mean(truth) < pitman < zayatz < snb


def test_poisson_gamma_by_hand() -> None:
    # Sizes 3, 1, 1, 0 in K = 4 cells: m = 5/4, v = (11 - 25/4)/3 = 19/12, beta = (19/15 - 1)/5 = 4/75.
    beta = 4 / 75
    expected = 2 * ((1 + 5 * beta) / (1 + 10 * beta)) ** (1 + 1 / (4 * beta))
    assert poisson_gamma_uniques(of_sizes([3, 1, 1]), ["q"], population=10, cells=4) == pytest.approx(expected)
    model = poisson_gamma(of_sizes([3, 1, 1]), ["q"], population=10, cells=4)
    assert (model.cells, model.beta, model.both) == (4, pytest.approx(beta), pytest.approx(expected))
    # E(S1) and E(s1) of the source: N (1 + N beta)^-(1 + 1/(K beta)), with N beta = 8/15 and n beta = 4/15.
    power = 1 + 75 / 16
    assert model.population == pytest.approx(10 * (15 / 23) ** power)
    assert model.sample == pytest.approx(5 * (15 / 19) ** power)
    assert model.both == pytest.approx(2 * model.population / model.sample * 5 / 10)
    # All cells alike: no over-dispersion, and the limit.
    alike = poisson_gamma(of_sizes([1, 1, 1, 1]), ["q"], population=12, cells=4)
    assert (alike.beta, alike.population, alike.sample) == (0, pytest.approx(12 * np.exp(-3)), pytest.approx(4 / np.e))
    limit = poisson_gamma_uniques(of_sizes([1, 1, 1, 1]), ["q"], population=12, cells=4)
    assert limit == pytest.approx(4 * np.exp(-(12 - 4) / 4))
    assert poisson_gamma_uniques(of_sizes([1, 1, 1]), ["q"], population=3, cells=5) == 3


def test_zayatz_by_hand() -> None:
    # Classes of size 1 and 2 are equally frequent; 3 of 6 people are drawn: h(1) = 1/2, h(2) = 2 (3/6) (3/5) = 3/5.
    assert zayatz_uniques(of_sizes([1, 2]), ["q"], population=6) == pytest.approx(0.5 / (0.5 + 0.6))


def chinese_restaurant(n: int, alpha: float, theta: float, rng: np.random.Generator) -> np.ndarray:
    table = np.zeros(n, dtype=int)
    sizes = [1]
    for person in range(1, n):
        weights = np.append(np.array(sizes) - alpha, theta + len(sizes) * alpha)
        place = int(np.searchsorted(np.cumsum(weights), rng.random() * (theta + person)))
        if place == len(sizes):
            sizes.append(0)
        sizes[place] += 1
        table[person] = place
    return table


@pytest.mark.long
def test_pitman_finds_what_pitman_made() -> None:
    ratios = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        table = chinese_restaurant(4000, 0.5, 20.0, rng)
        alone = np.bincount(table)[table] == 1
        drawn = rng.choice(4000, 1000, replace=False)
        estimate = pitman_uniques(pd.DataFrame({"q": table[drawn]}), ["q"], population=4000)
        ratios.append(estimate / alone[drawn].sum())
    # A table has about 70 sampled population uniques, so that a ratio varies by 15 % or so, and the mean of 8 by 5 %.
    assert np.mean(ratios) == pytest.approx(1, abs=0.15)


@pytest.mark.thorough
def test_snb_finds_what_snb_made() -> None:
    ratios = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        people = np.repeat(np.arange(2000), 1 + rng.negative_binomial(0.8, 0.2, 2000))
        alone = np.bincount(people)[people] == 1
        drawn = rng.choice(people.size, people.size // 4, replace=False)
        estimate = snb_uniques(pd.DataFrame({"q": people[drawn]}), ["q"], population=people.size)
        ratios.append(estimate / alone[drawn].sum())
    # About 140 sampled population uniques: a ratio varies by some 15 %, the mean of 8 by 5 %.
    assert np.mean(ratios) == pytest.approx(1, abs=0.15)


SAMPLES = given(st.lists(st.integers(1, 6), min_size=1, max_size=30), st.integers(0, 200))


def check_estimates_stay_between_none_and_all_sample_uniques(sizes: list[int], more: int) -> None:
    frame = of_sizes(sizes)
    uniques = sample_uniques(frame, ["q"])
    assert uniques == sizes.count(1)
    population = len(frame) + more
    values = [estimate(frame, ["q"], population=population) for estimate in ESTIMATORS]
    values.append(poisson_gamma_uniques(frame, ["q"], population=population, cells=len(sizes) + 3))
    for value in values:
        assert 0 <= value <= uniques * (1 + 1e-9)
    if more == 0:
        assert values == pytest.approx([uniques] * 4)


@pytest.mark.thorough
@settings(max_examples=20, deadline=None)
@SAMPLES
def test_estimates_stay_between_none_and_all_sample_uniques(sizes: list[int], more: int) -> None:
    check_estimates_stay_between_none_and_all_sample_uniques(sizes, more)


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@SAMPLES
def test_estimates_stay_between_none_and_all_sample_uniques_of_many_samples(sizes: list[int], more: int) -> None:
    check_estimates_stay_between_none_and_all_sample_uniques(sizes, more)


def test_estimators_refuse() -> None:
    frame = of_sizes([1, 2])
    for estimate in ESTIMATORS:
        for population in (2, 0, -1, 3.5, np.nan, True):
            with pytest.raises(ValueError, match="population must be"):
                estimate(frame, ["q"], population=population)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="no rows"):
            estimate(frame.iloc[:0], ["q"], population=5)
        with pytest.raises(ValueError, match="no column 'z'"):
            estimate(frame, ["z"], population=5)
    with pytest.raises(ValueError, match="cells must be"):
        poisson_gamma_uniques(frame, ["q"], population=5, cells=1)
