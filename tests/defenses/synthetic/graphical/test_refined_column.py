"""Rare values are merged by their noisy counts, and come back in their proportions."""

import numpy as np
import pytest

from defenses.synthetic.graphical.estimation import NoisyMarginal
from defenses.synthetic.graphical.refined_column import MergedValues


def test_rare_values_are_merged_and_restored():
    values = MergedValues(NoisyMarginal((0,), np.array([500.0, 20, 300, -5, 10]), 100.0))
    assert values.size == 3
    assert values.codes.tolist() == [0, 2, 1, 2, 2]
    merged = values.merged()
    assert merged.counts.tolist() == [500, 300, 25]
    assert np.asarray(merged.variance).tolist() == [100, 100, 300]
    assert values.recoded(np.array([0, 1, 2, 3, 4, -1])).tolist() == [0, 2, 1, 2, 2, -1]
    drawn = np.repeat([0, 1, 2], [4, 3, 25])
    back = values.restored(drawn, np.random.default_rng(0))
    assert (back[:4] == 0).all()
    assert (back[4:7] == 2).all()
    # The noisy counts 20, -5 and 10, projected to their sum 25, are 17.5, 0 and 7.5.
    assert np.bincount(back[7:], minlength=5) == pytest.approx([0, 17.5, 0, 0, 7.5], abs=1)


@pytest.mark.parametrize("counts", [[500.0, 20, 300], [500.0, 400, 300]])
def test_a_single_rare_value_is_left(counts):
    values = MergedValues(NoisyMarginal((0,), np.array(counts), 100.0))
    assert values.size == 3
    assert values.restored(np.array([1, 2]), np.random.default_rng(0)).tolist() == [1, 2]


def test_all_values_may_be_rare():
    values = MergedValues(NoisyMarginal((0,), np.array([1.0, -3, -9]), 100.0))
    assert values.size == 1
    back = values.restored(np.zeros(6, dtype=np.intp), np.random.default_rng(0))
    assert back.size == 6
    assert set(back) <= {0, 1, 2}
