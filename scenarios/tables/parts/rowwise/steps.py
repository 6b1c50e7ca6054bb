"""Releases whose columns are made from the codes or numbers of a block, each by one step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from defenses.base.channel import Channel
from defenses.base.defense import MicrodataDefense, released_frame
from defenses.base.guarantee import Guarantee
from defenses.base.microdata import Microdata
from metrics.columns.arrays import Booleans, Integers
from scenarios.tables.parts.files.spool import block_generator
from scenarios.tables.parts.records import Block, LargeColumn, LargeRecords
from scenarios.tables.parts.released_blocks import BlockByBlock, CellList, LargeRelease, ReleasedBlock


class Step(Protocol):
    """How some released columns are made from a block of records."""

    @property
    def cells(self) -> Mapping[str, CellList]:
        """Cells of the columns that it makes as codes."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it makes."""

    def release(self, block: Block, rng: Generator) -> Mapping[str, NDArray[Any]]:
        """Codes or numbers of the released columns, each of shape (rows,)."""


@dataclass(frozen=True)
class Recoded:
    """A column each of whose codes has one released cell.

    Parameters
    ----------
    name : str
        The column.
    list_of_cells : CellList
        Its released cells.
    table : ndarray of int32, shape (codes,)
        Position of the released cell of each code.
    """

    name: str
    list_of_cells: CellList = field(repr=False)
    table: NDArray[np.int32] = field(repr=False)

    @property
    def cells(self) -> Mapping[str, CellList]:
        """Cells of the column."""
        return {self.name: self.list_of_cells}

    @property
    def names(self) -> tuple[str, ...]:
        """The column."""
        return (self.name,)

    def release(self, block: Block, rng: Generator) -> Mapping[str, NDArray[Any]]:
        """Positions of the released cells."""
        return {self.name: self.table[block.columns[self.name]]}


@dataclass(frozen=True)
class Recomputed:
    """A column of nearly distinct numbers, from which the released cells are computed.

    Parameters
    ----------
    name : str
        The column.
    compute : callable
        ``compute(numbers)`` gives the released cells of numbers, a Series of shape (rows,).
    list_of_cells : CellList, optional
        Released cells, which grow; None if they are numbers of `kind`.
    kind : dtype
        Type of released numbers.
    """

    name: str
    compute: Callable[[NDArray[Any]], pd.Series[Any]] = field(repr=False)
    list_of_cells: CellList | None = field(repr=False)
    kind: np.dtype[Any]

    @property
    def cells(self) -> Mapping[str, CellList]:
        """Cells of the column, if it has a list."""
        return {} if self.list_of_cells is None else {self.name: self.list_of_cells}

    @property
    def names(self) -> tuple[str, ...]:
        """The column."""
        return (self.name,)

    def release(self, block: Block, rng: Generator) -> Mapping[str, NDArray[Any]]:
        """Released cells or numbers."""
        return {self.name: stored_cells(self.compute(block.columns[self.name]), self.list_of_cells, self.kind)}


def stored_cells(column: pd.Series[Any], cells: CellList | None, kind: np.dtype[Any]) -> NDArray[Any]:
    """Codes of released cells, which join the list, or numbers of a type where there is no list; shape (rows,)."""
    if cells is None:
        numbers = column.to_numpy()
        if kind.kind in "iu" and numbers.dtype.kind == "f" and not (numbers == np.rint(numbers)).all():
            raise ValueError(f"column {column.name!r}: fractions are released in some blocks and integers in others")
        return numbers.astype(kind)
    codes, distinct = pd.factorize(column.astype(object), use_na_sentinel=True)
    positions = np.append(cells.codes(distinct.tolist()), cells.code(None) if (codes < 0).any() else 0)
    return np.asarray(positions[codes], dtype=np.int32)


@dataclass(frozen=True)
class DistinctRecords(Microdata):
    """Distinct values of each column, with the number of records as length.

    A defense asks it for roles, domains, whether a value is missing, and the number of records. A method that reads
    rows must not get it, since rows mean nothing.

    Parameters
    ----------
    size : int
        Number of records.
    counts : mapping of str to ndarray, each of shape (rows,)
        Number of records that hold the value of each row, by column.
    """

    size: int = 0
    counts: Mapping[str, Integers] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return self.size

    def row_counts(self, column: str) -> Integers:
        """Number of records that hold the value of each row in a column, shape (rows,)."""
        return self.counts[column]

    def place(self, column: str, row: int) -> str:
        """Column in words; rows of distinct values mean nothing."""
        return f"column {column!r}"


def counted(records: LargeRecords) -> DistinctRecords:
    """Roles, domains and distinct values of records, with their number."""
    roles = records.roles
    return DistinctRecords(
        roles.frame,
        roles.identifiers,
        roles.quasi_identifiers,
        roles.sensitive,
        roles.domains,
        roles.hierarchies,
        roles.person,
        size=records.rows,
        counts={name: _row_counts(column, len(roles.frame)) for name, column in records.columns.items()},
    )


