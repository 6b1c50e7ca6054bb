"""Profiles of tables that are read in parts: expected counts of pairs of bins, without rows."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from metrics.arrays import Floats
from metrics.profile import Profile


class CountedProfile(Profile):
    """A profile given by the expected number of rows in each pair of bins.

    Parameters
    ----------
    joint : ndarray of float, shape (bins, bins)
        Expected number of rows in each pair of bins.
    starts : ndarray of int, shape (columns,)
        First bin of each column's block.
    rows : int
        Number of rows.

    Raises
    ------
    TypeError
        If the mass of single rows is asked for.
    """

    def __init__(self, joint: Floats, starts: NDArray[np.intp], rows: int) -> None:
        self._joint = joint
        self.starts = starts
        self._rows = rows

    @property
    def mass(self) -> Floats:
        """The mass of single rows, which is not kept."""
        raise TypeError("a counted profile keeps no rows")

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._rows

    @property
    def bins(self) -> int:
        """Number of bins of all columns."""
        return int(self._joint.shape[0])

    @property
    def joint(self) -> Floats:
        """Expected number of rows in each pair of bins, shape (bins, bins)."""
        return self._joint

    @cached_property
    def counts(self) -> Floats:
        """Expected number of rows in each bin, shape (bins,): every row has mass 1 in its first column."""
        if not self.starts.size:
            return np.zeros(0)
        first = slice(0, self.starts[1] if self.starts.size > 1 else self.bins)
        return np.asarray(self._joint[first].sum(axis=0))
