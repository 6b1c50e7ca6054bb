"""The roles file of a table: role, public domain and hierarchy of each column."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from metrics.columns import NUMBER, SUPPRESSED, CategoricalDomain, Domain, Floats, NumericDomain, refuse, require
from scenarios.tables.note import Note
from scenarios.tables.reading import (
    DAY,
    ISO,
    DateFormat,
    check_encoding,
    checked_levels,
    csv_content,
    csv_rows,
    declared_number,
    default_period,
    inferred_separator,
    refuse_first_line,
    table_text,
)
from scenarios.tables.reading import cuts as calendar_cuts
from scenarios.tables.toml.toml_file import TomlTable, read_bytes, read_toml, validated

if TYPE_CHECKING:
    from defenses.base import Hierarchy, TableHierarchy
    from scenarios.tables.reading.date_form import DateForm

# Files of hierarchies, read as tables are: byte order mark, encoding, separator, outer blanks and a header.


def hierarchy_rows(
    path: Path,
    name: str,
    *,
    separator: str | None = None,
    usual: str | None = None,
    encoding: str | None = None,
    categories: Collection[str] = (),
    numeric: bool = False,
) -> tuple[list[list[str]], bool]:
    """Rows of a hierarchy's file, each a value and its groups, and whether a header was left out."""
    text = table_text(path, csv_content(path, read_bytes(path)), encoding)
    require(text.strip(), f"{path}: is empty; a hierarchy needs at least one value")
    refuse_first_line(path, text)
    rows = [row for _, row in csv_rows(text, separator or _separator(path, text, usual), path=path, strict=True)]
    rows = [[row[0] if row[0] in categories else row[0].strip(), *map(str.strip, row[1:])] for row in rows]
    has_header = _has_header(rows, name, categories, numeric=numeric)
    return rows[has_header:], has_header


def _separator(path: Path, text: str, usual: str | None) -> str:
    """Separator by which all rows have equally many fields: that of the table, a comma, or the likeliest."""
    for separator in filter(None, (usual, ",")):
        widths = {len(row) for _, row in csv_rows(text, separator, path=path)}
        if len(widths) == 1 and min(widths) > 1:
            return separator
    return inferred_separator(text)


def _has_header(rows: Sequence[Sequence[str]], name: str, categories: Collection[str], *, numeric: bool) -> bool:
    """Whether the first row is clearly a header.

    It is one if it names the column, holds no number where all other values are numbers, or lacks the ``*`` in which
    all other rows end. So it is if its value is no declared category, and its groups occur in no other row.
    """
    if len(rows) < 2 or rows[0][0] in categories:
        return False
    first, others = rows[0], rows[1:]
    if first[0].casefold() == name.strip().casefold():
        return True
    are_numbers = [re.fullmatch(NUMBER, row[0], re.ASCII) is not None for row in rows]
    if numeric and not are_numbers[0] and all(are_numbers[1:]):
        return True
    if len(others) > 1 and first[-1] != SUPPRESSED and all(row[-1] == SUPPRESSED for row in others):
        return True
    groups = {group for row in others for group in row[1:]}
    return bool(categories) and len(others) > 1 and not groups & {*first[1:]}


MOST_DIGITS = 15
"""Largest number of digits after the point that a column declares; a floating-point number keeps no more."""


