"""Equivalence classes of a released table, counted in memory or in parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
import pandas as pd

from metrics.classes import JointKeys, SizeCounts, agreeing_records, group_starts, key_starts, without_group
from metrics.columns import SUPPRESSED, Domain, Floats, Integers, is_generalized, refuse, require
from metrics.diversity import ClassDiversity
from scenarios.tables.note import Note
from scenarios.tables.reading.text_column import TextColumn
from scenarios.tables.roles import Roles

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
    keys : tuple of ndarray of int, each of shape (classes,)
        Keys of each class.
    groups, values, counts : ndarray of int, shape (pairs,)
        Pairs of a class, ascending from 0 without a gap, and a cell's code that occur, with their numbers of records.
    decode : callable
        ``decode(keys)`` is the code of each class in each quasi-identifier.
    """

    keys: tuple[Integers, ...]
    groups: Integers
    values: Integers
    counts: Integers
    decode: Callable[[tuple[Integers, ...]], Mapping[str, Integers]]

    @property
    def sizes(self) -> Integers:
        """Number of records of each class, shape (classes,)."""
        return np.add.reduceat(self.counts, group_starts(self.groups))

    @cached_property
    def codes(self) -> Mapping[str, Integers]:
        """Code of each class in each quasi-identifier."""
        return self.decode(self.keys)

    def without_suppressed(self, stars: Mapping[str, int]) -> tuple[ClassPairs, int]:
        """Classes without that of the wholly suppressed records, and the number of these; see `rows_in_classes`."""
        if not stars:
            return self, 0
        found = np.flatnonzero(np.logical_and.reduce([self.codes[name] == code for name, code in stars.items()]))
        if not found.size:
            return self, 0
        kept = without_group(self.groups, self.values, self.counts, int(found[0]))
        keys = tuple(np.delete(key, found) for key in self.keys)
        return ClassPairs(keys, *kept, self.decode), int(self.sizes[found[0]])

    def people(self, unnamed: int | None) -> Integers:
        """Number of people of each class, shape (classes,), if values are people; unnamed rows are people each."""
        people = np.where(self.values == (-1 if unnamed is None else unnamed), self.counts, 1)
        return np.add.reduceat(people, group_starts(self.groups))


class CodedBlock(Protocol):
    """Consecutive rows of a released table."""

    @property
    def start(self) -> int:
        """Position of the first row in the table."""

    def codes(self, name: str) -> Integers:
        """Code of each row in a column."""


class CountedRelease(Protocol):
    """A released table whose classes are counted, in memory or in parts."""

    @property
    def path(self) -> Path:
        """File or folder of the table."""

    @property
    def names(self) -> tuple[str, ...]:
        """All columns of the file."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def columns(self) -> Mapping[str, CellCounts]:
        """The columns that are counted."""

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Columns that make the classes."""

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Columns that are protected."""

    @property
    def person(self) -> str | None:
        """Column whose values are people, if a person may have several rows and it is known whose they are."""

    @property
    def roles(self) -> Roles:
        """Content of the roles file."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was inferred."""

    def class_pairs(self, value: str | None = None) -> Iterator[ClassPairs]:
        """Equivalence classes, some at a time, with the values of a column; without one, all hold one value, 0."""

    def blocks(self, names: Sequence[str], /) -> Iterator[CodedBlock]:
        """Blocks of rows in the order of the table, with the codes of some columns."""


