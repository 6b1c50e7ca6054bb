"""Numbers beyond all original ones are named where they change what analysts compute."""

import numpy as np
import pandas as pd
import pytest

from metrics import CategoricalDomain, NumericDomain
from scenarios.assessment.reporting.release_reading import far_value_warnings

DAYS = NumericDomain(0, 365, cuts=(7, 30), integer=True)
ORIGINAL = pd.DataFrame({"days": np.tile(np.arange(1, 32), 20), "ward": ["a", "b"] * 310})


def warnings(days):
    released = pd.DataFrame({"days": days, "ward": ["a"] * len(days)})
    domains = {"days": DAYS, "ward": CategoricalDomain(["a", "b"])}
    return list(far_value_warnings(released, ORIGINAL, domains))


def test_a_wide_last_bin_is_named_with_both_deviations():
    days = np.where(np.arange(620) % 20, ORIGINAL["days"], 290)
    (one,) = warnings(days)
    assert one.startswith(
        f"days: the standard deviation grows from 8.94 to {days.std():.3g}, since 5 % of the released"
    )
    (one,) = warnings(400 + 50 * np.arange(620))
    assert "since 100 % of the released" in one


@pytest.mark.parametrize(
    "days",
    [
        ORIGINAL["days"],
        ORIGINAL["days"] + 1,
        # A wider spread inside the original range is another matter.
        np.where(np.arange(620) % 2, 1, 31),
        ["[30,365]"] * 620,
        ["*"] * 620,
        [],
    ],
)
def test_what_changes_little_or_lies_inside_is_not_named(days):
    assert warnings(days) == []


def test_a_column_without_original_numbers_is_not_judged():
    released = pd.DataFrame({"days": [400.0, 1.0]})
    assert list(far_value_warnings(released, pd.DataFrame({"days": [None, None]}), {"days": DAYS})) == []


def test_only_columns_with_a_domain_are_judged():
    """Dates have none here: their numbers are days, which nobody reads."""
    released = pd.DataFrame({"days": [400.0] * 10, "born": [1.0] * 10})
    assert list(far_value_warnings(released[["born"]], ORIGINAL.assign(born=1), {"days": DAYS})) == []
    assert list(far_value_warnings(released, ORIGINAL.assign(born=1), {})) == []
