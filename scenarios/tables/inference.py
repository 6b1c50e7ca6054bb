"""Inference of what a roles file omits: domains from data, bins and hierarchies from domains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from defenses.base.hierarchy import Hierarchy, IntervalHierarchy, TableHierarchy
from metrics.arrays import Floats, Integers
from metrics.cells import SUPPRESSED
from metrics.domains import CategoricalDomain, Domain, NumericDomain, format_number, infer_domain
from scenarios.tables.declared import BINS
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.roles import Column, NumberColumn


def inferred_domain(name: str, column: TextColumn, declared: Column | None) -> tuple[Domain, str]:
    """Domain inferred from a column's values, hence not public, and its description in words.

    Raises
    ------
    ValueError
        If the column has no value, or is declared as numbers and holds text.
    """
    if column.empty:
        raise ValueError(f"{column.where} has no value in any row; declare its domain in a roles file or remove it")
    if column.dates is not None:
        days = column.numbers()
        low, high = int(days.min()), int(days.max())
        dates = NumericDomain(low, high, True, column.dates.domain_cuts(low, high), inferred=True)
        return dates, f"dates {column.dates.bounds(dates)}"
    if isinstance(declared, NumberColumn) or (declared is None and column.looks_numeric()):
        rows = pd.Series(column.number_rows(), name=name)
        if rows.isna().all():
            raise ValueError(f"{column.where} has no number in any row; declare its domain or remove it")
        domain = infer_domain(rows, BINS)
        assert isinstance(domain, NumericDomain)  # noqa: S101
        if column.weights is not None:
            domain = replace(domain, cuts=_weighted_cuts(column.number_rows(), column.weights, domain))
        if declared is not None and declared.integer is not None:
            domain = replace(domain, integer=declared.integer)
        numbers = "integers" if domain.integer else "numbers"
        return domain, f"{numbers} {format_number(domain.low)} to {format_number(domain.high)}"
    categories = CategoricalDomain(tuple(sorted(column.texts.to_pylist())), inferred=True)
    coded = declared is None and column.looks_coded()
    reason = " (not all plain numbers: leading zeros or more than 15 digits make codes)" if coded else ""
    size = "1 category" if categories.size == 1 else f"{categories.size} categories"
    return categories, f"{size}{reason}"


def _weighted_cuts(rows: Floats, weights: Integers, domain: NumericDomain) -> tuple[float, ...]:
    """Cuts of `metrics.domains.infer_domain` where each row stands for so many records."""
    known = ~np.isnan(rows)
    order = np.argsort(rows[known], kind="stable")
    numbers, reach = rows[known][order], np.cumsum(weights[known][order])
    ranks = np.ceil(np.linspace(0, 1, BINS + 1)[1:-1] * (reach[-1] - 1))
    quantiles = np.unique(numbers[np.searchsorted(reach, ranks, side="right")])
    return tuple(cut for cut in quantiles.tolist() if domain.low < cut <= domain.high)


def default_hierarchy(domain: Domain) -> Hierarchy:
    """Hierarchy made from a domain alone: bins and ordered categories merge in pairs, other categories all at once.

    Level 1 of numbers consists of the public bins. Each further level keeps every second cut. The last level is ``*``.
    """
    if isinstance(domain, NumericDomain):
        levels = [domain.cuts]
        while levels[-1]:
            levels.append(levels[-1][1::2])
        return IntervalHierarchy(levels, domain.low, domain.high, domain.integer)
    pairings = (domain.size - 1).bit_length() - 1 if domain.ordered else 0
    return TableHierarchy(
        [
            [category, *(str(position >> level) for level in range(1, pairings + 1)), SUPPRESSED]
            for position, category in enumerate(domain.categories)
        ],
        text=True,
    )
