"""Rare values of a column, merged before pairs of columns are measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from defenses.base.simplex import project_to_simplex
from defenses.synthetic.graphical.estimation import NoisyMarginal
from defenses.synthetic.graphical.sampled_rows import rounded
from metrics.arrays import Booleans, Floats, Integers

# Values with noisy counts below so many standard deviations of the noise are rare.
DEVIATIONS = 3.0


@dataclass(frozen=True)
class MergedValues:
    """A column whose rare values are one value; with fewer than two rare ones, nothing is merged.

    Parameters
    ----------
    measurement : NoisyMarginal
        Noisy counts of the column's values, the only source of what is rare.
    n : int
        Number of records.

    References
    ----------
    McKenna, Miklau and Sheldon (2021), Winning the NIST contest, section 4.2 (compression of domains).
    """

    measurement: NoisyMarginal
    n: int
    rare: Integers = field(init=False)
    codes: Integers = field(init=False)

    def __post_init__(self) -> None:
        counts = self.measurement.counts
        rare = np.flatnonzero(counts < DEVIATIONS * np.sqrt(self.measurement.variance))
        rare = rare if rare.size > 1 else rare[:0]
        common = np.ones(counts.size, dtype=bool)
        common[rare] = False
        codes = np.cumsum(common) - 1
        codes[rare] = common.sum()
        object.__setattr__(self, "rare", rare)
        object.__setattr__(self, "codes", codes)

    @property
    def size(self) -> int:
        """Number of values after merging."""
        return int(self.codes.max()) + 1

    def merged(self) -> NoisyMarginal:
        """The noisy counts of the values after merging."""
        variances = np.broadcast_to(self.measurement.variance, self.measurement.counts.shape)
        return NoisyMarginal(
            self.measurement.columns,
            np.bincount(self.codes, weights=self.measurement.counts).astype(float),
            np.bincount(self.codes, weights=variances).astype(float),
            self.measurement.present,
        )

    def impossible(self, cells: Booleans, axis: int) -> Booleans:
        """Cells of several columns of which this one is an axis, after merging: all merged values are impossible."""
        moved = np.moveaxis(cells, axis, 0)
        result = np.ones((self.size, *moved.shape[1:]), dtype=bool)
        np.logical_and.at(result, self.codes, moved)
        return np.moveaxis(result, 0, axis)

    def recoded(self, column: Integers) -> Integers:
        """Values of records after merging; -1 remains."""
        return np.append(self.codes, -1)[column]

    def restored(self, drawn: Integers, rng: Generator) -> Integers:
        """Give each drawn row with the merged value a rare value, in the proportions of the noisy counts."""
        common = np.setdiff1d(np.arange(self.codes.size), self.rare)
        if not self.rare.size:
            return drawn
        result = np.append(common, -1)[drawn]
        rows = np.flatnonzero(drawn == common.size)
        result[rows] = self.rare[rounded(self._proportions()[None, :], np.zeros(rows.size, dtype=np.intp), rng)]
        return result

    def _proportions(self) -> Floats:
        counts = self.measurement.counts[self.rare]
        return project_to_simplex(counts, max(math.fsum(counts), 1.0))
