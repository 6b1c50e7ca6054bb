"""Queries that attackers pose and curators answer, and the session between them.

Every query selects records, by conditions on columns and by a mask over public row numbers. It computes a statistic
of one or two columns of the selected records, or counts them. `exact` is the answer without protection.

Missing values are treated alike everywhere:

- A condition on a column does not hold where the column is missing, nor where the mask excludes the row.
- Numbers are clipped into the declared bounds of their column. A missing number, or text that is not a number, counts
  as the middle of the bounds, so that the number of values reveals nothing. Without declared bounds, numbers are used
  unchanged, and a missing number is refused.
- A category that is missing or not in the domain is counted in no cell.
"""

from defenses.base.queries.column_queries import (
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
    Sum,
    Variance,
    correlation_of,
)
from defenses.base.queries.graph import DegreeCounts, EdgeCount, TriangleCount
from defenses.base.queries.query import Answer, BudgetSpent, Condition, Query, QuerySession, codes, labels, numbers

__all__ = [
    "Answer",
    "BudgetSpent",
    "Condition",
    "ContingencyTable",
    "Correlation",
    "Count",
    "Covariance",
    "DegreeCounts",
    "EdgeCount",
    "Histogram",
    "Maximum",
    "Mean",
    "Median",
    "Minimum",
    "Mode",
    "Quantile",
    "Query",
    "QuerySession",
    "Sum",
    "TriangleCount",
    "Variance",
    "codes",
    "correlation_of",
    "labels",
    "numbers",
]
