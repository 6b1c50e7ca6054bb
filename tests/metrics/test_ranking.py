"""The area under the ROC curve and balanced accuracy."""

import numpy as np
import pytest

from metrics.ranking import area_under_curve, balanced_accuracy


def test_area_under_the_curve_counts_ties_half():
    assert area_under_curve([3, 2, 2, 1], [True, True, False, False]) == (1 + 1 + 0.5 + 1) / 4
    assert area_under_curve([-np.inf, 0], [False, True]) == 1
    with pytest.raises(ValueError, match="positives and negatives"):
        area_under_curve([1, 2], [True, True])


def test_balanced_accuracy_is_the_mean_recall():
    labels = np.array([0] * 8 + [2] * 2)
    # The majority class alone has accuracy .8, and recalls 1 and 0.
    assert balanced_accuracy(np.zeros(10), labels) == 0.5
    assert balanced_accuracy([0, 0, 0, 0, 0, 0, 2, 2, 2, 1], labels) == (6 / 8 + 1 / 2) / 2
    assert balanced_accuracy(labels, labels) == 1
    with pytest.raises(ValueError, match="at least one record"):
        balanced_accuracy([], [])
