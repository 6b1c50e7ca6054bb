"""The plan of each query: the planner that fits, and the checks before anything is spent.

A plan is made from public information only, and refuses what cannot be answered before anything is spent. It then reads
the records, and must not fail. A query of several parts splits its epsilon (or its rho) evenly among them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

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
)
from defenses.curators.answer_plan import AnswerPlan
from defenses.curators.number_plans import (
    plan_correlation,
    plan_count,
    plan_covariance,
    plan_mean,
    plan_sum,
    plan_table,
    plan_variance,
)
from defenses.curators.selection_plans import plan_mode, plan_quantile
from metrics.columns import require_column

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
    if not isinstance(query, Query):
        raise ValueError(f"query must be a Query, got {type(query).__name__}")
    if type(query) not in PLANNERS:
        raise ValueError(f"a curator cannot answer {type(query).__name__}")
    columns = (*query.subjects, *(condition.column for condition in query.where))
    for name in columns:
        require_column(records.frame.columns, name)
    # Conditions are no exception: the type of a column without a declared domain is read from all records.
    for name in records.not_public(columns):
        raise ValueError(f"the domain of column {name!r} is read from the records, so noise has no scale; declare it")
    if query.members is not None:
        if neighbours != "replace":
            raise ValueError("members name rows, whose numbers are not public where records are added or removed")
        query.check_members(records)
    return PLANNERS[type(query)](query, records, neighbours)


def plain_answer(answer: Any) -> Answer:
    """Return an answer as a plain number, a text, or an array of floats."""
    if isinstance(answer, str):
        return answer
    return np.asarray(answer, dtype=float) if np.ndim(answer) else float(answer)
