"""Blocks of records and of released rows: what a release is made of, in memory and in parts."""

from __future__ import annotations

import hashlib
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from defenses.base.channel import Channel
from defenses.base.microdata import Microdata
from metrics import profile
from metrics.columns import SUPPRESSED, Floats, Integers, escape_column, refuse

BLOCK = profile.BLOCK
"""Number of records of a block. Blocks go by position, so that a release depends on nothing but table and seed."""
PSEUDONYM = np.dtype("S33")
"""Type of columns of texts of equal length that are all distinct, as pseudonyms are; empty where missing."""


def block_generator(root: SeedSequence, purpose: str, number: int = 0) -> Generator:
    """Random generator for one purpose in one block of rows.

    Parameters
    ----------
    root : SeedSequence
        Root of all generators of one release; it is not changed.
    purpose : str
        What is drawn.
    number : int
        Number of the block.

    Returns
    -------
    Generator
        Equal arguments give equal generators; different ones give independent generators.
    """
    digest = np.frombuffer(hashlib.sha256(purpose.encode()).digest(), dtype="<u4")
    # A sequence that spawned children has keys of one number each; these keys are longer, and no child has them.
    key = (*root.spawn_key, *map(int, digest), number)
    return np.random.default_rng(SeedSequence(root.entropy, spawn_key=key, pool_size=root.pool_size))


def drawn_root(rng: Generator) -> SeedSequence:
    """Root of the generators of a release, drawn from a generator: 128 bits."""
    return SeedSequence(rng.integers(1 << 32, size=4).tolist())


class CellList:
    """Distinct released cells of a column, which grow in number while blocks are made.

    Parameters
    ----------
    cells : iterable of object
        The first cells; None or NaN stands for a missing one.
    kind : dtype
        Type of the column, as pandas stores the same release in memory: a number type if all cells are numbers, else
        object. Parquet files hold numbers as such and everything else as texts.

    Examples
    --------
    >>> ages = CellList(["[20,29]", None])
    >>> ages.codes(["[30,39]", None, "[20,29]"]).tolist(), ages.cells
    ([2, 1, 0], ['[20,29]', None, '[30,39]'])
    """

    def __init__(self, cells: Iterable[Any] = (), kind: Any = object) -> None:
        self.kind = np.dtype(kind)
        self.cells: list[Any] = []
        self._codes: dict[str | tuple[type, Any] | None, int] = {}
        self.codes(cells)

    def __len__(self) -> int:
        return len(self.cells)

    def code(self, cell: Any) -> int:
        """Position of a cell, which is appended if it is new."""
        missing = cell is None or cell is pd.NA or cell != cell
        # 1, 1.0 and True are equal but are written differently.
        key = None if missing else cell if type(cell) is str else (type(cell), cell)
        code = self._codes.setdefault(key, len(self.cells))
        if code == len(self.cells):
            self.cells.append(None if missing else cell)
        return code

    def codes(self, cells: Iterable[Any]) -> NDArray[np.int32]:
        """Positions of distinct cells, shape (cells,); new ones are appended."""
        listed = list(cells)
        if set(map(type, listed)) == {str}:
            new = [cell for cell in dict.fromkeys(listed) if cell not in self._codes]
            self._codes.update(zip(new, itertools.count(len(self.cells)), strict=False))
            self.cells += new
            return np.fromiter(map(self._codes.__getitem__, listed), dtype=np.int32, count=len(listed))
        return np.fromiter(map(self.code, listed), dtype=np.int32, count=len(listed))

    def column_codes(self, column: pd.Series[Any]) -> NDArray[np.int32]:
        """Positions of the cells of a released column, shape (rows,); new ones are appended."""
        codes, distinct = pd.factorize(column, use_na_sentinel=True)
        positions = np.append(self.codes(distinct.tolist()), self.code(None) if (codes < 0).any() else 0)
        return np.asarray(positions[codes], dtype=np.int32)

    def column(self, codes: NDArray[np.int32]) -> pd.Series[Any]:
        """Released column of these positions, shape (rows,)."""
        cells: pd.Series[Any] = pd.Series(self.cells, dtype=self.kind)
        return cells.take(codes).reset_index(drop=True)


