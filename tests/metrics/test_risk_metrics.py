from __future__ import annotations

from itertools import chain, combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import (
    beta_likeness,
    delta_disclosure,
    enhanced_beta_likeness,
    equivalence_classes,
    journalist_risk,
    marketer_risk,
    minimal_sample_uniques,
    pitman_uniques,
    poisson_gamma_uniques,
    prosecutor_risk,
    sample_uniques,
    snb_uniques,
    suda_scores,
    zayatz_uniques,
)
from scenarios.datasets import load

COLUMNS = ("age", "job", "marital", "education")
ESTIMATORS = (zayatz_uniques, pitman_uniques, snb_uniques)


def of_sizes(sizes: list[int] | np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"q": np.repeat(np.arange(len(sizes)), sizes)})


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
    # All cells alike: no over-dispersion, and the limit.
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


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=30), st.integers(0, 200))
def test_estimates_stay_between_none_and_all_sample_uniques(sizes: list[int], more: int) -> None:
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


def test_risk_models() -> None:
    frame = pd.DataFrame({"q": ["a", "a", "b", None]})
    risk = prosecutor_risk(frame, ["q"], threshold=0.5)
    assert (risk.highest, risk.mean, risk.at_risk) == (1, 3 / 4, 1 / 2)
    assert marketer_risk(frame, ["q"]) == 3 / 4
    population = pd.DataFrame({"q": ["a"] * 4 + ["b"] * 5 + [None] + ["c"]})
    risk = journalist_risk(frame, population, ["q"], threshold=0.2)
    assert risk.highest == 1
    assert risk.mean == pytest.approx((1 / 4 + 1 / 4 + 1 / 5 + 1) / 4)
    assert risk.at_risk == 3 / 4
    assert marketer_risk(frame, ["q"], population=population) == risk.mean
    assert prosecutor_risk(frame.iloc[:1], []).mean == 1


def test_risk_models_refuse() -> None:
    frame = pd.DataFrame({"q": ["a", "a", "b"]})
    with pytest.raises(ValueError, match="row 0: the table has 2 records like this one and the population 1"):
        journalist_risk(frame, frame.iloc[1:], ["q"])
    for threshold in (-0.1, 1, np.nan):
        with pytest.raises(ValueError, match="threshold"):
            prosecutor_risk(frame, ["q"], threshold=threshold)
    with pytest.raises(ValueError, match="no rows"):
        prosecutor_risk(frame.iloc[:0], ["q"])
    with pytest.raises(ValueError, match="no column 'z'"):
        journalist_risk(frame, frame, ["z"])


def minimal_uniques_one_by_one(frame: pd.DataFrame, max_size: int) -> dict[tuple[str, ...], set[int]]:
    names = list(frame.columns)
    found: dict[tuple[str, ...], set[int]] = {}
    for row in range(len(frame)):
        minimal: list[tuple[str, ...]] = []
        for part in chain.from_iterable(combinations(names, size) for size in range(1, max_size + 1)):
            alike = (frame[list(part)] == frame[list(part)].iloc[row]).all(axis=1).sum()
            if alike == 1 and not any(set(small) < set(part) for small in minimal):
                minimal.append(part)
                found.setdefault(part, set()).add(row)
    return found


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 25), st.integers(1, 4), st.integers(1, 4), st.integers(0, 10**6))
def test_minimal_sample_uniques_and_scores(n: int, m: int, max_size: int, seed: int) -> None:
    frame = pd.DataFrame(np.random.default_rng(seed).integers(0, 3, (n, m)), columns=list("abcd")[:m])
    expected = minimal_uniques_one_by_one(frame, max_size)
    found = {part: set(rows.tolist()) for part, rows in minimal_sample_uniques(frame, list(frame), max_size=max_size)}
    assert found == expected
    scores = np.zeros(n)
    for part, rows in expected.items():
        largest = min(max_size, m - 1)
        scores[list(rows)] += np.prod([m - i for i in range(len(part), largest + 1)]) if len(part) < m else 1
    np.testing.assert_allclose(suda_scores(frame, list(frame), max_size=max_size), scores)


def test_scores_by_hand() -> None:
    frame = pd.DataFrame({"a": [1, 1, 1, 2], "b": [1, 1, 2, 2], "c": [1, 2, 1, 1], "d": [1, 1, 1, 1]})
    # Row 3 is the only a = 2, row 1 the only c = 2; row 2 needs a and b, and row 0 b and c.
    assert suda_scores(frame, list("abcd")).tolist() == [2, factorial(3), 2, factorial(3)]
    assert suda_scores(frame, list("abcd"), max_size=1).tolist() == [0, 3, 0, 3]
    assert suda_scores(frame, ["d"]).tolist() == [0] * 4


def test_scores_refuse() -> None:
    frame = pd.DataFrame({"a": [1, 2]})
    for size in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="max_size"):
            suda_scores(frame, ["a"], max_size=size)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="named once"):
        suda_scores(frame, ["a", "a"])
    with pytest.raises(ValueError, match="no column 'z'"):
        suda_scores(frame, ["z"])
    with pytest.raises(ValueError, match="no rows"):
        suda_scores(frame.iloc[:0], ["a"])


def test_gains_about_sensitive_values() -> None:
    # The table has x, y as 5/8 and 3/8, class a as 3/4 and 1/4, class b as 1/2 each.
    frame = pd.DataFrame({"q": list("aaaabbbb"), "s": list("xxxyxxyy")})
    assert delta_disclosure(frame, ["q"], "s") == pytest.approx(np.log(3 / 2))
    assert beta_likeness(frame, ["q"], "s") == pytest.approx(1 / 3)
    assert enhanced_beta_likeness(frame, ["q"], "s") == pytest.approx(1 / 3)
    classes = equivalence_classes(frame, ["q"])
    assert delta_disclosure(frame, ["q"], "s", classes=classes) == delta_disclosure(frame, ["q"], "s")
    # A class without y is infinitely far from the table; its share of x grows by 3/5, more than -ln(5/8) = 0.47.
    pure = pd.DataFrame({"q": list("aaaabbbb"), "s": list("xxxxxyyy")})
    assert delta_disclosure(pure, ["q"], "s") == np.inf
    assert beta_likeness(pure, ["q"], "s") == pytest.approx(1.0)
    assert enhanced_beta_likeness(pure, ["q"], "s") == np.inf
    constant = frame.assign(s="x")
    for measure in (delta_disclosure, beta_likeness, enhanced_beta_likeness):
        assert measure(constant, ["q"], "s") == 0
        with pytest.raises(ValueError, match="'q' is a quasi-identifier"):
            measure(frame, ["q"], "q")
        with pytest.raises(ValueError, match="no rows"):
            measure(frame.iloc[:0], ["q"], "s")
