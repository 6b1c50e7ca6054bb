"""Equivalence classes of a released table, counted in memory or in parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics.classes import SizeCounts, group_starts, joint_counts, key_starts, without_group
from metrics.columns import SUPPRESSED, Booleans, Domain, Floats, Integers, is_generalized, refuse, require
from metrics.diversity import ClassDiversity
from metrics.risk import GroupRisk
from scenarios.tables.note import Note
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.roles import Roles

if TYPE_CHECKING:
    from defenses.base import StoredBlock

PERSON = ""
"""Name of the column of people who are known by other means than a released column."""
_SEARCH = 40
"""Bytes for each class during the search for unique records, beside its codes."""

Cells = np.ndarray[tuple[int], np.dtype[np.object_]]


@dataclass(frozen=True)
class CellCounts:
    """Distinct cells of a column of a released table, with their numbers of rows.

    Attributes
    ----------
    cells : ndarray of object or None, shape (cells,)
        Each code's cell, None where missing. None if there are too many to list.
    counts : ndarray of int, shape (cells,)
        Number of rows with each code.
    plain : bool
        Whether no cell is an interval, a set or ``*``.
    suppressed : int or None
        Code of ``*``; None if no cell is suppressed.
    """

    cells: Cells | None = field(repr=False)
    counts: Integers = field(repr=False)
    plain: bool
    suppressed: int | None

    @classmethod
    def of_cells(cls, cells: Cells, counts: Integers, **others: Any) -> Self:
        """Describe listed cells; those without rows do not matter."""
        occurring = {code: cell for code, cell in enumerate(cells) if counts[code] and cell is not None}
        starred = next((code for code, cell in occurring.items() if cell == SUPPRESSED), None)
        return cls(cells, counts, not any(map(is_generalized, occurring.values())), starred, **others)

    @property
    def empty(self) -> int | None:
        """Code of an empty cell; None if there is none."""
        found = np.zeros(1, dtype=np.intp) if self.cells is None else np.flatnonzero(pd.isna(self.cells))
        return int(found[0]) if found.size else None

    @property
    def missing(self) -> int:
        """Number of rows with an empty cell."""
        return 0 if self.empty is None else int(self.counts[self.empty])

    @property
    def shares(self) -> Floats:
        """Share of the rows with each code, shape (cells,)."""
        return np.asarray(self.counts / self.counts.sum())

    def rows_of_cells(self) -> pd.Series[Any]:
        """Number of rows of each cell, by the cell."""
        return pd.Series(self.counts, index=self.cells)[pd.notna(self.cells)]


@dataclass(frozen=True)
class CodedCells(CellCounts):
    """A column of a released table in memory, with the code of each row, shape (rows,)."""

    cells: Cells = field(repr=False)
    codes: Integers = field(repr=False)

    @classmethod
    def of_text(cls, column: TextColumn) -> Self:
        """A column of a file."""
        size = len(column.texts)
        of_code = np.arange(size + 1, dtype=np.min_scalar_type(size))
        return cls._of(of_code[column.codes], [*column.texts.to_pylist(), None])

    @classmethod
    def of_values(cls, values: Any) -> Self:
        """Values or cells of each row; a missing one is a cell of its own."""
        codes, distinct = pd.factorize(values, use_na_sentinel=False)
        return cls._of(codes, [None if pd.isna(cell) else cell for cell in distinct])

    @classmethod
    def _of(cls, codes: Integers, cells: Sequence[Any]) -> Self:
        listed = pd.Series(cells, dtype=object).to_numpy()
        return cls.of_cells(listed, np.bincount(codes, minlength=listed.size), codes=codes)


@dataclass(frozen=True)
class ClassPairs:
    """Some equivalence classes, complete, with the values that they hold.

    Attributes
    ----------
    codes : mapping of str to ndarray of int, each of shape (classes,)
        Code of each class in each quasi-identifier.
    groups, values, counts : ndarray of int, shape (pairs,)
        Pairs of a class, ascending from 0 without a gap, and a cell's code that occur, with their numbers of records.
    """

    codes: Mapping[str, Integers]
    groups: Integers
    values: Integers
    counts: Integers

    def summed(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Sum of a number of each pair over each class, shape (classes,)."""
        return np.add.reduceat(numbers, group_starts(self.groups))

    def without_suppressed(self, stars: Mapping[str, int]) -> tuple[ClassPairs, int]:
        """Classes without that of the wholly suppressed records, and the number of these; see `rows_in_classes`."""
        found = np.logical_and.reduce([self.codes[name] == code for name, code in stars.items()]) & bool(stars)
        if not found.any():
            return self, 0
        kept = without_group(self.groups, self.values, self.counts, int(found.argmax()))
        codes = {name: column[~found] for name, column in self.codes.items()}
        return ClassPairs(codes, *kept), int(self.summed(self.counts)[found][0])


