"""Hierarchies: groups and losses by hand, missing values, files, and refusals."""

import numpy as np
import pytest

from defenses.base.hierarchy import Hierarchy, IntervalHierarchy, TableHierarchy

JOBS = TableHierarchy([["cook", "food", "*"], ["baker", "food", "*"], ["judge", "law", "*"]])
AGES = Hierarchy.from_intervals([[30, 40, 50], [40], []], low=20, high=59, integer=True)


def test_a_table_generalizes_to_sets_and_at_last_to_a_star():
    values = ["judge", "cook", None]
    assert JOBS.height == 2
    assert JOBS.generalize(values, 0).tolist() == values
    assert JOBS.generalize(values, 1).tolist() == ["judge", "{cook|baker}", None]
    # The star covers a missing value, too.
    assert JOBS.generalize(values, 2).tolist() == ["*", "*", "*"]
    assert JOBS.positions(["baker", None]).tolist() == [1, 3]


def test_losses_of_a_table_are_shares_of_the_other_leaves():
    assert JOBS.loss(["judge", "cook", None], 0).tolist() == [0, 0, 0]
    assert JOBS.loss(["judge", "cook", None], 1).tolist() == [0, 0.5, 0]
    assert JOBS.loss(["judge", "cook", None], 2).tolist() == [1, 1, 1]
    assert TableHierarchy([["only", "*"]]).loss(["only"], 1).tolist() == [0]


def test_numbers_without_a_gap_are_an_interval_unless_they_are_text():
    rows = [["1", "low"], ["2", "low"], ["3", "high"], ["4", "odd"], ["5", "high"]]
    assert TableHierarchy(rows).generalize([1, 2.0, 3, 4], 1).tolist() == ["[1,2]", "[1,2]", "{3|5}", "4"]
    text = TableHierarchy(rows, text=True)
    assert text.generalize(["1", "4"], 1).tolist() == ["{1|2}", "4"]


def test_intervals_by_hand():
    ages = [20, 29, 30, 59, np.nan]
    assert AGES.height == 3
    assert AGES.generalize(ages, 1).tolist() == ["[20,29]", "[20,29]", "[30,39]", "[50,59]", None]
    assert AGES.generalize(ages, 2).tolist() == ["[20,39]", "[20,39]", "[20,39]", "[40,59]", None]
    assert AGES.generalize(ages, 3).tolist() == ["*"] * 5
    real = IntervalHierarchy([[0.5]], 0.0, 1.0)
    assert real.generalize([0.0, 0.49, 0.5, 1.0], 1).tolist() == ["[0,0.5)", "[0,0.5)", "[0.5,1]", "[0.5,1]"]


def test_losses_of_intervals_are_shares_of_the_range():
    # Ten of forty integers: 9 of 39 other ones.
    assert AGES.loss([20, 59, np.nan], 1) == pytest.approx([9 / 39, 9 / 39, 0])
    assert AGES.loss([20, np.nan], 3) == pytest.approx([1, 1])
    assert AGES.loss([20, np.nan], 0).tolist() == [0, 0]
    assert IntervalHierarchy([[0.25]], 0.0, 1.0).loss([0.1, 0.9], 1) == pytest.approx([0.25, 0.75])
    assert IntervalHierarchy([[]], 3.0, 3.0).loss([3.0], 1).tolist() == [0]


@pytest.mark.parametrize("hierarchy", [JOBS, AGES])
@pytest.mark.parametrize("level", [-1, 4, 1.0, True, "1", None])
def test_bad_levels_are_refused(hierarchy, level):
    for ask in (hierarchy.group, hierarchy.loss):
        with pytest.raises(ValueError, match="level must be an integer from 0 to"):
            ask([], level)


def test_no_value_has_no_group():
    for hierarchy in (JOBS, AGES):
        assert hierarchy.group([], 1)[0].size == hierarchy.loss([], 1).size == 0


def test_values_outside_are_named():
    with pytest.raises(ValueError, match="row 1: the hierarchy has no such value"):
        JOBS.group(["cook", "pilot"], 1)
    with pytest.raises(ValueError, match="row 1: the hierarchy covers 20 to 59 and has no such value"):
        AGES.group([20, 60], 1)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "at least one value"),
        ([["a", "x"], ["b"]], "row 2 has 1 fields where the first has 2"),
        ([["a", "x"], ["a", "y"]], "value 'a' appears twice"),
        ([["a", "x", "u"], ["b", "x", "v"]], "group 'x' of level 1 is split on level 2"),
    ],
)
def test_bad_tables_are_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        TableHierarchy(rows)


@pytest.mark.parametrize(
    ("levels", "low", "high", "message"),
    [
        ([[5]], 9, 0, "low <= high"),
        ([[5]], np.nan, 9, "range must be finite"),
        ([[5, 5]], 0, 9, "cuts of level 1 must ascend"),
        ([[0]], 0, 9, "cuts of level 1 must ascend"),
        ([[5], [6]], 0, 9, "level 2 cuts at 6, where level 1 does not"),
    ],
)
def test_bad_intervals_are_refused(levels, low, high, message):
    with pytest.raises(ValueError, match=message):
        Hierarchy.from_intervals(levels, low, high)


def test_files_are_read_and_their_faults_named(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("cook;food\n\nbaker;food\njudge;law\n", encoding="utf-8")
    assert Hierarchy.from_csv(path, sep=";").generalize(["baker"], 1).tolist() == ["{cook|baker}"]
    path.write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match=r"jobs\.csv: a hierarchy needs at least one value"):
        Hierarchy.from_csv(path)
    path.write_bytes("café,drink\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"jobs\.csv: no utf-8 text .* at byte 3"):
        Hierarchy.from_csv(path)
    assert Hierarchy.from_csv(path, encoding="latin-1").leaves == ("café",)
