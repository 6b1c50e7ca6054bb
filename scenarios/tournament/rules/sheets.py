"""Submitted tables: strict reading, and conversion of every cell to its canonical form.

Only the meaning of a cell is published, not its spelling. ``035``, ``35.0`` and ``3.5e1`` become ``35``, and the parts
of a set are sorted in the domain's order. Spelling therefore cannot carry hidden information.
"""

from __future__ import annotations

import csv
import io
import os
import re
import stat
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from attacks.base import Claims, RankedAnswers, ValueClaims
from attacks.criteria.nearest_row_linkability import LinkedRows, NearestRows
from defenses.base import Microdata
from metrics.columns import SUPPRESSED, Domain, Integers, NumericDomain, Sentence, nearest_name, read_cells, require
from scenarios.tables import Dataset, load_table, read_bytes, unreadable
from scenarios.tables.reading import (
    COMPRESSED,
    SEPARATOR_LINE,
    WEB_PAGE,
    BrokenRowError,
    DateForm,
    WrittenCells,
    csv_rows,
    guessed_encoding,
    inferred_separator,
    is_web_page,
    other_format,
)
from scenarios.tournament.rules.canonical_cells import LONGEST_SUGGESTION, canonical_cell, suggested_cell
from scenarios.tournament.rules.contest import Contest
from scenarios.tournament.rules.log import tournament_files
from scenarios.tournament.rules.problems import MOST_SHOWN, FileError, InvalidFileError, Problem, refuse_file
from scenarios.tournament.rules.settings import Settings

_WITH_POINT = re.compile(r"[0-9]{1,9}\.0*")
"""A row number as programs write it in a column of numbers with an empty cell."""

# Rows of a submitted CSV file, as spreadsheets write it, and all that is wrong with them.


