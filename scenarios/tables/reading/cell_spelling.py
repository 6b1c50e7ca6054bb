"""One spelling of each released cell: cells of equal meaning get one text, so that they count as one value."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal
from functools import partial
from itertools import chain
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd

from leaderboard.pages.number_text import counted
from metrics.columns import (
    INTERVAL,
    QUOTATION_MARKS,
    SUPPRESSED,
    Booleans,
    CategoricalCells,
    CategoricalDomain,
    Domain,
    NumericCells,
    NumericDomain,
    cell_categories,
    escape,
    format_number,
    interval_cell,
    is_set,
    named_categories,
    plain_digits,
    read_cells,
    refuse,
    set_cell,
    spelling,
    unescape,
)
from scenarios.tables.note import Note
from scenarios.tables.reading.arrow_tables import UNIT
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.roles import CategoryColumn, Column, DateColumn

HINT = "labels of a hierarchy need --roles, which declares it"
Result = TypeVar("Result")
Segment = tuple[float, float, bool]
"""Low end, high end, and whether the high end is included."""
_PLAIN = re.compile(r"0|-?[1-9][0-9]*|-?(?=.{3,16}$)(0\.(?!0000)|[1-9][0-9]*\.)[0-9]*[1-9]", re.ASCII)
"""An integer, or a fraction of few digits, in its only spelling."""
_NUMBERS = re.compile(r"[^\[\](){}|,\s]+")
"""A part of a cell that may be a number."""
_NUMERIC = re.compile(r"[-+.0-9eE\[\](){}|,\s]*[0-9][-+.0-9eE\[\](){}|,\s]*", re.ASCII)
"""A number, an interval or a set of them, or what looks like one."""
FAR = 1e15
"""The bounds of a domain whose bounds are not known are this number and its negative."""
_TOGETHER = 1 << 12
"""Number of cells that are read together; a table of them and their categories is held in memory."""


def with_one_spelling(
    columns: Mapping[str, TextColumn], domains: Mapping[str, Domain | None], *, stars: bool = False
) -> dict[str, TextColumn]:
    """Columns of a release in which cells of equal meaning have one text.

    Of the domain of a column, only the order of its categories and whether numbers are integers matter. Without a
    domain, sets get the order of their texts, and intervals stay. With `stars`, a cell that leaves every declared value
    is ``*``: among the people of a table, who all lie within the domain, it tells nothing. Beside others, it may.
    """
    return {
        name: column.with_cells(
            spellings(_worded_cells(column.texts.to_pylist(), domains[name]), domains[name], stars=stars)
        )
        if name in domains
        else column
        for name, column in columns.items()
    }


def other_spellings(name: str, column: TextColumn, domain: Domain) -> tuple[TextColumn, list[Note]]:
    """A column whose intervals and masks of other programs are cells, and a note with their number."""
    texts = column.texts.to_pylist()
    cells = _worded_cells(texts, domain)
    changed = np.array([cell != text for cell, text in zip(cells, texts, strict=True)], dtype=bool)
    return column.with_cells(cells), _cells_note("other spellings", name, column, changed)


def spelling_domain(declared: Column | None, column: TextColumn) -> Domain | None:
    """What is known about the spelling of a column's cells; bounds that are not declared do not matter."""
    if isinstance(declared, CategoryColumn):
        return CategoricalDomain(tuple(declared.categories)) if declared.categories else None
    if isinstance(declared, DateColumn):
        return declared.domain() or NumericDomain(0, 0, integer=True)
    low, high = (None, None) if declared is None else (declared.low, declared.high)
    if declared is not None and (declared.integer is not None or declared.decimals is not None):
        low, high = (-FAR, FAR) if low is None or high is None else (low, high)
        return NumericDomain(low, high, integer=bool(declared.integer or declared.decimals == 0))
    texts = [text for text in column.texts.to_pylist() if text != "*"]
    numbers = list(chain.from_iterable(map(_NUMBERS.findall, texts)))
    values = TextColumn.of_values(column.where, numbers)
    if declared is None and not (all(map(_NUMERIC.fullmatch, texts)) and values.looks_numeric()):
        return None
    whole = values.looks_numeric() and all(map(float.is_integer, map(float, numbers)))
    return NumericDomain(low or 0, high or 0, integer=whole)


