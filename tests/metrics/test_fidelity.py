"""Fidelity of marginals and associations, on examples by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from metric_tools import DOMAINS, people

from defenses import Microdata, Shuffle
from metrics import CategoricalDomain, NumericDomain, propensity_mean_squared_error
from metrics.fidelity import association, marginal_fidelity
from metrics.profile import original_profile, profile


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


COLOR = CategoricalDomain(("red", "blue"))
SIZE = NumericDomain(0, 9, integer=True, cuts=(5,))


def test_marginals_by_hand():
    original = original_profile(pd.DataFrame({"color": ["red", "red", "blue", "blue"]}), {"color": COLOR})
    released = profile(pd.DataFrame({"color": ["red", "red", "red", "{red|blue}"]}), {"color": COLOR})
    # Shares .875 and .125 against .5 and .5: a total variation distance of .375.
    assert marginal_fidelity(original, released) == pytest.approx(0.625)


def test_association_by_hand():
    domains = {"color": COLOR, "size": SIZE}
    same = original_profile(pd.DataFrame({"color": ["red"] * 50 + ["blue"] * 50, "size": [1] * 50 + [7] * 50}), domains)
    # phi^2 = 1 less 1/99; levels 2 - 1/99 on both sides: V = sqrt((98/99) / (98/99)) = 1.
    assert association(same) == pytest.approx([1.0])
    apart = original_profile(pd.DataFrame({"color": ["red", "blue"] * 50, "size": [1, 1, 7, 7] * 25}), domains)
    assert association(apart) == pytest.approx([0.0])
