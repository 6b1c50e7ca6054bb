"""Prosecutor, journalist and marketer risk."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from metrics import journalist_risk, marketer_risk, prosecutor_risk


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
