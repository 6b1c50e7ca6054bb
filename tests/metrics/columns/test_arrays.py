"""Expansion of tables over codes."""

import numpy as np
import pytest

from metrics.columns.values import gathered


@pytest.mark.parametrize("kinds", [1, 5, 30])
@pytest.mark.parametrize("sizes", [(0, 4), (4, 0), (7, 60), (60, 7)])
def test_gathered_entries_are_those_of_each_pair_of_codes(kinds, sizes):
    """Few or many distinct rows, and empty sides."""
    rng = np.random.default_rng(1)
    table = rng.random((kinds, 8))
    rows, columns = rng.integers(kinds, size=sizes[0]), rng.integers(8, size=sizes[1])
    np.testing.assert_array_equal(gathered(table, rows, columns), table[rows][:, columns])
