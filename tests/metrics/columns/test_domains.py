"""Public domains of columns."""

import numpy as np
import pandas as pd
import pytest

from metrics import CategoricalDomain, NumericDomain, read_cells

AGE = NumericDomain(0, 99, integer=True, cuts=(10, 20, 50))
SIZE = NumericDomain(0, 10, cuts=(5,))


@pytest.mark.parametrize(
    "arguments",
    [(1, 0), (0, np.inf), (0, 9, False, (5, 5)), (0, 9, False, (0,)), (0, 9, False, (10,))],
)
def test_bad_numeric_domains(arguments):
    with pytest.raises(ValueError, match=r"low|cuts|finite"):
        NumericDomain(*arguments)


def test_bad_categorical_domains():
    with pytest.raises(ValueError, match="'a' appears twice"):
        CategoricalDomain(("a", "b", "a"))
    with pytest.raises(ValueError, match="empty"):
        CategoricalDomain(())


def test_bins_are_written_as_they_are_read():
    for domain in (AGE, SIZE):
        cells = read_cells(pd.Series(domain.cells(), name="x"), domain)
        assert np.array_equal(cells.mass()[:, :-1], np.eye(domain.size))


@pytest.mark.parametrize("values", [["b", None, "a"], ["b", np.nan, "a"], [2.0, "a", None], [True, "b"], []])
def test_arrays_and_columns_have_the_same_codes(values):
    """Names of categories alone, missing values in several forms, and values that are no text."""
    domain = CategoricalDomain(("a", "b", "2", "True"))
    array = np.empty(len(values), dtype=object)
    array[:] = values
    codes = domain.codes(array)
    assert codes.dtype == np.intp
    np.testing.assert_array_equal(codes, domain.codes(pd.Series(values, dtype=object)))
    with pytest.raises(ValueError, match="row 1: unknown category; known are a"):
        domain.codes(np.array(["a", "c"], dtype=object))
