"""Bins that are too coarse for the values in them are said, and only these."""

import numpy as np
import pandas as pd
import pytest
from run_tools import invoke

from metrics import NumericDomain
from scenarios.tables.dataset import load_table
from scenarios.tables.review.notes import coarse_bin_warnings
from scenarios.tables.review.release_notes import counted_cells, hidden_differences

ROLES = """
quasi_identifiers = ["age"]
sensitive = ["days"]
[columns.age]
type = "number"
integer = true
low = 0
high = 99
[columns.days]
type = "number"
integer = true
low = 0
high = 366
"""
CUTS = "cuts = [2, 5, 10, 20]\n"
DAYS = NumericDomain(0, 366, integer=True, cuts=(1, 5, 29))


def table(tmp_path, days, roles=ROLES):
    ages = np.arange(len(days)) % 100
    pd.DataFrame({"age": ages, "days": days}).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "roles.toml").write_text(roles)
    return load_table(tmp_path / "people.csv", tmp_path / "roles.toml")


def warnings(dataset):
    """What is said of a table's bins."""
    return [*map(str, coarse_bin_warnings(dataset, dataset.records.frame))]


def test_a_bin_of_most_records_is_named(tmp_path):
    dataset = table(tmp_path, np.arange(200) % 30)
    [warning] = warnings(dataset)
    assert warning.startswith("days: 100% of the records are in one of its 10 public bins, [0,37)")
    assert warning.endswith("declare `cuts` where the values are")
    done = invoke("validate", tmp_path / "people.csv", "--roles", tmp_path / "roles.toml")
    assert f"warning: {warning}" in done.stdout
    assert warnings(table(tmp_path, np.arange(200) % 30, ROLES + CUTS)) == []


def test_a_value_that_most_people_share_may_fill_a_bin(tmp_path):
    assert warnings(table(tmp_path, np.where(np.arange(200) < 180, 0, np.arange(200)))) == []


def differences(before, after):
    return [*hidden_differences(counted_cells(before, before), counted_cells(after, after), {"days": DAYS})]


@pytest.mark.parametrize(
    ("after", "named"),
    [
        (np.r_[np.zeros(80), np.arange(29, 49)], False),
        (np.r_[np.zeros(80), np.linspace(29, 366, 20).round()], True),
        (np.r_[np.arange(80) % 5, np.full(20, 366)], False),
    ],
)
def test_a_mean_that_moves_inside_the_bins_is_said(after, named):
    """The third release differs in its bins, so that utility shows the difference."""
    before = pd.DataFrame({"days": np.r_[np.zeros(80), np.arange(29, 49)]})
    found = differences(before, pd.DataFrame({"days": after}))
    assert len(found) == named
    if named:
        assert "mean 7.7 before and 39.5 after" in str(found[0])


def test_intervals_and_columns_that_are_lacking_are_not_compared():
    before = pd.DataFrame({"days": [1, 2, 3, 40]})
    cells = pd.DataFrame({"days": ["[1,4]", "[1,4]", "3", "40"]})
    assert differences(before, cells) == []
    assert differences(before, pd.DataFrame({"age": [1]})) == []


def test_utility_says_what_it_does_not_see(tmp_path):
    table(tmp_path, np.r_[np.zeros(160, dtype=int), np.arange(29, 69)], ROLES + "cuts = [1, 5, 29]\n")
    released = pd.read_csv(tmp_path / "people.csv")
    released["days"] = np.r_[np.zeros(160, dtype=int), np.linspace(200, 366, 40).round().astype(int)]
    released.to_csv(tmp_path / "released.csv", index=False)
    files = [tmp_path / "people.csv", tmp_path / "released.csv", "--roles", tmp_path / "roles.toml"]
    assert "warning: days: numbers differ inside the public bins" in invoke("utility", *files).stderr
