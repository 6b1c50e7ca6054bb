"""Columns of dates in files: recognized or declared, and read as numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leaderboard.pages.number_text import counted
from metrics.columns import SUPPRESSED, plain_digits
from scenarios.tables.note import Note
from scenarios.tables.reading.calendar_periods import DAY
from scenarios.tables.reading.date_form import DateForm
from scenarios.tables.reading.date_format import ISO, ISO_TIME, DateFormat, plain_date
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.roles import DateColumn, NumberColumn, Roles

_SURE = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d")
_HALF_DAYS = (" %I:%M %p", " %I:%M:%S %p", " %I:%M%p", " %I:%M:%S%p")
_TIMES = ("T%H:%M:%S", " %H:%M:%S", "T%H:%M", " %H:%M", *_HALF_DAYS)
_DOUBTFUL = tuple(f"{day}{mark}{month}{mark}%Y" for mark in "/.-" for day, month in (("%d", "%m"), ("%m", "%d")))
_FIELDS = (("%d", "%m", "%y"), ("%m", "%d", "%y"), ("%y", "%m", "%d"))
_SHORT = tuple(mark.join(fields) for mark in "/-." for fields in _FIELDS)
FORMATS = (
    *(DateFormat(pattern + time) for pattern in (*_SURE, *_DOUBTFUL, *_SHORT) for time in ("", *_TIMES)),
    DateFormat("%Y年%m月%d日"),
    *(DateFormat(f"%d{mark}%{month}{mark}%Y") for mark in (" ", "-", "") for month in "bB"),
    *(DateFormat(f"%d{mark}%b{mark}%y") for mark in (" ", "-", "")),
    *(DateFormat(f"%{month} %d, %Y") for month in "bB"),
    *(DateFormat(f"%Y%m%d{time}") for time in _TIMES),
)
"""Formats that are recognized. Where a text fits two of them, it does not show which number is the month."""
COMPACT = (
    *map(DateFormat, ("%Y%m%d", "%d%m%Y", "%m%d%Y", "%Y%m%d%H%M", "%Y%m%d%H%M%S")),
    *(DateFormat("".join(fields)) for fields in _FIELDS),
)
"""Dates that look like numbers; recognized where all texts are such dates, and there are `_SEVERAL`."""
_SEVERAL, _MANY = 5, 20
"""Fewest distinct numbers: one number in thirty of eight digits is a date by chance, and codes of six digits are near.

