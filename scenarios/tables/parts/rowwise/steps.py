"""Releases whose columns are made from the codes or numbers of a block, each by one step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from defenses import Channel, Microdata, MicrodataDefense, released_frame
from metrics.columns import Booleans, Integers
from scenarios.tables.dataset import with_roles_of
from scenarios.tables.parts.files.spool import block_generator
from scenarios.tables.parts.records import Block, LargeColumn, LargeRecords
from scenarios.tables.parts.released_blocks import BlockByBlock, CellList, LargeRelease, ReleasedBlock


@dataclass(frozen=True)
class Step:
    """How some released columns are made from a block of records.

    Parameters
    ----------
    names : tuple of str
        The columns that it makes.
    cells : mapping of str to CellList
        Cells of those columns that it makes as codes.
    release : callable
        ``release(block, rng)`` gives codes or numbers of the released columns, each of shape (rows,).
    """

    names: tuple[str, ...]
    cells: Mapping[str, CellList] = field(repr=False)
    release: Callable[[Block, Generator], Mapping[str, NDArray[Any]]] = field(repr=False)


def step_cells(steps: Iterable[Step]) -> dict[str, CellList]:
    """Cells of the columns that some steps make as codes."""
    return {name: cells for step in steps for name, cells in step.cells.items()}


def step_columns(steps: Iterable[Step], block: Block, rng: Generator) -> dict[str, NDArray[Any]]:
    """Codes or numbers of the columns that some steps make of a block, one step after the other."""
    return {name: stored for step in steps for name, stored in step.release(block, rng).items()}


def recoded(name: str, cells: CellList, table: NDArray[np.int32]) -> Step:
    """Step of a column each of whose codes has one released cell, at a position in the list, shape (codes,)."""
    return Step((name,), {name: cells}, lambda block, _: {name: table[block.columns[name]]})


def recomputed(
    name: str, compute: Callable[[NDArray[Any]], pd.Series[Any]], cells: CellList | None, kind: np.dtype[Any]
) -> Step:
    """Step of a column of nearly distinct numbers, from which the released cells are computed.

    Parameters
    ----------
    name : str
        The column.
    compute : callable
        ``compute(numbers)`` gives the released cells of numbers, a Series of shape (rows,).
    cells : CellList, optional
        Released cells, which grow; None if they are numbers of `kind`.
    kind : dtype
        Type of released numbers.
    """
    listed = {} if cells is None else {name: cells}
    return Step((name,), listed, lambda block, _: {name: stored_cells(compute(block.columns[name]), cells, kind)})


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


def unchanged_step(records: LargeRecords, name: str) -> Step:
    """Step that releases a column as it is."""
    if records.columns[name].numbers_only:
        return recomputed(name, pd.Series, None, records.roles.frame[name].to_numpy().dtype)
    released = released_frame(with_roles_of(records.roles, records.roles.frame[[name]]))[name]
    return recoded(name, *cells_by_code(records.columns[name], released))


def cells_by_code(column: LargeColumn, released: pd.Series[Any]) -> tuple[CellList, NDArray[np.int32]]:
    """Released cells of a coded column, and the position of the cell of each code, shape (codes,).

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
    return cells, by_code(column, positions[codes].astype(np.int32))


def rowwise(
    records: LargeRecords,
    defense: MicrodataDefense,
    root: SeedSequence,
    steps: Sequence[Step],
    channel: Channel | None,
    *,
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
    chosen : callable, optional
        ``chosen()`` begins a choice: a function that says which rows of each block in turn are released. By default
        all rows are.
    """
    changed = {name: step for step in steps for name in step.names}
    every = [*steps, *(unchanged_step(records, name) for name in records.columns if name not in changed)]

    def released(block: Block) -> ReleasedBlock:
        columns = step_columns(every, block, block_generator(root, "rows", block.number))
        return ReleasedBlock(block.number, columns, np.arange(block.start, block.start + len(block), dtype=np.int64))

    def some(chosen: Callable[[], Callable[[Block], Booleans]]) -> Iterator[ReleasedBlock]:
        select = chosen()
        for block in records.blocks():
            rows, whole = select(block), released(block)
            columns = {name: stored[rows] for name, stored in whole.columns.items()}
            yield ReleasedBlock(block.number, columns, whole.origin[rows])

    promised = defense.guarantee(counted(records))
    blocks = BlockByBlock(records, released) if chosen is None else partial(some, chosen)
    return LargeRelease(tuple(records.columns), step_cells(every), blocks, records.rows, lambda: promised, channel)


# Defenses that declare that they randomize each record by itself.


def independent(defense: MicrodataDefense, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Release of a defense whose `randomizes_records_independently` is set, applied to each block by itself.

    Such a defense promises that the distribution of a released row depends on its record and the domains alone. All
    blocks have the domains of the whole table.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.

    Raises
    ------
    ValueError
        If the parameters do not fit the records.
    """
    defense.check(counted(records))
    # The table of distinct values shows whether the defense accepts all values, and the types of its columns.
    example = defense.apply(records.roles, np.random.default_rng(0))
    kinds = {str(name): column.to_numpy().dtype for name, column in example.frame.items()}
    cells = {name: CellList() for name, kind in kinds.items() if kind.kind not in "iuf"}

    def released(block: Block) -> ReleasedBlock:
        release = defense.apply(records.records(block), block_generator(root, "rows", block.number))
        return released_block(release.frame, release.origin + block.start, block.number, kinds, cells)

    blocks = BlockByBlock(records, released)
    promised = defense.guarantee(counted(records))
    return LargeRelease(tuple(kinds), cells, blocks, records.rows, lambda: promised, example.channel)


def released_block(
    frame: pd.DataFrame,
    origin: NDArray[Any],
    number: int,
    kinds: dict[str, np.dtype[Any]],
    cells: dict[str, CellList],
) -> ReleasedBlock:
    """Rows of a released table as a block.

    Parameters
    ----------
    frame : DataFrame, shape (rows, columns)
        The rows.
    origin : ndarray of int, shape (rows,)
        Position in the whole table of the record that each row stems from, or -1.
    number : int
        Number of the block.
    kinds : dict of str to dtype
        Type of each column.
    cells : dict of str to CellList
        Cells of the columns that are coded; new ones are appended.
    """
    columns = {name: stored_cells(frame[name], cells.get(name), kind) for name, kind in kinds.items()}
    return ReleasedBlock(number, columns, np.asarray(origin, dtype=np.int64))
