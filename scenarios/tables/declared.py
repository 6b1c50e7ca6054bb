"""Domains that a roles file declares."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from metrics.arrays import Floats
from metrics.domains import CategoricalDomain, Domain, NumericDomain
from scenarios.tables.roles import Column, DateColumn, NumberColumn

BINS = 10
"""Number of bins of numbers without declared cuts."""
_DIGITS = 9
"""Digits of the width of a range that the ends of its bins keep."""


def declared_domain(declared: Column | None) -> tuple[Domain | None, list[str]]:
    """Domain that a roles file declares, or None, and notes on what was added to the declaration."""
    if isinstance(declared, DateColumn):
        domain = declared.domain()
        if domain is None or declared.cuts is not None:
            return domain, []
        return domain, [f"no cuts declared: {domain.size} bin{'s' * (domain.size > 1)} of the calendar"]
    if isinstance(declared, NumberColumn):
        return _declared_numbers(declared)
    if declared is None or declared.categories is None:
        return None, []
    return CategoricalDomain(tuple(declared.categories), declared.ordered), []


def _declared_numbers(declared: NumberColumn) -> tuple[NumericDomain | None, list[str]]:
    if declared.low is None or declared.high is None:
        return None, []
    notes, integer = [], bool(declared.integer)
    if declared.integer is None and declared.decimals is None:
        # Integrality read from the records would make the declared domain depend on them.
        notes.append("integer is not declared, so that releases may hold fractions")
    if declared.cuts is not None:
        cuts = tuple(declared.cuts)
        return NumericDomain(declared.low, declared.high, integer, cuts, decimals=declared.decimals), notes
    domain = NumericDomain(declared.low, declared.high, integer, decimals=declared.decimals)
    edges = np.linspace(domain.edges[0], domain.edges[-1], BINS + 1)[1:-1]
    even = np.unique(np.ceil(edges) if integer else short_numbers(edges, domain.high - domain.low))
    domain = replace(domain, cuts=tuple(even[(even > domain.low) & (even <= domain.high)].tolist()))
    return domain, [*notes, f"no cuts declared: {domain.size} bins of equal width"]


def short_numbers(numbers: Floats, width: float) -> Floats:
    """Numbers without the noise of binary fractions, such as 74.7 for 74.69999999999999, shape (n,).

    They keep `_DIGITS` digits of `width`, the width of their range.
    """
    digits = _DIGITS - math.ceil(math.log10(width)) if width > 0 else _DIGITS
    return np.array([round(number, digits) for number in numbers.tolist()])