def spellings(texts: Sequence[str], domain: Domain | None, *, stars: bool = False) -> list[str]:
    """The one spelling of each cell; a text that is no cell stays as it is. For `stars` see `with_one_spelling`.

    Examples
    --------
    >>> spellings(["{yes}", "{yes|no}", "yes"], CategoricalDomain(("no", "yes")))
    ['yes', '{no|yes}', 'yes']
    >>> spellings(["50.0", "[20,30)", "n/a"], NumericDomain(0, 99, integer=True))
    ['50', '[20,29]', 'n/a']
    """
    if isinstance(domain, NumericDomain):
        several = [i for i, text in enumerate(texts) if not _PLAIN.fullmatch(text)]
        result = list(texts)
    else:
        several = [i for i, text in enumerate(texts) if is_set(text)]
        # Without a domain, a text with brackets may be an interval.
        result = [
            _without_blanks(text)
            if text == "*" or (domain is None and text.startswith(("[", "{")))
            else escape(unescape(text))
            for text in texts
        ]
    for start in range(0, len(several), _TOGETHER):
        part = several[start : start + _TOGETHER]
        for index, cell in zip(
            part, by_halves([texts[i] for i in part], partial(_read, domain, stars), str), strict=True
        ):
            result[index] = cell
    return result


def _without_blanks(cell: str) -> str:
    """An interval whose kind is not known, without blanks around its ends; another cell is returned unchanged."""
    interval = INTERVAL.fullmatch(cell)
    return cell if interval is None else f"[{interval[1].strip()},{interval[2].strip()}{interval[3]}"


def joined_segments(segments: Iterable[Segment], *, integer: bool) -> list[Segment]:
    """Disjoint segments that cover the same numbers, in ascending order.

    Segments of integers are closed, and adjacent ones are joined: ``[20,30)``, ``[20,29]`` and ``{[20,25]|[26,29]}``
    are the same cell.
    """
    joined: list[Segment] = []
    for low, high, closed in sorted(segments):
        if integer:
            low, high, closed = np.ceil(low), (np.floor(high) if closed else np.ceil(high) - 1), True
        refuse(low > high, "covers no possible value")
        if joined and low <= joined[-1][1] + integer:
            first, last, last_closed = joined.pop()
            low, high, closed = first, max(last, high), (last_closed and last >= high) or (closed and high >= last)
        joined.append((low, high, closed))
    return joined


def segments_cell(segments: Sequence[Segment], *, or_missing: bool = False) -> str:
    """Cell of some disjoint segments, and of the missing value beside them."""
    parts = [interval_cell(low, high, closed=closed) for low, high, closed in segments] + [""] * or_missing
    return parts[0] if len(parts) == 1 else "{" + "|".join(parts) + "}"


def by_halves(
    texts: Sequence[str], read: Callable[[Sequence[str]], list[Result]], unreadable: Callable[[str], Result]
) -> list[Result]:
    """What is read from texts together; half by half if one of them cannot be read."""
    try:
        return read(texts)
    except ValueError:
        half = len(texts) // 2
    if not half:
        return [unreadable(texts[0])]
    return [*by_halves(texts[:half], read, unreadable), *by_halves(texts[half:], read, unreadable)]


def _read(domain: Domain | None, stars: bool, texts: Sequence[str]) -> list[str]:
    """Spelling of numeric cells or sets of categories; with `stars`, one that leaves every declared value is ``*``."""
    column = pd.Series(texts, dtype=object)
    # All values that were read from records still say who is among them.
    stars = stars and domain is not None and not domain.inferred
    if isinstance(domain, NumericDomain):
        several, whole = domain.low < domain.high, interval_cell(domain.low, domain.high)
    else:
        known = () if domain is None else domain.categories
        several, whole = len(known) > 1, set_cell(known)
        domain = CategoricalDomain((*known, *sorted(named_categories(column) - set(known))) or ("",))
    cells = read_cells(column, domain)
    spelled = _numeric_texts(texts, cells) if isinstance(cells, NumericCells) else _set_texts(texts, cells)
    return [SUPPRESSED if stars and several and text == whole else text for text in spelled]


