"""Majority in class on a table made by hand."""

from illness_tools import rates
from numpy.testing import assert_allclose

from attacks import MajorityInClass


def test_majority_on_twelve_rows_exactly():
    # All four of the first class, two of four in the tied second, three of four in the third.
    # Strangers: one of the four covered by the first class, half each of the two in the second, and the two beyond
    # all classes are nearest to the third, whose majority has a cold.
    assert_allclose(rates(MajorityInClass()), [9 / 12, (1 + 1) / 8])