So are the numbers of versions, such as 1.2.13.
"""
_COMPACT_LIKE = re.compile(
    r"\s*(?:(?:(?:19|20)\d{6}|99991231)(?:\d{4}|\d{6})?|\d{3,4}(?:19|20)\d\d|\d{5,6}|31129999|12319999)(?:\.0+)?\s*\Z",
    re.ASCII,
)
_TIME = re.compile(r"\s*\d{1,2}:\d\d(:\d\d)?( ?[AaPp]\.?[Mm]\.?)?\s*\Z", re.ASCII)
_ERA_YEAR = re.compile(r"\s*[MTSHR]\d{1,2}\s*\Z", re.ASCII)
_MONTHS = re.compile(r"\s*(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:\.0+)?\s*\Z", re.ASCII)
"""A year and month that look like a number."""
SENTINELS = (
    *("0001-01-01", "1753-01-01", "1899-12-30", "1899-12-31", "1900-01-01"),
    *("2099-12-31", "2999-12-31", "9999-01-01", "9999-12-31"),
)
"""Dates that usually stand for a missing value or for the end of time."""
HEAD = 50
_DATE_LIKE = re.compile(
    r"\s*(?:\d{1,4}[-/.年]\d{1,2}[-/.月]\d{1,4}|\d{8}[T ]\d{1,2}:\d\d|\d{1,2}[- ]?[A-Za-z]{3,9}[- ]?\d{2,4}"
    r"|[A-Za-z]{3,9} \d{1,2}, \d{4})"
)
_ZONED = re.compile(r"\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?\s*(Z|[+-]\d\d:?\d\d|UTC)\s*")
NO_ZONES = "times with a time zone are not read as dates; convert them to one time zone first"


def native_dates(name: str, column: Any) -> tuple[Any, list[Note]] | None:
    """Texts of a Parquet column of dates or timestamps in ISO 8601, and notes; None for another column.

    Timestamps with a time zone become UTC, and fractions of seconds are cut off. Timestamps at midnight are dates.
    """
    kind = column.type
    notes: list[Note] = []
    if pa.types.is_date(kind):
        return pc.cast(pc.cast(column, pa.date32()), pa.string()), notes
    if not pa.types.is_timestamp(kind):
        return None
    if kind.tz is not None:
        notes.append(Note("zone", (name,), {"zone": kind.tz}))
        column = column.cast(pa.timestamp(kind.unit))
    seconds = pc.floor_temporal(column, unit="second")
    if pc.any(pc.not_equal(seconds, column)).as_py():
        notes.append(Note("fractions of seconds", (name,)))
    seconds = pc.cast(seconds, pa.timestamp("s"))
    at_midnight = pc.all(pc.equal(pc.floor_temporal(seconds, unit="day"), seconds)).as_py()
    return pc.strftime(seconds, format=(ISO if at_midnight else ISO_TIME).pattern), notes


def dated_columns(
    columns: Mapping[str, TextColumn], declared: Roles, missing: Sequence[str], native: Sequence[str] = ()
) -> tuple[dict[str, TextColumn], list[Note]]:
    """Columns, of which those of dates are numbers now, and notes; see `DateFormat`."""
    changed, notes = dict(columns), list[Note]()
    for name, column in columns.items():
        described = declared.columns.get(name)
        if column.empty and not isinstance(described, DateColumn):
            continue
        if isinstance(described, DateColumn):
            form = described.form()
            read_as = form.format
            if name in native:
                read_as = ISO_TIME if "T" in "".join(column.texts.slice(0, 1).to_pylist()) else ISO
            changed[name] = _numbered(column.without(missing), form, read_as)
        elif described is None and name not in declared.identifiers:
            present = column.without(missing)
            found = _recognized(name, present)
            if isinstance(found, DateFormat):
                changed[name] = _numbered(present, DateForm(found), found)
                notes.append(Note("dates", (name,), {"format": found.pattern}))
                eras = any(plain_date(text) != plain_digits(text) for text in present.texts.to_pylist())
                notes += [Note("eras", (name,))] * eras + [Note("short years", (name,))] * ("%y" in found.pattern)
            elif found is not None:
                notes.append(found)
        elif isinstance(described, NumberColumn):
            found = _recognized(name, column.without(missing))
            if isinstance(found, DateFormat):
                notes.append(Note("compact dates as numbers", (name,), {"format": found.pattern}))
        notes += _sentinel_notes(name, changed[name])
    return changed, notes


def in_format(column: TextColumn, form: DateForm) -> TextColumn:
    """A released column in the format of its original, if all of its dates are of one other format."""
    texts = column.texts.to_pylist()
    if any(form.read(text) != text for text in texts):
        return column
    found = _recognized("", column.without([SUPPRESSED]))
    if not isinstance(found, DateFormat) or found.has_time != form.format.has_time:
        return column
    written = form.format.in_cells
    numbers = zip(texts, found.numbers(texts), strict=True)
    return column.with_cells([text if number is None else written.text(number) for text, number in numbers])


def _sentinel_notes(name: str, column: TextColumn) -> list[Note]:
    """A note on each date of a column that usually stands for a missing value."""
    if column.dates is None:
        return []
    numbers = np.array([int(text) // column.dates.unit for text in column.texts.to_pylist()], dtype=np.int64)
    counts = {text: column.rows_of(numbers == ISO.number(text)) for text in SENTINELS}
    return [
        Note("date for a gap", (name,), {"date": text, "rows": counted(count, "row"), "of": column.rows})
        for text, count in counts.items()
        if count
    ]


def _recognized(name: str, column: TextColumn) -> DateFormat | Note | None:
    """The only format of which all texts of a column are dates, or a note if they seem to be dates."""
    head = [plain_date(text) for text in column.texts.slice(0, HEAD).to_pylist()]
    several = len(column.texts) >= _SEVERAL
    compact, months, alike = (
        bool(head) and sum(pattern.match(text) is not None for text in head) >= 0.9 * len(head)
        for pattern in (_COMPACT_LIKE, _MONTHS, _DATE_LIKE)
    )
    if several and months and all(map(_MONTHS.fullmatch, column.texts.to_pylist())):
        return Note("compact months", (name,))
    if several and all(map(_TIME.match, head)):
        return Note("times of day", (name,))
    if several and all(map(_ERA_YEAR.match, head)) and len({text.strip()[0] for text in head}) > 1:
        return Note("short eras", (name,))
    if not compact and not alike:
        return None
    if all(map(_ZONED.fullmatch, head)):
        return Note("zoned dates", (name,), {"zoned": NO_ZONES})
    forms = COMPACT if compact else FORMATS
    # A format of nine tenths of the texts reads some of the first tenth and one; most formats read none of them.
    close = [
        form
        for form in forms
        if any(form.number(text) is not None for text in head[: len(head) // 10 + 1])
        and sum(form.number(text) is not None for text in head) >= 0.9 * len(head)
    ]
    texts = column.texts.to_pylist()
    counts = {form: sum(number is not None for number in form.numbers(texts)) for form in close}
    fitting = [form for form, count in counts.items() if count == len(texts)]
    if fitting and len(texts) < (_MANY if fitting[0].may_be_code else _SEVERAL * compact):
        return Note("compact dates", (name,), {"formats": _quoted(fitting)})
    fitting = _with_likely_years(fitting, texts)
    # The format of long names of months reads short ones, too.
    if len(fitting) == 1 or (fitting and "%b" in fitting[0].pattern):
        return fitting[0]
    if fitting:
        kind = "compact dates" if fitting[0].may_be_code else "day or month"
        return Note(kind, (name,), {"formats": _quoted(fitting)})
    best = max(counts, key=counts.__getitem__, default=None)
    return None if best is None else _nearly_dates(name, column, best, len(texts) - counts[best])


def _quoted(forms: Sequence[DateFormat]) -> str:
    return " or ".join(repr(form.pattern) for form in forms)


_WIDER, _DAYS = 2, 13
"""A wrong format takes days of the month for years, so its dates span a longer time, and has few days of the month."""


def _with_likely_years(forms: list[DateFormat], texts: Sequence[str]) -> list[DateFormat]:
    """Formats that fit, without those whose year is another field and whose dates lie much farther apart."""
    if len(forms) < 2 or len(texts) < _MANY:
        return forms
    numbers = {form: [number for number in form.numbers(texts) if number is not None] for form in forms}
    spans = {form: max(those) - min(those) for form, those in numbers.items()}
    nearest = min(forms, key=spans.__getitem__)
    days = {ISO.text(number // (DAY if nearest.has_time else 1))[-2:] for number in numbers[nearest]}
    if len(days) < _DAYS:
        return forms
    year = nearest.pattern.startswith("%y")
    return [form for form in forms if form.pattern.startswith("%y") == year or spans[form] <= _WIDER * spans[nearest]]


def _nearly_dates(name: str, column: TextColumn, form: DateFormat, others: int) -> Note:
    declared = f' and format = "{form.pattern}"' if form != ISO else ""
    numbers = {"others": others, "texts": len(column.texts), "format": form.pattern}
    return Note("nearly dates", (name,), {**numbers, "declared": declared})


def _numbered(column: TextColumn, form: DateForm, read_as: DateFormat) -> TextColumn:
    """A column whose texts are the numbers of its dates."""
    texts = column.texts.to_pylist()
    numbers = read_as.numbers(texts)
    if read_as.has_time != form.format.has_time:
        # A file that knows dates may hold days where a time of day is declared; the other way times would be lost.
        if read_as.has_time:
            raise ValueError(f"{column.where} has times of day, which the format {form.format.pattern} lacks")
        numbers = [None if number is None else number * form.unit for number in numbers]
    for position, number in enumerate(numbers):
        if number is None:
            column.refuse(np.arange(len(texts)) == position, _complaint(texts[position], read_as))
        elif (form.low is not None and number < form.low) or (form.high is not None and number > form.high):
            written = form.format
            bounds = f"{written.text(form.low or 0)} to {written.text(form.high or 0)}"
            column.refuse(np.arange(len(texts)) == position, f"lies outside {bounds}")
    return replace(column.with_texts(pa.array([str(number) for number in numbers], pa.string())), dates=form)


def _complaint(text: str, form: DateFormat) -> str:
    """Why a text is no date of a format, and what would be right."""
    if _ZONED.fullmatch(text):
        return f"has a time zone; {NO_ZONES}"
    if form.matches(text):
        return "is no possible date"
    others = " or ".join(other.pattern for other in FORMATS if other.number(text) is not None)
    hint = f"; it looks like {others}, but all dates of a column need one declared format" if others else ""
    return f"is no date of the format {form.pattern}, such as {form.text(0)}{hint}"
