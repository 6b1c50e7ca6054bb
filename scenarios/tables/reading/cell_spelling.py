"""One spelling of each released cell: cells of equal meaning get one text, so that they count as one value."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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
    interval_cell,
    is_set,
    named_categories,
    read_cells,
    refuse,
    spelling,
    unescape,
)
from scenarios.tables.note import Note
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.roles import CategoryColumn, Column, DateColumn

Result = TypeVar("Result")
Segment = tuple[float, float, bool]
"""Low end, high end, and whether the high end is included."""
_PLAIN = re.compile(r"0|-?[1-9][0-9]*|-?(?=.{3,16}$)(0\.(?!0000)|[1-9][0-9]*\.)[0-9]*[1-9]", re.ASCII)
"""An integer, or a fraction of few digits, in its only spelling."""
_NUMBERS = re.compile(r"[^\[\](){}|,\s]+")
"""A part of a cell that may be a number."""
_NUMERIC = re.compile(r"[-+.0-9eE\[\](){}|,\s]*[0-9][-+.0-9eE\[\](){}|,\s]*", re.ASCII)
"""A number, an interval or a set of them, or what looks like one."""
_TOGETHER = 1 << 12
"""Number of cells that are read together; a table of them and their categories is held in memory."""


def with_one_spelling(columns: Mapping[str, TextColumn], domains: Mapping[str, Domain | None]) -> dict[str, TextColumn]:
    """Columns of a release in which cells of equal meaning have one text.

    Of the domain of a column, only the order of its categories and whether numbers are integers matter. Without a
    domain, sets get the order of their texts, and intervals stay.
    """
    return {
        name: column.with_cells(spellings(column.texts.to_pylist(), domains[name])) if name in domains else column
        for name, column in columns.items()
    }


def spelling_domain(declared: Column | None, column: TextColumn) -> Domain | None:
    """What is known about the spelling of a column's cells; its bounds do not matter."""
    if isinstance(declared, CategoryColumn):
        return CategoricalDomain(tuple(declared.categories)) if declared.categories else None
    if isinstance(declared, DateColumn):
        return NumericDomain(0, 0, integer=True)
    if declared is not None and (declared.integer is not None or declared.decimals is not None):
        return NumericDomain(0, 0, integer=bool(declared.integer or declared.decimals == 0))
    texts = [text for text in column.texts.to_pylist() if text != "*"]
    numbers = list(chain.from_iterable(map(_NUMBERS.findall, texts)))
    values = TextColumn.of_values(column.where, numbers)
    if declared is None and not (all(map(_NUMERIC.fullmatch, texts)) and values.looks_numeric()):
        return None
    whole = values.looks_numeric() and all(map(float.is_integer, map(float, numbers)))
    return NumericDomain(0, 0, integer=whole)


