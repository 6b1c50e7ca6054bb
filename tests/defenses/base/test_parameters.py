"""Checks of single parameters accept what is right, and name the parameter and what is right otherwise."""

import math

import numpy as np
import pytest

from defenses import check_integer, check_real


@pytest.mark.parametrize("value", [1, 2, 10**30, np.int64(5)])
def test_integers_from_the_low_end_on_pass(value):
    check_integer("base", value, low=1)


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", None, math.nan, math.inf, np.float64(2)])
def test_other_values_are_no_integers(value):
    with pytest.raises(ValueError, match="base must be an integer of at least 1, got"):
        check_integer("base", value, low=1)


@pytest.mark.parametrize("value", [0, 0.5, 1, np.float64(0.25), np.int64(1)])
def test_numbers_in_the_interval_pass(value):
    check_real("share", value, low=0, high=1)


@pytest.mark.parametrize("value", [-0.1, 1.1, True, "0.5", None, math.nan, math.inf, -math.inf])
def test_other_values_are_no_numbers_of_the_interval(value):
    with pytest.raises(ValueError, match=r"share must be a finite number in \[0, 1\], got"):
        check_real("share", value, low=0, high=1)


@pytest.mark.parametrize("value", [0, 1, math.inf])
def test_open_ends_and_infinity_are_left_out(value):
    with pytest.raises(ValueError, match=r"share must be a finite number in \(0, 1\), got"):
        check_real("share", value, low=0, high=1, open_low=True, open_high=True)
    with pytest.raises(ValueError, match=r"share must be a finite number in \(1, inf\), got"):
        check_real("share", value, low=1, open_low=True)
