"""The area under the ROC curve."""

import numpy as np
import pytest

from metrics.ranking import area_under_curve


def test_area_under_the_curve_counts_ties_half():
    assert area_under_curve([3, 2, 2, 1], [True, True, False, False]) == (1 + 1 + 0.5 + 1) / 4
    assert area_under_curve([-np.inf, 0], [False, True]) == 1
    with pytest.raises(ValueError, match="positives and negatives"):
        area_under_curve([1, 2], [True, True])
