"""The plan of each query: the planner that fits, and the checks before anything is spent.

A plan is made from public information only, and refuses what cannot be answered before anything is spent. It then reads
the records, and must not fail. A query of several parts splits its epsilon (or its rho) evenly among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from defenses.base import Microdata, mean_of, middle_of
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
from defenses.curators.answer_plan import AnswerPlan, CountsPart, Ends, GridPart, NumberPart, QuantileGrid, SelectedPart
from defenses.dp.sensitivity import (
    covariance_sensitivity,
    mean_sensitivity,
    quantile_score_sensitivity,
    rank_scores,
    sum_sensitivity,
    variance_sensitivity,
)
from metrics.columns import CategoricalDomain, Floats, Integers64, NumericDomain, refuse, require, require_column

# Intervals of private answers, from noisy parts and bounds on their errors.


def within(value: Any, bound: float, low: float, high: float) -> Ends:
    """Interval of a noisy value, or an array of them, whose exact value lies within [low, high]."""
    return np.clip(value - bound, low, high), np.clip(value + bound, low, high)


def quotient_interval(
    noisy: tuple[float, float], bounds: tuple[float, float], offset: float, ends: tuple[float, float]
) -> Ends:
    """Interval of offset + total / count, for a noisy total and a noisy count of at least 1.

    For either number fixed the quotient is monotone in the other, so that its extremes lie in corners.

    - noisy: Total and count, both noisy.
    - offset: What is added to the quotient.
    - ends: Ends between which the exact result lies.
    """
    counts = [max(1.0, noisy[1] - bounds[1]), max(1.0, noisy[1] + bounds[1])]
    corners = [offset + (noisy[0] + sign * bounds[0]) / count for sign in (-1, 1) for count in counts]
    return float(np.clip(min(corners), *ends)), float(np.clip(max(corners), *ends))


def correlation_interval(noisy: Sequence[float], bounds: Sequence[float]) -> Ends:
    """Interval of a correlation, from two noisy variances and the noisy covariance.

    Where a variance may be 0, it is [-1, 1]. Otherwise c / sqrt(v w) is monotone in c. It grows with v and w where c is
    negative and falls where c is positive.
    """
    lows = [value - bound for value, bound in zip(noisy, bounds, strict=True)]
    highs = [value + bound for value, bound in zip(noisy, bounds, strict=True)]
    if min(lows[:2]) <= 0:
        return -1.0, 1.0

    def quotient(covariance: float, variances: Sequence[float]) -> float:
        return float(np.clip(covariance / math.sqrt(variances[0]) / math.sqrt(variances[1]), -1.0, 1.0))

    return quotient(lows[2], lows if lows[2] < 0 else highs), quotient(highs[2], highs if highs[2] < 0 else lows)


MOST_CELLS = 10_000_000
"""Largest number of cells of a table that is answered."""
LARGEST_NUMBER = 1e60
"""Largest bound of a column that is answered: sums of squares of its numbers can still be given noise."""
SMALLEST_WIDTH = 1e-60
"""Smallest width of bounds that differ: squares of such differences are still ordinary floating-point numbers."""
FEWEST_STEPS = 4096
"""Smallest width of bounds that differ, in steps between neighbouring floating-point numbers at the larger bound."""
ROUNDING = 1 + 2.0**-16
"""Factor on every sensitivity for the rounding errors of answers about at most 2^30 records.