def _numeric_texts(texts: Sequence[str], cells: NumericCells) -> list[str]:
    segments: list[list[Segment]] = [[] for _ in cells.missing]
    for owner, *segment in zip(
        cells.owner.tolist(), cells.low.tolist(), cells.high.tolist(), cells.closed.tolist(), strict=True
    ):
        segments[owner].append((segment[0], segment[1], segment[2]))
    result = []
    for text, code in zip(texts, cells.codes.tolist(), strict=True):
        try:
            joined = joined_segments(segments[code], integer=cells.domain.integer)
        except ValueError:
            joined = []
        finite = joined and np.isfinite([joined[0][0], joined[-1][1]]).all()
        result.append(segments_cell(joined, or_missing=bool(cells.or_missing[code])) if finite else text)
    return result


def _set_texts(texts: Sequence[str], cells: CategoricalCells) -> list[str]:
    result = []
    for text, code in zip(texts, cells.codes.tolist(), strict=True):
        names = [escape(cells.domain.categories[place]) for place in np.flatnonzero(cells.member[code]).tolist()]
        names += [""] * bool(cells.or_missing[code])
        result.append(text if not any(names) else names[0] if len(names) == 1 else "{" + "|".join(names) + "}")
    return result


# Intervals of numbers as people and other programs write them, such as 60-69, [60, 70[ or 60 and over.

_NUMBER_TEXT = r"[+-]?\d{1,15}(?:\.\d{1,15})?"
_PART = f"({_NUMBER_TEXT})"
_DASH = r"(?:-|‐|–|—|−|ー|~|〜|\.\.+|…|:|;|,|、|_|to|bis|から)"
_RANGE = re.compile(rf"([\[\](]?)\s*{_PART}\s*({_DASH})\s*{_PART}(?:まで)?\s*([\])\[]?)", re.IGNORECASE)
_OR_MORE = r"(?:\+|(?:or|and) (?:more|over|older|above)|以上|から|~|〜)"
_OR_LESS = r"(?:(?:or|and) (?:less|under|younger|below)|以下|まで)"
_LOW, _HIGH = f"(?P<low>{_NUMBER_TEXT})", f"(?P<high>{_NUMBER_TEXT})"
_INTERVALS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_LOW}\s*以上[、,]?\s*{_HIGH}\s*(?:以下|(?P<below>未満))",
        rf"(?:between|zwischen)\s*{_LOW}\s*(?:and|und|&)\s*{_HIGH}",
        rf"{_LOW}\s*(?:<=|≤|=<|(?P<above><))\s*[^\W\d]+\s*(?:<=|≤|=<|(?P<below><))\s*{_HIGH}",
        rf"(?:>=|≥|=>|from|over)\s*{_LOW}",
        rf"{_LOW}\s*{_OR_MORE}",
        rf"(?P<above>>)\s*{_LOW}",
        rf"(?:<=|≤|=<|up to|[~〜])\s*{_HIGH}",
        rf"{_HIGH}\s*{_OR_LESS}",
        rf"(?P<below><|under|less than)\s*{_HIGH}",
        rf"{_HIGH}\s*(?P<below>未満)",
    )
)
"""Intervals in words; without `low` or `high` they reach to the end of the domain. `above` and `below` exclude ends."""
_TENS = re.compile(r"(\d*0)(?:s|代)|(\d{1,15})(\*{1,15})")
NUMBER_UNIT = re.compile(rf"(?<=\d)\s*(?:{UNIT}|years?(?: old)?|yrs?)(?![A-Za-z])")
"""A unit that follows a number."""