def _row_counts(column: LargeColumn, rows: int) -> Integers:
    """Number of records of each row of the table of distinct values; of sampled numbers, each row is one record."""
    if column.numbers_only:
        return np.ones(rows, dtype=np.intp)
    counts = np.zeros(rows, dtype=np.intp)
    distinct = len(column.raw.values)
    counts[:distinct] = column.raw.counts
    counts[distinct : distinct + 1] = column.raw.missing
    return counts


def by_code(column: LargeColumn, of_row: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """What holds for each distinct value, by the codes of the column, shape (codes,).

    Parameters
    ----------
    column : LargeColumn
        A coded column.
    of_row : array_like, shape (rows,)
        By the rows of the table of distinct values (`scenarios.tables.parts.raw_columns.value_table`). Codes without a
        record get the first entry.
    """
    entries = np.asarray(of_row)
    stored = np.flatnonzero(column.raw.of_code >= 0)
    result = np.full(max(column.values.size, column.missing + 1), entries[0], dtype=entries.dtype)
    result[column.of_raw[stored]] = entries[column.raw.of_code[stored]]
    if column.raw.missing:
        result[column.missing] = entries[len(column.raw.values)]
    return result


def code_counts(column: LargeColumn) -> Integers:
    """Number of records with each code, shape (codes,)."""
    stored = np.flatnonzero(column.raw.of_code >= 0)
    counts = np.zeros(max(column.values.size, column.missing + 1), dtype=np.int64)
    np.add.at(counts, column.of_raw[stored], column.raw.counts[column.raw.of_code[stored]])
    counts[column.missing] += column.raw.missing
    return counts


def unchanged_step(records: LargeRecords, name: str, frame: pd.DataFrame | None = None) -> Step:
    """Step that releases a column as it is, or as a table of its distinct values says.

    Parameters
    ----------
    records : LargeRecords
        The records.
    name : str
        The column.
    frame : DataFrame, optional
        Released cells of the rows of the table of distinct values; by default the unchanged ones.
    """
    column = records.columns[name]
    kind = records.roles.frame[name].to_numpy().dtype
    if column.numbers_only:
        return Recomputed(name, pd.Series, None, kind)
    return recoded(column, (released_frame(_only(records.roles, name)) if frame is None else frame)[name])


def recoded(column: LargeColumn, released: pd.Series[Any]) -> Recoded:
    """Step that gives each code the released cell of its value.

    Parameters
    ----------
    column : LargeColumn
        A coded column.
    released : Series
        Released cells of the rows of the table of distinct values.
    """
    cells = CellList(kind=released.dtype if released.dtype != bool else object)
    codes, distinct = pd.factorize(released, use_na_sentinel=True)
    positions = np.append(cells.codes(list(distinct)), cells.code(None) if (codes < 0).any() else 0)
    return Recoded(column.raw.name, cells, by_code(column, positions[codes].astype(np.int32)))


def _only(records: Microdata, name: str) -> Microdata:
    """One column with its domain."""
    domains = {name: records.domains[name]} if name in records.domains else {}
    return Microdata(records.frame[[name]], domains=domains)


def rowwise(
    records: LargeRecords,
    defense: MicrodataDefense,
    root: SeedSequence,
    steps: Sequence[Step],
    channel: Channel | None,
    *,
    guarantee: Guarantee | None = None,
    chosen: Callable[[], Callable[[Block], Booleans]] | None = None,
) -> LargeRelease:
    """Release of records, each of whose rows depends on its record alone.

    Parameters
    ----------
    records : LargeRecords
        The records.
    defense : MicrodataDefense
        The defense; it says what the release promises.
    root : SeedSequence
        Root of the random generators.
    steps : sequence of Step
        The columns that are changed; all others are released as they are.
    channel : Channel, optional
        The public description of the mechanism.
    guarantee : Guarantee, optional
        What the release promises; by default what the defense says of these records.
    chosen : callable, optional
        ``chosen()`` begins a choice: a function that says which rows of each block in turn are released. By default
        all rows are.
    """
    changed = {name: step for step in steps for name in step.names}
    every = [*steps, *(unchanged_step(records, name) for name in records.columns if name not in changed)]

    def released(block: Block) -> ReleasedBlock:
        rng = block_generator(root, "rows", block.number)
        columns: dict[str, NDArray[Any]] = {}
        for step in every:
            columns |= step.release(block, rng)
        return ReleasedBlock(block.number, columns, np.arange(block.start, block.start + len(block), dtype=np.int64))

    def some(chosen: Callable[[], Callable[[Block], Booleans]]) -> Iterator[ReleasedBlock]:
        select = chosen()
        for block in records.blocks():
            rows, whole = select(block), released(block)
            columns = {name: stored[rows] for name, stored in whole.columns.items()}
            yield ReleasedBlock(block.number, columns, whole.origin[rows])

    cells = {name: listed for step in every for name, listed in step.cells.items()}
    promised = defense.guarantee(counted(records)) if guarantee is None else guarantee
    blocks = BlockByBlock(records, released) if chosen is None else partial(some, chosen)
    return LargeRelease(tuple(records.columns), cells, blocks, records.rows, lambda: promised, channel)
