"""Combinations are found among those of a table, also where one integer does not hold them."""

import numpy as np
import pytest

from scenarios.tables.parts.risk import KeySpace


@pytest.mark.parametrize("largest", [1 << 62, 5000])
def test_positions_are_those_of_equal_combinations(largest):
    rng = np.random.default_rng(1)
    rows = np.unique(rng.integers(0, 9, (60, 5)), axis=0)
    space = KeySpace.of(list(rows.T), largest)
    assert any(rank is not None for rank in space.ranks) == (largest == 5000)
    asked = np.concatenate([rows, rng.integers(-1, 12, (3000, 5))])
    place = {tuple(row): position for position, row in enumerate(rows.tolist())}
    expected = [place.get(tuple(row), -1) for row in asked.tolist()]
    assert space.positions(list(asked.T)).tolist() == expected
