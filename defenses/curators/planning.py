"""The plan of each query: the planner that fits, and the checks before anything is spent.

A plan is made from public information only, and refuses what cannot be answered before anything is spent. It then reads
the records, and must not fail. A query of several parts splits its epsilon (or its rho) evenly among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from defenses.base import Microdata
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
    labels,
)
from defenses.curators.answer_plan import AnswerPlan, GridPart, QuantileGrid, SelectedPart
from defenses.curators.number_plans import (
    bounds,
    plan_correlation,
    plan_count,
    plan_covariance,
    plan_mean,
    plan_sum,
    plan_table,
    plan_variance,
)
from defenses.dp.sensitivity import quantile_score_sensitivity, rank_scores
from metrics.columns import Floats, Integers64, NumericDomain, require, require_column

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

    Parameters
    ----------
    query : Query
        The query.
    records : Microdata
        Only what is public about them is read.
    neighbours : {"replace", "add or remove"}
        Relation between neighbouring tables.

    Raises
    ------
    ValueError
        If the query has no planner, or names a column that does not exist or has no declared domain. Also if it needs
        information that is not public under this relation.
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
