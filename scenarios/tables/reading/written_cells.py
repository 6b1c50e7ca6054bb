"""Written form of cells: dates and labels of groups in files, numbers, intervals and sets inside the program."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base import TableHierarchy
from metrics.columns import (
    LARGEST_EXACT,
    SUPPRESSED,
    Domain,
    NumericDomain,
    distinct_values,
    errors_at,
    is_generalized,
    is_set,
    set_elements,
)
from scenarios.tables.note import Note
from scenarios.tables.reading.date_columns import in_format
from scenarios.tables.reading.date_form import DateForm
from scenarios.tables.reading.number_forms import MISSING
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.roles import CategoryColumn, DateColumn, HierarchyTable, NumberColumn, Roles

# Labels of a hierarchy's groups, by which releases name the groups.

_NUMBER_LIKE = re.compile(r"[+-]?([\d.,]*\d[\d.,]*([eE][+-]?\d+)?|nan|inf(inity)?)", re.IGNORECASE)
OTHER_READING = "would be read as something else"
MOST_SHOWN = 3


@dataclass(frozen=True)
class GroupLabels:
    """Labels of the groups of a declared hierarchy.

    Parameters
    ----------
    rows : tuple of tuple of str
        Rows of the hierarchy: a value, then its groups from fine to coarse.
    cells : mapping of str to str
        The cell that each usable label stands for.
    labels : mapping
        The label of each group with two values or more, except ``*``, by the key of its cell.
    notes : tuple of Note
        Labels that are not used, with reasons.
    """

    rows: tuple[tuple[str, ...], ...]
    cells: Mapping[str, str]
    labels: Mapping[str | frozenset[str], str]
    notes: tuple[Note, ...]

    @classmethod
    def of(
        cls,
        name: str,
        rows: Sequence[Sequence[str]],
        hierarchy: TableHierarchy,
        *,
        text: bool,
        reserved: Collection[str],
    ) -> GroupLabels:
        """Collect the labels that a reader cannot misunderstand.

        Parameters
        ----------
        name : str
            The column.
        rows : sequence of sequence of str
            Rows of the hierarchy.
        hierarchy : TableHierarchy
            The hierarchy of these rows.
        text : bool
            Whether the values are categories, as opposed to numbers.
        reserved : collection of str
            Texts that have a meaning of their own: further categories, and missing values.

        Notes
        -----
        A label is not used if it names two groups, is a value or reserved, or follows the grammar of cells. Labels of
        numbers must not look like numbers. A group that is a single value is written as that value.
        """
        meanings: dict[str, dict[str, int]] = {}
        leaves = np.array([row[0] for row in rows], dtype=object)
        for level in range(1, hierarchy.height + 1):
            codes, cells = hierarchy.group(leaves, level)
            groups, first, sizes = np.unique(codes, return_index=True, return_counts=True)
            for group, row, size in zip(groups.tolist(), first.tolist(), sizes.tolist(), strict=True):
                cell = cells[group]
                meanings.setdefault(str(rows[row][level]), {})[SUPPRESSED if cell is None else cell] = size
        values = {*map(str, leaves), *reserved}
        usable: dict[str, str] = {}
        labels: dict[str | frozenset[str], str] = {}
        unused: dict[str, list[str]] = {}
        for label, groups_of in meanings.items():
            reason = _refusal(label, groups_of, values, text=text)
            if reason is None:
                ((cell, size),) = groups_of.items()
                usable[label] = cell
                if size > 1 and cell != SUPPRESSED:
                    # Levels come from fine to coarse, so the finest label of a group stays.
                    labels.setdefault(_key(cell), label)
            elif reason:
                unused.setdefault(reason, []).append(label)
        return cls(tuple(tuple(map(str, row)) for row in rows), usable, labels, tuple(_unused_notes(name, unused)))

    def write(self, cell: Any) -> Any:
        """Label of a cell that equals a group, and other cells as they are."""
        return self.labels.get(_key(cell), cell) if isinstance(cell, str) else cell

    def read(self, text: str) -> str:
        """Cell that a label stands for, and other texts as they are."""
        return self.cells.get(text, text)


def _refusal(label: str, groups: Mapping[str, int], values: Collection[str], *, text: bool) -> str | None:
    """Reason why a label is not used, empty if there is nothing to say; None if it is used."""
    if label == SUPPRESSED and list(groups) == [SUPPRESSED]:
        return ""
    if not label.strip() or is_generalized(label) or "\\" in label:
        return OTHER_READING
    if not text and _NUMBER_LIKE.fullmatch(label.strip()):
        return "" if list(groups) == [label] else OTHER_READING
    if label in values or label.strip() in values:
        return "" if list(groups) == [label] else "is also a value or stands for a missing one"
    return "names two groups or more" if len(groups) > 1 else None


def _unused_notes(name: str, unused: Mapping[str, Sequence[str]]) -> Iterator[Note]:
    for reason, labels in unused.items():
        listed = ", ".join(map(repr, labels[:MOST_SHOWN]))
        more = f" and {len(labels) - MOST_SHOWN} more" if len(labels) > MOST_SHOWN else ""
        ends = "each " * (len(labels) > 1) + reason
        yield Note("unused labels", (name,), {"labels": f"{listed}{more}", "reason": ends})


def _key(cell: str) -> str | frozenset[str]:
    """A cell, or the elements of a set of values, whose order does not matter."""
    if not is_set(cell):
        return cell
    elements = set_elements(cell)
    distinct = frozenset(elements)
    # An empty element stands for the missing value, which no group holds.
    return distinct if all(elements) and len(distinct) == len(elements) else cell


# Digits of released numbers: whole ones as integers, which pandas stores as floats beside missing values; rounding.


def all_whole(numbers: NDArray[Any]) -> bool:
    """Return True if all numbers that are not missing are integers that a floating-point number holds exactly."""
    if numbers.dtype.kind != "f":
        return True
    present = numbers[~np.isnan(numbers)]
    return bool(((np.abs(present) <= LARGEST_EXACT) & (present == np.rint(present))).all())


def integer_column(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column of numbers, as one of type ``Int64`` if they are stored as floating-point numbers and all are whole."""
    numbers = column.to_numpy()
    if numbers.dtype.kind != "f" or not all_whole(numbers):
        return column
    missing = np.isnan(numbers)
    integers = np.where(missing, 0, numbers).astype(np.int64)
    return pd.Series(pd.arrays.IntegerArray(integers, missing), index=column.index, name=column.name)


