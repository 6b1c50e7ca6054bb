"""Periods of the calendar: hours, days, weeks, months, quarters, years and decades, with their labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from itertools import pairwise

from metrics.columns import refuse, require

DAY = 86_400
"""Seconds of a day."""
EPOCH = date(1970, 1, 1).toordinal()
FIRST, LAST = date.min.toordinal() - EPOCH, date.max.toordinal() - EPOCH
PERIODS = ("hour", "day", "week", "month", "quarter", "year", "decade")
"""Periods from short to long."""
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_SECONDS = {"hour": 3600, "day": DAY}
_LABELS = {
    "hour": re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d)", re.ASCII),
    "day": re.compile(r"(\d{4}-\d\d-\d\d)", re.ASCII),
    "week": re.compile(r"(\d{4})-W(\d\d)", re.ASCII),
    "month": re.compile(r"(\d{4})-(\d\d)", re.ASCII),
    "quarter": re.compile(r"(\d{4})-Q([1-4])", re.ASCII),
    "year": re.compile(r"(\d{4})", re.ASCII),
    "decade": re.compile(r"(\d{3})0s", re.ASCII),
}
MOST_CUTS = 60
"""Largest number of default bins that are shorter than a year."""


def index(period: str, number: int, unit: int) -> int:
    """Index of the period that holds a date; periods are counted without gaps."""
    if period in _SECONDS:
        return number // (_SECONDS[period] * unit // DAY)
    day = number // unit
    if period == "week":
        return (day + 3) // 7
    when = date.fromordinal(day + EPOCH)
    return (12 * when.year + when.month - 1) // _MONTHS[period]


def first(period: str, position: int, unit: int) -> int:
    """First date of the period at an index; days beyond the calendar are its ends."""
    if period in _SECONDS:
        return position * (_SECONDS[period] * unit // DAY)
    if period == "week":
        return max(7 * position - 3, FIRST) * unit
    year, month = divmod(position * _MONTHS[period], 12)
    if year < 1:
        return FIRST * unit
    return (LAST + 1 if year > 9999 else date(year, month + 1, 1).toordinal() - EPOCH) * unit


def cuts(period: str, low: int, high: int, unit: int) -> list[int]:
    """First dates of all periods that begin after `low` and not after `high`."""
    positions = range(index(period, low, unit) + 1, index(period, high, unit) + 1)
    return [first(period, position, unit) for position in positions]


def default_period(low: int, high: int, unit: int) -> str:
    """Period of the default bins between two dates.

    Months if there are at most 60, else quarters, else years, else decades from 1000 years on. Within 31 days it is
    days, and within one day hours, if dates have a time.
    """

    def count(period: str) -> int:
        return index(period, high, unit) - index(period, low, unit) + 1

    if count("day") <= 31:
        return "hour" if unit > 1 and count("day") == 1 else "day"
    limits = {"month": MOST_CUTS, "quarter": MOST_CUTS, "year": 1000}
    return next((period for period, most in limits.items() if count(period) <= most), "decade")


def label(period: str, position: int, unit: int) -> str:
    """Label of the period at an index, such as ``2024-Q1``."""
    start = first(period, position, unit)
    when = date.fromordinal(min(max(start // unit, FIRST), LAST) + EPOCH)
    week = when.isocalendar()
    return {
        "hour": f"{when.isoformat()}T{start % unit // 3600:02}",
        "day": when.isoformat(),
        "week": f"{week.year:04}-W{week.week:02}",
        "month": f"{when.year:04}-{when.month:02}",
        "quarter": f"{when.year:04}-Q{(when.month + 2) // 3}",
        "year": f"{when.year:04}",
        "decade": f"{when.year // 10:03}0s",
    }[period]


def period_of(text: str, unit: int) -> tuple[int, int] | None:
    """First and last date of the period that a label names, or None."""
    for period, pattern in _LABELS.items():
        match = pattern.fullmatch(text)
        if match is None or (unit == 1 and period in _SECONDS):
            continue
        try:
            start = _start(period, match)
        except ValueError:
            return None
        hours = int(match[2]) if period == "hour" else 0
        position = index(period, start * unit + 3600 * hours, unit)
        if label(period, position, unit) != text:
            return None
        return first(period, position, unit), first(period, position + 1, unit) - 1
    return None


def _start(period: str, match: re.Match[str]) -> int:
    """A day in the period that a label names."""
    if period in _SECONDS:
        when = date.fromisoformat(match[1])
    elif period == "week":
        when = date.fromisocalendar(int(match[1]), int(match[2]), 4)
    elif period == "decade":
        when = date(max(10 * int(match[1]), 1), 1, 1)
    else:
        month = 1 if period == "year" else int(match[2]) if period == "month" else 3 * int(match[2]) - 2
        when = date(int(match[1]), month, 1)
    return when.toordinal() - EPOCH


def checked_levels(levels: Sequence[str], *, has_time: bool | None = None) -> list[str]:
    """Levels of a calendar hierarchy, each of which must nest in the next."""
    known = ", ".join(PERIODS)
    require(levels, f"'calendar' names levels from {known}")
    for name in levels:
        refuse(name not in PERIODS, f"'calendar' has no level {name!r}; levels are {known}")
    ranks = [PERIODS.index(name) for name in levels]
    refuse(any(a >= b for a, b in pairwise(ranks)), f"levels of 'calendar' must ascend, as in {known}")
    if "week" in levels and levels[-1] != "week":
        longer = ", ".join(levels[levels.index("week") + 1 :])
        raise ValueError(
            f"weeks do not nest in months, quarters, years or decades: leave out 'week', or leave out {longer}"
        )
    if has_time is False:
        refuse("hour" in levels, "'hour' needs dates with a time of day; the column's format has none")
        return [name for name in levels if name != "day"]
    return list(levels)