class HierarchyTable(TomlTable):
    """Source of a column's hierarchy: ``intervals`` for numbers, ``rows``, or a ``csv`` file beside the roles file.

    Parameters
    ----------
    intervals : list of list of float, optional
        Interior cut points of levels 1, 2, …; an empty list stands for ``*``.
    rows : list of list of str, optional
        Each row holds a value and then its groups from fine to coarse.
    csv : str, optional
        File whose rows hold a value and then its groups from fine to coarse. It is read as the table is; a header is
        left out.
    separator : str, optional
        Separator of the fields in `csv`. By default that of the table, a comma, or what its rows show.
    labels : bool
        Whether releases name the groups in `rows` or `csv` as these do; otherwise they list each group's values.
    calendar : list of str, optional
        Levels of dates, each nested in the next: hour, day, week, month, quarter, year, decade; ``*`` follows.
    """

    intervals: list[list[float]] | None = None
    rows: list[list[str]] | None = None
    csv: str | None = None
    separator: str | None = Field(default=None, min_length=1, max_length=1)
    labels: bool = True
    calendar: list[str] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        refuse(
            sum(source is not None for source in (self.intervals, self.rows, self.csv, self.calendar)) != 1,
            "a hierarchy is given by one of 'intervals', 'rows' and 'csv', or for dates by 'calendar'",
        )
        return self

    def listed(self, folder: Path, name: str, declared: Roles) -> tuple[list[list[str]], list[Note]] | None:
        """Rows of a hierarchy that lists its groups, and notes; None for one of intervals."""
        if self.csv is None:
            return None if self.rows is None else (self.rows, [])

        column = declared.columns[name]
        rows, has_header = hierarchy_rows(
            folder / self.csv,
            name,
            separator=self.separator,
            usual=declared.separator,
            encoding=declared.encoding,
            categories=(column.categories or ()) if isinstance(column, CategoryColumn) else (),
            numeric=isinstance(column, NumberColumn),
        )
        return rows, [Note("header of a hierarchy", (name,), {"file": self.csv})] if has_header else []

    def table(self, folder: Path, rows: list[list[str]], *, text: bool) -> TableHierarchy:
        """Hierarchy of categories (`text`) or numbers that lists its groups; its errors name the file of the rows."""
        from defenses.base import TableHierarchy

        try:
            return TableHierarchy(rows, text=text)
        except ValueError as error:
            raise ValueError(f"{folder / self.csv}: {error}" if self.csv is not None else str(error)) from None

    def read(self, folder: Path, name: str, declared: Roles, domain: Domain) -> Hierarchy:
        """Build the hierarchy of a column with a domain; the other parameters are those of `listed`.

        Raises
        ------
        ValueError
            If it is not a hierarchy of this domain.
        """
        from defenses.base import Hierarchy

        refuse(self.calendar is not None, "'calendar' is for dates; declare type = \"date\"")
        listed = self.listed(folder, name, declared)
        if listed is not None:
            return self.table(folder, listed[0], text=not isinstance(domain, NumericDomain))
        if not isinstance(domain, NumericDomain):
            raise ValueError("'intervals' are for numbers; give categories 'rows' or a 'csv'")
        return Hierarchy.from_intervals(self.intervals or [], domain.low, domain.high, domain.integer)


class NumberColumn(TomlTable):
    """A column of numbers; see `metrics.NumericDomain`.

    Parameters
    ----------
    integer : bool, optional
        Whether all numbers are integers.
    decimals : int, optional
        Largest number of digits after the point in a release, whose numbers are rounded to it.
    low, high : float, optional
        Public bounds; they have no more than `decimals` digits after the point.
    cuts : list of float, optional
        Interior cut points of the public bins.
    hierarchy : HierarchyTable, optional
        Intervals, or groups of values.
    """

    type: Literal["number"]
    integer: bool | None = None
    decimals: int | None = Field(default=None, ge=0, le=MOST_DIGITS)
    low: float | None = None
    high: float | None = None
    cuts: list[float] | None = None
    hierarchy: HierarchyTable | None = None

    @model_validator(mode="after")
    def _domain(self) -> Self:
        refuse((self.low is None) != (self.high is None), "'low' and 'high' come together")
        refuse(self.cuts is not None and self.low is None, "'cuts' need 'low' and 'high'")
        if self.low is not None and self.high is not None:
            NumericDomain(self.low, self.high, False, tuple(self.cuts or ()))
        if self.decimals is not None:
            self._check_decimals(self.decimals)
        return self

    def _check_decimals(self, decimals: int) -> None:
        """Refuse decimals of integers, and bounds that rounding would cross."""
        refuse(self.integer, "'decimals' are for numbers that are not integers")
        for key, bound in (("low", self.low), ("high", self.high)):
            refuse(
                bound is not None and round(bound, decimals) != bound,
                f"'{key}' ({bound!r}) has more digits after the point than 'decimals' ({decimals})",
            )


