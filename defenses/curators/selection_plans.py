"""Plans for quantiles and modes: a public candidate is selected by its score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from defenses.base.microdata import Microdata
from defenses.base.queries import Histogram, Maximum, Median, Minimum, Mode, Quantile, Query, labels
from defenses.curators.answer_plan import AnswerPlan, GridPart, SelectedPart
from defenses.curators.number_plans import bounds
from defenses.curators.quantile_grid import QuantileGrid
from defenses.dp.exponential import Exponential
from defenses.dp.sensitivity import quantile_score_sensitivity, rank_scores
from metrics.arrays import Floats, Integers64
from metrics.domains import NumericDomain

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
    if grid.points < 1:
        raise ValueError(f"column {query.column!r}: its domain contains no integer")
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

    part = GridPart("the rank", quantile_score_sensitivity(neighbours), grid)
    return AnswerPlan(exact, (part,), grid.value, note=note)


def plan_mode(query: Mode, records: Microdata, neighbours: str) -> AnswerPlan:
    """Plan a mode: the exponential mechanism with counts as scores, each of which one record moves by at most 1."""
    categories = labels(records, query.column)
    histogram = Histogram(query.column, where=query.where, members=query.members)

    part = SelectedPart("the count, below the largest", Exponential, 1, len(categories))
    return AnswerPlan(lambda data: (histogram.exact(data),), (part,), lambda selected: categories[selected])
