"""The channel part of clipped numbers."""

import numpy as np
import pytest
from channel_tools import one_column

from defenses.base.channel_parts import Clipping


def test_clipping_table():
    table = one_column(Clipping("x", 2.0, 5.0), [2, 3, 5, 1, np.nan], [0, 2, 3, 9, np.nan]).table()
    assert (table == 0).tolist() == [
        [True, True, False, False, False],
        [False, False, True, False, False],
        [False, False, False, True, False],
        [False, False, False, False, False],
        [False, False, False, False, True],
    ]
    assert (table[table != 0] == -np.inf).all()


def test_parts_name_cells_that_are_no_numbers():
    with pytest.raises(ValueError, match=r"column 'age', row 1: the cell is no plain number"):
        one_column(Clipping("age", 20.0, 30.0), ["25", "[20,29]"], [25])