@dataclass(frozen=True)
class CodedTable:
    """A released table in memory by the codes of its cells; see `CountedRelease`."""

    columns: Mapping[str, CodedCells]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    person: str | None = None
    roles: Roles = field(default_factory=Roles)
    path: Path = Path()
    notes: tuple[Note, ...] = ()
    spelling: Mapping[str, Domain | None] = field(default_factory=dict, repr=False)
    start: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the table."""
        return tuple(self.columns)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return next(iter(self.columns.values())).codes.size

    def codes(self, name: str) -> Integers:
        """Code of each row in a column."""
        return self.columns[name].codes

    def blocks(self, _: Sequence[str]) -> Iterator[CodedTable]:
        """The table as its only block."""
        yield self

    def class_pairs(self, value: str | None = None) -> Iterator[ClassPairs]:
        """All equivalence classes together."""
        chosen = [*self.quasi_identifiers, *([] if value is None else [value])]
        sizes = {name: len(self.columns[name].counts) for name in chosen}
        joint = JointKeys.of({name: self.codes(name) for name in chosen}, sizes)
        distinct, counts = joint.count()
        owners, values = np.divmod(distinct, 1 if value is None else sizes[value])
        starts = key_starts([owners])
        decode = replace(joint, keys=distinct[:0]).codes
        groups = np.cumsum(starts) - 1
        yield ClassPairs(
            (distinct[starts],), groups, values, counts, lambda keys: decode(*keys, self.quasi_identifiers)
        )


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

    def fewest_agreeing(self) -> int | None:
        """Fewest records that agree with a record, as `agreeing_records` counts them."""
        agreeing = agreeing_records(self.codes, self.counts, self.suppressed)
        return None if agreeing is None else int(agreeing.min())


@dataclass(frozen=True)
class ClassCounts:
    """What is counted of the equivalence classes of a released table.

    Attributes
    ----------
    sizes : SizeCounts
        Their sizes.
    people : SizeCounts or None
        Their sizes in people, if people may have several rows and are known.
    diversity : mapping of str to ClassDiversity
        Diversity of each sensitive column.
    coded : CodedClasses or None
        The classes; None if memory does not suffice.
    suppressed : int
        Number of wholly suppressed records, which are in no class.
    """

    sizes: SizeCounts
    people: SizeCounts | None
    diversity: Mapping[str, ClassDiversity]
    coded: CodedClasses | None
    suppressed: int

    @classmethod
    def of(cls, table: CountedRelease, memory: int | None = None) -> Self:
        """Count the classes of a table; those that take more bytes than `memory` are not kept.

        Raises
        ------
        ValueError
            If there is no quasi-identifier or no row, or a sensitive column is a quasi-identifier.
        """
        require_quasi_identifiers(table.quasi_identifiers)
        require(table.rows, "the table has no rows and therefore no classes to measure")
        for column in table.sensitive:
            refuse(
                column in table.quasi_identifiers,
                f"column {column!r} is a quasi-identifier and cannot be the sensitive column too",
            )
        stars = _stars(table)
        every = all(table.columns[name].counts[code] == table.rows for name, code in stars.items())
        whole = stars if len(stars) == len(table.quasi_identifiers) and not every else {}
        kept = _KeptClasses(memory)
        sizes: Counter[int] = Counter()
        people: Counter[int] = Counter()
        diversity: dict[str, ClassDiversity] = {}
        suppressed = 0
        measured = dict.fromkeys(name for name in (*table.sensitive, table.person) if name is not None)
        for number, name in enumerate(measured or [None]):
            for arrived in table.class_pairs(name):
                pairs, stripped = arrived.without_suppressed(whole)
                suppressed = stripped or suppressed
                if not pairs.counts.size:
                    continue
                if number == 0:
                    _count(sizes, pairs.sizes)
                    kept.add(pairs.codes, pairs.sizes)
                if name is not None and name == table.person:
                    _count(people, pairs.people(table.columns[name].empty))
                if name in table.sensitive:
                    shares = table.columns[name].shares
                    part = ClassDiversity.of_pairs(pairs.groups, pairs.values, pairs.counts, shares)
                    diversity[name] = part.worst(diversity[name]) if name in diversity else part
        if suppressed:
            kept.add({name: np.array([code]) for name, code in stars.items()}, np.array([suppressed]))
        in_people = SizeCounts.of_counter(people) if people else None
        return cls(SizeCounts.of_counter(sizes), in_people, diversity, kept.coded(stars), suppressed)


@dataclass
class _KeptClasses:
    """Codes and sizes of classes, as long as they fit into memory."""

    memory: int | None
    parts: list[tuple[Mapping[str, Integers], Integers]] | None = field(default_factory=list)
    used: int = 0

    def add(self, codes: Mapping[str, Integers], sizes: Integers) -> None:
        """Keep some classes."""
        if self.parts is None:
            return
        self.parts.append((codes, sizes))
        self.used += sizes.size * (_SEARCH + sum(column.itemsize for column in codes.values()))
        if self.memory is not None and self.used > self.memory:
            self.parts = None

    def coded(self, stars: Mapping[str, int]) -> CodedClasses | None:
        """All classes; None if they do not fit."""
        if self.parts is None:
            return None
        codes, sizes = zip(*self.parts, strict=True)
        joined = {name: np.concatenate([part[name] for part in codes]) for name in codes[-1]}
        return CodedClasses(joined, np.concatenate(sizes), stars)


def require_quasi_identifiers(names: Sequence[str]) -> None:
    """Raise ValueError if there is no quasi-identifier."""
    require(names, "the table has no quasi-identifier; name some in the roles file")


def person_column(roles: Roles, names: Collection[str], quasi_identifiers: Sequence[str]) -> str | None:
    """Column that names the person of each row, if it is declared, among some columns, and makes no class."""
    return roles.person if roles.person in names and roles.person not in quasi_identifiers else None


def _stars(table: CountedRelease) -> dict[str, int]:
    """Code of ``*`` in the quasi-identifiers that hold it."""
    found = {name: table.columns[name].suppressed for name in table.quasi_identifiers}
    return {name: code for name, code in found.items() if code is not None}


def _count(total: Counter[int], sizes: Integers) -> None:
    """Add the sizes of some classes to the number of classes of each size."""
    found = SizeCounts.of_classes(sizes)
    total.update(dict(zip(found.sizes.tolist(), found.counts.tolist(), strict=True)))
