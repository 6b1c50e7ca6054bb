"""How a defense releases a table block by block, held in memory or read in parts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, TypeGuard

import numpy as np
import pandas as pd
from numpy.random import SeedSequence

from defenses import Guarantee, MicrodataDefense
from defenses.base import (
    BlockwiseDefense,
    CellList,
    CountedDefense,
    RecordsInBlocks,
    ReleasedBlock,
    ReleasePlan,
    applied,
    block_generator,
    recoded_step,
    unchanged_step,
)
from metrics.columns import refuse
from scenarios.tables.parts.records import LargeRecords
from scenarios.tables.parts.released_blocks import BlockByBlock, InOrder, LargeRelease, blocks_of, released_block

# Releases that are planned by a defense, or made of each column or row by itself.


def is_planned(defense: MicrodataDefense) -> TypeGuard[BlockwiseDefense]:
    """Whether a defense releases tables by its plan alone; a subclass may apply something else."""
    return isinstance(defense, BlockwiseDefense) and type(defense).apply is BlockwiseDefense.apply


def planned(defense: BlockwiseDefense, records: RecordsInBlocks, root: SeedSequence) -> LargeRelease:
    """Release of a defense that plans its blocks.

    Parameters
    ----------
    defense : BlockwiseDefense
        The defense.
    records : RecordsInBlocks
        The records, in memory or in parts.
    root : SeedSequence
        Root of the random generators.
    """
    guaranteed = defense.guarantee(records.counted)
    return _release_of(defense.fit(records, block_generator(root, "fit")), records, root, guaranteed)


def columnwise(defense: MicrodataDefense, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Release of a defense whose cells follow from the values in their columns and from parameters alone.

    All else that it reads of a table are roles, domains, hierarchies, and whether a column has a value or holds
    integers only. The values that occur in each column show these as the table does.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense; see `MicrodataDefense.columnwise`.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators; only the order of the rows takes any.
    """
    roles = records.roles
    channel = defense.apply(roles, np.random.default_rng(0)).channel
    names = roles.released_columns if channel is None else channel.columns

    def recode(name: str, values: pd.Series[Any]) -> pd.Series[Any]:
        # The values beside this column do not matter; repeating one keeps the types of their columns.
        rows = roles.frame.iloc[np.zeros(len(values), dtype=np.intp)].reset_index(drop=True)
        block = roles.with_frame(rows.assign(**{name: values.reset_index(drop=True)}))
        return defense.apply(block, np.random.default_rng(0)).frame[name]

    plan = ReleasePlan([recoded_step(records, name, partial(recode, name)) for name in names], channel)
    return _release_of(plan, records, root, defense.guarantee(records.counted))


def _release_of(plan: ReleasePlan, records: RecordsInBlocks, root: SeedSequence, guaranteed: Guarantee) -> LargeRelease:
    """Release of a plan; other columns stay as they are."""
    names = (*plan.first, *records.counted.released_columns)
    unchanged = [unchanged_step(records, name) for name in names if name not in plan.changed]
    whole = replace(plan, steps=[*plan.steps, *unchanged])
    by_itself = type(plan).blocks is ReleasePlan.blocks
    blocks = (
        BlockByBlock(records, partial(whole.release, root=root)) if by_itself else partial(whole.blocks, records, root)
    )
    return LargeRelease(names, whole.cells, blocks, len(records.counted), lambda: guaranteed, plan.channel)


def independent(defense: MicrodataDefense, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Release of a defense whose `randomizes_records_independently` is set, applied to each block by itself.

    Such a defense guarantees that the distribution of a released row depends on its record and the domains alone. All
    blocks have the domains of the whole table.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.
    """
    defense.check(records.counted)
    # The table of distinct values shows whether the defense accepts all values, and the types of its columns.
    example = defense.apply(records.roles, np.random.default_rng(0))
    kinds = {str(name): column.to_numpy().dtype for name, column in example.frame.items()}
    cells = {name: CellList() for name, kind in kinds.items() if kind.kind not in "iuf"}

    def released(block: Any) -> ReleasedBlock:
        release = defense.apply(records.records(block), block_generator(root, "rows", block.number))
        return released_block(release.frame, release.origin + block.start, block.number, kinds, cells)

    guaranteed = defense.guarantee(records.counted)
    blocks = BlockByBlock(records, released)
    return LargeRelease(tuple(kinds), cells, blocks, records.rows, lambda: guaranteed, example.channel)


# Releases of tables in memory that are made at once.


def whole(defense: MicrodataDefense, records: RecordsInBlocks, root: SeedSequence) -> LargeRelease:
    """Release of a defense that is applied to a whole table, or to each block if it randomizes rows by themselves."""
    guaranteed = defense.guarantee(records.counted)
    if defense.columnwise or not defense.randomizes_records_independently:
        made = [applied(defense, records.counted, block_generator(root, "fit"))]
    else:
        made = [
            applied(defense, records.records(block), block_generator(root, "rows", block.number))
            for block in records.blocks([])
        ]
    return blocks_of(made, records.rows, guaranteed)


_OFFER = "`--blocks 10000` applies the method to random blocks of about 10,000 rows"


def large_release(
    defense: MicrodataDefense,
    records: RecordsInBlocks,
    root: SeedSequence,
    *,
    rows: int | None = None,
    in_order: InOrder = map,
) -> LargeRelease:
    """Make a release of records, block by block.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense.
    records : RecordsInBlocks
        The records, in memory or in parts.
    root : SeedSequence
        Root of the random generators.
    rows : int, optional
        Mean number of rows of the random blocks to which a defense is applied that needs the whole table, in parts.
    in_order : callable
        Where random blocks are released; see `blocked`.

    Raises
    ------
    ValueError
        If the parameters do not fit the records. In parts also if the defense needs all rows, or counts too many
        combinations, and `rows` is not given.
    """
    name = type(defense).__name__
    # A table in memory does not need SciPy, which the other modules import.
    if not isinstance(records, LargeRecords):
        refuse(rows is not None, "--blocks: the table is not read in parts; leave the option out, or add --memory")
        defense.check(records.counted)
        return planned(defense, records, root) if is_planned(defense) else whole(defense, records, root)
    row_by_row = is_planned(defense) or defense.columnwise or defense.randomizes_records_independently
    if rows is not None:
        from scenarios.tables.parts.blocked import blocked

        refuse(row_by_row, f"--blocks: {name} takes tables of any size as they are; leave the option out")
        return blocked(defense, records, root, rows, in_order)
    if is_planned(defense):
        return planned(defense, records, root)
    if row_by_row:
        return (columnwise if defense.columnwise else independent)(defense, records, root)
    if not (isinstance(defense, CountedDefense) and defense.works_on_counts):
        raise ValueError(f"{name} needs all rows in memory, and {records.files.path} is read in parts; {_OFFER}")
    from scenarios.tables.parts.combinations import TooManyCombinations, grouped_release

    try:
        return grouped_release(defense, records)
    except TooManyCombinations as error:
        raise ValueError(f"{error}; {_OFFER}") from None
