"""The records as exact counts of sets of columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.random import Generator

from defenses.base.queries.column_queries import counted
from defenses.dp.exact import discrete_gaussian
from defenses.synthetic.graphical.estimation import NoisyMarginal
from metrics.columns import Booleans, Floats, Integers

Columns = tuple[int, ...]
"""Numbers of columns in ascending order, or their sizes."""


@dataclass(frozen=True)
class CountedColumns:
    """Records as positions of values in public domains.

    - codes, each of shape (n,): Position of each record's value in each column; -1 where it is missing or not in the
      domain.
    - sizes: Number of values of each column.
    """

    codes: list[Integers] = field(repr=False)
    sizes: Columns

    @property
    def n(self) -> int:
        """Number of records, which is public."""
        return int(self.codes[0].size)

    def cells(self, columns: Columns) -> int:
        """Number of combinations of values of the columns."""
        return math.prod(self.sizes[column] for column in columns)

    def shape(self, columns: Columns) -> tuple[int, ...]:
        """Number of values of each of the columns."""
        return tuple(self.sizes[column] for column in columns)

    def counts(self, columns: Columns) -> Floats:
        """Exact counts, one axis for each column; n for no column. They are private."""
        if not columns:
            return np.array(float(self.n))
        return counted([self.codes[column] for column in columns], self.shape(columns))


# The records as noisy counts of sets of columns.

# Deficits of a noisy total within so many standard deviations of its noise count as noise.
DEVIATIONS = 3.0


@dataclass(frozen=True)
class MeasuredTable(CountedColumns):
    """Counted columns that are read through noise only.

    - codes, each of shape (n,): Position of each record's value in each column; -1 where it is missing or not in the
      domain.
    - sizes: Number of values of each column.
    - impossible: Publicly known combinations of values that no row holds: True in the cells of these columns.
    """

    impossible: Mapping[Columns, Booleans] = field(default_factory=dict)

    def measured(self, columns: Columns, variance: Fraction, rng: Generator) -> NoisyMarginal:
        """Counts with discrete Gaussian noise of this variance.

        Replacing a record changes one count by 1 and another by -1, so that a measurement costs
        rho = 1 / variance of zero-concentrated differential privacy (L2 sensitivity sqrt 2).

        Where values are missing, counts sum to fewer than n. Counts are scaled to the sum n if the noisy sum lies more
        than three standard deviations of its noise below n. Values are taken to be missing at random.
        """
        noise = discrete_gaussian(variance, self.cells(columns), rng).reshape(self.shape(columns))
        counts = self.counts(columns) + noise
        return to_total(NoisyMarginal(columns, counts, float(variance)), self.n)


def to_total(measurement: NoisyMarginal, n: int) -> NoisyMarginal:
    """Scale a measurement to the total `n` if its sum is far below what noise explains."""
    total = float(measurement.counts.sum())
    noise = math.sqrt(np.broadcast_to(measurement.variance, measurement.counts.shape).sum())
    if n - total <= DEVIATIONS * noise or total <= 0.1 * n:
        return measurement
    factor = n / total
    return NoisyMarginal(measurement.columns, measurement.counts * factor, measurement.variance * factor**2, 1 / factor)
