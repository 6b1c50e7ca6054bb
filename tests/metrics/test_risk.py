"""Prosecutor, journalist and marketer risk."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import special

from metrics import individual_risk, journalist_risk, marketer_risk, prosecutor_risk
from metrics.risk import individual_of_sizes


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


def test_individual_risk_is_that_of_sdcmicro() -> None:
    """The eight records of sdcMicro's own test; from three records in a class its default is an upper bound."""
    table = pd.DataFrame({"a": [2, 3, 2, 2, 3, 3, 1, 2], "b": [3, 3, 3, 3, 3, 3, 4, 3], "c": [1, 3, 1, 2, 1, 1, 1, 1]})
    weights = np.array([18, 45.5, 39, 17, 92, 8, 123.5, 51])
    risks = individual_risk(table, ["a", "b", "c"], weights)
    assert risks.round(4).tolist() == [0.0137, 0.0858, 0.0137, 0.1771, 0.0188, 0.0188, 0.0393, 0.0137]


@pytest.mark.parametrize("p", [1e-5, 0.01, 0.3, 0.9, 0.9998, 0.99995, 1.0])
def test_individual_risk_is_the_mean_of_a_negative_binomial_population(p: float) -> None:
    """E[1 / F] = p^f / f 2F1(f, f; f + 1; 1 - p), exact for one or two records and bounded from three."""
    own = np.array([1, 2, 3, 8])
    exact = p**own / own * special.hyp2f1(own, own, own + 1, 1 - p)
    risks = individual_of_sizes(own, own / p)
    assert risks[:2] == pytest.approx(exact[:2], rel=1e-6)
    assert (risks >= exact * (1 - 1e-9)).all()
    assert (risks <= 1 / own + 1e-12).all()


def test_individual_risk_takes_weights_below_one_as_one() -> None:
    table = pd.DataFrame({"a": [1, 2, 2]})
    assert individual_risk(table, ["a"], np.array([0.2, 0.5, 0.5])).tolist() == [1, 0.5, 0.5]


@pytest.mark.parametrize("wrong", [0, -1, np.nan, np.inf])
def test_a_weight_that_is_no_number_above_zero_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="row 1: the weight must be a finite number above 0"):
        individual_risk(pd.DataFrame({"a": [1, 2]}), ["a"], np.array([1, wrong]))
