"""Propensity score mean squared error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from metric_tools import DOMAINS, people

from defenses import Microdata, Shuffle
from metrics import propensity_mean_squared_error


@pytest.mark.parametrize("order", [1, 2])
def test_propensity_of_extremes(order: int) -> None:
    table = people(800)
    assert propensity_mean_squared_error(table, table, DOMAINS, order=order) == pytest.approx(0, abs=1e-6)
    fresh = propensity_mean_squared_error(table, people(800, seed=1), DOMAINS, order=order)
    # By chance (p - 1) / (8 * 1600) is expected, p - 1 = 3 for four free cells: 0.0002, and chi-squared beyond 0.002.
    assert fresh < 0.002
    far = propensity_mean_squared_error(table, table.assign(age=10, job="d"), DOMAINS, order=order)
    assert far > 0.15
    suppressed = pd.DataFrame("*", index=range(400), columns=["age", "job"])
    assert 0 <= propensity_mean_squared_error(table, suppressed, DOMAINS, order=order) <= 2 / 9


def test_pairs_of_columns_show_that_associations_are_lost() -> None:
    table = people(800)
    records = Microdata(table, quasi_identifiers=("age", "job"), domains=DOMAINS)
    shuffled = Shuffle().apply(records, np.random.default_rng(0)).frame
    assert propensity_mean_squared_error(table, shuffled, DOMAINS, order=1) == pytest.approx(0, abs=1e-6)
    assert propensity_mean_squared_error(table, shuffled, DOMAINS, order=2) > 0.1


def test_propensity_refuses() -> None:
    table = people(3)
    for empty in ((table.iloc[:0], table), (table, table.iloc[:0])):
        with pytest.raises(ValueError, match="no rows"):
            propensity_mean_squared_error(*empty, DOMAINS)
    with pytest.raises(ValueError, match="order"):
        propensity_mean_squared_error(table, table, DOMAINS, order=3)
    with pytest.raises(ValueError, match="at least one column"):
        propensity_mean_squared_error(table, table, {})