class CategoryColumn(TomlTable):
    """A column of text; see `metrics.CategoricalDomain`."""

    type: Literal["category"]
    categories: list[str] | None = None
    ordered: bool = False
    hierarchy: HierarchyTable | None = None

    @model_validator(mode="after")
    def _domain(self) -> Self:
        if self.categories is not None:
            CategoricalDomain(tuple(self.categories))
        elif self.ordered:
            raise ValueError("'ordered' needs 'categories', in their order")
        return self


DateText = Annotated[
    str, BeforeValidator(lambda value: value.isoformat() if isinstance(value, datetime.date) else value)
]
"""A date in a roles file: a TOML date, or its text in ISO 8601 or in the column's format."""


class DateColumn(TomlTable):
    """A column of dates, which are numbers of days since 1970-01-01, or of seconds with a time of day.

    Parameters
    ----------
    low, high : date, optional
        Public bounds. An upper bound without a time of day includes the day.
    format : str
        Format of the dates; see `scenarios.tables.reading.date_form.DateFormat`.
    cuts : list of date, optional
        Interior cut points of the public bins. By default bins are months, quarters or years; see
        `scenarios.tables.reading.calendar_periods.default_period`.
    hierarchy : HierarchyTable, optional
        Levels of the calendar.
    """

    type: Literal["date"]
    low: DateText | None = None
    high: DateText | None = None
    format: str = ISO.pattern
    cuts: list[DateText] | None = None
    hierarchy: HierarchyTable | None = None

    @model_validator(mode="after")
    def _domain(self) -> Self:
        DateFormat(self.format)
        refuse((self.low is None) != (self.high is None), "'low' and 'high' come together")
        refuse(self.cuts is not None and self.low is None, "'cuts' need 'low' and 'high'")
        self.domain()
        refuse(
            self.hierarchy is not None and self.hierarchy.calendar is None,
            'the hierarchy of dates is a \'calendar\', such as ["month", "quarter", "year"]',
        )
        self.form()
        return self

    def form(self) -> DateForm:
        """Form in which the dates are written."""
        from scenarios.tables.reading.date_form import DateForm

        form = DateFormat(self.format)
        levels = [] if self.hierarchy is None else checked_levels(self.hierarchy.calendar or [], has_time=form.has_time)
        domain = self.domain()
        low, high = (None, None) if domain is None else (int(domain.low), int(domain.high))
        return DateForm(form, low, high, tuple(levels))

    def domain(self) -> NumericDomain | None:
        """Declared bounds and bins as numbers, or None without bounds."""
        if self.low is None or self.high is None:
            return None
        form = DateFormat(self.format)
        low, high = declared_number(self.low, form), declared_number(self.high, form, end=True)
        unit = DAY if form.has_time else 1
        refuse(low > high, f"low ({self.low}) is later than high ({self.high})")
        if self.cuts is None:
            cuts = calendar_cuts(default_period(low, high, unit), low, high, unit)
        else:
            cuts = [declared_number(cut, form) for cut in self.cuts]
            refuse(
                any(a >= b for a, b in pairwise([low, *cuts])) or max(cuts, default=high) > high,
                f"cuts must ascend after {self.low} and not beyond {self.high}",
            )
        return NumericDomain(low, high, True, tuple(cuts))


Column = NumberColumn | CategoryColumn | DateColumn


class DatasetTable(TomlTable):
    """Source of the data, and checksums of its files."""

    title: str = ""
    citation: str = ""
    licence: str = ""
    sha256: str | None = None
    test: str | None = None
    test_sha256: str | None = None


