"""Defenses that declare that they randomize each record by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.random import SeedSequence
from numpy.typing import NDArray

from defenses.base.defense import MicrodataDefense
from scenarios.tables.parts.files.spool import block_generator
from scenarios.tables.parts.records import Block, LargeRecords
from scenarios.tables.parts.released_blocks import BlockByBlock, CellList, LargeRelease, ReleasedBlock
from scenarios.tables.parts.rowwise.steps import counted, stored_cells


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