@dataclass
class CsvText:
    """Header and rows of a CSV file, as far as it can be read, and what is wrong with the rest.

    Parameters
    ----------
    header : list of str
        Names of the columns; empty if the file cannot be read.
    rows : list of (int, list of str)
        Number of each row, from 0 below the header, and its fields, as many as the header has.
    problems : list of Problem
        What is wrong.
    lines : list of int
        Line of the file, from 1, in which each row begins, by the row's number.
    """

    header: list[str] = field(default_factory=list)
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def read_csv_text(data: bytes, most: int, *, empty_rows: bool = False) -> CsvText:
    """Read a CSV file.

    Taken as what they are: a byte order mark, any line ends, blank lines, a first line ``sep=;``, semicolons, tabs or
    bars between the fields, and lines or columns of empty fields at the end, as spreadsheets write them.
    """
    what = Sentence("compressed") if data.startswith(COMPRESSED) else other_format(data)
    if what is not None:
        return _unreadable(
            Sentence("is {what}", what=what), Sentence("submit UTF-8 text with commas between the fields (CSV)")
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        guess = (guessed_encoding(data) or "").upper()
        return _unreadable(
            Sentence("is no UTF-8 text, but perhaps {guess}" if guess else "is no UTF-8 text", guess=guess),
            Sentence("save it as UTF-8 (in Excel: CSV UTF-8)"),
            line,
        )
    if "\0" in text:
        return _unreadable(Sentence("holds a NUL character"), None, text[: text.index("\0")].count("\n") + 1)
    if not text.strip():
        return _unreadable(Sentence("is empty"), Sentence("the first line must name the columns"))
    if is_web_page(text):
        return _unreadable(WEB_PAGE, Sentence("save its table as CSV"))
    text = SEPARATOR_LINE.sub("", text, count=1) if SEPARATOR_LINE.match(text) else text
    read = CsvText()
    records: list[tuple[int, list[str]]] = []
    empty: list[tuple[int, list[str]]] = []
    try:
        for line, record in csv_rows(text, inferred_separator(text), strict=True):
            if records and not empty_rows and not any(record):
                empty += [(line, record)] if len(records) + len(empty) <= 2 * most else []
                continue
            records += [*empty, (line, record)]
            empty = []
            if len(records) > 2 * most:
                break
    except BrokenRowError as error:
        read.problems.append(Problem(Sentence("is no CSV ({why})", why=error.why), line=error.line))
    if len(records) > most + 1:
        read.problems.append(Problem(Sentence("has more than {most} rows", most=most)))
    if records:
        read.lines, rows = [line for line, _ in records[1:]], [record for _, record in records]
        _fill(read, rows[0], rows[1:])
    return read


def _fill(read: CsvText, header: list[str], rows: list[list[str]]) -> None:
    """Header and rows from the lines; those with a wrong number of fields are problems."""
    width = len(header)
    while width > 1 and not header[width - 1] and not any("".join(row[width - 1 :]) for row in rows):
        width -= 1
    read.header = header[:width]
    others: dict[int, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        if len(row) >= width and (width < len(header) or len(row) == width) and not any(row[width:]):
            read.rows.append((number, row[:width]))
        else:
            others[len(row)].append(number)
    # One cause is one problem, in however many rows.
    for count, numbers in others.items():
        fields = Sentence(
            "has {count} field, the header has {width}" if count == 1 else "has {count} fields, the header has {width}",
            count=count,
            width=width,
        )
        advice = Sentence("put a cell that holds the separator into double quotes") if count > width else None
        read.problems.append(Problem(fields, tuple(numbers), suggestion=advice))
    if not rows and not read.problems:
        read.problems.append(Problem(Sentence("names columns but holds no row")))


def _unreadable(problem: str, suggestion: str | None, line: int | None = None) -> CsvText:
    return CsvText(problems=[Problem(problem, suggestion=suggestion, line=line)])


Value = TypeVar("Value")
ORIGINAL_ROW = "original_row"
LARGEST = 4 << 20
"""Largest size of a file, in bytes."""


@dataclass(frozen=True)
class Form:
    """Form that an anonymized table must have.

    Parameters
    ----------
    domains : mapping of str to Domain
        Domain of each column.
    originals : int
        Number of originals, and largest number of rows.
    decimals : mapping of str to int
        Largest number of decimals in each column; 0 for columns that are not listed.
    with_missing : frozenset of str
        Columns in which a value may be missing (an empty cell).
    written : WrittenCells
        Labels by which cells may be written.
    """

    domains: Mapping[str, Domain]
    originals: int
    decimals: Mapping[str, int]
    with_missing: frozenset[str] = frozenset()
    written: WrittenCells = field(default_factory=WrittenCells)


@dataclass(frozen=True)
class Sheet:
    """A valid anonymized table.

    Attributes
    ----------
    frame : DataFrame, shape (rows, columns)
        Released cells in canonical form, columns in the domains' order.
    origin : ndarray of int, shape (rows,)
        Original from which each row is declared to stem; -1 for none.
    """

    frame: pd.DataFrame
    origin: Integers


def read_submission(path: Path) -> bytes:
    """Read a submitted file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        refuse_file(path.is_symlink(), str(path), "is a symbolic link; submit the file itself")
        raise FileError(str(path), unreadable(error)) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise FileError(str(path), "is no ordinary file")
    with os.fdopen(handle, "rb") as file:
        try:
            data = file.read(LARGEST + 1)
        except OSError as error:
            raise FileError(str(path), unreadable(error)) from None
    refuse_file(len(data) > LARGEST, str(path), f"is larger than {LARGEST >> 20} MB")
    return data


def read_sheet(name: str, data: bytes, form: Form) -> Sheet:
    """Read an anonymized table: the columns of `form` in any order, and ``original_row``, counted from 0."""
    wanted = [*form.domains, ORIGINAL_ROW]
    text = read_csv_text(data, form.originals, empty_rows=form.with_missing >= set(form.domains))
    problems = _Problems(text)
    columns = _columns(text, problems, wanted)
    frame: dict[str, list[Any]] = {}
    for column, domain in form.domains.items():
        decimals = 0 if isinstance(domain, NumericDomain) and domain.integer else form.decimals.get(column, 0)
        reader = _CellReader(form, column, domain, decimals)
        frame[column] = problems.column(column, columns.get(column, []), reader.read, reader.suggestion)
    advice = Sentence("leave the cell empty for a row that stems from no original")
    origin = problems.row_numbers(ORIGINAL_ROW, columns.get(ORIGINAL_ROW, []), form.originals, empty=advice)
    problems.once(ORIGINAL_ROW, origin, Sentence("original"))
    problems.refuse(name)
    return Sheet(pd.DataFrame(frame, dtype=object), np.array(origin, dtype=np.intp))


@dataclass(frozen=True)
class Asked:
    """What correspondence tables answer besides whose row a row is; by default nothing.

    Attributes
    ----------
    hidden : str
        Column that the candidate files lack, whose values are claimed in the column ``value``; empty if there is none.
    form : Form, optional
        Form of its cells.
    linked : bool
        Whether the column ``second_row`` names rows of a second file about the candidates.
    """

    hidden: str = ""
    form: Form | None = None
    linked: bool = False

    @classmethod
    def of(cls, contest: Contest, records: Microdata, form: Form) -> Asked:
        """What a contest asks about people of this form."""
        return cls(contest.hidden(records), form, bool(contest.candidate_columns(records)[1]))

    @property
    def columns(self) -> list[str]:
        """Columns of these answers."""
        return ["value"] * bool(self.hidden) + ["second_row"] * self.linked


@dataclass(frozen=True)
class Correspondence(RankedAnswers):
    """Answers of a correspondence table.

    Attributes
    ----------
    others : mapping of str to Claims
        Answers to other questions than whose row a row is, by the goal of attacks that answer them.
    values, links : int
        Numbers of claimed values and links.
    """

    others: Mapping[str, Claims] = field(default_factory=dict)
    values: int = 0
    links: int = 0


def read_answers(name: str, data: bytes, released: int, candidates: int, asked: Asked | None = None) -> Correspondence:
    """Read a correspondence table: ``released_row``, ``candidate_row`` (both from 0) and ``confidence`` in [0, 1].

    The team abstains on released rows that are left out. Without the column ``confidence``, all answers are equally
    confident. Where a contest asks for them, a ``value`` is claimed of the candidate, who may have no released row, and
    ``second_row`` is the row of the second file that the released row joins with the candidate.
    """
    asked = asked or Asked()
    text = read_csv_text(data, released + candidates * bool(asked.hidden))
    optional = {"confidence": "1", **dict.fromkeys(asked.columns, "")}
    absent = [column for column in optional if text.header and column not in text.header]
    filled = [(number, [*row, *map(optional.__getitem__, absent)]) for number, row in text.rows]
    text = replace(text, header=[*text.header, *absent], rows=filled)
    problems = _Problems(text)
    columns = defaultdict(list, _columns(text, problems, ["released_row", "candidate_row", *optional]))
    nobody = Sentence("leave the cell empty for a candidate of whom you claim a value alone") if asked.hidden else None
    target = np.array(problems.row_numbers("released_row", columns["released_row"], released, empty=nobody), np.intp)
    answer = np.array(problems.row_numbers("candidate_row", columns["candidate_row"], candidates), np.intp)
    problems.once("released_row", target.tolist(), Sentence("released row"))
    score = problems.column("confidence", columns["confidence"], _confidence, _percentage)
    values = problems.values(asked, columns["value"])
    unlinked = Sentence("leave the cell empty for a candidate whom you do not link")
    pairs = columns["second_row"] or [""] * len(text.rows)
    second = np.array(problems.row_numbers("second_row", pairs, candidates, empty=unlinked), np.intp)
    problems.refuse(name)
    confidence, given, linked = np.array(score, dtype=float), values.notna(), (second >= 0) & (target >= 0)
    others: dict[str, Claims] = {}
    if given.any():
        share = 1 / np.bincount(answer)[answer]
        others["attribute"] = ValueClaims(pd.DataFrame({asked.hidden: values}), confidence, answer, share)
    if linked.any():
        others["linkability"] = LinkedRows(
            *(_rows_of(target[linked], file[linked], released, candidates) for file in (answer, second))
        )
    known = target >= 0
    ranked = target[known], answer[known], confidence[known]
    claimed, joined = int(given.sum()), int(linked.sum())
    return Correspondence(released, candidates, *ranked, others=others, values=claimed, links=joined)


def _rows_of(rows: Integers, people: Integers, released: int, candidates: int) -> NearestRows:
    """The released row that is claimed of each person of a file."""
    sure = np.zeros((released, candidates), dtype=bool)
    sure[rows, people] = True
    return NearestRows(sure, np.zeros_like(sure), np.zeros(candidates, dtype=np.intp))


def notes_on(answers: Correspondence) -> tuple[str, ...]:
    """What a team should know about a valid correspondence table: how many rows it answers, and what looks wrong."""
    count, rows = answers.target.size, answers.targets
    notes = [
        Sentence(
            "{count} of {rows} row answered" if rows == 1 else "{count} of {rows} rows answered", count=count, rows=rows
        )
    ]
    if answers.others:
        notes.append(Sentence("{values} values and {links} links answered", values=answers.values, links=answers.links))
    if count > 1 and len(set(answers.answer.tolist())) == 1:
        notes.append(
            Sentence(
                "warning: every answer names candidate_row {answer}, which is right for one row at most",
                answer=answers.answer[0],
            )
        )
    return tuple(notes)


class _Problems:
    """Problems of a file, collected column by column.

    Parameters
    ----------
    text : CsvText
        The rows, and the problems of their form.
    """

    def __init__(self, text: CsvText) -> None:
        self.found = list(text.problems)
        self._rows = [number for number, _ in text.rows]
        self._lines = text.lines

    def refuse(self, name: str) -> None:
        """Raise `InvalidFileError` if there is any problem, those of the whole file first, then by row."""
        if self.found:
            found = [one if one.row is None else replace(one, line=self._lines[one.row]) for one in self.found]
            raise InvalidFileError(name, sorted(found, key=lambda one: -1 if one.row is None else one.row))

    def column(
        self,
        column: str,
        texts: Sequence[str],
        read: Callable[[str], Value],
        suggestion: Callable[[str], str | None] | None = None,
    ) -> list[Value | None]:
        """Values of a column, read once for each distinct cell; None where a cell is wrong."""
        values: dict[str, Value | None] = {}
        wrong: dict[str, str] = {}
        rows: dict[str, list[int]] = defaultdict(list)
        for row, text in zip(self._rows, texts, strict=False):
            if text not in values:
                try:
                    values[text] = read(text)
                except ValueError as error:
                    values[text], wrong[text] = None, str(error)
            if text in wrong:
                rows[text].append(row)
        for number, (text, why) in enumerate(wrong.items()):
            right = suggestion(text) if suggestion and number < MOST_SHOWN else None
            self.found.append(
                Problem(Sentence("{text} {why}", text=_quoted(text), why=why), tuple(rows[text]), column, right)
            )
        return [values[text] for text in texts]

    def values(self, asked: Asked, texts: Sequence[str]) -> pd.Series:
        """Claimed values; those of a generalized cell are its middle, or missing."""
        if not asked.hidden or asked.form is None:
            return pd.Series(dtype=object)
        domain = asked.form.domains[asked.hidden]
        decimals = asked.form.decimals.get(asked.hidden, 0)
        reader = _CellReader(asked.form, asked.hidden, domain, decimals)
        cells = self.column("value", [text or SUPPRESSED for text in texts], reader.read, reader.suggestion)
        return pd.Series(read_cells(pd.Series(cells, dtype=object).fillna(SUPPRESSED), domain).row_values())

    def row_numbers(self, column: str, texts: Sequence[str], count: int, *, empty: str | None = None) -> list[int]:
        """Row numbers from 0 to count - 1, and -1 where the cell is empty; `empty` says when it may be."""

        def read(text: str) -> int:
            if text == "" and empty is not None:
                return -1
            if len(with_point) > 1 and text in with_point:
                return int(text.partition(".")[0])
            require(
                text.isascii() and text.isdigit() and len(text) < 10 and int(text) < count,
                Sentence("is no row number from 0 to {count}", count=count - 1),
            )
            return int(text)

        from_one = set(texts) == set(map(str, range(1, count + 1)))
        with_point = {
            text for text in set(texts) if _WITH_POINT.fullmatch(text) and int(text.partition(".")[0]) < count
        }
        if len(with_point) > 1:
            # Programs write a column of numbers with an empty cell so: that is one mistake.
            rows = tuple(row for row, text in zip(self._rows, texts, strict=False) if text in with_point)
            first = next(text for text in texts if text in with_point)
            others = len(with_point) - 1
            why = Sentence(
                "{first} and {count:,} other cell are row numbers with a decimal point"
                if others == 1
                else "{first} and {count:,} other cells are row numbers with a decimal point",
                first=_quoted(first),
                count=others,
            )
            whole = int(first.partition(".")[0])
            right = Sentence("write whole numbers, such as {whole} for {first}", whole=whole, first=first)
            self.found.append(Problem(why, rows, column, right))

        def suggestion(text: str) -> str | None:
            if text == str(count):
                return Sentence(
                    "rows count from 0, below the header; subtract 1 from every {column}"
                    if from_one
                    else "rows count from 0, below the header",
                    column=column,
                )
            whole, _, decimals = text.strip().partition(".")
            if whole.isascii() and whole.isdigit() and not decimals.strip("0") and int(whole[:9]) < count:
                return Sentence("write {cell}", cell=int(whole[:9]))
            return empty

        return [-1 if one is None else one for one in self.column(column, texts, read, suggestion)]

    def once(self, column: str, numbers: Sequence[int], what: str) -> None:
        """Every row number from 0 may stand in one row only."""
        first: dict[int, int] = {}
        again: dict[int, list[int]] = defaultdict(list)
        for row, number in zip(self._rows, numbers, strict=False):
            if number >= 0 and number in first:
                again[number].append(row)
            first.setdefault(number, row)
        for number, rows in again.items():
            self.found.append(
                Problem(
                    Sentence(
                        "{number} stands in row {first} (line {line}) already",
                        number=number,
                        first=first[number],
                        line=self._lines[first[number]],
                    ),
                    tuple(rows),
                    column,
                    Sentence("each {what} may stand in one row", what=what),
                )
            )


def _columns(text: CsvText, problems: _Problems, wanted: Sequence[str]) -> dict[str, list[str]]:
    """Cells of the wanted columns that the file has, by name."""
    if not text.header:
        return {}
    missing = [column for column in wanted if column not in text.header]
    if len(missing) == len(wanted) and len(text.header) > 1:
        problems.found.append(
            Problem(
                Sentence("its first line names no column"),
                suggestion=Sentence("it must be {wanted}", wanted=",".join(wanted)),
            )
        )
        return {}
    counts = Counter(text.header)
    for column, times in list(counts.items())[: 2 * MOST_SHOWN + len(wanted)]:
        if times > 1:
            often = Sentence("twice") if times == 2 else Sentence("{times} times", times=times)
            problems.found.append(
                Problem(Sentence("column {column} stands {often}", column=_quoted(column), often=often))
            )
        if column not in wanted:
            meant = nearest_name(column[:LONGEST_SUGGESTION].strip().replace(" ", "_"), missing, cutoff=0.75)
            if column in {"", "Unnamed: 0"}:
                hint: str = Sentence(" (row numbers? save it without them)")
            else:
                hint = Sentence(" (should it be {meant!r}?)", meant=meant) if meant else ""
            problems.found.append(
                Problem(
                    Sentence("there must be no column {column}{hint}", column=_quoted(column), hint=hint),
                    suggestion=Sentence("the columns are {wanted}", wanted=", ".join(wanted)),
                )
            )
    problems.found += [Problem(Sentence("column {column!r} is missing", column=column)) for column in missing]
    position = {column: number for number, column in reversed(list(enumerate(text.header)))}
    return {column: [row[position[column]] for _, row in text.rows] for column in wanted if column in position}


@dataclass(frozen=True)
class _CellReader:
    """Reads the cells of one column."""

    form: Form
    column: str
    domain: Domain
    decimals: int

    def read(self, text: str) -> str | None:
        """Canonical form of a cell."""
        cell = self.form.written.cell(self.column, text)
        return canonical_cell(cell, self.domain, self.decimals, may_miss=self.column in self.form.with_missing)

    def suggestion(self, text: str) -> str | None:
        """Advice to write a valid cell; dates are written in forms of their own."""
        if isinstance(self.form.written.columns.get(self.column), DateForm):
            return None
        cell = suggested_cell(text, self.domain, self.decimals, may_miss=self.column in self.form.with_missing)
        return None if cell is None or text == "" else Sentence("write {cell}", cell=cell)


def _confidence(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    require(0 <= value <= 1, Sentence("is no number from 0 to 1"))
    return value


def _percentage(text: str) -> str | None:
    """Advice where a confidence is a percentage with its sign, or has a decimal comma."""
    number = text.strip()
    try:
        value = float(number.rstrip("%").replace(",", ".")) / (100 if number.endswith("%") else 1)
    except ValueError:
        return None
    return Sentence("write {cell}", cell=f"{value:g}") if 0 <= value <= 1 else None


def _quoted(text: str) -> str:
    """Text of a cell for a message: shortened, and without control characters."""
    return repr(text if len(text) <= 40 else text[:40] + "…")


# Forms that the teams' tables must have.


class Forms:
    """Forms of tables whose originals have the same roles.

    If the roles declare every domain, forms differ only in the columns with missing values. All else is then made once,
    which takes nearly all of the time.

    Parameters
    ----------
    roles : Path
        Roles and public domains of the columns.
    settings : Settings
        Number of originals, and decimals.
    """

    def __init__(self, roles: Path, settings: Settings) -> None:
        self._roles, self._settings = roles, settings
        self._shared: tuple[bytes, Form] | None = None
        self._known: dict[Path, tuple[object, Form]] = {}

    def of(self, originals: Path) -> Form:
        """Form of the table of these originals."""
        stamp = tuple((status.st_mtime_ns, status.st_size) for status in (originals.stat(), self._roles.stat()))
        known = self._known.get(originals)
        if known is None or known[0] != stamp:
            known = self._known[originals] = stamp, self._form(originals)
        return known[1]

    @tournament_files()
    def _form(self, originals: Path) -> Form:
        roles = read_bytes(self._roles)
        if self._shared is not None and self._shared[0] == roles:
            incomplete = _incomplete(read_bytes(originals), self._shared[1].domains)
            if incomplete is not None:
                return replace(self._shared[1], with_missing=incomplete)
        dataset = load_table(originals, self._roles)
        form = form_of(dataset, self._settings)
        self._shared = None if dataset.inferred else (roles, form)
        return form


def _incomplete(originals: bytes, columns: Collection[str]) -> frozenset[str] | None:
    """Columns with an empty field in a file that the tournament wrote; None if it does not look like one."""
    try:
        header, *rows = csv.reader(io.StringIO(originals.decode(), newline=""), strict=True)
    except (ValueError, csv.Error):
        return None
    # The line of a single column that is empty is blank.
    rows = [row or [""] for row in rows]
    if not rows or not set(columns) <= set(header) or any(len(row) != len(header) for row in rows):
        return None
    empty = {name for name, cells in zip(header, zip(*rows, strict=True), strict=True) if "" in cells}
    return frozenset(empty & set(columns))


def form_of(originals: Dataset, settings: Settings) -> Form:
    """Form that a table of these originals must have."""
    records = originals.records
    domains = {name: records.domain(name) for name in records.released_columns}
    with_missing = frozenset(name for name in domains if records.frame[name].isna().any())
    return Form(domains, settings.originals, settings.decimals, with_missing, originals.written)