class Roles(TomlTable):
    """Content of a roles file; whatever it omits is inferred from the table.

    Parameters
    ----------
    identifiers, quasi_identifiers, sensitive : list of str
        Columns with these roles; see `defenses.Microdata`. By default every column without a role is a
        quasi-identifier.
    person : str, optional
        The column that identifies the person of each row, if a person has many rows. It is an identifier unless a list
        gives it another role.
    group : str, optional
        The column that identifies the household of each row, or another group of people. It is an identifier unless a
        list gives it another role.
    weight : str, optional
        The column of survey weights: how many people of the population a row stands for. It is never a
        quasi-identifier. Releases hold it as an unprotected column, and `tokumei risk` estimates risks by it.
    unprotected : list of str
        Columns without a role that releases hold as they are, unless a defense names them. Other columns without a role
        are left out of releases.
    undecided : list of str
        Columns whose role is a guess that a person has not confirmed yet. It changes no role.
    separator : str, optional
        Separator of CSV fields.
    encoding : str, optional
        Encoding of CSV files that are not UTF-8, by its Python name, such as ``cp1252``.
    decimal : {".", ","}, optional
        Decimal mark of numbers in CSV files. The other mark, in groups of three digits, separates thousands.
    na : list of str
        Texts that mean a missing value, in all columns.
    suppressed : list of str
        Texts that mean a suppressed cell, in all columns of releases, beside ``*``. An empty text is an empty cell.
    dataset : DatasetTable
        Title, citation, licence, checksums, and the file of a test part.
    columns : dict of str to Column
        Type, domain and hierarchy of each column.
    impossible : list of dict of str to str
        Public combinations of released cells that no row holds together, such as an age below 15 and a positive income.
        Synthesizers with the parameter `structural_zeros` obey them.
    """

    identifiers: list[str] = Field(default_factory=list)
    quasi_identifiers: list[str] | None = None
    sensitive: list[str] = Field(default_factory=list)
    person: str | None = None
    group: str | None = None
    weight: str | None = None
    unprotected: list[str] = Field(default_factory=list)
    undecided: list[str] = Field(default_factory=list)
    separator: str | None = Field(default=None, pattern=r'^[^"\r\n]$')
    encoding: Annotated[str, AfterValidator(check_encoding)] | None = None
    decimal: Literal[".", ","] | None = None
    na: list[str] = Field(default_factory=list)
    suppressed: list[str] = Field(default_factory=list)
    dataset: DatasetTable = Field(default_factory=DatasetTable)
    columns: dict[str, Annotated[Column, Field(discriminator="type")]] = Field(default_factory=dict)
    impossible: list[Annotated[dict[str, str], Field(min_length=1)]] = Field(default_factory=list)

    @model_validator(mode="after")
    def _one_role_each(self) -> Self:
        roles = self.named_roles()
        for column in roles:
            refuse(roles.count(column) > 1, f"column {column!r} stands in two roles; give it one")
        return self

    @model_validator(mode="after")
    def _person_and_group_have_roles(self) -> Self:
        refuse(
            self.group is not None and self.group == self.person,
            f"column {self.group!r} is person and group; a group, such as a household, has several people",
        )
        self.identifiers.extend(name for name in (self.person, self.group) if name and name not in self.named_roles())
        return self

    @model_validator(mode="after")
    def _weight_is_unprotected(self) -> Self:
        if self.weight is not None:
            declared = self.columns.get(self.weight)
            refuse(declared is not None and declared.type != "number", f"weight {self.weight!r} must be a number")
            refuse(
                self.weight in (*self.identifiers, *(self.quasi_identifiers or []), *self.sensitive),
                f"column {self.weight!r} is the weight and stands in another role too; give it one",
            )
            if self.weight not in self.unprotected:
                self.unprotected.append(self.weight)
        return self

    @model_validator(mode="after")
    def _one_meaning_each(self) -> Self:
        for text in self.na:
            refuse(text in self.suppressed, f"{text!r} is in 'na' and in 'suppressed'; it is one or the other")
        for name, column in self.columns.items():
            for text in column.categories or [] if isinstance(column, CategoryColumn) else []:
                for key in ("na", "suppressed"):
                    refuse(
                        text.strip() in getattr(self, key),
                        f"{text!r} is in {key!r} and a category of column {name!r}; it is one or the other",
                    )
        return self

    def leaves_out(self, name: str) -> bool:
        """Return True if a column has no role, so that releases leave it out."""
        return self.quasi_identifiers is not None and name not in self.named_roles()

    def named_roles(self) -> list[str]:
        """Columns to which a list of the file gives a role."""
        return [*self.identifiers, *(self.quasi_identifiers or []), *self.sensitive, *self.unprotected]

    def named(self) -> dict[str, str]:
        """Columns that the file names, each with the key that names it."""
        keys = dict.fromkeys(self.undecided, "key 'undecided'")
        keys |= {column: "table [[impossible]]" for rule in self.impossible for column in rule}
        keys |= {column: f"table [columns.{column}]" for column in self.columns}
        for role in ("identifiers", "quasi_identifiers", "sensitive", "unprotected"):
            keys |= dict.fromkeys(getattr(self, role) or [], f"key '{role}'")
        keys |= {
            name: f"key '{key}'" for key in ("person", "group", "weight") if (name := getattr(self, key)) is not None
        }
        return keys


