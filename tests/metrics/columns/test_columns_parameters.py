"""Conditions are required or refused with their message, and the first thing that is wrong is named."""

import pytest

from metrics.columns.parameters import (
    check_boolean,
    check_choice,
    check_integer,
    check_list,
    check_real,
    refuse,
    refuse_any,
    refuse_rows,
    require,
)


def test_a_condition_that_does_not_hold_is_named():
    require([0], "empty")
    with pytest.raises(ValueError, match=r"^empty$"):
        require([], "empty")


def test_a_condition_that_holds_is_refused():
    refuse(0, "too many")
    with pytest.raises(ValueError, match=r"^too many$"):
        refuse(2, "too many")


def test_the_first_of_several_is_named():
    refuse_any([], lambda name: f"{name} is unknown")
    with pytest.raises(ValueError, match=r"^b is unknown$"):
        refuse_any(["b", "a"], lambda name: f"{name} is unknown")


def test_the_first_wrong_row_is_named():
    refuse_rows([False, False], lambda row: f"row {row}")
    with pytest.raises(ValueError, match=r"^row 1$"):
        refuse_rows([False, True, True], lambda row: f"row {row}")


@pytest.mark.parametrize("check", [check_integer, check_real])
def test_none_is_right_only_where_a_value_is_optional(check):
    assert check("rows", None, low=1, optional=True) is None
    with pytest.raises(ValueError, match="rows must be"):
        check("rows", None, low=1)
    with pytest.raises(ValueError, match="rows must be"):
        check("rows", 0, low=1, optional=True)


def test_checks_return_what_they_check():
    columns = ["age", "city"]
    assert check_integer("rows", 3, low=1) == 3
    assert check_real("share", 0.5, low=0) == 0.5
    assert check_choice("loss", "height", ("height", "precision")) == "height"
    assert check_boolean("strict", False) is False
    assert check_list("columns", columns) is columns
