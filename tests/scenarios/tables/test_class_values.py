"""Values of a sensitive column in classes: the largest excess of a share, and records in classes of one value."""

import numpy as np
import pandas as pd
import pytest

from scenarios.tables.class_values import class_values


def test_by_hand():
    # Shares of u: 2 of 3, 0 of 1 and 1 of 2 in the classes, 3 of 6 in the table; of v: 1 of 3, 1 of 1, 1 of 2.
    excess, one_value = class_values(np.array([0, 0, 0, 1, 2, 2]), pd.Series(list("uuvvuv")))
    assert excess == pytest.approx(1.0)
    assert one_value == 1
    excess, one_value = class_values(np.array([0, 0, 0, 2, 1, 1, 1, 2]), pd.Series(list("uuvuvvuv")))
    # v is held by 2 of 3 and by half of the table, and u likewise.
    assert excess == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))
    assert one_value == 0


def test_one_value_in_the_table_is_no_news_but_every_class_holds_one():
    assert class_values(np.array([0, 0, 1]), pd.Series(["u", "u", "u"])) == (0.0, 3)


def test_missing_values_are_a_value():
    assert class_values(np.array([0, 0, 1, 1]), pd.Series([None, None, "u", "*"], dtype=object))[1] == 2