def worded_intervals(text: str, domain: NumericDomain) -> Iterator[tuple[str, str, bool, str]]:
    """Intervals that a text may mean, the likeliest first.

    Each is its ends, whether the high one belongs to it, and the mark between them, empty if there are brackets.
    """
    if (match := _RANGE.fullmatch(text)) and not _may_be_one_number(match):
        yield _range(match, domain)
    for pattern in _INTERVALS:
        if match := pattern.fullmatch(text):
            ends = match.groupdict()
            low, high = ends.get("low") or format_number(domain.low), ends.get("high") or format_number(domain.high)
            yield _above(low, domain) if ends.get("above") else low, high, not ends.get("below"), ""
    if match := _TENS.fullmatch(text):
        width = 10 ** len(match[3] or "0")
        low = str(int(match[1] or int(match[2]) * width))
        yield low, str(int(low) + width - 1), True, ""


def _may_be_one_number(match: re.Match[str]) -> bool:
    """Whether the comma of a range may also separate decimals or thousands, as in ``20,4`` and ``[1,000]``."""
    first, last = match[2], match[4]
    return (
        match[3] == ","
        and Decimal(first) > Decimal(last)
        and (not match[1] or (len(last) == 3 and last.startswith("0")))
    )


def _range(match: re.Match[str], domain: NumericDomain) -> tuple[str, str, bool, str]:
    """The interval of two ends, the smaller one first; open where a bracket opens away from it, as R and pandas do."""
    first, last = sorted((match[2], match[4]), key=Decimal)
    mark = "" if match[1] and match[5] else match[3]
    # Where both ends are in parentheses, these are mere parentheses as often as not.
    opened = match[1] == "]" or (match[1] == "(" and match[5] in ("]", "["))
    closed = match[5] != "[" and not (match[1] in ("[", "]") and match[5] == ")")
    return _above(first, domain) if opened else first, last, closed, mark


def _above(number: str, domain: NumericDomain) -> str:
    """The first value after a number, among integers; the number itself among others, since no cell is open below."""
    return f"{Decimal(number).to_integral_value(ROUND_FLOOR) + 1:f}" if domain.integer else number


_PAIRS = (",", ";", ":", "、")
"""Marks between two numbers that need not be the ends of an interval."""


def ascending_pairs(texts: Iterable[str]) -> bool:
    """Whether all of several texts are two integers, the smaller one first, with one such mark between them.

    Examples
    --------
    >>> ascending_pairs(["60,69", "70,79"]), ascending_pairs(["60,69", "70,5"])
    (True, False)
    """
    several = [text for text in texts if text != SUPPRESSED]
    return len(several) > 1 and all(map(_is_pair, several))


def _is_pair(text: str) -> bool:
    match = _RANGE.fullmatch(text)
    if match is None or match[3] not in _PAIRS:
        return False
    low, high = match[2], match[4]
    return low.isdecimal() and high.isdecimal() and int(low) < int(high)


def _worded_cells(texts: Sequence[str], domain: Domain | None) -> list[str]:
    """The cells that the texts of a column stand for; pairs such as 60,69 are intervals if all are, among integers."""
    pairs = isinstance(domain, NumericDomain) and domain.integer and ascending_pairs(texts)
    return [worded_cell(text, domain, pairs=pairs) for text in texts]


def worded_cell(text: str, domain: Domain | None, *, pairs: bool = False) -> str:
    """The cell that an interval or a mask of another program stands for; a text that is none is returned unchanged.

    An interval lies partly in the domain. Stars at the end of a code stand for one character each. Without `pairs`,
    a comma, colon or semicolon between two numbers makes no interval.

    Examples
    --------
    >>> ages = NumericDomain(0, 99, integer=True)
    >>> [worded_cell(text, ages) for text in ("60-69", "]59, 69]", "[60, 70[", "60+", "6*", "[60,69]", "2020-2021")]
    ['[60,69]', '[60,69]', '[60,70)', '[60,99]', '[60,69]', '[60,69]', '2020-2021']
    >>> worded_cell("810**", CategoricalDomain(("81011", "81012", "90000")))
    '{81011|81012}'
    """
    if isinstance(domain, CategoricalDomain):
        stem = text.rstrip(SUPPRESSED)
        alike = [one for one in domain.categories if len(one) == len(text) and one.startswith(stem)]
        return set_cell(alike) if stem not in ("", text) and alike and text not in domain.categories else text
    if domain is None or INTERVAL.fullmatch(text) or is_set(text) or text == SUPPRESSED or "--" in text:
        return text
    plain = NUMBER_UNIT.sub("", plain_digits(text).strip())
    if not _RANGE.fullmatch(plain):
        plain = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", plain)
    for low, high, closed, mark in worded_intervals(plain, domain):
        first, last = float(low), float(high)
        inside = first <= domain.high and last >= domain.low and (first < last or (closed and first == last))
        if (pairs or mark not in _PAIRS) and inside and first > -FAR and last < FAR:
            return f"[{low},{high}{']' if closed else ')'}"
    return text


