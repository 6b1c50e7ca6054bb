"""Written form of dates: texts in files, numbers inside the program."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from metrics.columns import SUPPRESSED, NumericDomain, interval_cell, refuse
from scenarios.tables.reading import calendar_periods as calendar
from scenarios.tables.reading.calendar_periods import DAY, EPOCH, FIRST, LAST

if TYPE_CHECKING:
    from defenses.base import IntervalHierarchy

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MONTH_OF = {name[:length].lower(): number for number, name in enumerate(_MONTHS, 1) for length in (3, len(name))}
_FIELDS = {
    "Y": r"\d{4}",
    "y": r"\d{2}",
    "m": r"\d{1,2}",
    "b": "[A-Za-z]{3}",
    "B": "[A-Za-z]{3,9}",
    "d": r"\d{1,2}",
    "H": r"\d{1,2}",
    "M": r"\d{2}",
    "S": r"\d{2}",
}
_DIRECTIVE = re.compile("%(.?)")
_GRAMMAR = frozenset("[](){}|*,\\")


@dataclass(frozen=True)
class DateFormat:
    """A format of dates, written as for ``strptime``.

    A date is the number of days since 1970-01-01, or of seconds if the format has a time of day.

    Parameters
    ----------
    pattern : str
        Literal text and, at most once each, ``%Y`` or ``%y`` (1969 to 2068), ``%m``, ``%b`` or ``%B`` (English names),
        ``%d``, ``%H``, ``%M``, ``%S``. It must hold year, month and day; minutes need hours, and seconds minutes.

    Raises
    ------
    ValueError
        If the pattern is no such format.
    """

    pattern: str

    def __post_init__(self) -> None:
        pattern = self.pattern
        fields = _DIRECTIVE.findall(pattern)
        for field in fields:
            if field not in _FIELDS:
                hint = "; convert dates to one time zone first" if field in ("z", "Z") else ""
                raise ValueError(f"format {pattern!r}: %{field} is not supported; use %Y %y %m %b %B %d %H %M %S{hint}")
        refuse(
            any(sum(field in group for field in fields) != 1 for group in ("Yy", "mbB", "d")),
            f"format {pattern!r} must hold year, month and day once each, such as %Y-%m-%d",
        )
        refuse(
            len({*fields}) < len(fields) or ("S" in fields and "M" not in fields) or ("M" in fields) > ("H" in fields),
            f"format {pattern!r}: hours, minutes and seconds stand once each, and from hours on",
        )

    @property
    def has_time(self) -> bool:
        """Whether the format has a time of day."""
        return "%H" in self.pattern

    @property
    def in_cells(self) -> DateFormat:
        """The format of dates in releases: this one, or ISO 8601 if it holds characters of the cells' grammar."""
        if not _GRAMMAR & {*self.pattern}:
            return self
        return ISO_TIME if self.has_time else ISO

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        parts = _DIRECTIVE.split(self.pattern)
        return re.compile(
            "".join(
                f"(?P<{part}>{_FIELDS[part]})" if position % 2 else re.escape(part)
                for position, part in enumerate(parts)
            ),
            re.ASCII,
        )

    def matches(self, text: str) -> bool:
        """Return True if a text has this form, even if there is no such date."""
        return self._expression.fullmatch(text.strip()) is not None

    def number(self, text: str) -> int | None:
        """Number of a date; None if the text is no date of this format."""
        match = self._expression.fullmatch(text.strip())
        if match is None:
            return None
        fields = match.groupdict()
        try:
            month = int(fields["m"]) if "m" in fields else _MONTH_OF[fields.get("b", fields.get("B", "")).lower()]
            days = date(_year(fields), month, int(fields["d"])).toordinal() - EPOCH
        except (KeyError, ValueError):
            return None
        if not self.has_time:
            return days
        hours, minutes, seconds = (int(fields.get(name, 0)) for name in "HMS")
        if hours > 23 or minutes > 59 or seconds > 59:
            return None
        return days * DAY + hours * 3600 + minutes * 60 + seconds

    def numbers(self, texts: Sequence[str]) -> list[int | None]:
        """Numbers of dates; None where a text is no date of this format."""
        return [self.number(text) for text in texts]

    def text(self, number: float) -> str:
        """Text of the date nearest to a number; years are 1 to 9999."""
        unit = DAY if self.has_time else 1
        days, seconds = divmod(min(max(round(number), FIRST * unit), LAST * unit + unit - 1), unit)
        when = date.fromordinal(days + EPOCH)
        fields = {
            "Y": f"{when.year:04}",
            "y": f"{when.year % 100:02}",
            "m": f"{when.month:02}",
            "b": _MONTHS[when.month - 1][:3],
            "B": _MONTHS[when.month - 1],
            "d": f"{when.day:02}",
            "H": f"{seconds // 3600:02}",
            "M": f"{seconds // 60 % 60:02}",
            "S": f"{seconds % 60:02}",
        }
        return _DIRECTIVE.sub(lambda match: fields[match[1]], self.pattern)


def _year(fields: dict[str, str]) -> int:
    if "Y" in fields:
        return int(fields["Y"])
    short = int(fields["y"])
    return short + (1900 if short >= 69 else 2000)


ISO, ISO_TIME = DateFormat("%Y-%m-%d"), DateFormat("%Y-%m-%dT%H:%M:%S")


def declared_number(text: str, form: DateFormat, *, end: bool = False) -> int:
    """Number of a date in a roles file, which is ISO 8601 or of the column's format.

    Parameters
    ----------
    text : str
        The date. A time of day may be left out: then it is the beginning of the day, or its end if `end`.
    form : DateFormat
        The column's format.
    end : bool
        Whether it is an upper bound.

    Raises
    ------
    ValueError
        If it is no such date.
    """
    day = ISO.number(text)
    if day is not None:
        return day if not form.has_time else day * DAY + (DAY - 1 if end else 0)
    number = next((found for one in (ISO_TIME, form) if (found := one.number(text)) is not None), None)
    if number is None:
        raise ValueError(f"{text!r} is no date such as 2024-12-31")
    refuse(
        ISO_TIME.number(text) is not None and not form.has_time,
        f"{text!r} has a time of day, which the column's format lacks",
    )
    return number


_INTERVAL = re.compile(r"\[([^,\[\]()]+),([^,\[\]()]+)([\])])")


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
        if text.startswith("{") and text.endswith("}"):
            return "{" + "|".join(str(self.write(part)) for part in text[1:-1].split("|")) + "}"
        interval = _INTERVAL.fullmatch(text)
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
        if text.startswith("{") and text.endswith("}"):
            return "{" + "|".join(self.read(part) for part in text[1:-1].split("|")) + "}"
        interval = _INTERVAL.fullmatch(text)
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
