"""Canonical form of released cells: one text for each meaning, whatever its spelling."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, InvalidOperation
from functools import lru_cache

import pandas as pd

from metrics.columns import (
    SUPPRESSED,
    CategoricalCells,
    CategoricalDomain,
    Domain,
    NumericCells,
    NumericDomain,
    Sentence,
    UnfitValueError,
    format_number,
    interval_cell,
    read_cells,
    refuse,
    require,
    set_cell,
    unescape,
)
from scenarios.tables.reading.cell_spelling import joined_segments, segments_cell, worded_intervals

LONGEST = 2000
"""Largest length of a cell, in characters."""
_NUMBER = re.compile(r"[^\[\]{}(),|*\s]+")
_PLAIN = re.compile(r"[1-9][0-9]*(\.[0-9]+)?", re.ASCII)
"""A positive number, whose cell covers this number only."""
_REMEMBERED, _SHORT = 1 << 14, 100
"""Number of cells whose form is remembered, and the largest length of such a cell."""


def canonical_cell(text: str, domain: Domain, decimals: int, *, may_miss: bool) -> str | None:
    """Canonical form of a cell."""
    return (_remembered if len(text) <= _SHORT else _canonical)(text, domain, decimals, may_miss)


def _canonical(text: str, domain: Domain, decimals: int, may_miss: bool) -> str | None:
    if text == "" and may_miss:
        return None
    require(text, Sentence("is empty, and no original lacks a value here; write * for a suppressed cell"))
    refuse(len(text) > LONGEST, Sentence("is longer than {longest} characters", longest=LONGEST))
    if isinstance(domain, NumericDomain):
        _check_numbers(text, domain, decimals)
        if _PLAIN.fullmatch(text):
            # As `read_cells` would, whose data frame takes most of the time that a table takes.
            return interval_cell(float(text), float(text), closed=True)
    elif text[0] in "=+-@\t\r" and unescape(text) not in domain.categories:
        raise ValueError(Sentence("begins like a formula"))
    try:
        cells = read_cells(pd.Series([text], dtype=object), domain)
    except UnfitValueError as error:
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
    refuse(text.count("{") > 1, Sentence("is a set within a set"))
    # In decimal notation, since the binary number nearest to 32.277248 is slightly larger.
    low = Decimal(format_number(domain.low))
    high = Decimal(format_number(domain.edges[-1] if text[0] in "[{" else domain.high))
    for part in _NUMBER.findall(text):
        try:
            number = Decimal(part)
        except InvalidOperation:
            raise ValueError(
                Sentence("begins like a formula") if text[0] in "=+-@" else Sentence("is no number")
            ) from None
        require(number.is_finite(), Sentence("is not finite"))
        if not low <= number <= high:
            raise ValueError(
                Sentence(
                    "lies outside the public range {low} to {high}",
                    low=format_number(domain.low),
                    high=format_number(domain.high),
                )
            )
        exponent = number.normalize().as_tuple().exponent
        if isinstance(exponent, int) and -exponent > decimals:
            raise ValueError(
                Sentence("is too precise: numbers here must be integers")
                if decimals == 0
                else Sentence(
                    "is too precise: numbers here must have at most {decimals} digits after the point",
                    decimals=decimals,
                )
            )


# Suggestions for cells that break a rule: what the team probably meant, as a cell that would be accepted.

LONGEST_SUGGESTION = 100
"""Largest length of a cell for which something is suggested."""
MOST_DIGITS = 15
"""Largest power of ten of a number that is rounded."""
_UNKNOWN = {"", "?", "-", "na", "n/a", "nan", "none", "null", "any", "all", "unknown", "missing", "不明"}
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
"""A number with separators of thousands, such as ``1,234,567``."""
_SPACED = re.compile(r"[+-]?\d{1,3}(?:[ '’]\d{3})+(?:\.\d{1,15})?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,15},\d{1,15}")
_BETWEEN = re.compile(r"\s*(?:[|,;/、・]|または)\s*|\s+or\s+")


def suggested_cell(text: str, domain: Domain, decimals: int, *, may_miss: bool) -> str | None:
    """A valid cell that a wrong one probably stands for; None without an idea."""
    if len(text) > LONGEST_SUGGESTION:
        return None
    plain = unicodedata.normalize("NFKC", text).strip().removeprefix("=").strip('"').strip()
    ideas = _numeric(plain, domain, decimals) if isinstance(domain, NumericDomain) else _categorical(plain, domain)
    for idea in (plain, *ideas):
        try:
            canonical_cell(idea, domain, decimals, may_miss=may_miss)
        except ValueError:
            continue
        return idea
    return SUPPRESSED if plain.casefold() in _UNKNOWN else None


_COUNTER = re.compile(r"(?<=\d)\s*(?:歳|才|円|回|日|秒|人|件)")
"""Words behind a number that leave no doubt what it counts; cm or % may not be the unit of the column."""


def _numeric(text: str, domain: NumericDomain, decimals: int) -> Iterator[str]:
    """Ideas for a cell of numbers, the likeliest first; each means the same as the text, but for digits that it rounds.

    A number outside the public range is left alone: the nearest number of the range would be another value.
    """
    text = _COUNTER.sub("", text)
    if numbers := _separated(text, domain, decimals):
        if len(numbers) == 1:
            yield _rounded(numbers[0], decimals)
        return
    # In brackets, a single comma separates two ends.
    if text.count(",") > 1 or text[:1] not in "[(":
        text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    for first, last, closed, _ in worded_intervals(text, domain):
        yield from _interval(first, last, domain, decimals, closed=closed)
    if "|" in text and not text.startswith("{"):
        yield "{" + text + "}"
    if (value := _number(text)) is not None and _inside(value, domain):
        yield _rounded(text, decimals)


def _separated(text: str, domain: NumericDomain, decimals: int) -> list[str]:
    """Numbers that a text with separators of thousands or a decimal comma may mean; those of the range if any is."""
    readings = []
    if re.fullmatch(rf"[+-]?{_THOUSANDS.pattern}(?:\.\d{{1,15}})?", text) or _SPACED.fullmatch(text):
        readings.append(re.sub("[, '’]", "", text))
    if decimals and _DECIMAL_COMMA.fullmatch(text):
        readings.append(text.replace(",", "."))
    return [one for one in readings if _inside(Decimal(one), domain)] or readings


def _interval(first: str, last: str, domain: NumericDomain, decimals: int, *, closed: bool = True) -> Iterator[str]:
    """The interval without the numbers that lie outside the public range or between its values."""
    low, high = Decimal(format_number(domain.low)), Decimal(format_number(domain.high))
    ends = max(Decimal(first), low), min(Decimal(last), high)
    closed = closed or ends[1] < Decimal(last)
    if domain.integer:
        ends = (
            ends[0].to_integral_value(ROUND_CEILING),
            ends[1].to_integral_value(ROUND_FLOOR if closed else ROUND_CEILING),
        )
    if ends[0] <= ends[1]:
        yield f"[{_rounded(f'{ends[0]:f}', decimals)},{_rounded(f'{ends[1]:f}', decimals)}{']' if closed else ')'}"


def _number(text: str) -> Decimal | None:
    """The number that a text is; None if it is none, or too large or small to be rounded."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() and abs(value.adjusted()) <= MOST_DIGITS else None


def _inside(value: Decimal, domain: NumericDomain) -> bool:
    """Whether a number lies in the public range."""
    return Decimal(format_number(domain.low)) <= value <= Decimal(format_number(domain.high))


def _rounded(number: str, decimals: int) -> str:
    """A number with at most so many decimals, in decimal notation."""
    value = Decimal(number)
    return f"{round(value, decimals).normalize():f}" if decimals else f"{value.to_integral_value():f}"


def _categorical(text: str, domain: CategoricalDomain) -> Iterator[str]:
    """Ideas for a cell of categories, the likeliest first."""
    folded = {category.casefold(): category for category in reversed(domain.categories)}

    def meant(part: str) -> str | None:
        name = part.strip().casefold()
        if name in folded:
            return folded[name]
        close = difflib.get_close_matches(name, folded, n=1, cutoff=0.75)
        return folded[close[0]] if close else None

    if (one := meant(text)) is not None:
        yield set_cell([one])
    parts = [part for part in _BETWEEN.split(text.strip("{}[]()")) if part]
    several = [meant(part) for part in parts]
    if len(parts) > 1 and all(several):
        yield set_cell(dict.fromkeys(category for category in several if category))
