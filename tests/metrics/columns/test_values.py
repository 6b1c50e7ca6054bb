"""Values are told apart by their own type and text, whatever else is in the column."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from metrics import CategoricalDomain, infer_domain, read_cells
from metrics.columns.cells import escape_column
from metrics.columns.values import distinct_cells, distinct_values, text_of, texts_of

NUMBERS = CategoricalDomain(("0", "1", "72", "72.5", "True"))
VALUES = (1, True, 1.0, "1", np.int8(1), np.True_, 72, 72.0, np.float32(72), "72", 72.5, None, np.nan, pd.NA, 0)
CATEGORIES = (1, 4, 1, 1, 1, 4, 2, 2, 2, 2, 3, 5, 5, 5, 0)


@pytest.mark.parametrize("seed", range(5))
def test_the_category_of_a_value_does_not_depend_on_the_others(seed):
    order = np.random.default_rng(seed).permutation(len(VALUES))
    column = [VALUES[position] for position in order]
    expected = [CATEGORIES[position] for position in order]
    for values in (column, pd.Series(column, dtype=object), np.array(column, dtype=object)):
        assert NUMBERS.codes(values).tolist() == expected
    cells = read_cells(escape_column(pd.Series(column, dtype=object), NUMBERS), NUMBERS)
    assert cells.mass()[cells.codes].argmax(axis=1).tolist() == expected
    for value, code in zip(VALUES, CATEGORIES, strict=True):
        assert NUMBERS.codes([value]).tolist() == [code]


@pytest.mark.parametrize("values", [[1, 0, 72], [1.0, 0.0, 72.0], [1.0, 0.0, 72.0, None], [True, 0, 72], ["1", 0, 72]])
def test_storage_does_not_matter(values):
    assert NUMBERS.codes(pd.Series(values))[1:3].tolist() == [0, 2]


def test_a_declared_fraction_names_an_integer_too():
    domain = CategoricalDomain(("72.0", "73.0"))
    for values in ([72, 73], [72.0, 73.0], [72, 73.0], ["72.0", 73]):
        column = pd.Series(values, name="code", dtype=object)
        assert domain.codes(column).tolist() == [0, 1]
        assert escape_column(column, domain).tolist() == ["72.0", "73.0"]
    assert CategoricalDomain(("72.0", "72")).codes([72.0, "72.0"]).tolist() == [1, 0]


def test_inferred_categories_are_texts():
    for values in ([True, 1, 72, 72.0], [1, True, 72.0, 72], [72.0, 1.0, True, 72]):
        column = pd.Series(values, dtype=object)
        assert infer_domain(column).categories == ("1", "72", "True")
        assert set(escape_column(column)) == {"1", "72", "True"}


def test_unknown_values_are_named():
    with pytest.raises(ValueError, match="row 1: unknown category; known are 0, 1"):
        NUMBERS.codes([1, 2])
    with pytest.raises(ValueError, match="unknown category"):
        NUMBERS.codes([1, [1]])


class Silent:
    def __str__(self):
        raise RuntimeError

    __repr__ = object.__repr__


def test_texts():
    assert texts_of(72) == texts_of(72.0) == texts_of(np.float32(72)) == ("72", "72.0")
    assert texts_of(True) == texts_of(np.True_) == ("True",)
    assert texts_of(1e300) == ("1e+300",)
    assert texts_of(Silent()) == ()
    assert (text_of(72.0), text_of(72, {"72.0"}), text_of(Silent())) == ("72", "72.0", "")


def test_distinct_values_keep_types_and_order():
    column = pd.Series([1, True, None, 1.0, 1, "1", Decimal("NaN")], dtype=object)
    codes, values = distinct_values(column)
    assert codes.tolist() == [0, 1, -1, 2, 0, 3, -1]
    assert [(type(value), value) for value in values] == [(int, 1), (bool, True), (float, 1.0), (str, "1")]
    codes, cells = distinct_cells(column)
    assert codes.tolist() == [0, 1, 4, 2, 0, 3, 4]
    assert cells[4] is None
    assert distinct_cells(pd.Series([], dtype=object))[1].size == 0
