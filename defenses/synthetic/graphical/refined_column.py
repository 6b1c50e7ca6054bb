"""Noisy counts of numbers inside public bins, finer where there are many records."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from defenses.base import Microdata, codes, project_to_simplex
from defenses.synthetic.graphical.estimation import MeasuredTable, NoisyMarginal, rounded
from defenses.synthetic.mixed_column import Drawn
from defenses.synthetic.row_synthesizer import numbers_inside
from metrics.columns import Booleans, Floats, Integers, NumericDomain

# Rare values of a column, merged before pairs of columns are measured.

# Values with noisy counts below so many standard deviations of the noise are rare.
DEVIATIONS = 3.0


class MergedValues:
    """A column whose rare values are one value; with fewer than two rare ones, nothing is merged.

    Parameters
    ----------
    measurement : NoisyMarginal
        Noisy counts of the column's values, the only source of what is rare.

    References
    ----------
    McKenna, Miklau and Sheldon (2021), Winning the NIST contest, section 4.2 (compression of domains).
    """

    def __init__(self, measurement: NoisyMarginal) -> None:
        self.measurement = measurement
        common = measurement.counts >= DEVIATIONS * np.sqrt(measurement.variance)
        common |= np.count_nonzero(~common) < 2
        self.rare: Integers = np.flatnonzero(~common)
        self.codes: Integers = np.where(common, np.cumsum(common) - 1, common.sum())

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
        if not self.rare.size:
            return drawn
        common = np.setdiff1d(np.arange(self.codes.size), self.rare)
        counts = self.measurement.counts[self.rare]
        proportions = project_to_simplex(counts, max(math.fsum(counts), 1.0))
        result = np.append(common, -1)[drawn]
        rows = np.flatnonzero(drawn == common.size)
        result[rows] = self.rare[rounded(proportions[None, :], np.zeros(rows.size, dtype=np.intp), rng)]
        return result


PARTS, LEVELS = 16, 3
"""Largest number of parts of a cell, and of levels of division."""


@dataclass(frozen=True)
class RefinedColumn:
    """Cells that divide the public bins of a column, with estimated counts.

    - cells: The cells; their cuts include those of the public bins.
    - counts of shape (cells,): Estimated number of records in each cell, at least 0.
    """

    cells: NumericDomain
    counts: Floats = field(repr=False)

    def bins(self, public: NumericDomain, most: float) -> NumericDomain:
        """Divide bins with more than `most` records between cells, near the median, until none can be divided.

        - most: Largest estimated number of records in a bin of several cells.
        """
        cuts = list(public.cuts)
        starts = self._starts(public)
        waiting = list(pairwise(starts.tolist()))
        while waiting:
            first, last = waiting.pop()
            below = np.cumsum(self.counts[first:last])
            if below.size > 1 and below[-1] > most:
                middle = first + 1 + int(np.argmin(np.abs(below[:-1] - below[-1] / 2)))
                cuts.append(self.cells.cuts[middle - 1])
                waiting += [(first, middle), (middle, last)]
        return replace(public, cuts=tuple(sorted(cuts)))

    def inside(self, bins: NumericDomain) -> Callable[[Integers, Generator], Drawn]:
        """Return what draws numbers in given bins: a cell by the estimated counts, and uniformly inside the cell.

        - bins: Bins whose cuts are among those of the cells.
        """
        starts = self._starts(bins)
        widths = np.diff(np.ceil(self.cells.edges) if self.cells.integer else self.cells.edges)
        weights = np.zeros((bins.size, np.diff(starts).max()))
        for row, first, last in zip(weights, starts[:-1], starts[1:], strict=True):
            counts = self.counts[first:last]
            row[: last - first] = counts if counts.any() else widths[first:last]

        def numbers(drawn: Integers, rng: Generator) -> Drawn:
            cell = starts[drawn] + rounded(weights, drawn, rng)
            return numbers_inside(self.cells, cell, rng)

        return numbers

    def _starts(self, bins: NumericDomain) -> Integers:
        """First cell of each bin, and the number of cells; shape (bins + 1,)."""
        return np.array([0, *(np.searchsorted(self.cells.cuts, bins.cuts) + 1), self.cells.size])


def levels(domain: NumericDomain) -> int:
    """Number of times that the bins of a column are divided, at most `LEVELS`; it follows from the public domain."""
    edges = domain.edges
    if not domain.integer:
        return LEVELS if (np.diff(edges) > 0).any() else 0
    width, count = int(np.diff(np.ceil(edges)).max()), 0
    while width > 1 and count < LEVELS:
        width, count = -(-width // PARTS), count + 1
    return count


def refined_column(
    records: Microdata, name: str, public: NumericDomain, variance: Fraction, rng: Generator
) -> RefinedColumn:
    """Divide the public bins of a column into cells with noisy counts.

    Each of the `levels` costs rho = 1 / variance of zero-concentrated privacy. The first divides every public bin into
    at most `PARTS` cells. Each further one divides the cells whose count is so large that the parts' mean count
    exceeds the standard deviation of the noise. The division follows from noisy counts.

    - variance: Variance of the discrete Gaussian noise on each count.

    Notes
    -----
    The positive-part James-Stein estimator shrinks the counts of a cell's parts towards equal ones, so that noise does
    not look like structure. They are then projected to the count of the cell.

    References
    ----------
    Zhang, Xiao and Xie (2016), PrivTree: a differentially private algorithm for hierarchical decompositions, section 3
    (cells with a large noisy count are divided).
    Efron and Morris (1973), Stein's estimation rule and its competitors, section 3 (shrinkage towards the mean).
    """
    cells, counts = public, np.full(public.size, np.inf)
    for _ in range(levels(public)):
        division = [
            _parts(low, high, integer=cells.integer) if count > PARTS * math.sqrt(variance) else []
            for low, high, count in zip(cells.edges[:-1], cells.edges[1:], counts, strict=True)
        ]
        owner = np.repeat(np.arange(cells.size), [1 + len(inner) for inner in division])
        cuts = sorted([*cells.cuts, *(cut for inner in division for cut in inner)])
        cells = replace(cells, cuts=tuple(cuts))
        table = MeasuredTable([codes(replace(records, domains={**records.domains, name: cells}), name)], (cells.size,))
        noisy = table.measured((0,), variance, rng).counts
        counts = np.concatenate(
            [
                _estimated(part, float(variance), total)
                for part, total in zip(np.split(noisy, np.flatnonzero(np.diff(owner)) + 1), counts, strict=True)
            ]
        )
    return RefinedColumn(cells, counts)


def _parts(low: float, high: float, *, integer: bool) -> list[float]:
    """Interior cuts that divide a cell evenly; none where it holds a single number."""
    if integer:
        first, width = math.ceil(low), math.ceil(high) - math.ceil(low)
        count = min(PARTS, width)
        return [float(first + part * width // count) for part in range(1, count)]
    cuts = np.unique(np.linspace(low, high, PARTS + 1))
    return [float(cut) for cut in cuts if low < cut < high]


def _estimated(noisy: Floats, variance: float, total: float) -> Floats:
    """Counts of the parts of a cell whose count is `total`; where it is infinite, the sum of the noisy counts."""
    total = max(float(noisy.sum()), 0.0) if math.isinf(total) else total
    deviations = noisy - noisy.mean()
    square = float(deviations @ deviations)
    shrinkage = max(0.0, 1 - max(noisy.size - 3, 1) * variance / square) if square > 0 else 0.0
    if total <= 0:
        return np.zeros(noisy.size)
    return project_to_simplex(total / noisy.size + shrinkage * deviations, total)
