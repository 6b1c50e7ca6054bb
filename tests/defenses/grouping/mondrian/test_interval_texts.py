"""Texts of many intervals equal the cells of single ones."""

import numpy as np

from defenses.grouping.mondrian.columns import interval_texts
from metrics.columns.cells import interval_cell


def test_texts_are_the_cells_of_single_intervals():
    rng = np.random.default_rng(3)
    ends = rng.normal(size=(2, 5000)) * 10.0 ** rng.integers(-8, 20, 5000)
    special = np.array([[-0.0, 0.0, 7.0, 5e10], [0.0, 1e-9, 7.0, 5e10]])
    low, high = np.sort(np.concatenate([ends, ends.round(2), special], axis=1), axis=0)
    expected = [interval_cell(*pair) for pair in zip(low.tolist(), high.tolist(), strict=True)]
    assert interval_texts(low, high).tolist() == expected
    assert {cell[0] == "[" for cell in expected} == {True, False}


def test_cells_can_be_replaced():
    cells = interval_texts(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    cells[0] = None
    assert cells.tolist() == [None, "[2,3]"]
