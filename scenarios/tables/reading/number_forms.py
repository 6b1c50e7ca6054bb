"""Numbers as people and programs write them: decimal commas, thousands separators, and words for missing values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leaderboard.pages.number_text import counted
from metrics.columns import NUMBER
from scenarios.tables.note import Note, grouped
from scenarios.tables.reading.arrow_tables import ascii_numbers, numbers_and_units
from scenarios.tables.reading.cell_spelling import ascending_pairs
from scenarios.tables.reading.text_column import TextColumn, TextTable

MISSING = (
    "NA",
    "N/A",
    "n/a",
    "na",
    "#N/A",
    "<NA>",
    "NULL",
    "null",
    "None",
    "?",
    "-",
    "--",
    ".",
    "n.a.",
    "N.A.",
    "k.A.",
    "k. A.",
    "keine Angabe",
    "unbekannt",
    "欠損",
    "欠測",
    "不明",
    "無回答",
)
"""Texts that mean a missing value among numbers and truth values."""
WORDS = frozenset(("unknown", "missing", "none", "not known", "not stated", "not available", "no answer"))
"""Further words that may mean a missing value, in lower case. They stay categories, since they are real ones, too."""
HEAD = 256
"""Number of texts that are looked at first."""
_SIGN = r"^[+-]?"
_NUMBER_LIKE = _SIGN + r"[\d.,]*\d[\d.,]*([eE][+-]?\d+)?$"
_FLAG = r"^([Tt]rue|TRUE|[Ff]alse|FALSE)$"
_PLAIN = f"^{NUMBER}$"
_FRACTION = _SIGN + r"\d*\.\d+([eE][+-]?\d+)?$"
_COMMA_FRACTION = _SIGN + r"(0|[1-9]\d*)?,\d+([eE][+-]?\d+)?$"
_INTEGER = _SIGN + r"\d+([eE][+-]?\d+)?$"
_FOUR_DIGITS = _SIGN + r"\d{4}"
_COMMA_GROUPS = _SIGN + r"[1-9]\d{0,2}(,\d{3})+(\.\d+)?$"
_POINT_GROUPS = _SIGN + r"[1-9]\d{0,2}(\.\d{3})+(,\d+)?$"
_SURE_COMMA_GROUPS = _SIGN + r"[1-9]\d{0,2}(,\d{3})+(,\d{3}|\.\d+)$"
_SURE_POINT_GROUPS = _SIGN + r"[1-9]\d{0,2}(\.\d{3})+(\.\d{3}|,\d+)$"


def recognized(
    columns: Mapping[str, TextColumn],
    *,
    separator: str,
    decimal: str | None = None,
    fixed: Sequence[str] = (),
    numeric: Sequence[str] = (),
    plain_first: bool = False,
) -> TextTable:
    """Recognize numbers in other forms, and missing values among numbers.

    The columns have numbers in their usual form, and missing values as such. The layout names a decimal mark only if
    none is declared. Columns of `numeric` hold numbers for sure.

    Notes
    -----
    Units such as € or % are left out where all numbers have the same, and so are blanks between groups of three digits
    where numbers differ in length.
    A column is read with a decimal mark if all of its texts fit it. The other mark must then separate groups of three
    digits throughout. What fits both marks, such as ``1,234``, is read if the mark is known. It is known if declared,
    or if columns show one mark and none shows the other. A column shows its mark by a text with two groups, such as
    ``1,234,567``, or with both marks. Decimal commas show it too, unless all have three digits or commas separate the
    file's fields. A plain column with other than three decimals shows the point.
    """
    free = {name: column for name, column in columns.items() if name not in fixed and _may_be_numbers(column)}
    forms = {
        name: form
        for name, form in ((name, _Form(column, sure=name in numeric)) for name, column in free.items())
        # In a release, 60,69 is rather an interval than a number with a decimal comma.
        if (form.number_like or form.flags or form.doubts)
        and not (plain_first and decimal is None and ascending_pairs(form.rest.drop_null().to_pylist()))
    }
    marks = {form.evident(separator) for form in forms.values()} - {None} if decimal is None else {decimal}
    known = marks.pop() if len(marks) == 1 else None
    changed = dict(columns)
    notes = [Note(form.doubts, (name,), {"units": form.units}) for name, form in forms.items() if form.doubts]
    used: set[str] = set()
    missing: list[str] = []
    for name, form in forms.items():
        mark = (known if decimal is not None else form.evident(separator) or known) if form.other else None
        plain = form.plain and (plain_first or known != ",")
        converts = not plain and mark is not None and form.fits(mark)
        if form.other and not plain and mark is None and (form.fits(".") or form.fits(",")):
            notes.append(Note("decimals or thousands", (name,)))
        if not (converts or form.missing or form.wide or form.bare):
            continue
        texts = _with_point(form.rest, mark) if converts and mark is not None else form.rest
        if not form.flags and not TextColumn("", np.empty(0, dtype=np.intp), texts.drop_null()).looks_numeric():
            continue
        if converts and mark is not None:
            used.add(mark)
            notes += form.notes(name, mark)
        if form.wide:
            notes.append(Note("wide digits", (name,)))
        if form.bare:
            said = {"units": form.units, "marks": "blanks or apostrophes"}
            notes.append(Note("units" if form.units else "thousands", (name,), said))
            notes += [Note("eras", (name,))] * form.eras
        if form.missing:
            missing += form.missing
            said = {"words": ", ".join(form.missing), "kind": "truth values" if form.flags else "numbers"}
            notes.append(Note("missing among numbers", (name,), said))
        changed[name] = columns[name].with_texts(texts)
    mark = used.pop() if decimal is None and len(used) == 1 else None
    layout = {"decimal": mark, "na": list(dict.fromkeys(missing))}
    return TextTable(changed, grouped(notes), {key: value for key, value in layout.items() if value})


FEW_CODES, MOSTLY_NUMBERS, LEAST_NUMBERS = 10, 0.5, 10
"""A column of numbers holds at most so many codes, in less than this share of its rows, and so many numbers."""


def codes_among_numbers(column: TextColumn) -> dict[str, int]:
    """Texts without a digit in a column of numbers, such as N or RARE, each with its number of rows."""
    texts = column.texts.to_pylist()
    is_code = np.array([not any(map(str.isdigit, text)) for text in texts], dtype=bool)
    if not 0 < is_code.sum() <= FEW_CODES or (~is_code).sum() < LEAST_NUMBERS:
        return {}
    codes = [text for text, code in zip(texts, is_code, strict=True) if code]
    numbers = column.without([code.strip() for code in codes])
    seldom = column.rows_of(is_code) < MOSTLY_NUMBERS * column.rows_of(np.ones_like(is_code))
    if not (seldom and numbers.looks_numeric()):
        return {}
    return {code.strip(): column.rows_of(np.array([text == code for text in texts])) for code in codes}


def mixed_marks(columns: Mapping[str, TextColumn]) -> Iterator[Note]:
    """Notes on columns that are not read as numbers, since some have a decimal comma and some a decimal point."""
    for name, column in columns.items():
        if _may_be_numbers(column) and _Form(column, sure=False).mixed:
            patterns = {"commas": _COMMA_FRACTION, "points": _FRACTION}
            rows = {mark: counted(column.rows_of(column.matches(pattern)), "row") for mark, pattern in patterns.items()}
            yield Note("mixed marks", (name,), rows)


def plain_texts(texts: Any, mark: str) -> Any:
    """Texts of an Arrow array in which each number with a decimal mark has a point and no thousands separators.

    Each text is read by itself. Other texts stay.
    """
    trimmed, _ = numbers_and_units(texts)
    pattern = f"{_POINT_GROUPS}|{_COMMA_FRACTION}" if mark == "," else _COMMA_GROUPS
    return pc.if_else(pc.match_substring_regex(trimmed, pattern), _with_point(trimmed, mark), texts)


def _with_point(texts: Any, mark: str) -> Any:
    """Texts with a decimal point and without thousands separators."""
    if mark == ",":
        return pc.replace_substring(pc.replace_substring(texts, ".", ""), ",", ".")
    return pc.replace_substring(texts, ",", "")


class _Form:
    """Forms of the distinct texts of a column; `rest` is without those that mean a missing value.

    `wide` tells whether some have digits or signs of double width, and `bare` whether their common unit or blanks in
    them are left out.
    """

    def __init__(self, column: TextColumn, *, sure: bool) -> None:
        trimmed = ascii_numbers(column.texts)
        self.wide = not trimmed.equals(pc.utf8_trim_whitespace(column.texts))
        is_missing = pc.is_in(trimmed, value_set=pa.array(MISSING))
        numbers, units = numbers_and_units(trimmed)
        present = pc.invert(is_missing)
        found = pc.unique(pc.filter(units, present)).to_pylist()
        self.units = ", ".join(filter(None, found))
        # Codes such as 123 456 are all of one length.
        one_length = len(pc.unique(pc.utf8_length(pc.filter(numbers, present)))) == 1
        self.doubts, self.bare = "", not numbers.equals(trimmed)
        if self.bare and (len(found) > 1 or (not self.units and one_length and not sure)):
            self.bare = False
            if _matches_all(pc.filter(numbers, present), _NUMBER_LIKE):
                self.doubts = "several units" if self.units else "numbers or codes"
        self.eras = self.units == "年" and pc.any(pc.match_substring_regex(trimmed, r"^\D")).as_py()
        trimmed = numbers if self.bare else trimmed
        self.missing: list[str] = pc.unique(pc.filter(trimmed, is_missing)).to_pylist()
        self.rest = pc.if_else(is_missing, None, trimmed)
        self._present = self.rest.drop_null()
        self.flags = self._all(_FLAG)
        self.number_like = self._all(_NUMBER_LIKE)
        self.plain = self.number_like and self._all(_PLAIN)
        self.other = self.number_like and self._any("[.,]")

    @property
    def mixed(self) -> bool:
        """Whether all texts are numbers without groups, of which some have a decimal comma and some a decimal point."""
        return (
            self.other
            and self._any(_COMMA_FRACTION)
            and self._any(_FRACTION)
            and self._all(f"{_COMMA_FRACTION}|{_FRACTION}|{_INTEGER}")
            and not self.fits(".")
            and not self.fits(",")
        )

    def fits(self, mark: str) -> bool:
        """Return True if all texts are numbers with this decimal mark, in groups of three digits or without groups."""
        patterns = (_COMMA_FRACTION, _POINT_GROUPS, _INTEGER) if mark == "," else (_COMMA_GROUPS, _PLAIN)
        groups = _POINT_GROUPS if mark == "," else _COMMA_GROUPS
        return self._all("|".join(patterns)) and not (self._any(groups) and self._any(_FOUR_DIGITS))

    def evident(self, separator: str) -> str | None:
        """Decimal mark that the texts themselves show, or None."""
        if not self.other:
            return None
        comma, point = self.fits(","), self.plain or self.fits(".")
        if comma == point:
            return None
        if point:
            return "." if self._any(_SURE_COMMA_GROUPS) or self._any(_FRACTION) else None
        apart = separator not in ("", ",") or self.bare
        sure = self._any(_SURE_POINT_GROUPS) or (apart and self._any(_COMMA_FRACTION))
        return "," if sure else None

    def notes(self, name: str, mark: str) -> Iterator[Note]:
        """What `_with_point` changes with this mark."""
        if mark == "," and self._any(","):
            yield Note("decimal commas", (name,))
        if self._any(_POINT_GROUPS if mark == "," else _COMMA_GROUPS):
            yield Note("thousands", (name,), {"marks": "points" if mark == "," else "commas"})

    def _all(self, pattern: str) -> bool:
        return _matches_all(self._present.slice(0, HEAD), pattern) and _matches_all(self._present, pattern)

    def _any(self, pattern: str) -> bool:
        head, rest = self._present.slice(0, HEAD), self._present.slice(HEAD)
        return any(pc.any(pc.match_substring_regex(texts, pattern)).as_py() for texts in (head, rest))


def _matches_all(texts: Any, pattern: str) -> bool:
    """Return True if there are texts and all match."""
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def _may_be_numbers(column: TextColumn) -> bool:
    """Return False if the first texts show that a column holds neither numbers nor truth values."""
    head, _ = numbers_and_units(column.texts.slice(0, HEAD))
    present = pc.filter(head, pc.invert(pc.is_in(head, value_set=pa.array(MISSING))))
    return len(present) == 0 or _matches_all(present, f"{_NUMBER_LIKE}|{_FLAG}")
