"""Ends of intervals that give single people away."""

import numpy as np
import pandas as pd
import pytest

from metrics import CategoricalDomain, NumericDomain
from scenarios.assessment.reporting.release_reading import interval_end_warnings

INCOME = NumericDomain(0, 100_000)


def warnings(cells, values, domain=INCOME):
    return list(interval_end_warnings(pd.DataFrame({"x": cells}), pd.DataFrame({"x": values}), {"x": domain}))


def test_tight_intervals_of_distinct_values_are_named():
    [warning] = warnings(["[1203,4711]", "[5002,8013]"] * 2, [1203.0, 4711, 5002, 8013])
    assert warning.startswith("x: 4 of 4 ends of intervals are values of one person each")


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["[0,5000]", "[5000,10000]"], [1203.0, 4711]),
        (["[1203,4711]"] * 2, [1203.0, 1203, 4711, 4711]),
        (["[0,100000]"], [0.0, 100_000]),
        (["*", "*"], [1.0, 2.0]),
        (["1203", "4711"], [1203.0, 4711]),
        (["[1203,4711]"], [np.nan, np.nan]),
        ([None], [np.nan]),
    ],
    ids=["public", "shared", "domain", "suppressed", "plain", "missing", "nothing"],
)
def test_other_cells_are_not(cells, values):
    assert warnings(cells, values) == []


def test_sets_have_no_ends():
    assert warnings(["{a|b}"], ["a"], CategoricalDomain(("a", "b", "c"))) == []


def test_half_of_the_ends_may_meet_people_by_chance():
    cells = ["[10,20]", "[30,40]"]
    assert warnings(cells, [10.0, 20, 50]) == []
    assert len(warnings(cells, [10.0, 20, 30])) == 1
