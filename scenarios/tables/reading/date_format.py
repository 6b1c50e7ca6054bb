"""Formats of dates in files, and the numbers that dates are inside the program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from metrics.columns import plain_digits, refuse
from scenarios.tables.reading.calendar_periods import DAY, EPOCH, FIRST, LAST

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
    "I": r"\d{1,2}",
    "p": r"[AaPp]\.?[Mm]\.?",
    "M": r"\d{2}",
    "S": r"\d{2}(?:\.\d+)?",
}
_ERAS = {
    name: year
    for names, year in (("M明治", 1867), ("T大正", 1911), ("S昭和", 1925), ("H平成", 1988), ("R令和", 2018))
    for name in (names[:1], names[1:])
}
"""Each Japanese era, in words and as a letter, and the year before its first one."""
_ERA = re.compile(f"\\s*({'|'.join(_ERAS)})[ .]?(\\d{{1,2}}|元)(?=[-/.年])")
_DIRECTIVE = re.compile("%(.?)")
_GRAMMAR = frozenset("[](){}|*,\\")


def plain_date(text: str) -> str:
    """A date with digits of single width, and with the year of our calendar where a Japanese era counts the years.

    Examples
    --------
    >>> plain_date("令和３年１月５日"), plain_date("S55.1.31")
    ('2021年1月5日', '1980.1.31')
    """
    text = plain_digits(text)
    era = _ERA.match(text)
    return text if era is None else f"{_ERAS[era[1]] + int(era[2].replace('元', '1'))}{text[era.end() :]}"


@dataclass(frozen=True)
class DateFormat:
    """A format of dates, written as for ``strptime``.

    A date is the number of days since 1970-01-01, or of seconds if the format has a time of day.

    Parameters
    ----------
    pattern : str
        Literal text and, at most once each, ``%Y`` or ``%y`` (1969 to 2068), ``%m``, ``%b`` or ``%B`` (English names),
        ``%d``, ``%H``, ``%M``, ``%S``, or ``%I`` with ``%p`` (AM or PM) for ``%H``. It must hold year, month and day;
        minutes need hours, and seconds minutes.

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
                raise ValueError(
                    f"format {pattern!r}: %{field} is not supported; use %Y %y %m %b %B %d %H %I %p %M %S{hint}"
                )
        refuse(
            any(sum(field in group for field in fields) != 1 for group in ("Yy", "mbB", "d")),
            f"format {pattern!r} must hold year, month and day once each, such as %Y-%m-%d",
        )
        refuse(("I" in fields) != ("p" in fields), f"format {pattern!r}: %I, hours to 12, needs %p for AM or PM")
        refuse(
            len({*fields}) < len(fields)
            or {"H", "I"} <= {*fields}
            or ("S" in fields and "M" not in fields)
            or ("M" in fields) > self.has_time,
            f"format {pattern!r}: hours, minutes and seconds stand once each, and from hours on",
        )

    @property
    def has_time(self) -> bool:
        """Whether the format has a time of day."""
        return "%H" in self.pattern or "%I" in self.pattern

    @property
    def may_be_code(self) -> bool:
        """Whether codes of two digits look like its dates, as in 010203 or 1.2.13."""
        return re.fullmatch(r"(%[dmy]\.?){3}", self.pattern) is not None

    @property
    def in_cells(self) -> DateFormat:
        """The format of dates in releases: this one, or ISO 8601 if it holds characters of the cells' grammar."""
        if not _GRAMMAR & {*self.pattern}:
            return self
        return ISO_TIME if self.has_time else ISO

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        parts = _DIRECTIVE.split(self.pattern)
        # Of numbers that touch, only the first may lack its leading zero, as spreadsheets write 1012020.
        expression = "".join(
            (
                f"(?P<{part}>{_FIELDS[part]})"
                if position == 1 or before
                else f"(?P<{part}>{_FIELDS[part]})".replace("1,", "")
            )
            if position % 2
            else re.escape(part)
            for position, (before, part) in enumerate(zip(["", *parts], parts, strict=False))
        )
        # Programs write whole numbers as 20190117.0 where other rows of the column are empty.
        fraction = "" if any(parts[::2]) else r"(?:\.0+)?"
        return re.compile(expression + fraction, re.ASCII)

    def matches(self, text: str) -> bool:
        """Return True if a text has this form, even if there is no such date."""
        return self._expression.fullmatch(plain_date(text).strip()) is not None

    def number(self, text: str) -> int | None:
        """Number of a date; None if the text is no date of this format."""
        match = self._expression.fullmatch(plain_date(text).strip())
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
        hours, minutes, seconds = (int(float(fields.get(name, 0))) for name in "HMS")
        if "I" in fields:
            hour = int(fields["I"])
            # 12 AM is midnight, and 12 PM noon.
            hours = hour % 12 + 12 * (fields["p"][0] in "Pp") if 1 <= hour <= 12 else 24
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
            "I": f"{(seconds // 3600 - 1) % 12 + 1:02}",
            "p": "AM" if seconds < DAY // 2 else "PM",
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
    """Number of a date in a roles file, which is ISO 8601 or of the column's format."""
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