@dataclass(frozen=True)
class CountedCells:
    """Distinct values or cells of a column, with the number of rows of each.

    Attributes
    ----------
    values : Series, shape (size,)
        The values; of a column of records in the order of `defenses.base.columns.code_column`, a missing one last. One
        without rows means nothing.
    counts : ndarray of int, shape (size,)
        Number of rows of each.
    """

    values: pd.Series[Any] = field(repr=False)
    counts: Integers = field(repr=False)

    @classmethod
    def of(cls, column: pd.Series[Any]) -> Self:
        """Count the cells of a column."""
        codes, distinct = pd.factorize(column, use_na_sentinel=False)
        return cls(pd.Series(distinct), np.bincount(codes, minlength=len(distinct)))

    @property
    def occurring(self) -> CountedCells:
        """Those that have rows."""
        occurs = self.counts > 0
        return CountedCells(self.values[occurs], self.counts[occurs])

    @property
    def missing(self) -> int:
        """Number of rows without a value."""
        return int(self.counts[self.values.isna().to_numpy()].sum())

    @property
    def all_same(self) -> bool:
        """Whether all rows have the same cell, which is not missing."""
        return len(self.values) == 1 and not self.missing

    @property
    def suppressed(self) -> int:
        """Number of suppressed cells."""
        return int(self.counts[(self.values == SUPPRESSED).to_numpy()].sum()) if self.values.dtype == object else 0


@dataclass(frozen=True)
class Block(ABC):
    """Consecutive records of a table.

    Attributes
    ----------
    number : int
        Number of the block, from 0.
    start : int
        Position of its first record in the table.
    """

    number: int
    start: int

    @abstractmethod
    def __len__(self) -> int:
        """Number of records."""

    @abstractmethod
    def codes(self, name: str) -> Integers:
        """Code of each record in a column, shape (rows,); see `CountedCells`."""

    @abstractmethod
    def numbers(self, name: str) -> Floats:
        """Number of each record in a column of numbers, shape (rows,); NaN where missing."""

    def values(self, name: str, kind: Any) -> pd.Series[Any]:
        """Values of a column of numbers, stored as a type of pandas, shape (rows,)."""
        return pd.Series(self.numbers(name), name=name).astype(kind)


@dataclass(frozen=True)
class StoredBlock(Block):
    """Consecutive rows of a table, by their codes.

    Attributes
    ----------
    number : int
        Number of the block, from 0.
    start : int
        Position of its first row in the table.
    columns : mapping of str to ndarray, each of shape (rows,)
        Code of each row; its number, float, in a column that has no codes.
    described : mapping of str to object
        The columns of a table that is read in parts: whether they have `numbers_only`, else the `numbers` of the codes.
    """

    columns: Mapping[str, NDArray[Any]]
    described: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def codes(self, name: str) -> Integers:
        """Code of each row in a column."""
        return self.columns[name]

    def numbers(self, name: str) -> Floats:
        """Number of each row in a column of numbers."""
        stored, column = self.columns[name], self.described[name]
        return np.asarray(stored.astype(float) if column.numbers_only else column.numbers[stored])


Divided = tuple[Integers, Mapping[str, NDArray[Any]]]
"""Part of each record of a block, and what is kept of the records, by a name."""


@dataclass(frozen=True)
class ReleasedBlock:
    """Released rows that stem from one block of records, or from none.

    Attributes
    ----------
    number : int
        Number of the block, from 0; each number occurs once, in ascending order.
    columns : mapping of str to ndarray, each of shape (rows,)
        Positions of the cells in the column's list, int32. Numbers, float or int, in a column without a list; NaN is a
        missing one. Or texts of type `PSEUDONYM`.
    origin : ndarray of int64, shape (rows,)
        Position of the record that each row stems from, from 0 in the order of the table. It is -1 for a row that stems
        from none or from several.
    """

    number: int
    columns: Mapping[str, NDArray[Any]] = field(repr=False)
    origin: NDArray[np.int64] = field(repr=False)

    def __len__(self) -> int:
        return int(self.origin.size)

    def take(self, rows: NDArray[Any]) -> ReleasedBlock:
        """Some of the rows."""
        return ReleasedBlock(
            self.number, {name: stored[rows] for name, stored in self.columns.items()}, self.origin[rows]
        )


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


