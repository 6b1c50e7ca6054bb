"""Numbers in leaves: truncated normal and uniform distributions."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from defenses.synthetic.mixed_column import LeafMembers, MixedColumn
from defenses.synthetic.tree_synthesis import LeafNumbers
from metrics import NumericDomain

VALUES = np.array([0.0, 1, 2, 3, 10, 20, 20, 20, np.nan, np.nan])
LEAF = np.array([0, 0, 0, 0, 1, 2, 2, 2, 0, 3])[:, None]
COLUMN = MixedColumn(pd.Series(VALUES), NumericDomain(0, 100), VALUES, None)
LOW, HIGH = np.array([-np.inf, 3.5, 4.5, -np.inf]), np.array([3.5, 4.5, np.inf, -0.5])


def law(*, normal):
    return LeafNumbers.of(COLUMN, LOW, HIGH, LeafMembers.of(LEAF), normal=normal)


def test_bounds_lie_between_values_and_end_at_the_extremes():
    numbers = law(normal=False)
    assert numbers.low.tolist() == [0, 6.5, 15, 0]
    assert numbers.high.tolist() == [6.5, 15, 20, 0]


@pytest.mark.parametrize("normal", [True, False])
def test_draws_follow_the_distribution_of_the_leaf(normal):
    """2,000 draws; false alarm 1e-4."""
    drawn = law(normal=normal).drawn(np.zeros(2000, dtype=int), np.random.default_rng(0))
    mean, deviation = 1.5, np.sqrt(1.25)
    expected = (
        stats.truncnorm((0 - mean) / deviation, (6.5 - mean) / deviation, mean, deviation)
        if normal
        else stats.uniform(0, 6.5)
    )
    assert stats.kstest(drawn, expected.cdf).pvalue > 1e-4


def test_equal_numbers_stay_and_leaves_without_numbers_draw_something_finite():
    numbers, rng = law(normal=True), np.random.default_rng(0)
    assert numbers.drawn(np.array([1, 2, 2]), rng).tolist() == [10, 20, 20]
    assert np.isfinite(numbers.drawn(np.array([3]), rng)).all()
