"""How each query is answered: with which sensitivity, and with which noise.

A plan is made from public things alone: the query, the declared domains, and under "replace" the number of records.
It refuses what cannot be answered before anything is spent. Its `answer` then looks at the records, and must not fail.

A query of several parts splits its epsilon (or its rho) evenly among them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator

from defenses.base.microdata import Microdata
from defenses.base.queries import (
    Answer,
    ContingencyTable,
    Correlation,
    Count,
    Covariance,
    Histogram,
    Maximum,
    Mean,
    Median,
    Minimum,
    Mode,
    Quantile,
    Query,
    Sum,
    Variance,
    correlation_of,
    labels,
)
from defenses.dp.discrete_gaussian_sampling import discrete_gaussian
from defenses.dp.exact import fraction
from defenses.dp.laplace import DiscreteLaplace, Laplace
from defenses.dp.mechanism import check_privacy, lattice_step, on_lattice, steps_between
from defenses.dp.selection import Exponential, ReportNoisyMax
from defenses.dp.sensitivity import (
    covariance_sensitivity,
    histogram_sensitivity,
    mean_sensitivity,
    quantile_score_sensitivity,
    rank_scores,
    sum_sensitivity,
    variance_sensitivity,
)
from metrics.arrays import Floats
from metrics.domains import CategoricalDomain, NumericDomain

MOST_CELLS = 10_000_000
"""Cells of a contingency table that is answered."""
GRID = 4096
"""Even steps of a column's bounds among which a quantile is chosen."""
LARGEST_NUMBER = 1e60
"""Bounds of a column that is answered: squares of its numbers, and sums of them, can still be given noise."""
MOST_INTEGERS = 65_536
"""Integers of a domain up to which a quantile is chosen among all of them."""


class Answers(ABC):
    """Noise of one kind for the parts of one answer."""

    @abstractmethod
    def split(self, parts: int) -> Answers:
        """Return the noise of one of so many parts."""

    @abstractmethod
    def number(self, value: float, sensitivity: float) -> float:
        """Return a number with noise."""

    @abstractmethod
    def counts(self, values: Floats, replaced: bool) -> Floats:
        """Return counts of disjoint cells with noise, between which a record may move where it can be replaced."""

    @abstractmethod
    def selection(self) -> float:
        """Epsilon of a selection."""

    def __init__(self, rng: Generator) -> None:
        self.rng = rng


class LaplaceAnswers(Answers):
    """Laplace noise.

    Parameters
    ----------
    epsilon : float
        Of the answer.
    rng : Generator
        Draws the noise.
    """

    def __init__(self, epsilon: float, rng: Generator) -> None:
        super().__init__(rng)
        # Refused here, before anything is spent, what no part could draw.
        check_privacy(epsilon, 1)
        check_privacy(epsilon / 4, 1)
        self.epsilon = epsilon

    def split(self, parts: int) -> LaplaceAnswers:
        """Return the noise of one of so many parts."""
        return LaplaceAnswers(self.epsilon / parts, self.rng)

    def number(self, value: float, sensitivity: float) -> float:
        """Return a number with noise on a fine lattice."""
        if sensitivity == 0:
            return value
        return float(Laplace(epsilon=self.epsilon, sensitivity=sensitivity).release(value, self.rng))

    def counts(self, values: Floats, replaced: bool) -> Floats:
        """Return counts with integer noise."""
        sensitivity = int(histogram_sensitivity("replace" if replaced else "add or remove"))
        return np.asarray(DiscreteLaplace(epsilon=self.epsilon, sensitivity=sensitivity).release(values, self.rng))

    def selection(self) -> float:
        """Epsilon itself."""
        return self.epsilon


class GaussianAnswers(Answers):
    """Gaussian noise of a given zero-concentrated privacy: variance sensitivity^2 / (2 rho), in L2 norm.

    Parameters
    ----------
    rho : float
        Of the answer.
    rng : Generator
        Draws the noise.
    """

    def __init__(self, rho: float, rng: Generator) -> None:
        super().__init__(rng)
        if not 2.0**-60 <= rho <= 2.0**40:
            raise ValueError(f"epsilon must give a rho in [2^-60, 2^40], got {rho:.3g}")
        self.rho = rho

    def split(self, parts: int) -> GaussianAnswers:
        """Return the noise of one of so many parts."""
        return GaussianAnswers(self.rho / parts, self.rng)

    def number(self, value: float, sensitivity: float) -> float:
        """Return a number with noise on a lattice, where it moves by ceil(sensitivity / step) + 1 steps at most."""
        if sensitivity == 0:
            return value
        step = lattice_step(sensitivity, sensitivity / math.sqrt(2 * self.rho))
        moved = steps_between(sensitivity, step)
        noise = discrete_gaussian(Fraction(moved**2) / (2 * fraction(self.rho)), 1, self.rng)
        return float((on_lattice(np.array([value]), step) + noise)[0] * step)

    def counts(self, values: Floats, replaced: bool) -> Floats:
        """Return counts with integer noise."""
        moved = 2 if replaced else 1
        noise = discrete_gaussian(Fraction(moved) / (2 * fraction(self.rho)), values.size, self.rng)
        return np.asarray(values + noise.reshape(values.shape))

    def selection(self) -> float:
        """Epsilon whose epsilon^2 / 2 is rho."""
        return math.sqrt(2 * self.rho)