# Domains that a roles file declares.

BINS = 10
"""Number of bins of numbers without declared cuts."""
_DIGITS = 9
"""Digits of the width of a range that the ends of its bins keep."""


def declared_domain(declared: Column | None) -> tuple[Domain | None, list[str]]:
    """Domain that a roles file declares, or None, and notes on what was added to the declaration."""
    if isinstance(declared, DateColumn):
        domain = declared.domain()
        if domain is None or declared.cuts is not None:
            return domain, []
        return domain, [f"no cuts declared: {domain.size} bin{'s' * (domain.size > 1)} of the calendar"]
    if isinstance(declared, NumberColumn):
        return _declared_numbers(declared)
    if declared is None or declared.categories is None:
        return None, []
    return CategoricalDomain(tuple(declared.categories), declared.ordered), []


def _declared_numbers(declared: NumberColumn) -> tuple[NumericDomain | None, list[str]]:
    if declared.low is None or declared.high is None:
        return None, []
    notes, integer = [], bool(declared.integer)
    if declared.integer is None and declared.decimals is None:
        # Integrality read from the records would make the declared domain depend on them.
        notes.append("integer is not declared, so that releases may hold fractions")
    if declared.cuts is not None:
        cuts = tuple(declared.cuts)
        return NumericDomain(declared.low, declared.high, integer, cuts, decimals=declared.decimals), notes
    domain = NumericDomain(declared.low, declared.high, integer, decimals=declared.decimals)
    edges = np.linspace(domain.edges[0], domain.edges[-1], BINS + 1)[1:-1]
    even = np.unique(np.ceil(edges) if integer else short_numbers(edges, domain.high - domain.low))
    domain = replace(domain, cuts=tuple(even[(even > domain.low) & (even <= domain.high)].tolist()))
    return domain, [*notes, f"no cuts declared: {domain.size} bins of equal width"]


def short_numbers(numbers: Floats, width: float) -> Floats:
    """Numbers without the noise of binary fractions, such as 74.7 for 74.69999999999999, shape (n,).

    They keep `_DIGITS` digits of `width`, the width of their range.
    """
    digits = _DIGITS - math.ceil(math.log10(width)) if width > 0 else _DIGITS
    return np.array([round(number, digits) for number in numbers.tolist()])


# The roles file of a table together with options that say how its files are read.


def read_roles(roles: Path | None, reading: Mapping[str, Any] | None = None, *, content: bytes | None = None) -> Roles:
    """Content of a roles file; without a file, roles that declare nothing."""
    declared = Roles()
    if roles is not None:
        declared = read_toml(roles, read_bytes(roles) if content is None else content, Roles)
    if not reading:
        return declared
    tables = {**declared.model_dump(exclude_unset=True), **reading}
    return validated(Path("options") if roles is None else roles, tables, Roles)
