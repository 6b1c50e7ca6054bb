"""Releases that follow from counted combinations, made block by block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from defenses.base import CodedColumn
from defenses.grouping.counted_table import CountedDefense, CountedTable, CountedValues
from scenarios.tables.parts.combinations import CombinationIndex, Combinations, TooManyCombinations, count_combinations
from scenarios.tables.parts.records import Block, LargeRecords
from scenarios.tables.parts.released_blocks import BlockByBlock, CellList, LargeRelease, ReleasedBlock
from scenarios.tables.parts.rowwise.steps import code_counts, step_cells, step_columns, unchanged_step

MOST = 1 << 25
"""Largest number of combinations that are counted; the same on every machine, so that releases are too."""


def counted_table(
    records: LargeRecords, names: Sequence[str], sensitive: Sequence[str] = (), *, most: int = MOST
) -> CountedTable:
    """Count the distinct combinations of some columns.

    Parameters
    ----------
    records : LargeRecords
        The records.
    names : sequence of str
        The columns; with none, all records are one combination.
    sensitive : sequence of str
        Columns whose values are counted in each combination.
    most : int
        Largest number of combinations.

    Raises
    ------
    TooManyCombinations
        If there are more, or a column's values are nearly all distinct numbers.
    """
    counts = count_combinations(records, names, sensitive, most=most) if names else _all_in_one(records, sensitive)
    stored = records.columns
    return CountedTable(
        records.roles,
        {name: CodedColumn(stored[name].values, counts.codes[name], stored[name].missing) for name in names},
        counts.counts,
        {name: CountedValues(stored[name].values, stored[name].missing, counts.histograms[name]) for name in sensitive},
    )


def _all_in_one(records: LargeRecords, sensitive: Sequence[str]) -> Combinations:
    """All records as one combination."""
    histograms = {}
    for name in sensitive:
        column = records.columns[name]
        if column.numbers_only:
            raise TooManyCombinations(f"{records.files.path}: column {name!r} holds nearly distinct numbers")
        histograms[name] = csr_array(code_counts(column)[None, : max(column.values.size, column.missing)])
    return Combinations({}, np.array([records.rows]), histograms)


def counted_release(defense: CountedDefense, records: LargeRecords, *, most: int = MOST) -> LargeRelease:
    """Release a table by the classes of its combinations, as the defense in memory does.

    Parameters
    ----------
    defense : CountedDefense
        The defense.
    records : LargeRecords
        The records.
    most : int
        Largest number of combinations.

    Raises
    ------
    TooManyCombinations
        If there are more, or a column's values are nearly all distinct numbers.
    ValueError
        As the defense in memory.
    """
    names, sensitive = defense.counted_columns(records.roles)
    counted = counted_table(records, names, sensitive, most=most)
    recoding = defense.recode(counted)
    index = CombinationIndex({name: column.codes for name, column in counted.columns.items()})
    steps = [unchanged_step(records, name) for name in records.columns if name not in recoding.cells]
    cells = {name: CellList(kind=of_class.cells.dtype) for name, of_class in recoding.cells.items()}
    # The list puts equal cells together, so that positions may differ from those of the recoding.
    codes = {name: cells[name].codes(each.cells.tolist())[each.codes] for name, each in recoding.cells.items()}
    of_combination = recoding.classes.astype(np.int32)

    def released(block: Block) -> ReleasedBlock:
        classes = of_combination[index.positions(block.columns)]
        columns = {name: of_class[classes] for name, of_class in codes.items()}
        columns |= step_columns(steps, block, np.random.default_rng(0))
        origin = np.arange(block.start, block.start + len(block))
        if (classes < 0).any():
            kept = np.flatnonzero(classes >= 0)
            columns, origin = {name: stored[kept] for name, stored in columns.items()}, origin[kept]
        return ReleasedBlock(block.number, columns, origin)

    blocks = BlockByBlock(records, released)
    cells |= step_cells(steps)
    remark = (recoding.remark,) if recoding.remark else ()
    return LargeRelease(
        tuple(records.columns), cells, blocks, records.rows, lambda: recoding.guarantee, recoding.channel, remark
    )
