"""Canonical form of released cells: one text for each meaning, whatever its spelling."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache

import pandas as pd

from metrics.columns import (
    SUPPRESSED,
    CategoricalCells,
    CategoricalDomain,
    CellError,
    Domain,
    NumericCells,
    NumericDomain,
    format_number,
    interval_cell,
    read_cells,
    set_cell,
    unescape,
)
from scenarios.tables.reading.cell_spelling import joined_segments, segments_cell

LONGEST = 2000
"""Largest length of a cell, in characters."""
_NUMBER = re.compile(r"[^\[\]{}(),|*\s]+")
_PLAIN = re.compile(r"[1-9][0-9]*(\.[0-9]+)?", re.ASCII)
"""A positive number, whose cell covers this number only."""
_REMEMBERED, _SHORT = 1 << 14, 100
"""Number of cells whose form is remembered, and the largest length of such a cell."""


def canonical_cell(text: str, domain: Domain, decimals: int, *, may_miss: bool) -> str | None:
    """Canonical form of a cell.

    Raises
    ------
    ValueError
        If it is no valid cell of the domain; the message continues a sentence that begins with the cell.
    """
    form = _remembered if len(text) <= _SHORT else _canonical
    return form(text, domain, decimals, may_miss)


def _canonical(text: str, domain: Domain, decimals: int, may_miss: bool) -> str | None:
    if text == "":
        if may_miss:
            return None
        raise ValueError("is empty, and no original lacks a value here; write * for a suppressed cell")
    if len(text) > LONGEST:
        raise ValueError(f"is longer than {LONGEST} characters")
    if isinstance(domain, NumericDomain):
        _check_numbers(text, domain, decimals)
        if _PLAIN.fullmatch(text):
            # As `read_cells` would, whose data frame takes most of the time that a table takes.
            return interval_cell(float(text), float(text), closed=True)
    elif text[0] in "=+-@\t\r" and unescape(text) not in domain.categories:
        raise ValueError("begins like a formula")
    try:
        cells = read_cells(pd.Series([text], dtype=object), domain)
    except CellError as error:
        raise ValueError(error.why) from None
    if cells.suppressed[0]:
        return SUPPRESSED
    if isinstance(cells, NumericCells) and isinstance(domain, NumericDomain):
        given = zip(cells.low.tolist(), cells.high.tolist(), cells.closed.tolist(), strict=True)
        within = [(low, min(high, domain.high), closed or high > domain.high) for low, high, closed in given]
        segments = joined_segments(within, integer=domain.integer)
        if segments == [(domain.low, domain.high, True)] and domain.low < domain.high:
            return SUPPRESSED
        return segments_cell(segments)
    assert isinstance(cells, CategoricalCells)  # noqa: S101 (for the type checker: numeric cells have returned)
    assert isinstance(domain, CategoricalDomain)  # noqa: S101
    covered = [category for category, inside in zip(domain.categories, cells.member[0], strict=True) if inside]
    return SUPPRESSED if len(covered) == domain.size > 1 else set_cell(covered)


_remembered = lru_cache(_REMEMBERED)(_canonical)
"""Tables of all teams repeat cells, in the same public domains."""


def _check_numbers(text: str, domain: NumericDomain, decimals: int) -> None:
    """Check that all numbers in a cell lie in the public range and do not have too many decimals."""
    if text.count("{") > 1:
        raise ValueError("is a set within a set")
    # In decimal notation, since the binary number nearest to 32.277248 is slightly larger.
    low = Decimal(format_number(domain.low))
    high = Decimal(format_number(domain.edges[-1] if text[0] in "[{" else domain.high))
    for part in _NUMBER.findall(text):
        try:
            number = Decimal(part)
        except InvalidOperation:
            raise ValueError("begins like a formula" if text[0] in "=+-@" else "is no number") from None
        if not number.is_finite():
            raise ValueError("is not finite")
        if not low <= number <= high:
            bounds = f"{format_number(domain.low)} to {format_number(domain.high)}"
            raise ValueError(f"lies outside the public range {bounds}")
        exponent = number.normalize().as_tuple().exponent
        if isinstance(exponent, int) and -exponent > decimals:
            most = "be integers" if decimals == 0 else f"have at most {decimals} digits after the point"
            raise ValueError(f"is too precise: numbers here must {most}")
