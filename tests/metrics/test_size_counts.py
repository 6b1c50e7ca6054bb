"""Sizes of classes give the estimates that the classes give."""

import numpy as np
import pytest

from metrics.classes import SizeCounts
from metrics.uniques import _sum_of_logarithms


def test_counts_rows_classes_and_uniques():
    sizes = SizeCounts.of_classes(np.array([3, 1, 1, 4, 3]))
    assert (sizes.rows, sizes.classes, sizes.uniques) == (12, 5, 2)
    assert SizeCounts.of_classes(np.array([2, 2])).uniques == 0


@pytest.mark.thorough_beyond(59)
@pytest.mark.parametrize("classes", [1, 2, 4096, 4097, 4098, 4099, 100_000])
@pytest.mark.parametrize("alpha", [1e-14, 1e-6, 0.3, 1 - 1e-9])
@pytest.mark.parametrize("theta", [-1e-15, 0.5, 1e4, 1e9])
def test_the_sum_of_logarithms_of_many_classes_is_that_of_each(alpha, theta, classes):
    terms = np.log(theta + np.arange(1, classes) * np.longdouble(alpha))
    assert _sum_of_logarithms(theta, alpha, classes) == pytest.approx(float(terms.sum()), rel=1e-12, abs=1e-12)
