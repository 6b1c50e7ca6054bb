"""Texts of many intervals at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.arrays import Floats
from metrics.domains import format_number
from metrics.number_texts import number_texts


def interval_texts(low: Floats, high: Floats) -> NDArray[np.object_]:
    """Cells for the numbers from `low` to `high`, both included, as `metrics.cells.interval_cell` writes each.

    Parameters
    ----------
    low, high : ndarray of float, shape (n,)
        Ends of the intervals; a plain cell where both are equal.
    """
    # Adding 0.0 makes 0.0 of -0.0, which `format_number` writes alike.
    ends = [number_texts(numbers + 0.0, format_number) for numbers in (low, high)]
    texts = pc.binary_join_element_wise(
        pc.binary_join_element_wise("[", ends[0], ""), pc.binary_join_element_wise(ends[1], "]", ""), ","
    )
    cells: NDArray[Any] = pc.if_else(pa.array(low == high), ends[0], texts).to_numpy(zero_copy_only=False)
    return cells if cells.flags.writeable else cells.copy()