Let R be the width of the bounds, M the larger absolute bound, n the number of records and u = 2^-53. Subtracting the
public middle maps each record's number by itself, so that only sums and later steps err. Between two tables these
errors add up, relative to the sensitivity, to at most 2 n u for a sum (a correctly rounded sum is off by n M u, or by
n R u / 2 after the shift), 4 n u for a mean (off by R u), and n 2^-47 for a variance or covariance (off by 2^-49 R^2,
see `covariance_of`; the sensitivity is at least R^2 / (2 n)). All three are below 2^-16 for n <= 2^30.
"""


def bounds(records: Microdata, column: str) -> tuple[float, float]:
    """Public bounds of a column.

    Raises ValueError if its domain is categorical, so wide that noise for it cannot be drawn, or narrower than
    `FEWEST_STEPS` steps of its numbers. Bounds may be equal.
    """
    domain = records.domains[column]
    if isinstance(domain, CategoricalDomain):
        raise ValueError(f"column {column!r} holds categories; the query needs numbers")
    refuse(
        max(abs(domain.low), abs(domain.high)) > LARGEST_NUMBER,
        (
            f"the bounds of column {column!r} must lie within {-LARGEST_NUMBER:g} and {LARGEST_NUMBER:g}, "
            f"got {domain.low:g} and {domain.high:g}"
        ),
    )
    low, high = float(domain.low), float(domain.high)
    steps = (high - low) / float(np.spacing(max(abs(low), abs(high))))
    refuse(
        low < high and (steps < FEWEST_STEPS or high - low < SMALLEST_WIDTH),
        (
            f"the bounds of column {column!r} are too close for their size: from {low!r} to {high!r} there are "
            f"{steps:,.0f} steps of floating-point numbers (at least {FEWEST_STEPS:,}, and a width of at least "
            f"{SMALLEST_WIDTH:g}); subtract an offset from the column or change its unit"
        ),
    )
    return low, high


def centred(records: Microdata, column: str) -> tuple[float, tuple[float, float]]:
    """Middle of a column's public bounds, and the bounds of its numbers less that middle.

    The differences stay within these bounds, since rounding is monotone.
    """
    low, high = bounds(records, column)
    middle = middle_of(records, column)
    return middle, (low - middle, high - middle)


def public_size(query: Query, records: Microdata, neighbours: str) -> int | None:
    """Number of selected records, or None where it is not public.

    It is public where records are replaced in place and the query has no condition. Raises ValueError if it is public
    and 0.
    """
    if neighbours != "replace" or query.where:
        return None
    size = _selected_rows(query, records)
    require(size, "the query selects no record")
    return size


def plan_count(query: Count, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a count, which one record moves by at most 1 under either relation; integer noise."""
    most = _selected_rows(query, records) if neighbours == "replace" else math.inf
    return AnswerPlan(
        lambda data: (np.array([query.exact(data)]),),
        (CountsPart("the count"),),
        lambda counts: counts[0],
        lambda released, bounds: within(released[0][0], bounds[0], 0.0, float(most)),
    )


