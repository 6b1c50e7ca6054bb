"""Plans for counts, sums, means, variances and tables: sensitivity and noise of each query.

A planner reads public information only: the query, the declared domains and, under "replace", the number of records.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from defenses.base.microdata import Microdata
from defenses.base.queries import (
    ContingencyTable,
    Correlation,
    Count,
    Covariance,
    Histogram,
    Mean,
    Query,
    Sum,
    Variance,
    correlation_of,
    labels,
)
from defenses.curators.answer_noise import AnswerNoise
from defenses.dp.sensitivity import covariance_sensitivity, mean_sensitivity, sum_sensitivity, variance_sensitivity
from metrics.domains import CategoricalDomain

AnswerPlan = Callable[[Microdata, AnswerNoise], Any]
"""How a query is answered: a function that reads the records, draws the noise and returns the answer."""

MOST_CELLS = 10_000_000
"""Largest number of cells of a table that is answered."""
LARGEST_NUMBER = 1e60
"""Largest bound of a column that is answered: sums of squares of its numbers can still be given noise."""


def bounds(records: Microdata, column: str) -> tuple[float, float]:
    """Public bounds of a column.

    Raises
    ------
    ValueError
        If its domain is categorical, or so wide that noise for it cannot be drawn.
    """
    domain = records.domains[column]
    if isinstance(domain, CategoricalDomain):
        raise ValueError(f"column {column!r} holds categories; the query needs numbers")
    if max(abs(domain.low), abs(domain.high)) > LARGEST_NUMBER:
        raise ValueError(
            f"the bounds of column {column!r} must lie within {-LARGEST_NUMBER:g} and {LARGEST_NUMBER:g}, "
            f"got {domain.low:g} and {domain.high:g}"
        )
    return float(domain.low), float(domain.high)


def public_size(query: Query, records: Microdata, neighbours: str) -> int | None:
    """Number of selected records, or None where it is not public.

    It is public where records are replaced in place and the query has no condition.

    Raises
    ------
    ValueError
        If it is public and 0.
    """
    if neighbours != "replace" or query.where:
        return None
    size = len(records) if query.members is None else int(query.members.sum())
    if not size:
        raise ValueError("the query selects no record")
    return size


def plan_count(query: Count, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a count, which one record moves by at most 1 under either relation."""
    return lambda data, noise: noise.counts(np.array([query.exact(data)]), replaced=False)[0]


def plan_sum(query: Sum, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a sum."""
    sensitivity = sum_sensitivity(*bounds(records, query.column), neighbours, selective=bool(query.where))
    return lambda data, noise: noise.number(query.exact(data), sensitivity)


def plan_mean(query: Mean, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a mean.

    If the number of records is not public, half of the budget goes to the count. The other half goes to the sum of
    differences from the middle of the bounds.
    """
    low, high = bounds(records, query.column)
    size = public_size(query, records, neighbours)
    if size is not None:
        sensitivity = mean_sensitivity(low, high, size)
        return lambda data, noise: noise.number(query.exact(data), sensitivity)
    middle = low + (high - low) / 2
    half = (high - low) / 2
    sensitivity = sum_sensitivity(-half, half, neighbours, selective=bool(query.where))

    def plan(data: Microdata, noise: AnswerNoise) -> float:
        part = noise.split(2)
        values = query.values(data) - middle
        total = part.number(math.fsum(values), sensitivity)
        count = part.counts(np.array([float(values.size)]), replaced=False)[0]
        return float(np.clip(middle + total / max(count, 1.0), low, high))

    return plan


def plan_variance(query: Variance, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a variance; the number of records must be public."""
    size = _required_size(query, records, neighbours)
    sensitivity = variance_sensitivity(*bounds(records, query.column), size)
    return lambda data, noise: noise.number(query.exact(data), sensitivity)


def plan_covariance(query: Covariance, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a covariance; the number of records must be public."""
    size = _required_size(query, records, neighbours)
    sensitivity = covariance_sensitivity(bounds(records, query.first), bounds(records, query.second), size)
    return lambda data, noise: noise.number(query.exact(data), sensitivity)


def plan_correlation(query: Correlation, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a correlation from two variances and the covariance, each with a third of the budget.

    Variances are released rather than standard deviations. The sensitivity R sqrt(n - 1)/n of a standard deviation is
    sqrt(n) times as large in proportion. Where a noisy variance is at most 0 the answer is 0: only noise is known about
    that column. Answers lie within [-1, 1].
    """
    size = _required_size(query, records, neighbours)
    first, second = bounds(records, query.first), bounds(records, query.second)
    sensitivities = (
        variance_sensitivity(*first, size),
        variance_sensitivity(*second, size),
        covariance_sensitivity(first, second, size),
    )
    members = query.members

    def plan(data: Microdata, noise: AnswerNoise) -> float:
        third = noise.split(3)
        return correlation_of(
            third.number(Variance(query.first, members=members).exact(data), sensitivities[0]),
            third.number(Variance(query.second, members=members).exact(data), sensitivities[1]),
            third.number(Covariance(query.first, query.second, members=members).exact(data), sensitivities[2]),
        )

    return plan


def plan_table(query: Histogram | ContingencyTable, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a histogram or contingency table: one noisy count for each cell."""
    cells = math.prod(len(labels(records, name)) for name in query.subjects)
    if cells > MOST_CELLS:
        raise ValueError(f"the table has {cells:.3g} cells, at most {MOST_CELLS:,} are answered")
    return lambda data, noise: noise.counts(query.exact(data), replaced=neighbours == "replace")


def _required_size(query: Query, records: Microdata, neighbours: str) -> int:
    size = public_size(query, records, neighbours)
    if size is None:
        raise ValueError(
            f"{type(query).__name__} needs a public number of records: neighbours 'replace' and no condition"
        )
    return size
