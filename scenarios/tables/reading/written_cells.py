"""Written form of cells: dates and labels of groups in files, numbers, intervals and sets inside the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from defenses.base.hierarchy import TableHierarchy
from metrics.domains import Domain, NumericDomain
from metrics.values import distinct_values
from scenarios.tables.reading.date_form import DateForm
from scenarios.tables.reading.group_labels import GroupLabels
from scenarios.tables.reading.number_forms import MISSING
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.reading.whole_numbers import integer_cell, integer_column, rounded_cell
from scenarios.tables.roles import CategoryColumn, DateColumn, HierarchyTable, NumberColumn, Roles


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
    notes : tuple of str
        What is not written by its label, with reasons.
    integers : tuple of str
        Columns whose domain has integers only; they are written without a fraction, even where values are missing.
    decimals : mapping of str to int
        Declared number of digits after the point, to which released numbers are rounded. Rounding uses no record, so
        it costs no privacy. Intervals keep their ends.
    """

    columns: Mapping[str, ColumnForm] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
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
        notes: list[str] = []
        for name, column in declared.columns.items():
            if isinstance(column, DateColumn):
                forms[name] = column.form()
                continue
            if roles is None or column.hierarchy is None:
                continue
            try:
                labels = _labels(name, column, column.hierarchy, roles.parent, declared)
            except ValueError as error:
                raise ValueError(f"{roles}, table [columns.{name}], key 'hierarchy': {error}") from None
            if labels is not None:
                forms[name] = labels
                notes += [f"{name}: {note}" for note in labels.notes]
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
        """Released cells in their written form.

        Parameters
        ----------
        frame : DataFrame, shape (rows, columns)
            Released cells of the program.
        """
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
            Columns of the file; those without a written form stay as they are.
        """
        return {
            name: column if (form := self.columns.get(name)) is None else _with_cells(column, form)
            for name, column in columns.items()
        }

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
    try:
        table = TableHierarchy(rows, text=text)
    except ValueError as error:
        raise ValueError(f"{folder / hierarchy.csv}: {error}" if hierarchy.csv is not None else str(error)) from None
    categories = (column.categories or []) if isinstance(column, CategoryColumn) else []
    if not hierarchy.labels:
        return GroupLabels(tuple(map(tuple, rows)), {}, {}, tuple(notes))
    labels = GroupLabels.of(rows, table, text=text, reserved={*categories, *declared.na, *MISSING})
    return replace(labels, notes=(*notes, *labels.notes))


def _mapped(column: pd.Series[Any], change: Callable[[Any], Any]) -> NDArray[np.object_]:
    """A column with changed cells; missing ones stay."""
    codes, distinct = distinct_values(column)
    cells = np.empty(len(distinct) + 1, dtype=object)
    cells[:] = [*map(change, distinct), None]
    return np.asarray(cells[codes], dtype=object)


def _with_cells(column: TextColumn, form: ColumnForm) -> TextColumn:
    texts = column.texts.to_pylist()
    cells = [form.read(text) for text in texts]
    return column if cells == texts else column.with_texts(pa.array(cells, pa.string()))
