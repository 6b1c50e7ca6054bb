"""Queries about one column."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from defenses.base.microdata import Microdata
from defenses.base.queries.columns import labels, numbers, require_selection
from defenses.base.queries.counts import ContingencyTable
from defenses.base.queries.moments import covariance_of, mean_of, middle_of
from defenses.base.queries.query import Query
from metrics.arrays import Floats


@dataclass(frozen=True, eq=False)
class _OfColumn(Query):
    """A query about one column."""

    column: str

    @property
    def subjects(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)


@dataclass(frozen=True, eq=False)
class _OfNumbers(_OfColumn):
    """A query about one column of numbers."""

    def values(self, records: Microdata) -> Floats:
        """Numbers of the selected records, clipped into the declared bounds, shape (m,)."""
        return numbers(records, self.column)[self.selected(records)]


@dataclass(frozen=True, eq=False)
class Sum(_OfNumbers):
    """Sum of a column over the selected records."""

    def exact(self, records: Microdata) -> float:
        """Return the sum, correctly rounded; 0 over no record."""
        return math.fsum(self.values(records))


@dataclass(frozen=True, eq=False)
class Mean(_OfNumbers):
    """Mean of a column over the selected records."""

    def exact(self, records: Microdata) -> float:
        """Return the mean."""
        return mean_of(require_selection(self.values(records)))


@dataclass(frozen=True, eq=False)
class Variance(_OfNumbers):
    """Variance of a column over the selected records, the mean squared deviation (divided by n)."""

    def exact(self, records: Microdata) -> float:
        """Return the variance; it is computed near 0, since squares of large numbers would lose its digits."""
        values = require_selection(self.values(records)) - middle_of(records, self.column)
        return covariance_of(values, values)


@dataclass(frozen=True, eq=False)
class Maximum(_OfNumbers):
    """Largest value of a column over the selected records."""

    def exact(self, records: Microdata) -> float:
        """Return the maximum."""
        return float(require_selection(self.values(records)).max())


@dataclass(frozen=True, eq=False)
class Minimum(_OfNumbers):
    """Smallest value of a column over the selected records."""

    def exact(self, records: Microdata) -> float:
        """Return the minimum."""
        return float(require_selection(self.values(records)).min())


@dataclass(frozen=True, eq=False)
class Median(_OfNumbers):
    """Median of a column over the selected records; the mean of the two middle values for an even number of records."""

    def exact(self, records: Microdata) -> float:
        """Return the median."""
        return float(np.median(require_selection(self.values(records))))


@dataclass(frozen=True, eq=False)
class Quantile(_OfNumbers):
    """Quantile of a column over the selected records, interpolated linearly.

    Parameters
    ----------
    level : float
        Share of the records below the quantile, in [0, 1].
    """

    level: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.level, bool) or not isinstance(self.level, int | float) or not 0 <= self.level <= 1:
            raise ValueError(f"level must be a number in [0, 1], got {self.level!r}")

    def exact(self, records: Microdata) -> float:
        """Return the quantile."""
        return float(np.quantile(require_selection(self.values(records)), self.level))


@dataclass(frozen=True, eq=False)
class Histogram(_OfColumn):
    """Number of selected records in each category or public bin of a column."""

    def exact(self, records: Microdata) -> Floats:
        """Return the counts, shape (categories,)."""
        return ContingencyTable((self.column,), where=self.where, members=self.members).exact(records)


@dataclass(frozen=True, eq=False)
class Mode(_OfColumn):
    """The category or public bin with the most selected records; the first one in case of a tie."""

    def exact(self, records: Microdata) -> str:
        """Return the category, or the bin as a released cell."""
        counts = Histogram(self.column, where=self.where, members=self.members).exact(records)
        return labels(records, self.column)[int(counts.argmax())]