@dataclass(frozen=True)
class CountedRelease(ABC):
    """A released table whose classes are counted, in memory or in parts.

    Attributes
    ----------
    path : Path
        File or folder of the table.
    columns : mapping of str to CellCounts
        The columns that are counted. Cells of equal meaning are one.
    quasi_identifiers, sensitive : tuple of str
        Columns with these roles.
    notes : tuple of Note
        What was inferred.
    roles : Roles
        Content of the roles file.
    spelling : mapping of str to Domain or None
        What is known about the spelling of the cells; see `with_one_spelling`.
    """

    path: Path
    columns: Mapping[str, CellCounts] = field(repr=False)
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    notes: tuple[Note, ...] = field(repr=False)
    roles: Roles = field(repr=False)
    spelling: Mapping[str, Domain | None] = field(repr=False)

    @property
    def person(self) -> str | None:
        """Column whose values are people, if they are known and make no class."""
        known = (name for name in (PERSON, self.roles.person) if name in self.columns)
        return next((name for name in known if name not in self.quasi_identifiers), None)

    @cached_property
    def weights(self) -> Floats | None:
        """Survey weight of each cell of the column of weights, shape (cells,).

        None if there is no such column, it has too many cells to list, or a cell is no finite number above 0.
        """
        weight = None if self.roles.weight is None else self.columns.get(self.roles.weight)
        if weight is None or weight.cells is None:
            return None
        numbers = pd.to_numeric(pd.Series(weight.cells), errors="coerce").to_numpy(dtype=float)
        fit = (numbers > 0) & np.isfinite(numbers)
        return None if weight.counts[~fit].any() else np.where(fit, numbers, 0.0)

    @property
    def group(self) -> str | None:
        """Column whose values are groups of people, if it was released and makes no class."""
        name = self.roles.group
        return name if name in self.columns and name not in self.quasi_identifiers else None

    @property
    def stars(self) -> dict[str, int]:
        """Code of ``*`` in the quasi-identifiers that hold it."""
        found = {name: self.columns[name].suppressed for name in self.quasi_identifiers}
        return {name: code for name, code in found.items() if code is not None}

    @property
    @abstractmethod
    def rows(self) -> int:
        """Number of rows."""

    @abstractmethod
    def class_pairs(self, value: str | None = None) -> Iterator[ClassPairs]:
        """Equivalence classes, some at a time, with the values of a column; without one, all hold one value, 0."""

    @abstractmethod
    def blocks(self, names: Sequence[str]) -> Iterator[StoredBlock]:
        """Blocks of `BLOCK` rows in the order of the table, with the codes of some columns."""

    def cells(self, name: str) -> Iterator[Cells]:
        """Text of each code's cell, None where missing, in parts where there are too many to list."""
        listed = self.columns[name].cells
        if listed is not None:
            yield listed


