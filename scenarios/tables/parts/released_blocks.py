"""Released tables that are made and written block by block."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses import Channel, Guarantee
from scenarios.tables.parts.records import Block, LargeRecords

PSEUDONYM = np.dtype("S33")
"""Type of columns of texts of equal length that are all distinct, as pseudonyms are; empty where missing."""


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


@dataclass(frozen=True)
class BlockByBlock:
    """Blocks of a release each of which follows from the same block of records.

    Parameters
    ----------
    records : LargeRecords
        The records.
    released : callable
        ``released(block)`` makes the released rows of a block of records.
    """

    records: LargeRecords = field(repr=False)
    released: Callable[[Block], ReleasedBlock]

    def __call__(self) -> Iterator[ReleasedBlock]:
        """Make the rows, block by block."""
        return map(self.released, self.records.blocks())


@dataclass(frozen=True)
class LargeRelease:
    """A released table that is made block by block.

    Attributes
    ----------
    names : tuple of str
        Released columns in order.
    cells : mapping of str to CellList
        Cells of the columns that are coded. The lists may grow while blocks are made.
    blocks : callable
        ``blocks()`` makes the rows, block by block; equal rows each time. If it is a `BlockByBlock`, other machines can
        make the blocks of each part.
    records : int
        Number of records that the release stems from.
    guarantee : callable
        ``guarantee()`` says what the release promises, once its blocks are made.
    channel : Channel, optional
        The public description of the mechanism, as in `defenses.base.release.MicrodataRelease`.
    notes : tuple of str
        What the publisher should know beside the guarantee.
    """

    names: tuple[str, ...]
    cells: Mapping[str, CellList] = field(repr=False)
    blocks: Callable[[], Iterator[ReleasedBlock]] = field(repr=False)
    records: int
    guarantee: Callable[[], Guarantee]
    channel: Channel | None = None
    notes: tuple[str, ...] = ()