def spellings(texts: Sequence[str], domain: Domain | None) -> list[str]:
    """The one spelling of each cell; a text that is no cell stays as it is.

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
        for index, cell in zip(part, by_halves([texts[i] for i in part], partial(_read, domain), str), strict=True):
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


def _read(domain: Domain | None, texts: Sequence[str]) -> list[str]:
    """Spelling of numeric cells or sets of categories."""
    column = pd.Series(texts, dtype=object)
    if not isinstance(domain, NumericDomain):
        known = () if domain is None else domain.categories
        domain = CategoricalDomain((*known, *sorted(named_categories(column) - set(known))) or ("",))
    cells = read_cells(column, domain)
    return _numeric_texts(texts, cells) if isinstance(cells, NumericCells) else _set_texts(texts, cells)


def _numeric_texts(texts: Sequence[str], cells: NumericCells) -> list[str]:
    segments: list[list[Segment]] = [[] for _ in cells.missing]
    for owner, *segment in zip(
        cells.owner.tolist(), cells.low.tolist(), cells.high.tolist(), cells.closed.tolist(), strict=True
    ):
        segments[owner].append((segment[0], segment[1], segment[2]))
    result = []
    for text, code in zip(texts, cells.codes.tolist(), strict=True):
        own = segments[code]
        try:
            joined = joined_segments(own, integer=cells.domain.integer)
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
    numbers = {"unknown": len(unknown), "categories": "category" if len(unknown) == 1 else "categories"}
    said = {**numbers, "person": person, "those": rows, "rows": len(cells), "doubts": doubts + hint}
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


_MOST = 0.5
"""Share of unknown cells above which a column is left as it is: it is refused as one of another kind."""


def readable_columns(
    columns: Mapping[str, TextColumn], domains: Mapping[str, Domain], complete: Collection[str], person: str = "record"
) -> tuple[dict[str, TextColumn], list[Note]]:
    """Columns of a release after `filled_gaps` and `known_cells`, and their notes."""
    read: dict[str, TextColumn] = dict(columns)
    notes: list[Note] = []
    for name in [name for name in domains if name in columns]:
        filled, gaps = filled_gaps(name, columns[name], HAVE[person]) if name in complete else (columns[name], [])
        read[name], unknown = known_cells(name, filled, domains[name])
        notes += [*gaps, *unknown]
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

    Unknown cells are no cells of the domain. If most cells are unknown, the column stays as it is.
    """
    wrong = _unknown(column.texts.to_pylist(), domain)
    count = column.rows_of(wrong) if wrong.any() else 0
    if not 0 < count <= _MOST * (column.rows - column.missing_rows):
        return column, []
    note = _unknown_note("unknown cells", name, column, domain, wrong)
    return column.with_cells(np.where(wrong, SUPPRESSED, column.texts.to_pylist()).tolist()), [note]


def _outside_notes(name: str, column: TextColumn, domain: Domain) -> list[Note]:
    """A note on released numbers outside the domain of the original ones, such as one that stands for a gap."""
    if not isinstance(domain, NumericDomain):
        return []
    numbers = pd.to_numeric(pd.Series(column.texts.to_pylist(), dtype=object), errors="coerce").to_numpy(dtype=float)
    outside = (numbers < domain.low) | (numbers > domain.high)
    count = column.rows_of(outside) if outside.any() else 0
    said = {"cells": counted(count, "released cell"), "rows": column.rows, "verb": "lie" + "s" * (count == 1)}
    return [Note("cells outside", (name,), said)] if count else []


def unread_notes(columns: Mapping[str, TextColumn], declared: Mapping[str, Column]) -> list[Note]:
    """Notes on cells of a release that are no cells of the declared columns, and count as values of their own."""
    notes: list[Note] = []
    for name in [name for name in declared if name in columns]:
        domain = spelling_domain(declared[name], columns[name])
        wrong = np.zeros(0, dtype=bool) if domain is None else _unknown(columns[name].texts.to_pylist(), domain)
        if domain is not None and wrong.any():
            notes.append(_unknown_note("unread cells", name, columns[name], domain, wrong))
    return notes


def _unknown(texts: Sequence[str], domain: Domain) -> Booleans:
    """Which texts are no cells of a domain, whatever its bounds."""
    if isinstance(domain, NumericDomain):
        return np.array(by_halves(texts, partial(_readable, domain), lambda _: True), dtype=bool)
    known = set(domain.categories)
    complete = named_categories(pd.Series(texts, dtype=object)) <= known
    return np.array([not complete and not named_categories(pd.Series([text])) <= known for text in texts], dtype=bool)


def _unknown_note(kind: str, name: str, column: TextColumn, domain: Domain, wrong: Booleans) -> Note:
    numeric = isinstance(domain, NumericDomain)
    verb, what = ("hold", "no number, interval or set") if numeric else ("name", "a category outside its domain")
    count = column.rows_of(wrong)
    said = {"cells": counted(count, "released cell"), "rows": column.rows, "verb": verb + "s" * (count == 1)}
    return Note(kind, (name,), {**said, "what": what})


def _readable(domain: Domain, texts: Sequence[str]) -> list[bool]:
    """False for each of some cells of a domain, since none of them is wrong."""
    read_cells(pd.Series(texts, dtype=object), domain)
    return [False] * len(texts)
