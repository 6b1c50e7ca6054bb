"""Noisy counts: the noise has the stated variance, and missing values do not spread over rare ones."""

from fractions import Fraction

import numpy as np
import pytest

from defenses.base.queries.column_queries import counted
from defenses.synthetic.graphical.estimation import MeasuredTable


def test_counts_leave_out_missing_values():
    table = MeasuredTable([np.array([0, 1, 1, -1]), np.array([2, 0, -1, 0])], (2, 3))
    assert table.counts((0, 1)).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert table.counts((1,)).tolist() == [2, 0, 1]
    assert counted([np.array([], dtype=np.intp)], (2,)).tolist() == [0, 0]


def test_the_noise_has_the_stated_variance():
    table = MeasuredTable([np.zeros(10, dtype=np.intp)], (4000,))
    noisy = table.measured((0,), Fraction(9), np.random.default_rng(0)).counts
    noise = noisy - table.counts((0,))
    # The variance's own standard deviation is 9 sqrt(2 / 4000): 5 of them are a false alarm of 6e-7.
    assert noise.var() == pytest.approx(9, abs=5 * 9 * (2 / 4000) ** 0.5)
    assert (noise == np.round(noise)).all()


def test_a_third_missing_is_taken_to_be_missing_at_random():
    codes = np.repeat([0, 1, -1], [500, 100, 300])
    measured = MeasuredTable([codes], (3,)).measured((0,), Fraction(1), np.random.default_rng(0))
    assert measured.counts == pytest.approx([750, 150, 0], abs=12)
    assert measured.present == pytest.approx(2 / 3, abs=0.02)
    assert measured.variance == pytest.approx(2.25, abs=0.1)


def test_a_deficit_that_noise_explains_is_left():
    codes = np.repeat([0, 1, -1], [500, 397, 3])
    measured = MeasuredTable([codes], (2,)).measured((0,), Fraction(100), np.random.default_rng(0))
    assert measured.present == 1
    assert measured.variance == 100