class RecordsInBlocks(ABC):
    """Records of which a defense learns counts, and which it releases block by block; in memory or in parts."""

    @property
    @abstractmethod
    def counted(self) -> Microdata:
        """Roles, domains and hierarchies, with the number of records as length.

        Each column of its frame holds the values that occur; its rows need not be records.
        """

    @property
    def rows(self) -> int:
        """Number of records."""
        return len(self.counted)

    @abstractmethod
    def is_coded(self, name: str) -> bool:
        """Whether a column is read faster by its codes than by its numbers; see `codes` and `numbers` of `Block`."""

    @abstractmethod
    def column(self, name: str) -> CountedCells:
        """Distinct values of a column, with the number of records of each.

        Raises
        ------
        ValueError
            If its numbers are nearly all distinct and are not held in memory.
        """

    @abstractmethod
    def blocks(self, names: Sequence[str]) -> Iterator[Block]:
        """Blocks of `BLOCK` records in the order of the table, with some columns; the last one may be shorter."""

    @abstractmethod
    def records(self, block: Block) -> Microdata:
        """The records of a block, with the roles of the table."""

    @abstractmethod
    def number_at(self, name: str, position: int) -> float:
        """Number at a position, from 0, among the sorted numbers of a column without missing ones."""

    @abstractmethod
    def pseudonyms(self, names: Sequence[str], key: str) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Pseudonyms of identifiers, block by block: ``p`` and 128 bits of SHA-256 of a key and the identifier."""

    def whole_units(self) -> Integers | None:
        """Number of the group, else of the person, of each record in order of first appearance; None if none has two.

        A record that names none is a unit of its own.
        """
        column = self.counted.group or self.counted.person
        if column is None:
            return None
        # 64 bits of a name are enough: of a million names, two are equal with a probability below 1e-7.
        blocks = (block[column].astype("S17") for block in self.pseudonyms([column], ""))
        names = np.concatenate([np.zeros(0, "S17"), *blocks])
        _, first, numbers = np.unique(names, return_index=True, return_inverse=True)
        numbers = np.where(names == b"", numbers.size + np.arange(numbers.size), first[numbers])
        distinct, numbers = np.unique(numbers, return_inverse=True)
        return numbers if distinct.size < numbers.size else None

    def divided(
        self, names: Sequence[str], split: Callable[[Block], Divided], sizes: Integers
    ) -> Iterator[tuple[Integers, Mapping[str, NDArray[Any]]]]:
        """Divide the records into parts, each of which fits into memory.

        Parameters
        ----------
        names : sequence of str
            Columns that `split` reads.
        split : callable
            ``split(block)`` gives the part of each record of a block, and what is kept of the records.
        sizes : ndarray of int, shape (parts,)
            Number of records of each part.

        Yields
        ------
        positions : ndarray of int, shape (records of the part,)
            Position of each record in the table, ascending.
        kept : mapping of str to ndarray
            What was kept of the records.
        """
        parts, kept = zip(*map(split, self.blocks(names)), strict=True)
        columns = {name: np.concatenate([each[name] for each in kept]) for name in kept[0]}
        order = np.argsort(np.concatenate(parts), kind="stable")
        for positions in np.split(order, np.cumsum(sizes)[:-1]):
            yield positions, {name: column[positions] for name, column in columns.items()}

    def present(self, name: str) -> int:
        """Number of records with a number in a column."""
        return sum(int((~np.isnan(block.numbers(name))).sum()) for block in self.blocks([name]))

    def deviation(self, name: str) -> float:
        """Standard deviation of the numbers of a column, without missing ones; 0 if all are equal.

        It is summed block by block, so that it is the same for any memory and number of cores.
        """
        count, mean, squares, low, high = 0, 0.0, 0.0, np.inf, -np.inf
        for block in self.blocks([name]):
            numbers = block.numbers(name)
            numbers = numbers[~np.isnan(numbers)]
            if not numbers.size:
                continue
            low, high = min(low, float(numbers.min())), max(high, float(numbers.max()))
            # Chan, Golub and LeVeque (1979): means and sums of squares of two parts combine exactly.
            difference, total = float(numbers.mean()) - mean, count + numbers.size
            squares += float(((numbers - numbers.mean()) ** 2).sum()) + difference**2 * count * numbers.size / total
            mean += difference * numbers.size / total
            count = total
        # The deviation of equal numbers may come out as a rounding error instead of 0.
        return float(np.sqrt(squares / count)) if low < high else 0.0


@dataclass(frozen=True)
class ReleasePlan:
    """What a defense learned of a table and drew for it: it releases any block of the table.

    Parameters
    ----------
    steps : sequence of Step
        The columns that change; all others are released as they are.
    channel : Channel, optional
        The public description of the mechanism.
    chosen : callable, optional
        ``chosen(block, rng)`` gives the positions of those records of a block that are released. By default all are.
    first : tuple of str
        Columns among the changed ones that come before all others.
    """

    steps: Sequence[Step] = field(repr=False)
    channel: Channel | None
    chosen: Callable[[Block, Generator], Integers] | None = field(default=None, repr=False)
    first: tuple[str, ...] = ()

    @property
    def cells(self) -> dict[str, CellList]:
        """Cells of the columns that are made as codes."""
        return {name: cells for step in self.steps for name, cells in step.cells.items()}

    @property
    def made(self) -> tuple[str, ...]:
        """The columns that the steps make."""
        return tuple(name for step in self.steps for name in step.names)

    @property
    def changed(self) -> tuple[str, ...]:
        """The columns that do not stay as they are; a subclass may make further ones."""
        return self.made

    def release(self, block: Block, root: SeedSequence) -> ReleasedBlock:
        """Release a block; equal blocks and roots give equal rows."""
        rng = block_generator(root, "rows", block.number)
        columns = {name: stored for step in self.steps for name, stored in step.release(block, rng).items()}
        origin = np.arange(block.start, block.start + len(block), dtype=np.int64)
        released = ReleasedBlock(block.number, columns, origin)
        if self.chosen is None:
            return released
        return released.take(self.chosen(block, block_generator(root, "sample", block.number)))

    def blocks(self, records: RecordsInBlocks, root: SeedSequence) -> Iterator[ReleasedBlock]:
        """Release all blocks; a subclass whose blocks depend on each other does more."""
        return (self.release(block, root) for block in records.blocks(self.made))


def block_sizes(records: int) -> list[int]:
    """Number of records of each block of a table."""
    return [min(BLOCK, records - start) for start in range(0, records, BLOCK)]


def unchanged_cells(records: RecordsInBlocks, name: str) -> tuple[CellList, NDArray[np.int32]]:
    """Released cells of a column that stays as it is, and the position of the cell of each code, shape (size,)."""
    return listed_cells(_as_released(records.counted, name, records.column(name).values))


def _as_released(roles: Microdata, name: str, values: pd.Series[Any]) -> pd.Series[Any]:
    return values if name in roles.generalized else escape_column(values, roles.domains.get(name))


def listed_cells(released: pd.Series[Any]) -> tuple[CellList, NDArray[np.int32]]:
    """The distinct cells of a released column, and the position of each row's cell, shape (rows,)."""
    cells = CellList(kind=object if released.dtype == bool else released.dtype)
    return cells, cells.column_codes(released)