def integer_cell(cell: Any) -> Any:
    """A cell, as an integer if it is a whole floating-point number; other cells are returned unchanged."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() and abs(cell) <= LARGEST_EXACT else cell


def rounded_cell(decimals: int, cell: Any) -> Any:
    """A cell, rounded if it is a floating-point number; other cells are returned unchanged."""
    return round(cell, decimals) if isinstance(cell, float) else cell


class ColumnForm(Protocol):
    """Written form of the cells of a column."""

    def write(self, cell: Any) -> Any:
        """Text of a cell in a file; a cell without a written form is returned unchanged."""

    def read(self, text: str) -> str:
        """Cell that a text in a file stands for; a text that stands for none is returned unchanged."""


@dataclass(frozen=True)
class WrittenCells:
    """Written forms of a table's columns, to write released cells and to read them back.

    Parameters
    ----------
    columns : mapping of str to ColumnForm
        Columns whose cells are written in another form than the program's.
    notes : tuple of Note
        What is not written by its label, with reasons.
    integers : tuple of str
        Columns whose domain has integers only; they are written without a fraction, even where values are missing.
    decimals : mapping of str to int
        Declared number of digits after the point, to which released numbers are rounded. Rounding uses no record, so
        it costs no privacy. Intervals keep their ends.
    """

    columns: Mapping[str, ColumnForm] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    integers: tuple[str, ...] = ()
    decimals: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, declared: Roles, roles: Path | None) -> WrittenCells:
        """Written forms that a roles file declares: dates, and labels of groups that hierarchies list.

        Parameters
        ----------
        declared : Roles
            Content of the roles file.
        roles : Path, optional
            The file, to whose folder the paths of hierarchies are relative.

        Raises
        ------
        ValueError
            If a hierarchy cannot be read; names file, table and key.
        """
        forms: dict[str, ColumnForm] = {}
        notes: list[Note] = []
        for name, column in declared.columns.items():
            if isinstance(column, DateColumn):
                forms[name] = column.form()
                continue
            if roles is None or column.hierarchy is None:
                continue
            with errors_at(f"{roles}, table [columns.{name}], key 'hierarchy'"):
                labels = _labels(name, column, column.hierarchy, roles.parent, declared)
            if labels is not None:
                forms[name] = labels
                notes += labels.notes
        decimals = {
            name: column.decimals
            for name, column in declared.columns.items()
            if isinstance(column, NumberColumn) and column.decimals is not None
        }
        return cls(forms, tuple(notes), decimals=decimals)

    def extended(self, name: str, domain: Domain) -> Domain:
        """An inferred domain of categories with all values of the column's hierarchy, whose groups hold them."""
        form = self.columns.get(name)
        if isinstance(domain, NumericDomain) or not isinstance(form, GroupLabels):
            return domain
        return replace(domain, categories=tuple(sorted({*domain.categories, *(row[0] for row in form.rows)})))

    def with_dates(self, columns: Mapping[str, TextColumn]) -> WrittenCells:
        """Add the forms of columns in which dates were recognized."""
        found = {name: column.dates for name, column in columns.items() if column.dates is not None}
        return replace(self, columns={**found, **self.columns})

    def with_integers(self, domains: Mapping[str, Domain]) -> WrittenCells:
        """Write the columns as integers whose domain has integers only; dates keep their own form."""
        integers = (name for name, domain in domains.items() if isinstance(domain, NumericDomain) and domain.integer)
        return replace(self, integers=tuple(name for name in integers if self.dates(name) is None))

    def dates(self, name: str) -> DateForm | None:
        """Form of a column of dates; None for another column."""
        form = self.columns.get(name)
        return form if isinstance(form, DateForm) else None

    @property
    def date_units(self) -> dict[str, str]:
        """What the integers of each column of dates count: ``days`` or ``seconds``."""
        forms = {name: form for name in self.columns if (form := self.dates(name)) is not None}
        return {name: "days" if form.unit == 1 else "seconds" for name, form in forms.items()}

    def write(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Released cells in their written form."""
        names = [
            name
            for name, form in self.columns.items()
            if name in frame.columns and (frame[name].dtype == object or isinstance(form, DateForm))
        ]
        frame = frame.assign(**{name: _mapped(frame[name], self.columns[name].write) for name in names})
        return self._whole(self._rounded(frame))

    def plain(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Original values in their written form: dates as texts of their format, integers without a fraction."""
        forms = {name: form for name in map(str, frame.columns) if (form := self.dates(name)) is not None}
        return self._whole(
            frame.assign(**{name: _mapped(frame[name], form.format.text) for name, form in forms.items()})
        )

    def read(self, columns: Mapping[str, TextColumn]) -> dict[str, TextColumn]:
        """Columns of a released file, with cells in the form of the program.

        Parameters
        ----------
        columns : mapping of str to TextColumn
            Columns of the file; those without a written form stay as they are. Dates may be of another format.
        """
        read = dict(columns)
        for name, form in self.columns.items():
            if name in columns:
                column = in_format(columns[name], form) if isinstance(form, DateForm) else columns[name]
                read[name] = column.with_cells(list(map(form.read, column.texts.to_pylist())))
        return read

    def read_frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Released cells of the program, from texts of a file, shape (rows, columns); None where missing."""
        names = [name for name in self.columns if name in frame.columns]
        return frame.assign(**{name: _mapped(frame[name], self.columns[name].read) for name in names})

    def cell(self, name: str, text: str) -> str:
        """Cell of a column that a text stands for."""
        form = self.columns.get(name)
        return text if form is None else form.read(text)

    def _rounded(self, frame: pd.DataFrame) -> pd.DataFrame:
        columns = {name: (frame[name], count) for name, count in self.decimals.items() if name in frame.columns}
        return frame.assign(
            **{
                name: column.round(count) if column.dtype.kind == "f" else _mapped(column, partial(rounded_cell, count))
                for name, (column, count) in columns.items()
                if column.dtype.kind in "fO"
            }
        )

    def _whole(self, frame: pd.DataFrame) -> pd.DataFrame:
        columns = {name: frame[name] for name in self.integers if name in frame.columns}
        return frame.assign(
            **{
                name: _mapped(column, integer_cell) if column.dtype == object else integer_column(column)
                for name, column in columns.items()
            }
        )


def _labels(
    name: str, column: NumberColumn | CategoryColumn, hierarchy: HierarchyTable, folder: Path, declared: Roles
) -> GroupLabels | None:
    """Labels of a hierarchy that lists its groups; None for one of intervals."""
    listed = hierarchy.listed(folder, name, declared)
    if listed is None:
        return None
    text = isinstance(column, CategoryColumn)
    rows, notes = listed
    table = hierarchy.table(folder, rows, text=text)
    categories = (column.categories or []) if isinstance(column, CategoryColumn) else []
    if not hierarchy.labels:
        return GroupLabels(tuple(map(tuple, rows)), {}, {}, tuple(notes))
    labels = GroupLabels.of(name, rows, table, text=text, reserved={*categories, *declared.na, *MISSING})
    return replace(labels, notes=(*notes, *labels.notes))


def _mapped(column: pd.Series[Any], change: Callable[[Any], Any]) -> NDArray[np.object_]:
    """A column with changed cells; missing ones stay."""
    codes, distinct = distinct_values(column)
    cells = np.empty(len(distinct) + 1, dtype=object)
    cells[:] = [*map(change, distinct), None]
    return np.asarray(cells[codes], dtype=object)
