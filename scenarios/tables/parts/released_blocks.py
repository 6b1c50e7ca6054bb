"""Released tables that are made and written block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses import Channel, Guarantee, MicrodataRelease
from defenses.base import Block, CellList, RecordsInBlocks, ReleasedBlock, block_sizes, listed_cells, stored_cells

InOrder = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""``in_order(function, tasks)`` gives the outcome of each task in the order of the tasks, as `map` does."""


@dataclass(frozen=True)
class BlockByBlock:
    """Blocks of a release each of which follows from the same block of records.

    Parameters
    ----------
    records : RecordsInBlocks
        The records.
    released : callable
        ``released(block)`` makes the released rows of a block of records.
    """

    records: RecordsInBlocks = field(repr=False)
    released: Callable[[Block], ReleasedBlock]

    def __call__(self) -> Iterator[ReleasedBlock]:
        """Make the rows, block by block."""
        return map(self.released, self.records.blocks(self.records.counted.released_columns))


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
        ``guarantee()`` says the guarantee of the release, once its blocks are made.
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


def released_block(
    frame: pd.DataFrame,
    origin: NDArray[Any],
    number: int,
    kinds: Mapping[str, np.dtype[Any]],
    cells: Mapping[str, CellList],
) -> ReleasedBlock:
    """Rows of a released table as a block: the type of each column, and lists of cells, to which new ones are added."""
    columns = {name: stored_cells(frame[name], cells.get(name), kind) for name, kind in kinds.items()}
    return ReleasedBlock(number, columns, np.asarray(origin, dtype=np.int64))


def blocks_of(made: Sequence[MicrodataRelease], records: int, guarantee: Guarantee) -> LargeRelease:
    """One release of a table in memory, or one of each of its blocks, as one that is made block by block."""
    frame = made[0].frame if len(made) == 1 else pd.concat([each.frame for each in made], ignore_index=True)
    starts = np.cumsum([0, *block_sizes(records)])
    origin = np.concatenate([each.origin + start for each, start in zip(made, starts, strict=False)]).astype(np.int64)
    columns = {str(name): column for name, column in frame.items()}
    listed = {name: listed_cells(each) for name, each in columns.items() if each.to_numpy().dtype.kind not in "iuf"}
    stored = {name: listed[name][1] if name in listed else column.to_numpy() for name, column in columns.items()}
    # Rows that stem from no record lie in the block of their position.
    ends = np.searchsorted(origin if (origin >= 0).all() else np.arange(origin.size), starts[1:])
    cuts = [0, *ends[:-1], origin.size]

    def blocks() -> Iterator[ReleasedBlock]:
        for number, rows in enumerate(map(slice, cuts, cuts[1:])):
            yield ReleasedBlock(number, {name: column[rows] for name, column in stored.items()}, origin[rows])

    return LargeRelease(
        tuple(stored),
        {name: cells for name, (cells, _) in listed.items()},
        blocks,
        records,
        lambda: guarantee,
        made[0].channel,
        (made[0].remark,) if made[0].remark else (),
    )