# Cells of a finished release beside a table of people: values that nobody has, and cells that say nothing.

HAVE = {"record": "the original table has", "candidate": "the candidates have"}
"""What a table of people is called by what each of its people is called, with the verb."""


def category_note(cells: pd.Series[Any], known: Collection[str], person: str, hint: str = "") -> list[Note]:
    """A note on released categories that nobody has; none where all are known.

    Examples
    --------
    >>> [note] = category_note(pd.Series(["Ann", "{Bob|Cy}", "*"], name="name"), {"Ann", "Bob"}, "candidate")
    >>> str(note)
    'name: 1 released category that no candidate has, in 1 of 3 rows'
    """
    unknown = named_categories(cells) - set(known)
    if not unknown:
        return []
    distinct = pd.Series(cells.dropna().unique(), dtype=object)
    named = [cell_categories(str(cell)) for cell in distinct]
    rows = int(cells.isin(distinct[[not unknown.isdisjoint(names) for names in named]]).sum())
    doubts = ""
    alike = {spelling(name) for name in known}
    others = [name for name in unknown if spelling(name) in alike]
    respelled = len(others)
    if respelled:
        doubts += (
            f"; {respelled} of them {'differs' if respelled == 1 else 'differ'} from a known one only in blanks, case "
            "or Unicode form" + " or quotation marks" * any(name.strip()[:1] in QUOTATION_MARKS for name in others)
        )
    if all(unknown.issuperset(names) for names in named) and cells.notna().all():
        helps = "helps only where texts are compared by spelling" if respelled else "does not help"
        doubts += f"; no {person} has any released category, so the column {helps}"
    said = {
        "unknown": len(unknown),
        "categories": "category" if len(unknown) == 1 else "categories",
        "person": person,
        "those": rows,
        "rows": len(cells),
        "doubts": doubts + hint,
    }
    return [Note("nobody's categories", (str(cells.name),), said)]


def number_note(cells: pd.Series[Any], domain: NumericDomain, values: pd.Series[Any], person: str) -> list[Note]:
    """A note on released numbers and intervals outside the range of people's numbers; none where all lie within."""
    read = cast("NumericCells", read_cells(cells, domain))
    low, high = read.hull()
    present = ~read.suppressed & ~read.missing
    outside = present & ~((high >= values.min()) & (low <= values.max()))
    rows, of = (int(those[read.codes].sum()) for those in (outside, present))
    if not rows:
        return []
    doubts = "; no row lies inside, so the column does not help" if rows == of else ""
    said = {"those": rows, "rows": len(cells), "person": person, "doubts": doubts}
    return [Note("nobody's numbers", (str(cells.name),), said)]


def readable_columns(
    columns: Mapping[str, TextColumn], domains: Mapping[str, Domain], complete: Collection[str], person: str = "record"
) -> tuple[dict[str, TextColumn], list[Note]]:
    """Columns of a release after `filled_gaps` and `known_cells`, and their notes."""
    read: dict[str, TextColumn] = dict(columns)
    notes: list[Note] = []
    for name in [name for name in domains if name in columns]:
        filled, gaps = filled_gaps(name, columns[name], HAVE[person]) if name in complete else (columns[name], [])
        filled, respelled = other_spellings(name, filled, domains[name])
        read[name], unknown = known_cells(name, filled, domains[name])
        notes += [*gaps, *respelled, *unknown]
        if person == "record":
            # Of candidates, `number_note` compares their own range.
            notes += _outside_notes(name, read[name], domains[name])
    return read, notes


