"""Tables of log-likelihoods."""

import numpy as np
import pytest

from defenses.base.channel_parts.part import Likelihood


@pytest.mark.parametrize("kinds", [3, 1000])
@pytest.mark.parametrize("columns", [1, 2, 20])
def test_table_has_the_likelihood_of_every_pair(kinds, columns):
    """Distinct rows, equal rows, missing numbers and many columns: each entry is that of its own pair."""
    rng = np.random.default_rng(1)

    def side(rows):
        numbers = rng.integers(0, kinds, size=(columns, rows)).astype(float)
        numbers[0, rng.random(rows) < 0.2] = np.nan
        return tuple(numbers)

    weights = rng.random(2 * columns)
    calls = []

    def kernel(*arrays):
        total = sum(weight * array for weight, array in zip(weights, arrays, strict=True))
        calls.append(np.size(total))
        return np.asarray(total)

    likelihood = Likelihood(side(40), side(60), kernel)
    table = likelihood.table()
    np.testing.assert_array_equal(table, likelihood.at(np.arange(40)[:, None], np.arange(60)[None, :]))
    assert table.shape == (40, 60)
    if kinds == 3 and columns == 1:
        assert calls[0] == 16


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1)])
def test_table_of_few_rows(shape):
    """Sides without rows give a table without rows or columns."""
    assert Likelihood((np.ones(shape[0]),), (np.ones(shape[1]),), np.add).table().shape == shape
