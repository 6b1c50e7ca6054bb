"""Queries about columns: counts, tables, moments, quantiles and modes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from defenses.base.microdata import Microdata
from defenses.base.queries.query import Query, codes, labels, numbers, require_selection
from metrics.columns import Floats, Integers, refuse


@dataclass(frozen=True, eq=False)
class Count(Query):
    """Number of selected records."""

    def exact(self, records: Microdata) -> float:
        """Return the count."""
        return float(np.count_nonzero(self.selected(records)))


@dataclass(frozen=True, eq=False)
class ContingencyTable(Query):
    """Number of selected records in each combination of categories or public bins of some columns."""

    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse(
            isinstance(self.columns, str) or not self.columns or len(set(self.columns)) < len(self.columns),
            f"columns must be a list of column names, each once, got {self.columns!r}",
        )
        object.__setattr__(self, "columns", tuple(self.columns))

    @property
    def subjects(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns

    def exact(self, records: Microdata) -> Floats:
        """Return the counts, shape (categories of the first column, ... of the last)."""
        sizes = tuple(len(labels(records, name)) for name in self.columns)
        selected = self.selected(records)
        return counted([codes(records, name)[selected] for name in self.columns], sizes)


def counted(codes: Sequence[Integers], shape: tuple[int, ...]) -> Floats:
    """Number of rows in each combination of values, one axis for each column; rows with a negative code do not count.

    Codes are arrays of shape (n,) for each column, and the shape is the number of values of each column.
    """
    valid = np.all([code >= 0 for code in codes], axis=0)
    flat = np.ravel_multi_index(tuple(code[valid] for code in codes), shape)
    return np.bincount(flat, minlength=math.prod(shape)).astype(float).reshape(shape)


# Means and covariances of numbers near 0, with a bound on their rounding errors.


def middle_of(records: Microdata, column: str) -> float:
    """Middle of the column's declared bounds, a public offset; 0 without declared bounds."""
    domain = records.domains.get(column)
    low, high = getattr(domain, "low", 0.0), getattr(domain, "high", 0.0)
    return float(low + (high - low) / 2)


def mean_of(values: Floats) -> float:
    """Mean of at least one number: a correctly rounded sum, divided by the number of values."""
    return math.fsum(values.tolist()) / values.size


def covariance_of(first: Floats, second: Floats) -> float:
    """Covariance (divided by n) of two columns of at least one number each; the variance if they are the same.

    Notes
    -----
    Let the numbers lie within [-A, A] and [-B, B]. The result is off by at most 2^-47 A B. Proof, with u = 2^-53 and
    without terms in u^2: a mean is off by 2 u A, a deviation, of at most 2 A, by 4 u A. A product of deviations is off
    by 2 A 4 u B + 2 B 4 u A + 4 u A B = 20 u A B. The sum of products and its quotient add 8 u A B. In all that is
    28 u A B, below 2^-48 A B; the terms in u^2 are smaller by far.
    """
    return mean_of((first - mean_of(first)) * (second - mean_of(second)))


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

    - level: Share of the records below the quantile, in [0, 1].
    """

    level: float

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse(
            isinstance(self.level, bool) or not isinstance(self.level, int | float) or not 0 <= self.level <= 1,
            f"level must be a number in [0, 1], got {self.level!r}",
        )

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


# Queries about two columns of numbers.


@dataclass(frozen=True, eq=False)
class _OfTwo(Query):
    """A query about two columns of numbers."""

    first: str
    second: str

    @property
    def subjects(self) -> tuple[str, ...]:
        """Both columns."""
        return (self.first, self.second)

    def centred(self, records: Microdata) -> tuple[Floats, Floats]:
        """Clipped numbers of the selected records in both columns, less the middles of the bounds, shape (m,) each.

        Products of large numbers would lose their digits.
        """
        chosen = self.selected(records)
        first, second = (
            require_selection(numbers(records, name)[chosen]) - middle_of(records, name) for name in self.subjects
        )
        return first, second


@dataclass(frozen=True, eq=False)
class Covariance(_OfTwo):
    """Covariance of two columns over the selected records, the mean product of deviations (divided by n)."""

    def exact(self, records: Microdata) -> float:
        """Return the covariance."""
        return covariance_of(*self.centred(records))


@dataclass(frozen=True, eq=False)
class Correlation(_OfTwo):
    """Pearson's correlation of two columns over the selected records; 0 where one is constant."""

    def exact(self, records: Microdata) -> float:
        """Return the correlation, in [-1, 1]."""
        first, second = self.centred(records)
        return correlation_of(covariance_of(first, first), covariance_of(second, second), covariance_of(first, second))


def correlation_of(first: float, second: float, covariance: float) -> float:
    """Correlation from two variances and the covariance, clamped to [-1, 1]; 0 where a variance is not positive."""
    if first <= 0 or second <= 0:
        return 0.0
    return float(np.clip(covariance / math.sqrt(first) / math.sqrt(second), -1.0, 1.0))
