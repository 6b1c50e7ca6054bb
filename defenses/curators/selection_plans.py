"""Plans for quantiles and modes: a public candidate is selected by its score."""

from __future__ import annotations

import math

import numpy as np

from defenses.base.microdata import Microdata
from defenses.base.queries import Histogram, Maximum, Median, Minimum, Mode, Quantile, Query, labels
from defenses.curators.answer_plan import AnswerPlan, SelectedPart
from defenses.curators.number_plans import bounds
from defenses.dp.exponential import Exponential
from defenses.dp.report_noisy_max import ReportNoisyMax
from defenses.dp.sensitivity import quantile_score_sensitivity, rank_scores
from metrics.arrays import Floats
from metrics.domains import NumericDomain

GRID = 4096
"""Number of even steps of a column's bounds among which a quantile is selected."""
MOST_INTEGERS = 65_536
"""Width of an integer domain below which all its integers are candidates for a quantile."""


def plan_quantile(query: Maximum | Minimum | Median | Quantile, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a quantile: report noisy maximum selects the public candidate whose rank is nearest.

    Values are rounded to the nearest candidate first. Few records determine the extremes of a table, and noise of a few
    ranks moves a maximum far into the empty part of the bounds. A query for the 0.95 quantile is more accurate.
    """
    domain = records.domains[query.column]
    low, high = bounds(records, query.column)
    assert isinstance(domain, NumericDomain)  # noqa: S101 (bounds refuses others)
    if domain.integer and high - low < MOST_INTEGERS:
        candidates = np.arange(math.ceil(low), math.floor(high) + 1, dtype=float)
    else:
        candidates = np.linspace(low, high, GRID + 1)
    if not candidates.size:
        raise ValueError(f"column {query.column!r}: its domain contains no integer")
    levels: dict[type[Query], float] = {Maximum: 1.0, Minimum: 0.0, Median: 0.5}
    level = query.level if isinstance(query, Quantile) else levels[type(query)]
    sensitivity = quantile_score_sensitivity(neighbours)
    midpoints = (candidates[1:] + candidates[:-1]) / 2

    def exact(data: Microdata) -> tuple[Floats]:
        values = candidates[np.searchsorted(midpoints, query.values(data))]
        return (rank_scores(values, candidates, level),)

    part = SelectedPart("the rank", ReportNoisyMax, sensitivity, candidates.size)
    return AnswerPlan(exact, (part,), lambda selected: float(candidates[selected]))


def plan_mode(query: Mode, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a mode: the exponential mechanism with counts as scores, each of which one record moves by at most 1."""
    categories = labels(records, query.column)
    histogram = Histogram(query.column, where=query.where, members=query.members)

    part = SelectedPart("the count, below the largest", Exponential, 1, len(categories))
    return AnswerPlan(lambda data: (histogram.exact(data),), (part,), lambda selected: categories[selected])
