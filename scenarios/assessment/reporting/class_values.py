"""What equivalence classes show about a sensitive column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from metrics.arrays import Floats, Integers
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
        Where a person may have several rows, the larger one of rows and of people.
    one_value : int
        People in classes whose people all have some value for sure (distinct l-diversity 1). Classes of one person
        count.
    open_cells : int
        Records whose cell leaves more than one value: an interval, a set or ``*``.
    """

    excess: float
    one_value: int
    open_cells: int


def class_values(classes: Integers, cells: Cells, people: Integers | None = None) -> ClassValues:
    """Measure what classes show.

    Where people have several rows, shares are taken of rows and of people: a person has the values of all own rows.

    A set or an interval counts evenly for the values that it covers. ``*`` tells nothing, so it counts for values as
    the other cells of the table do. A missing value is a value of its own.

    Parameters
    ----------
    classes : ndarray of int, shape (rows,)
        The class of each record, from 0 without a gap.
    cells : Cells
        The sensitive column.
    people : ndarray of int, shape (rows,), optional
        Number of the person of each record; by default, each record is a person.
    """
    mass = cells.mass()
    rows = np.bincount(cells.codes, minlength=len(mass))
    told = rows * ~cells.suppressed
    if not told.any():
        return ClassValues(0.0, 0, int(classes.size))
    table = told @ mass / told.sum()
    mass[cells.suppressed] = table
    known = (mass.max(axis=1) > _SURE) & ~cells.suppressed
    certain, open_cells = np.where(known[:, None], mass, 0), int(rows[~known].sum())
    sizes = np.bincount(classes)
    counts = csr_array((np.ones(classes.size), (classes, cells.codes)), shape=(sizes.size, len(mass)))
    if people is None:
        one_value = (counts @ csr_array(certain)).max(axis=1).toarray().ravel() > _SURE * sizes
        exposed = int(sizes[one_value].sum())
    else:
        sure = _shares_of_people(classes, people, certain[cells.codes])
        one_value = sure.max(axis=1).toarray().ravel() > _SURE
        exposed = np.unique(people[one_value[classes]]).size
    # A table of one value has no news, even where some cells hide it.
    if table.max() > _SURE:
        return ClassValues(0.0, exposed, open_cells)
    shares = (counts @ csr_array(mass)).tocoo()
    excess = _largest_excess(shares.data / sizes[shares.row], table[shares.col])
    if people is not None:
        of_all = _shares_of_people(np.zeros_like(classes), people, mass[cells.codes]).toarray()[0]
        shares = _shares_of_people(classes, people, mass[cells.codes]).tocoo()
        excess = max(excess, _largest_excess(shares.data, of_all[shares.col]))
    return ClassValues(excess, exposed, open_cells)


def _largest_excess(shares: Floats, overall: Floats) -> float:
    """Largest (p - q) / (1 - q), at least 0; a value that everybody has is no news."""
    news = overall < _SURE
    return float(((shares[news] - overall[news]) / (1 - overall[news])).max(initial=0.0))


def _shares_of_people(classes: Integers, people: Integers, mass: Floats) -> csr_array:
    """Share of the people of each class who have each value, shape (classes, values).

    A person has a value as surely as the surest row of the person in the class.
    """
    pairs = pd.DataFrame({"class": classes, "person": people})
    member = pairs.groupby(["class", "person"], sort=False).ngroup().to_numpy()
    order = np.argsort(member, kind="stable")
    starts = np.flatnonzero(np.diff(member[order], prepend=-1))
    surest = np.maximum.reduceat(mass[order], starts, axis=0)
    of_class = classes[order][starts]
    size = np.bincount(of_class)
    weight = csr_array((1 / size[of_class], (of_class, np.arange(of_class.size))))
    return csr_array(weight @ csr_array(surest))
