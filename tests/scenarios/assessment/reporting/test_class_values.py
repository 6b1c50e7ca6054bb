"""Values of a sensitive column in classes: the largest excess of a share, and records in classes of one value."""

import numpy as np
import pandas as pd
import pytest

from metrics import CategoricalDomain, NumericDomain, read_cells
from scenarios.assessment.reporting.findings import ClassValues, class_values

LETTERS = CategoricalDomain(("u", "v"))
SIX = CategoricalDomain(tuple("uvwxyz"))


def shown(classes, cells, domain=LETTERS):
    return class_values(np.array(classes), read_cells(pd.Series(cells, dtype=object), domain))


def test_by_hand():
    # Shares of u: 2 of 3, 0 of 1 and 1 of 2 in the classes, 3 of 6 in the table; of v: 1 of 3, 1 of 1, 1 of 2.
    assert shown([0, 0, 0, 1, 2, 2], list("uuvvuv")) == ClassValues(pytest.approx(1.0), 1, 0)
    # v is held by 2 of 3 and by half of the table, and u likewise.
    excess = pytest.approx((2 / 3 - 1 / 2) / (1 / 2))
    assert shown([0, 0, 0, 2, 1, 1, 1, 2], list("uuvuvvuv")) == ClassValues(excess, 0, 0)


def test_one_value_in_the_table_is_no_news_but_every_class_holds_one():
    assert shown([0, 0, 1], ["u", "u", "u"]) == ClassValues(0.0, 3, 0)


def test_missing_values_are_a_value_and_suppressed_cells_are_none():
    values = shown([0, 0, 1, 1], [None, None, "u", "*"])
    assert (values.one_value, values.open_cells) == (2, 1)


def test_a_set_counts_evenly_for_its_members():
    # Three illnesses are left of six: each has 1/3 in the class, and 1/6 in the table.
    values = shown([0, 0, 1], ["{u|v|w}", "{u|v|w}", "{x|y|z}"], SIX)
    assert values.one_value == 0
    assert values.open_cells == 3
    assert values.excess == pytest.approx((1 / 3 - 1 / 9) / (1 - 1 / 9))


def test_suppressed_cells_tell_nothing():
    assert shown([0, 0, 1], ["*", "*", "*"]) == ClassValues(0.0, 0, 3)
    # The class of suppressed cells is no surer than the table, whose shown cells hold u and v in equal numbers.
    assert shown([0, 0, 1, 1], ["u", "v", "*", "*"]) == ClassValues(0.0, 0, 2)
    # Nine shown cells and one hidden one do not make the value known, but much surer.
    values = shown([0] * 10 + [1] * 9, ["u"] * 9 + ["*"] + ["v"] * 9)
    assert values == ClassValues(pytest.approx(1.0), 9, 1)
    values = shown([0] * 10 + [1] * 18, ["u"] * 9 + ["*"] + ["u", "v"] * 9)
    assert values.one_value == 0
    assert values.excess == pytest.approx((0.9 + 0.1 * 2 / 3 - 2 / 3) / (1 / 3))


def test_two_spellings_of_a_value_are_one():
    one = shown([0, 0, 1, 1], ["u", "u", "u", "v"])
    assert shown([0, 0, 1, 1], ["u", "{u}", "{u|u}", "v"]) == one


def test_an_interval_inside_a_public_bin_tells_the_bin():
    ages = NumericDomain(0, 99, integer=True, cuts=(50,))
    assert shown([0, 0, 1, 1], ["[10,20]", "{3|30}", "[40,59]", "70"], ages).one_value == 2
    assert shown([0, 0, 1, 1], ["[10,20]", "{3|30}", "[40,59]", "70"], ages).open_cells == 1