def plan_sum(query: Sum, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a sum of numbers within [low, high].

    If the number of records is public, noise is added to the sum of differences from the middle, which one record moves
    by at most high - low. Otherwise one record moves the sum by the larger absolute bound, or by high - low if that is
    more (`defenses.dp.sensitivity.sum_sensitivity`).
    """
    low, high = bounds(records, query.column)
    size = None if neighbours != "replace" or query.where else _selected_rows(query, records)
    if size is None:
        sensitivity = ROUNDING * sum_sensitivity(low, high, neighbours, selective=bool(query.where))
        return AnswerPlan(
            lambda data: (query.exact(data),),
            (NumberPart("the sum", sensitivity),),
            _same,
            lambda released, bounds: (released[0] - bounds[0], released[0] + bounds[0]),
        )
    middle, ends = centred(records, query.column)
    width = ROUNDING * sum_sensitivity(*ends)
    return AnswerPlan(
        lambda data: (math.fsum(query.values(data) - middle),),
        (NumberPart("the sum", width),),
        lambda total: size * middle + total,
        lambda released, bounds: within(size * middle + released[0], bounds[0], size * low, size * high),
    )


def plan_mean(query: Mean, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a mean, as the middle of the bounds plus the mean of differences from it.

    If the number n of records is public, one record moves it by at most (high - low)/n. If it is not public, half of
    the budget goes to the count. The other half goes to the sum of differences.
    """
    low, high = bounds(records, query.column)
    middle, ends = centred(records, query.column)
    size = public_size(query, records, neighbours)
    if size is not None:
        sensitivity = ROUNDING * mean_sensitivity(*ends, size)
        return AnswerPlan(
            lambda data: (mean_of(query.values(data) - middle),),
            (NumberPart("the mean", sensitivity),),
            lambda mean: middle + mean,
            lambda released, bounds: within(middle + released[0], bounds[0], low, high),
        )
    sensitivity = ROUNDING * sum_sensitivity(*ends, neighbours, selective=bool(query.where))

    def exact(data: Microdata) -> tuple[float, Floats]:
        values = query.values(data) - middle
        return math.fsum(values), np.array([float(values.size)])

    def interval(released: Sequence[Any], bounds: Sequence[float]) -> Ends:
        return quotient_interval((released[0], released[1][0]), (bounds[0], bounds[1]), middle, (low, high))

    return AnswerPlan(
        exact,
        (
            NumberPart(f"the sum of differences from {middle:g}", sensitivity),
            CountsPart("the number of selected records"),
        ),
        lambda total, counts: float(np.clip(middle + total / max(counts[0], 1.0), low, high)),
        interval,
        lambda released, bounds: _note_of_few(released[1][0], bounds[1]),
    )


def plan_variance(query: Variance, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a variance of n numbers within a range R, which one record moves by at most R^2 (n - 1)/n^2.

    The number of records must be public. The proof is in `defenses.dp.sensitivity.variance_sensitivity`.
    """
    size = _required_size(query, records, neighbours)
    _, ends = centred(records, query.column)
    sensitivity = ROUNDING * variance_sensitivity(*ends, size)
    # Numbers of a range R have a variance of at most R^2 / 4 (Popoviciu).
    most = (ends[1] - ends[0]) ** 2 / 4
    return AnswerPlan(
        lambda data: (query.exact(data),),
        (NumberPart("the variance", sensitivity),),
        _same,
        lambda released, bounds: within(released[0], bounds[0], 0.0, most),
    )


def plan_covariance(query: Covariance, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a covariance of n numbers within ranges R and S, which one record moves by at most R S (n - 1)/n^2.

    The number of records must be public. The proof is in `defenses.dp.sensitivity.covariance_sensitivity`.
    """
    size = _required_size(query, records, neighbours)
    (_, first), (_, second) = centred(records, query.first), centred(records, query.second)
    sensitivity = ROUNDING * covariance_sensitivity(first, second, size)
    most = (first[1] - first[0]) * (second[1] - second[0]) / 4
    return AnswerPlan(
        lambda data: (query.exact(data),),
        (NumberPart("the covariance", sensitivity),),
        _same,
        lambda released, bounds: within(released[0], bounds[0], -most, most),
    )


def plan_correlation(query: Correlation, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a correlation from two variances and the covariance, each with a third of the budget.

    Variances are released rather than standard deviations. The sensitivity R sqrt(n - 1)/n of a standard deviation is
    sqrt(n) times as large in proportion. Where a noisy variance is at most 0 the answer is 0: only noise is known about
    that column. Answers lie within [-1, 1].
    """
    size = _required_size(query, records, neighbours)
    (_, first), (_, second) = centred(records, query.first), centred(records, query.second)
    members = query.members

    def exact(data: Microdata) -> tuple[float, float, float]:
        return (
            Variance(query.first, members=members).exact(data),
            Variance(query.second, members=members).exact(data),
            Covariance(query.first, query.second, members=members).exact(data),
        )

    return AnswerPlan(
        exact,
        (
            NumberPart(f"the variance of {query.first}", ROUNDING * variance_sensitivity(*first, size)),
            NumberPart(f"the variance of {query.second}", ROUNDING * variance_sensitivity(*second, size)),
            NumberPart("the covariance", ROUNDING * covariance_sensitivity(first, second, size)),
        ),
        correlation_of,
        correlation_interval,
    )


def plan_table(query: Histogram | ContingencyTable, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a histogram or contingency table: one noisy count for each cell, with integer noise.

    A replaced record moves two counts by 1 each, an added or removed one moves one count by 1.
    """
    cells = math.prod(len(labels(records, name)) for name in query.subjects)
    refuse(cells > MOST_CELLS, f"the table has {cells:.3g} cells, at most {MOST_CELLS:,} are answered")
    most = _selected_rows(query, records) if neighbours == "replace" else math.inf
    return AnswerPlan(
        lambda data: (query.exact(data),),
        (CountsPart("each count", cells, replaced=neighbours == "replace"),),
        _same,
        lambda released, bounds: within(released[0], bounds[0], 0.0, float(most)),
    )


def _note_of_few(count: float, bound: float) -> str:
    """Note on a mean whose noisy number of records may stand for no record; else empty."""
    if count > bound:
        return ""
    return (
        f"the noisy number of selected records is {count:,.0f}, off by up to {bound:,.0f}: there may be none, and then "
        "the mean means nothing"
    )


def _same(value: Any) -> Any:
    return value


def _required_size(query: Query, records: Microdata, neighbours: str) -> int:
    size = public_size(query, records, neighbours)
    if size is None:
        name = type(query).__name__
        refuse(query.where, f"where: {name} needs a public number of records, so it takes no condition")
        raise ValueError(f"neighbours: {name} needs a public number of records, which 'replace' alone gives")
    return size


def _selected_rows(query: Query, records: Microdata) -> int:
    """Number of rows that the mask selects."""
    return len(records) if query.members is None else int(query.members.sum())


# Plans for quantiles and modes: a public candidate is selected by its score.

COARSE = 100
"""Number of steps of a grid below which an answer's distance from 0 is noted."""


def plan_quantile(query: Maximum | Minimum | Median | Quantile, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a quantile: the exponential mechanism selects the point of a public grid whose rank is nearest.

    Values are rounded to the grid first (`QuantileGrid`). Few records determine the extremes of a table, and noise of a
    few ranks moves a maximum far into the empty part of the bounds. A query for the 0.95 quantile is more accurate.
    """
    domain = records.domains[query.column]
    low, high = bounds(records, query.column)
    assert isinstance(domain, NumericDomain)  # noqa: S101 (bounds refuses others)
    grid = QuantileGrid.of(low, high, decimals=0 if domain.integer else domain.decimals)
    require(grid.points >= 1, f"column {query.column!r}: its domain contains no integer")
    levels: dict[type[Query], float] = {Maximum: 1.0, Minimum: 0.0, Median: 0.5}
    level = query.level if isinstance(query, Quantile) else levels[type(query)]

    def exact(data: Microdata) -> tuple[tuple[Integers64, Floats]]:
        positions = grid.positions(query.values(data))
        # Between a value and the next one all points have the same score.
        starts = np.unique(np.concatenate([[0], positions, positions + 1]))
        starts = starts[starts < grid.points]
        return ((starts, rank_scores(positions.astype(float), starts.astype(float), level)),)

    def note(released: Sequence[int], _: Sequence[float]) -> str:
        answer = grid.value(released[0])
        if grid.own or grid.points == 1 or abs(answer) >= COARSE * float(grid.step):
            return ""
        remedy = "narrower bounds" if domain.integer or domain.decimals is not None else "narrower bounds or 'decimals'"
        return f"the step {float(grid.step):.3g} is coarse for an answer this near to 0; declare {remedy}"

    part = GridPart("the rank", quantile_score_sensitivity(neighbours), grid.points, grid)
    return AnswerPlan(exact, (part,), grid.value, note=note)


def plan_mode(query: Mode, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a mode: the exponential mechanism with counts as scores, each of which one record moves by at most 1."""
    categories = labels(records, query.column)
    histogram = Histogram(query.column, where=query.where, members=query.members)

    part = SelectedPart("the count, below the largest", 1, len(categories))
    return AnswerPlan(lambda data: (histogram.exact(data),), (part,), lambda selected: categories[selected])


PLANNERS: dict[type[Query], Callable[[Any, Microdata, str], AnswerPlan]] = {
    Count: plan_count,
    Sum: plan_sum,
    Mean: plan_mean,
    Variance: plan_variance,
    Covariance: plan_covariance,
    Correlation: plan_correlation,
    Maximum: plan_quantile,
    Minimum: plan_quantile,
    Median: plan_quantile,
    Quantile: plan_quantile,
    Histogram: plan_table,
    ContingencyTable: plan_table,
    Mode: plan_mode,
}
"""The planner of each class of queries, called with the query, the records and the neighbours."""


def plan_of(query: Query, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan the answer to a query.

    - records: Only what is public about them is read.
    - neighbours, {"replace", "add or remove"}: Relation between neighbouring tables.

    Raises ValueError if the query has no planner, or names a column that does not exist or has no declared domain. Also
    if it needs information that is not public under this relation.
    """
    require(isinstance(query, Query), f"query must be a Query, got {type(query).__name__}")
    require(type(query) in PLANNERS, f"a curator cannot answer {type(query).__name__}")
    columns = (*query.subjects, *(condition.column for condition in query.where))
    for name in columns:
        require_column(records.frame.columns, name)
    # Conditions are no exception: the type of a column without a declared domain is read from all records.
    records.check_public(columns, ", so noise has no scale")
    if query.members is not None:
        require(
            neighbours == "replace",
            "members name rows, whose numbers are not public where records are added or removed",
        )
        query.check_members(records)
    return PLANNERS[type(query)](query, records, neighbours)


def plain_answer(answer: Any) -> Answer:
    """Return an answer as a plain number, a text, or an array of floats."""
    if isinstance(answer, str):
        return answer
    return np.asarray(answer, dtype=float) if np.ndim(answer) else float(answer)