@dataclass(frozen=True)
class Plan:
    """How a query is answered.

    Attributes
    ----------
    run : callable
        ``run(records, answers)``: looks at the records, draws the noise, and returns the answer.
    """

    run: Callable[[Microdata, Answers], Any]

    def answer(self, records: Microdata, answers: Answers) -> Any:
        """Return the answer."""
        return self.run(records, answers)


def plan_of(query: Query, records: Microdata, neighbours: str) -> Plan:
    """Plan the answer to a query.

    Raises
    ------
    ValueError
        If there is no plan for such a query, it names a column that the records lack or whose domain is not declared,
        or it needs what is not public under this relation.
    """
    if not isinstance(query, Query):
        raise ValueError(f"query must be a Query, got {type(query).__name__}")
    if type(query) not in _PLANS:
        raise ValueError(f"a curator has no answer to {type(query).__name__}")
    for name in (*query.subjects, *(condition.column for condition in query.where)):
        if name not in records.frame.columns:
            raise ValueError(f"there is no column {name!r}; the table has {', '.join(map(str, records.frame.columns))}")
    for name in query.subjects:
        if name not in records.domains:
            raise ValueError(f"the domain of column {name!r} is not declared, so that noise cannot be scaled")
    if query.members is not None:
        if neighbours != "replace":
            raise ValueError("members name rows, whose numbers are not public where records are added or removed")
        if query.members.size != len(records):
            raise ValueError(f"members must hold {len(records)} truth values, one a row, got {query.members.size}")
    return _PLANS[type(query)](query, records, neighbours)


def plain_answer(answer: Any) -> Answer:
    """An answer as a plain number, a text, or an array of floats."""
    if isinstance(answer, str):
        return answer
    return np.asarray(answer, dtype=float) if np.ndim(answer) else float(answer)


def bounds(records: Microdata, column: str) -> tuple[float, float]:
    """Public bounds of a column.

    Raises
    ------
    ValueError
        If its domain is one of categories, or so wide that noise for it cannot be drawn.
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
    """Number of the selected records where it is public: rows are replaced in place and no condition depends on them.

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


def _count(query: Count, records: Microdata, neighbours: str) -> Plan:
    # A single count moves by 1 under either relation.
    return Plan(lambda data, noise: noise.counts(np.array([query.exact(data)]), replaced=False)[0])


def _sum(query: Sum, records: Microdata, neighbours: str) -> Plan:
    moved = sum_sensitivity(*bounds(records, query.column), neighbours, selective=bool(query.where))
    return Plan(lambda data, noise: noise.number(query.exact(data), moved))


def _mean(query: Mean, records: Microdata, neighbours: str) -> Plan:
    low, high = bounds(records, query.column)
    size = public_size(query, records, neighbours)
    if size is not None:
        moved = mean_sensitivity(low, high, size)
        return Plan(lambda data, noise: noise.number(query.exact(data), moved))
    # A sum of differences from the middle, and a count, each at half the price.
    middle = low + (high - low) / 2
    half = (high - low) / 2
    moved = sum_sensitivity(-half, half, neighbours, selective=bool(query.where))

    def run(data: Microdata, noise: Answers) -> float:
        part = noise.split(2)
        values = query.values(data) - middle
        total = part.number(math.fsum(values), moved)
        count = part.counts(np.array([float(values.size)]), replaced=False)[0]
        return float(np.clip(middle + total / max(count, 1.0), low, high))

    return Plan(run)


def _variance(query: Variance, records: Microdata, neighbours: str) -> Plan:
    size = _needed_size(query, records, neighbours)
    low, high = bounds(records, query.column)
    moved = variance_sensitivity(low, high, size)
    return Plan(lambda data, noise: noise.number(query.exact(data), moved))