def unchanged_step(records: RecordsInBlocks, name: str) -> Step:
    """Step that releases a column as it is."""
    return recoded_step(records, name, lambda values: _as_released(records.counted, name, values))


def recoded_step(records: RecordsInBlocks, name: str, recode: Callable[[pd.Series[Any]], pd.Series[Any]]) -> Step:
    """Step of a column whose released cell follows from the value.

    Parameters
    ----------
    records : RecordsInBlocks
        The records.
    name : str
        The column.
    recode : callable
        ``recode(values)`` gives the released cells of values, a Series of the same shape.
    """
    if records.is_coded(name):
        cells, of_code = listed_cells(recode(records.column(name).values))
        return Step((name,), {name: cells}, lambda block, _: {name: of_code[block.codes(name)]})
    column = records.counted.frame[name]
    kind = recode(column).to_numpy().dtype
    listed = None if kind.kind in "iuf" else CellList()

    def release(block: Block, _: Generator) -> dict[str, NDArray[Any]]:
        released = recode(block.values(name, column.dtype))
        return {name: stored_cells(released, listed, kind)}

    return Step((name,), {} if listed is None else {name: listed}, release)


def stored_cells(released: pd.Series[Any], cells: CellList | None, kind: np.dtype[Any]) -> NDArray[Any]:
    """Codes of released cells, which join the list, or numbers of a type where there is no list; shape (rows,)."""
    if cells is not None:
        return cells.column_codes(released.astype(object))
    numbers = released.to_numpy()
    refuse(
        kind.kind in "iu" and numbers.dtype.kind == "f" and not (numbers == np.rint(numbers)).all(),
        f"column {released.name!r}: fractions are released in some blocks and integers in others",
    )
    return numbers.astype(kind)
