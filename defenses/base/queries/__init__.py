"""Queries that attackers pose and curators answer, and the session in which they do.

Every query selects records, by conditions on columns and by a mask over public row numbers, and computes something
about one or two columns of them. `exact` is the answer without protection.

Missing values, the same everywhere:

- a condition on a column does not hold where the column is missing, nor where the mask excludes the row;
- a number is read as clipped into the column's declared bounds, and a missing one (or text that is no number) counts
  as the middle of these bounds, so that how many values there are says nothing about them; where no bounds are
  declared the numbers count as they are, and a missing one is refused;
- a category that is missing or not in the domain is counted in no cell.
"""

from defenses.base.queries.columns import codes, labels, numbers
from defenses.base.queries.condition import Condition
from defenses.base.queries.counts import ContingencyTable, Count
from defenses.base.queries.one_column import Histogram, Maximum, Mean, Median, Minimum, Mode, Quantile, Sum, Variance
from defenses.base.queries.query import Answer, Query
from defenses.base.queries.session import BudgetSpent, QuerySession
from defenses.base.queries.two_columns import Correlation, Covariance, correlation_of

__all__ = [
    "Answer",
    "BudgetSpent",
    "Condition",
    "ContingencyTable",
    "Correlation",
    "Count",
    "Covariance",
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
    "Variance",
    "codes",
    "correlation_of",
    "labels",
    "numbers",
]
