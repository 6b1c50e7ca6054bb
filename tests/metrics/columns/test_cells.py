"""The grammar of released cells, and what cells cover."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import CategoricalDomain, NumericDomain, read_cells
from metrics.columns.cells import (
    escape,
    escape_column,
    holds_generalized,
    interval_cell,
    plain_values,
    set_cell,
    unescape,
)

AGE = NumericDomain(0, 99, integer=True, cuts=(10, 20, 50))
SIZE = NumericDomain(0, 10, cuts=(5,))
NASTY = ("a", "a|b", "[1,2]", "{x}", "*", "\\", "\\|", "}", " ", "1")
JOB = CategoricalDomain(NASTY)


@pytest.mark.thorough
# All texts of UTF-8; hypothesis would take seconds to ask the codec for each of a million characters.
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaped_text_reads_back(text):
    assert unescape(escape(text)) == text


@pytest.mark.thorough
@given(st.sets(st.sampled_from(NASTY), min_size=1))
def test_sets_of_nasty_categories_read_back(names):
    cells = read_cells(pd.Series([set_cell(sorted(names))], name="job"), JOB)
    assert {name for name, inside in zip(NASTY, cells.member[0], strict=True) if inside} == names


@pytest.mark.thorough
@given(st.floats(-50, 150), st.floats(0, 60), st.booleans(), st.floats(-60, 250))
def test_intervals_cover_what_they_say(low, width, closed, value):
    high = low + width
    cell = interval_cell(low, high, closed=closed)
    if low == high and not closed:
        with pytest.raises(ValueError, match="empty interval"):
            read_cells(pd.Series([cell], name="age"), AGE)
        return
    cells = read_cells(pd.Series([cell], name="age"), AGE)
    assert cells.contains([value])[0, 0] == (low <= value <= high if closed else low <= value < high)


def test_a_numeric_column_of_all_kinds():
    cells = read_cells(pd.Series(["35", "[20,29]", "[20,30)", "{1|40}", "*", None], name="age"), AGE)
    covered = cells.contains([1, 20, 29, 29.5, 30, 35, 40, np.nan])
    assert covered.astype(int).tolist() == [
        [0, 0, 0, 0, 0, 1, 0, 0],
        [0, 1, 1, 0, 0, 0, 0, 0],
        [0, 1, 1, 1, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 1, 0],
        [1, 1, 1, 1, 1, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, 0, 1],
    ]
    assert cells.plain.tolist() == [True, False, False, False, False, True]
    assert cells.midpoint().tolist()[:5] == [35, 24.5, 25, 20.5, 49.5]


def test_mass_spreads_over_the_values_that_a_cell_covers():
    cells = read_cells(pd.Series(["[5,14]", "{1|15|30|60}", "*", None, "99"], name="age"), AGE)
    assert cells.mass()[cells.codes] == pytest.approx(
        np.array(
            [
                [0.5, 0.5, 0, 0, 0],
                [0.25, 0.25, 0.25, 0.25, 0],
                [0.1, 0.1, 0.3, 0.5, 0],
                [0, 0, 0, 0, 1],
                [0, 0, 0, 1, 0],
            ]
        )
    )
    continuous = read_cells(pd.Series(["[4,6]", "5", "[0,10)"], name="size"), SIZE)
    assert continuous.mass() == pytest.approx(np.array([[0.5, 0.5, 0], [0, 1, 0], [0.5, 0.5, 0]]))


def test_numbers_need_no_text():
    cells = read_cells(pd.Series([3.0, np.nan, 3.0], name="age"), AGE)
    assert cells.codes.tolist() == [0, 1, 0]
    assert cells.contains([3, np.nan]).tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("old", "is no number"),
        ("[3,2]", "empty interval"),
        ("[1,inf]", "not finite"),
        ("nan", "not finite"),
        ("{1|x}", "is no number"),
        ("[1;2]", "is no number"),
    ],
)
def test_bad_numeric_cells_are_named(cell, says):
    with pytest.raises(ValueError, match=f"column 'age', row 1: .*{says}"):
        read_cells(pd.Series(["1", cell], name="age"), AGE)


def test_bad_categories_and_infinities_are_named():
    with pytest.raises(ValueError, match="column 'job', row 1: the cell holds an unknown category"):
        read_cells(pd.Series(["a", "z"], name="job"), JOB)
    with pytest.raises(ValueError, match="column 'age', row 1"):
        read_cells(pd.Series([1.0, np.inf], name="age"), AGE)


def test_values_survive_release():
    column = pd.Series(["a|b", None, "*", "x"], name="job")
    cells = escape_column(column)
    assert not holds_generalized(cells)
    assert plain_values(cells, None).tolist() == column.tolist()
    assert holds_generalized(pd.Series(["x", "[1,2]"]))
    assert plain_values(pd.Series(["1", "2.5"]), SIZE).tolist() == [1, 2.5]


def test_an_empty_column_has_no_cells():
    cells = read_cells(pd.Series([], name="age", dtype=object), AGE)
    assert cells.contains([1.0]).shape == (0, 1)
    assert cells.mass().shape == (0, 5)


def test_an_empty_element_of_a_set_is_the_missing_value():
    letters = CategoricalDomain(("a", "b", "c"))
    cells = read_cells(pd.Series(["{a|}", "{a|b}", None, "b", "*"]), letters)
    assert cells.contains(["a", "b", None]).tolist() == [
        [True, False, True],
        [True, True, False],
        [False, False, True],
        [False, True, False],
        [True, True, True],
    ]
    assert cells.plain.tolist() == [False, False, True, True, False]
    assert cells.mass()[0].tolist() == [0.5, 0.0, 0.0, 0.5]
    numbers = read_cells(pd.Series(["{[0,10)|}", "{1|[5,7]}", "3"]), NumericDomain(0, 20, cuts=(10,)))
    assert numbers.contains([3.0, 6.0, np.nan]).tolist() == [
        [True, True, True],
        [False, True, False],
        [True, False, False],
    ]
    assert numbers.plain.tolist() == [False, False, True]
    assert numbers.mass()[0].tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize("domain", [CategoricalDomain(("a", "b")), NumericDomain(0, 9)])
@pytest.mark.parametrize("cell", ["{}", "{|}"])
def test_a_set_of_nothing_is_refused(domain, cell):
    with pytest.raises(ValueError, match="row 0"):
        read_cells(pd.Series([cell], name="x"), domain)
