"""Canonical form of released cells: one text for each meaning, whatever its spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from functools import lru_cache

import pandas as pd

from metrics.cells import SUPPRESSED, CategoricalCells, NumericCells, interval_cell, read_cells, set_cell, unescape
from metrics.domains import CategoricalDomain, Domain, NumericDomain, format_number

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
    except ValueError as error:
        raise ValueError(str(error).partition(repr(text))[2].strip() or "cannot be read") from None
    if cells.suppressed[0]:
        return SUPPRESSED
    if isinstance(cells, NumericCells) and isinstance(domain, NumericDomain):
        segments = _merged(zip(cells.low.tolist(), cells.high.tolist(), cells.closed.tolist(), strict=True), domain)
        if segments == [(domain.low, domain.high, True)] and domain.low < domain.high:
            return SUPPRESSED
        parts = [interval_cell(low, high, closed=closed) for low, high, closed in segments]
        return parts[0] if len(parts) == 1 else "{" + "|".join(parts) + "}"
    assert isinstance(cells, CategoricalCells)  # noqa: S101 (for the type checker: numeric cells have returned)
    assert isinstance(domain, CategoricalDomain)  # noqa: S101
    covered = [category for category, inside in zip(domain.categories, cells.member[0], strict=True) if inside]
    return SUPPRESSED if len(covered) == domain.size > 1 else set_cell(covered)


_remembered = lru_cache(_REMEMBERED)(_canonical)
"""Tables of all teams repeat cells, in the same public domains."""


def _merged(segments: Iterable[tuple[float, float, bool]], domain: NumericDomain) -> list[tuple[float, float, bool]]:
    """Disjoint intervals (low, high, whether high is included) that cover the same numbers, in ascending order.

    Intervals of integers are closed, and adjacent ones are joined: ``[20,30)``, ``[20,29]`` and ``{[20,25]|[26,29]}``
    are the same cell.

    Raises
    ------
    ValueError
        If they cover no number of the domain.
    """
    merged: list[tuple[float, float, bool]] = []
    for low, high, closed in sorted(segments):
        if high > domain.high:
            high, closed = domain.high, True
        if domain.integer and not closed:
            high, closed = high - 1, True
        if low > high:
            raise ValueError("covers no possible value")
        if merged and low <= merged[-1][1] + domain.integer:
            first, last, last_closed = merged.pop()
            low, high, closed = first, max(last, high), (last_closed and last >= high) or (closed and high >= last)
        merged.append((low, high, closed))
    return merged


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