def filled_gaps(name: str, column: TextColumn, others: str) -> tuple[TextColumn, list[Note]]:
    """A released column whose empty cells are ``*``, since no original value is missing, and a note."""
    empty = column.missing_rows
    if not empty:
        return column, []
    said = {"cells": counted(empty, "cell"), "rows": column.rows, "are": "is" if empty == 1 else "are"}
    return column.filled(SUPPRESSED), [Note("suppressed gaps", (name,), {**said, "others": others})]


def known_cells(name: str, column: TextColumn, domain: Domain) -> tuple[TextColumn, list[Note]]:
    """A released column whose unknown cells are ``*``, and a note.

    Unknown cells are no cells of the domain, whatever their number: they make no file unreadable.
    """
    wrong = _unknown(column.texts.to_pylist(), domain)
    if not wrong.any():
        return column, []
    notes = _unknown_notes("unknown cells", name, column, domain, wrong)
    return column.with_cells(np.where(wrong, SUPPRESSED, column.texts.to_pylist()).tolist()), notes


def _cells_note(kind: str, name: str, column: TextColumn, those: Booleans, verb: str = "", **said: str) -> list[Note]:
    """A note on the cells with some of a column's distinct texts; none without any."""
    count = column.rows_of(those) if those.any() else 0
    numbers = {"cells": counted(count, "released cell"), "rows": column.rows, "verb": verb + "s" * (count == 1)}
    return [Note(kind, (name,), {**numbers, **said})] * (count > 0)


def _outside_notes(name: str, column: TextColumn, domain: Domain) -> list[Note]:
    """A note on released numbers outside the domain of the original ones, such as one that stands for a gap."""
    if not isinstance(domain, NumericDomain):
        return []
    numbers = pd.to_numeric(pd.Series(column.texts.to_pylist(), dtype=object), errors="coerce").to_numpy(dtype=float)
    return _cells_note("cells outside", name, column, (numbers < domain.low) | (numbers > domain.high), "lie")


def unread_notes(columns: Mapping[str, TextColumn], declared: Mapping[str, Column]) -> list[Note]:
    """Notes on cells of a release that are no cells of the declared columns, and count as values of their own."""
    notes: list[Note] = []
    for name in [name for name in declared if name in columns]:
        domain = spelling_domain(declared[name], columns[name])
        if domain is not None:
            column, respelled = other_spellings(name, columns[name], domain)
            wrong = _unknown(column.texts.to_pylist(), domain)
            notes += [*respelled, *_unknown_notes("unread cells", name, column, domain, wrong)]
    return notes


def _unknown(texts: Sequence[str], domain: Domain) -> Booleans:
    """Which texts are no cells of a domain, whatever its bounds."""
    if isinstance(domain, NumericDomain):
        return np.array(by_halves(texts, partial(_readable, domain), lambda _: True), dtype=bool)
    known = set(domain.categories)
    complete = named_categories(pd.Series(texts, dtype=object)) <= known
    return np.array([not complete and not named_categories(pd.Series([text])) <= known for text in texts], dtype=bool)


def _unknown_notes(kind: str, name: str, column: TextColumn, domain: Domain, wrong: Booleans) -> list[Note]:
    numeric = isinstance(domain, NumericDomain)
    verb, what = ("hold", "no number, interval or set") if numeric else ("name", "a category outside its domain")
    return _cells_note(kind, name, column, wrong, verb, what=what, hint=f"; {HINT}" if domain.inferred else "")


def _readable(domain: Domain, texts: Sequence[str]) -> list[bool]:
    """False for each of some cells of a domain, since none of them is wrong."""
    read_cells(pd.Series(texts, dtype=object), domain)
    return [False] * len(texts)
