"""Queries about two columns of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from defenses.base.microdata import Microdata
from defenses.base.queries.columns import numbers, require_selection
from defenses.base.queries.one_column import covariance_of, middle_of
from defenses.base.queries.query import Query
from metrics.columns.arrays import Floats


@dataclass(frozen=True, eq=False)
class _OfTwo(Query):
    """A query about two columns of numbers."""

    first: str
    second: str

    @property
    def subjects(self) -> tuple[str, ...]:
        """Both columns."""
        return (self.first, self.second)

    def values(self, records: Microdata) -> tuple[Floats, Floats]:
        """Numbers of the selected records in both columns, clipped into the declared bounds, shape (m,) each."""
        chosen = self.selected(records)
        return numbers(records, self.first)[chosen], numbers(records, self.second)[chosen]


@dataclass(frozen=True, eq=False)
class Covariance(_OfTwo):
    """Covariance of two columns over the selected records, the mean product of deviations (divided by n)."""

    def exact(self, records: Microdata) -> float:
        """Return the covariance; it is computed near 0, since products of large numbers would lose its digits."""
        first, second = self.values(records)
        return covariance_of(
            require_selection(first) - middle_of(records, self.first), second - middle_of(records, self.second)
        )


@dataclass(frozen=True, eq=False)
class Correlation(_OfTwo):
    """Pearson's correlation of two columns over the selected records; 0 where one is constant."""

    def exact(self, records: Microdata) -> float:
        """Return the correlation, in [-1, 1]."""
        first, second = self.values(records)
        first = require_selection(first) - middle_of(records, self.first)
        second = second - middle_of(records, self.second)
        return correlation_of(covariance_of(first, first), covariance_of(second, second), covariance_of(first, second))


def correlation_of(first: float, second: float, covariance: float) -> float:
    """Correlation from two variances and the covariance, clamped to [-1, 1]; 0 where a variance is not positive."""
    if first <= 0 or second <= 0:
        return 0.0
    return float(np.clip(covariance / math.sqrt(first) / math.sqrt(second), -1.0, 1.0))