@dataclass(frozen=True)
class ReleasedTable(CountedRelease):
    """A released table in memory."""

    columns: Mapping[str, CodedCells] = field(repr=False)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return next(iter(self.columns.values())).codes.size

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Released cells as text, None where missing, shape (rows, columns)."""
        return pd.DataFrame({name: column.cells[column.codes] for name, column in self.columns.items()})

    def blocks(self, names: Sequence[str]) -> Iterator[StoredBlock]:
        """Blocks of rows in the order of the table."""
        # It imports channels of defenses, which `tokumei risk` does not need.
        from defenses.base import blocks

        for number, start in enumerate(range(0, self.rows, blocks.BLOCK)):
            rows = slice(start, start + blocks.BLOCK)
            yield blocks.StoredBlock(number, start, {name: self.columns[name].codes[rows] for name in names})

    def class_pairs(self, value: str | None = None) -> Iterator[ClassPairs]:
        """All equivalence classes together."""
        chosen = (*self.quasi_identifiers, *([] if value is None else [value]))
        sizes = {name: len(self.columns[name].counts) for name in chosen}
        codes, counts = joint_counts({name: self.columns[name].codes for name in chosen}, sizes)
        starts = key_starts([codes[name] for name in self.quasi_identifiers])
        of_class = {name: codes[name][starts] for name in self.quasi_identifiers}
        values = np.zeros_like(counts) if value is None else codes[value]
        yield ClassPairs(of_class, np.cumsum(starts) - 1, values, counts)


@dataclass(frozen=True)
class CodedClasses:
    """Classes of a released table, wholly suppressed records included as the last one.

    Attributes
    ----------
    codes : mapping of str to ndarray of int, each of shape (n,)
        Code of each class in each quasi-identifier.
    counts : ndarray of int, shape (n,)
        Number of records of each class.
    suppressed : mapping of str to int
        Code of ``*`` in the columns that hold it.
    """

    codes: Mapping[str, Integers]
    counts: Integers
    suppressed: Mapping[str, int]


@dataclass(frozen=True)
class ClassCounts:
    """What is counted of the equivalence classes of a released table.

    Attributes
    ----------
    sizes : SizeCounts
        Their sizes.
    people : SizeCounts or None
        Their sizes in people, if people may have several rows and are known.
    groups : GroupRisk or None
        Risk of the groups of people, if they are known.
    diversity : mapping of str to ClassDiversity
        Diversity of each sensitive column.
    coded : CodedClasses or None
        The classes; None if memory does not suffice.
    suppressed : int
        Number of wholly suppressed records, which are in no class.
    weighted : tuple of ndarray or None, each of shape (classes,)
        Number of records of each class and the sum of their survey weights, if there are such weights.
    """

    sizes: SizeCounts
    people: SizeCounts | None
    groups: GroupRisk | None
    diversity: Mapping[str, ClassDiversity]
    coded: CodedClasses | None
    suppressed: int
    weighted: tuple[Integers, Floats] | None = None

    @classmethod
    def of(cls, table: CountedRelease, memory: int | None = None) -> Self:
        """Count the classes of a table; those that take more bytes than `memory` are not kept.

        Raises
        ------
        ValueError
            If there is no quasi-identifier or no row, or a sensitive column is a quasi-identifier.
        """
        _check_roles(table)
        stars = table.stars
        every = all(table.columns[name].counts[code] == table.rows for name, code in stars.items())
        whole = stars if len(stars) == len(table.quasi_identifiers) and not every else {}
        weight = None if table.weights is None else table.roles.weight
        sizes: list[SizeCounts] = []
        people: list[SizeCounts] = []
        diversity: dict[str, ClassDiversity] = {}
        kept: list[tuple[Mapping[str, Integers], Integers]] = []
        members: list[tuple[Floats, Integers, Integers]] = []
        own: list[Integers] = []
        weighted: list[Floats] = []
        used = suppressed = 0
        measured = dict.fromkeys((*table.sensitive, table.person, table.group, weight))
        measured.pop(None, None)
        for number, name in enumerate(measured or [None]):
            for arrived in table.class_pairs(name):
                pairs, stripped = arrived.without_suppressed(whole)
                suppressed = stripped or suppressed
                if not pairs.counts.size:
                    continue
                records = pairs.summed(pairs.counts)
                if number == 0:
                    sizes.append(SizeCounts.of_classes(records))
                    used += records.size * (_SEARCH + sum(column.itemsize for column in pairs.codes.values()))
                    kept = [*kept, (pairs.codes, records)] if memory is None or used <= memory else []
                if name is None:
                    continue
                named = pairs.values != table.columns[name].empty
                if name == table.person:
                    # Rows that name nobody are a person each.
                    people.append(SizeCounts.of_classes(pairs.summed(np.where(named, 1, pairs.counts))))
                if name == table.group:
                    before = sum(int((groups < 0).sum()) for _, groups, _ in members)
                    members.append(_members(pairs, 1 / records, named, before))
                if name == weight and table.weights is not None:
                    own.append(records)
                    weighted.append(pairs.summed(pairs.counts * table.weights[pairs.values]))
                if name in table.sensitive:
                    shares = table.columns[name].shares
                    part = ClassDiversity.of_pairs(pairs.groups, pairs.values, pairs.counts, shares)
                    diversity[name] = part.worst(diversity[name]) if name in diversity else part
        if suppressed:
            kept.append(({name: np.array([code]) for name, code in stars.items()}, np.array([suppressed])))
        coded = None
        if memory is None or used <= memory:
            joined = {name: np.concatenate([codes[name] for codes, _ in kept]) for name in table.quasi_identifiers}
            coded = CodedClasses(joined, np.concatenate([records for _, records in kept]), stars)
        return cls(
            SizeCounts.joined(sizes),
            SizeCounts.joined(people) if people else None,
            GroupRisk.of(*map(np.concatenate, zip(*members, strict=True))) if members else None,
            diversity,
            coded,
            suppressed,
            None if weight is None else (np.concatenate(own), np.concatenate(weighted)),
        )


def _check_roles(table: CountedRelease) -> None:
    """Raise ValueError unless a table has rows and quasi-identifiers, none of them sensitive."""
    require_quasi_identifiers(table.quasi_identifiers)
    require(table.rows, "the table has no rows and therefore no classes to measure")
    for column in table.sensitive:
        refuse(
            column in table.quasi_identifiers,
            f"column {column!r} is a quasi-identifier and cannot be the sensitive column too",
        )


def require_quasi_identifiers(names: Sequence[str]) -> None:
    """Raise ValueError if there is no quasi-identifier."""
    require(names, "the table has no quasi-identifier; name some in the roles file")


def _members(pairs: ClassPairs, risk: Floats, named: Booleans, before: int) -> tuple[Floats, Integers, Integers]:
    """Risk, group and number of members alike; `before` is how many rows of earlier classes name no group."""
    # A row that names no group is one of its own, with a number below 0.
    times = np.where(named, 1, pairs.counts)
    groups = np.repeat(np.where(named, pairs.values.astype(np.int64), -1), times)
    alone = groups < 0
    groups[alone] -= before + np.arange(np.count_nonzero(alone))
    return np.repeat(risk[pairs.groups], times), groups, np.repeat(np.where(named, pairs.counts, 1), times)
