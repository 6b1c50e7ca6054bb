"""Written form of dates: texts in files, numbers inside the program."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from metrics.columns import INTERVAL, SUPPRESSED, NumericDomain, interval_cell, is_set
from scenarios.tables.reading import calendar_periods as calendar
from scenarios.tables.reading.calendar_periods import DAY, FIRST, LAST
from scenarios.tables.reading.date_format import ISO, ISO_TIME, DateFormat

if TYPE_CHECKING:
    from defenses.base import IntervalHierarchy

FEWEST_PERIODS = 4
"""Fewest years or months between two dates that are rounded outwards to them."""


@dataclass(frozen=True)
class DateForm:
    """Written form of a column of dates.

    A cell that is a week, month, quarter, year or decade is written by its name, such as ``2024-03``, and other ranges
    as ``[2024-03-02,2024-03-09]``.

    Parameters
    ----------
    format : DateFormat
        Format of the dates.
    low, high : int, optional
        Declared bounds, to which periods are cut. Without them, only whole periods are written by their names.
    levels : tuple of str, optional
        Levels of a calendar hierarchy.
    """

    format: DateFormat
    low: int | None = None
    high: int | None = None
    levels: tuple[str, ...] = ()

    @property
    def unit(self) -> int:
        """1 if dates are numbers of days, 86,400 if they are numbers of seconds."""
        return DAY if self.format.has_time else 1

    def write(self, cell: Any) -> Any:
        """Text of a cell in a file."""
        if isinstance(cell, int | float | np.number) and not isinstance(cell, bool):
            return self.format.in_cells.text(float(cell)) if math.isfinite(cell) else cell
        text = str(cell)
        if text == SUPPRESSED:
            return text
        if is_set(text):
            return "{" + "|".join(str(self.write(part)) for part in text[1:-1].split("|")) + "}"
        interval = INTERVAL.fullmatch(text)
        try:
            if interval is None:
                return self.write(float(text))
            low, high = float(interval[1]), float(interval[2])
        except ValueError:
            return cell
        period = self._period(low, high) if interval[3] == "]" else None
        if period is not None:
            return period
        written = self.format.in_cells
        return f"[{written.text(math.floor(low))},{written.text(math.ceil(high))}{interval[3]}"

    def read(self, text: str) -> str:
        """Cell that a text in a file stands for; a text that is no date or range of dates is returned unchanged."""
        if is_set(text):
            return "{" + "|".join(self.read(part) for part in text[1:-1].split("|")) + "}"
        interval = INTERVAL.fullmatch(text)
        if interval is not None:
            low, high = self.format.in_cells.number(interval[1]), self.format.in_cells.number(interval[2])
            if low is None or high is None:
                return text
            return interval_cell(low, high, closed=interval[3] == "]")
        number = self.format.in_cells.number(text)
        if number is not None:
            return str(number)
        period = calendar.period_of(text, self.unit)
        if period is None:
            return text
        low, high = self._clipped(*period)
        return interval_cell(low, high) if low <= high else text

    def domain_cuts(self, low: int, high: int) -> tuple[float, ...]:
        """Default bins between two dates, by the calendar."""
        return tuple(map(float, calendar.cuts(calendar.default_period(low, high, self.unit), low, high, self.unit)))

    def default_levels(self, low: int, high: int) -> tuple[str, ...]:
        """Levels of the default hierarchy: the default bins, and all longer periods up to years."""
        period = calendar.default_period(low, high, self.unit)
        names = [name for name in calendar.PERIODS if name != "week"]
        chosen = names[names.index(period) : max(names.index("year"), names.index(period)) + 1]
        return tuple(name for name in chosen if name != "day" or self.unit > 1)

    def whole_periods(self, low: int, high: int) -> tuple[int, int]:
        """First and last date of the years or months of two dates; the dates themselves if they span less than four."""
        for name in ("year", "month"):
            first, last = (calendar.index(name, date, self.unit) for date in (low, high))
            if last - first >= FEWEST_PERIODS:
                return calendar.first(name, first, self.unit), calendar.first(name, last + 1, self.unit) - 1
        return low, high

    def hierarchy(self, domain: NumericDomain) -> IntervalHierarchy:
        """Hierarchy of the calendar levels, with ``*`` above."""
        from defenses.base import IntervalHierarchy

        low, high = int(domain.low), int(domain.high)
        levels = [calendar.cuts(name, low, high, self.unit) for name in self.levels]
        # A level without a cut is "*" already.
        return IntervalHierarchy([*(level for level in levels if level), []], low, high, integer=True)

    def iso(self, number: float) -> str:
        """A date in ISO 8601."""
        return (ISO_TIME if self.format.has_time else ISO).text(number)

    def bounds(self, domain: NumericDomain) -> str:
        """Bounds of a domain in words."""
        return f"{self.format.text(domain.low)} to {self.format.text(domain.high)}"

    def _clipped(self, low: int, high: int) -> tuple[int, int]:
        return (
            low if self.low is None else max(low, self.low),
            high if self.high is None else min(high, self.high),
        )

    def _period(self, low: float, high: float) -> str | None:
        """Label of the shortest period that is this range, or None."""
        inside = FIRST * self.unit <= low <= high < (LAST + 1) * self.unit
        if not (low.is_integer() and high.is_integer() and inside):
            return None
        for name in calendar.PERIODS:
            if self.unit == 1 and name in ("hour", "day"):
                continue
            position = calendar.index(name, int(low), self.unit)
            ends = calendar.first(name, position, self.unit), calendar.first(name, position + 1, self.unit) - 1
            text = calendar.label(name, position, self.unit)
            if self._clipped(*ends) == (low, high) and self.read(text) == interval_cell(low, high):
                return text
        return None
