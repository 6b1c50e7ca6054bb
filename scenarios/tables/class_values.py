"""What equivalence classes show about a sensitive column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from metrics.arrays import Integers
from metrics.cells import Cells

_SURE = 1 - 1e-9
"""Share from which all of a class lies in one bin, up to rounding."""


@dataclass(frozen=True)
class ClassValues:
    """What equivalence classes show about a sensitive column, by categories or public bins.

    Attributes
    ----------
    excess : float
        Largest (p - q) / (1 - q) for a value with share p in a class and q in the table; 0 if there is one value only.
    one_value : int
        Records in classes all of whose records have one value for sure (distinct l-diversity 1). Classes of one record
        count.
    open_cells : int
        Records whose cell leaves more than one value: an interval, a set or ``*``.
    """

    excess: float
    one_value: int
    open_cells: int


def class_values(classes: Integers, cells: Cells) -> ClassValues:
    """Measure what classes show.

    A set or an interval counts evenly for the values that it covers. ``*`` tells nothing, so it counts for values as
    the other cells of the table do. A missing value is a value of its own.

    Parameters
    ----------
    classes : ndarray of int, shape (rows,)
        The class of each record, from 0 without a gap.
    cells : Cells
        The sensitive column.
    """
    mass = cells.mass()
    rows = np.bincount(cells.codes, minlength=len(mass))
    told = rows * ~cells.suppressed
    if not told.any():
        return ClassValues(0.0, 0, int(classes.size))
    table = told @ mass / told.sum()
    mass[cells.suppressed] = table
    # A table of one value has no news, even where some cells hide it.
    known = (mass.max(axis=1) > _SURE) & ~cells.suppressed
    open_cells = int(rows[~known].sum())
    sizes = np.bincount(classes)
    counts = csr_array((np.ones(classes.size), (classes, cells.codes)), shape=(sizes.size, len(mass)))
    one_value = (counts @ csr_array(np.where(known[:, None], mass, 0))).max(axis=1).toarray().ravel() > _SURE * sizes
    if table.max() > _SURE:
        return ClassValues(0.0, int(sizes[one_value].sum()), open_cells)
    shares = (counts @ csr_array(mass)).tocoo()
    overall = table[shares.col]
    excess = (shares.data / sizes[shares.row] - overall) / (1 - overall)
    return ClassValues(max(0.0, float(excess.max())), int(sizes[one_value].sum()), open_cells)