def _covariance(query: Covariance, records: Microdata, neighbours: str) -> Plan:
    size = _needed_size(query, records, neighbours)
    moved = covariance_sensitivity(bounds(records, query.first), bounds(records, query.second), size)
    return Plan(lambda data, noise: noise.number(query.exact(data), moved))


def _correlation(query: Correlation, records: Microdata, neighbours: str) -> Plan:
    """Two variances and the covariance at a third each; 0 where a noisy variance is not positive; within [-1, 1].

    Variances are released, not standard deviations, whose sensitivity R sqrt(n - 1)/n is sqrt(n) times as large in
    proportion. Where a noisy variance is at most 0 nothing is known about the column but noise, and 0 is answered.
    """
    size = _needed_size(query, records, neighbours)
    first, second = bounds(records, query.first), bounds(records, query.second)
    moved = (
        variance_sensitivity(*first, size),
        variance_sensitivity(*second, size),
        covariance_sensitivity(first, second, size),
    )
    members = query.members

    def run(data: Microdata, noise: Answers) -> float:
        third = noise.split(3)
        return correlation_of(
            third.number(Variance(query.first, members=members).exact(data), moved[0]),
            third.number(Variance(query.second, members=members).exact(data), moved[1]),
            third.number(Covariance(query.first, query.second, members=members).exact(data), moved[2]),
        )

    return Plan(run)


def _quantile(query: Maximum | Minimum | Median | Quantile, records: Microdata, neighbours: str) -> Plan:
    """The exponential mechanism's task: a public candidate whose rank is nearest, by report noisy maximum.

    Values are rounded to the nearest candidate first. The extremes of a table are what few records decide, so that
    noise of a few ranks moves a maximum far into the empty part of the bounds; the 0.95 quantile is the better
    question.
    """
    domain = records.domains[query.column]
    low, high = bounds(records, query.column)
    assert isinstance(domain, NumericDomain)  # noqa: S101 (bounds refuses others)
    if domain.integer and high - low < MOST_INTEGERS:
        candidates = np.arange(math.ceil(low), math.floor(high) + 1, dtype=float)
    else:
        candidates = np.linspace(low, high, GRID + 1)
    if not candidates.size:
        raise ValueError(f"column {query.column!r}: there is not an integer in its domain")
    levels: dict[type[Query], float] = {Maximum: 1.0, Minimum: 0.0, Median: 0.5}
    level = query.level if isinstance(query, Quantile) else levels[type(query)]
    moved = quantile_score_sensitivity(neighbours)
    between = (candidates[1:] + candidates[:-1]) / 2

    def run(data: Microdata, noise: Answers) -> float:
        values = candidates[np.searchsorted(between, query.values(data))]
        scores = rank_scores(values, candidates, level)
        chosen = ReportNoisyMax(epsilon=noise.selection(), sensitivity=moved).release(scores, noise.rng)
        return float(candidates[chosen])

    return Plan(run)


def _table(query: Histogram | ContingencyTable, records: Microdata, neighbours: str) -> Plan:
    cells = math.prod(len(labels(records, name)) for name in query.subjects)
    if cells > MOST_CELLS:
        raise ValueError(f"the table has {cells:.3g} cells, at most {MOST_CELLS:,} are answered")
    return Plan(lambda data, noise: noise.counts(query.exact(data), replaced=neighbours == "replace"))


def _mode(query: Mode, records: Microdata, neighbours: str) -> Plan:
    """The exponential mechanism with counts as scores, each of which a record moves by 1 at most."""
    names = labels(records, query.column)
    counted = Histogram(query.column, where=query.where, members=query.members)

    def run(data: Microdata, noise: Answers) -> str:
        chosen = Exponential(epsilon=noise.selection(), sensitivity=1).release(counted.exact(data), noise.rng)
        return names[chosen]

    return Plan(run)


def _needed_size(query: Query, records: Microdata, neighbours: str) -> int:
    size = public_size(query, records, neighbours)
    if size is None:
        raise ValueError(
            f"{type(query).__name__} needs the number of records in public: neighbours that replace, and no condition"
        )
    return size


_PLANS: dict[type[Query], Callable[[Any, Microdata, str], Plan]] = {
    Count: _count,
    Sum: _sum,
    Mean: _mean,
    Variance: _variance,
    Covariance: _covariance,
    Correlation: _correlation,
    Maximum: _quantile,
    Minimum: _quantile,
    Median: _quantile,
    Quantile: _quantile,
    Histogram: _table,
    ContingencyTable: _table,
    Mode: _mode,
}
