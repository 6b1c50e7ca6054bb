"""Which defenses release tables that are read in parts, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import SeedSequence

from defenses import Guarantee, MicrodataDefense
from defenses.base import (
    Block,
    BlockwiseDefense,
    CellList,
    CountedDefense,
    Recoding,
    RecordsInBlocks,
    ReleasedBlock,
    ReleasePlan,
    StoredBlock,
    block_generator,
    recoded_step,
    unchanged_step,
)
from metrics.columns import Integers, refuse
from scenarios.tables.parts.blocked import blocked
from scenarios.tables.parts.combination_index import CombinationIndex
from scenarios.tables.parts.combinations import TooManyCombinations, counted_table
from scenarios.tables.parts.memory_release import is_planned
from scenarios.tables.parts.records import LargeRecords
from scenarios.tables.parts.released_blocks import BlockByBlock, InOrder, LargeRelease, released_block

# Releases of grouping methods: from counted combinations, or from the class of each record where these do not fit.


def grouped_release(defense: CountedDefense, records: LargeRecords, *, most: int | None = None) -> LargeRelease:
    """Release a table by the classes of its combinations, or of its records if there are too many combinations.

    Parameters
    ----------
    defense : CountedDefense
        The defense.
    records : LargeRecords
        The records.
    most : int, optional
        Largest number of combinations; by default `MOST`.

    Raises
    ------
    TooManyCombinations
        If there are more, or a column's values are nearly all distinct numbers, and the defense needs the counts.
    ValueError
        As the defense in memory.
    """
    names, sensitive = defense.counted_columns(records.roles)
    try:
        counted = counted_table(records, names, sensitive, most=most)
    except TooManyCombinations:
        distinct = any(records.columns[name].numbers_only for name in sensitive)
        recoding = None if distinct else defense.recode_large(records)
        if recoding is None:
            raise
        by_record = recoded(records, recoding, lambda block: np.arange(block.start, block.start + len(block)))
        # The classes of all records stay on this machine.
        return replace(by_record, blocks=lambda: by_record.blocks())
    index = CombinationIndex({name: column.codes for name, column in counted.columns.items()})
    return recoded(records, defense.recode(counted), lambda block: index.positions(block.columns))


def recoded(records: LargeRecords, recoding: Recoding, combination: Callable[[StoredBlock], Integers]) -> LargeRelease:
    """Release of a recoding, given the combination of each row of a block; other columns stay as they are."""
    unchanged = ReleasePlan(
        [unchanged_step(records, name) for name in records.columns if name not in recoding.cells], None
    )
    cells = {name: CellList(kind=of_class.cells.dtype) for name, of_class in recoding.cells.items()}
    # The list puts equal cells together, so that positions may differ from those of the recoding.
    codes = {name: cells[name].codes(each.cells.tolist())[each.codes] for name, each in recoding.cells.items()}
    of_combination, guarantee = recoding.classes.astype(np.int32, copy=False), recoding.guarantee

    def released(block: Block) -> ReleasedBlock:
        assert isinstance(block, StoredBlock)  # noqa: S101 (blocks of this table)
        classes = of_combination[combination(block)]
        columns = {name: of_class[classes] for name, of_class in codes.items()}
        same = unchanged.release(block, SeedSequence(0))
        made = ReleasedBlock(block.number, {**columns, **same.columns}, same.origin)
        return made.take(np.flatnonzero(classes >= 0)) if (classes < 0).any() else made

    return LargeRelease(
        tuple(records.columns),
        cells | unchanged.cells,
        BlockByBlock(records, released),
        records.rows,
        lambda: guarantee,
        recoding.channel,
        (recoding.remark,) if recoding.remark else (),
    )


# Releases that are planned by a defense, or made of each column or row by itself.


def planned(defense: BlockwiseDefense, records: RecordsInBlocks, root: SeedSequence) -> LargeRelease:
    """Release of a defense that plans its blocks.

    Parameters
    ----------
    defense : BlockwiseDefense
        The defense.
    records : RecordsInBlocks
        The records.
    root : SeedSequence
        Root of the random generators.
    """
    guaranteed = defense.guarantee(records.counted)
    plan = defense.fit(records, block_generator(root, "fit"))
    return _release_of(plan, records, root, guaranteed)


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


_OFFER = "`--blocks 10000` applies the method to random blocks of about 10,000 rows"


def large_release(
    defense: MicrodataDefense,
    records: LargeRecords,
    root: SeedSequence,
    *,
    rows: int | None = None,
    in_order: InOrder = map,
) -> LargeRelease:
    """Make a release of records that are read in parts.

    Parameters
    ----------
    defense : MicrodataDefense
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.
    rows : int, optional
        Mean number of rows of the random blocks to which a defense is applied that needs the whole table.
    in_order : callable
        Where random blocks are released; see `blocked`.

    Raises
    ------
    ValueError
        If the parameters do not fit the records, or the defense needs all rows, or counts too many combinations, and
        `rows` is not given.
    """
    name = type(defense).__name__
    row_by_row = is_planned(defense) or defense.columnwise or defense.randomizes_records_independently
    if rows is not None:
        refuse(row_by_row, f"--blocks: {name} takes tables of any size as they are; leave the option out")
        return blocked(defense, records, root, rows, in_order)
    if isinstance(defense, BlockwiseDefense) and is_planned(defense):
        return planned(defense, records, root)
    if row_by_row:
        return (columnwise if defense.columnwise else independent)(defense, records, root)
    if not (isinstance(defense, CountedDefense) and defense.works_on_counts):
        raise ValueError(f"{name} needs all rows in memory, and {records.files.path} is read in parts; {_OFFER}")
    try:
        return grouped_release(defense, records)
    except TooManyCombinations as error:
        raise ValueError(f"{error}; {_OFFER}") from None
