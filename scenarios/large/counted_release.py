"""Releases that follow from counted combinations, made block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from defenses.base.columns import CodedColumn
from defenses.grouping.counted_records import CountedDefense, CountedRecords, CountedValues
from metrics.cells import escape_column
from scenarios.large.combination_index import CombinationIndex
from scenarios.large.combinations import Combinations, count_combinations
from scenarios.large.records import Block, LargeRecords
from scenarios.large.released_blocks import CellList, LargeRelease, ReleasedBlock

MOST = 1 << 25
"""Largest number of combinations that are counted; the same on every machine, so that releases are too."""


def counted_records(
    records: LargeRecords, names: Sequence[str], sensitive: Sequence[str] = (), *, most: int = MOST
) -> CountedRecords:
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
    return CountedRecords(
        records.roles,
        {name: CodedColumn(stored[name].values, counts.codes[name], stored[name].missing) for name in names},
        counts.counts,
        {name: CountedValues(stored[name].values, stored[name].missing, counts.histograms[name]) for name in sensitive},
    )


def _all_in_one(records: LargeRecords, sensitive: Sequence[str]) -> Combinations:
    """All records as one combination."""
    histograms = {}
    for name in sensitive:
        blocks = (np.bincount(block.columns[name]) for block in records.blocks([name]))
        size = max(records.columns[name].values.size, records.columns[name].missing)
        total = np.zeros(size, dtype=np.int64)
        for counts in blocks:
            total[: counts.size] += counts
        histograms[name] = csr_array(total[None, :])
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
    counted = counted_records(records, names, sensitive, most=most)
    recoding = defense.recode(counted)
    index = CombinationIndex({name: column.codes for name, column in counted.columns.items()})
    released = records.roles.released_columns
    plain = PlainColumns(records, [name for name in released if name not in recoding.cells])
    changed = {name: CellList(*listed(cells.cells)) for name, cells in recoding.cells.items()}
    # The list puts equal cells together, so that positions may differ from those of the recoding.
    codes = {name: changed[name].codes(cells.cells)[cells.codes] for name, cells in recoding.cells.items()}
    small = recoding.classes.astype(np.int32)

    def blocks() -> Iterator[ReleasedBlock]:
        for block in records.blocks(tuple(dict.fromkeys([*released, *names]))):
            classes = small[index.positions(block.columns)] if names else np.full(len(block), small[0])
            origin = np.arange(block.start, block.start + len(block))
            kept = slice(None) if (classes >= 0).all() else np.flatnonzero(classes >= 0)
            columns = {name: of_class[classes[kept]] for name, of_class in codes.items()}
            columns |= plain.of(block, kept)
            yield ReleasedBlock(block.number, columns, origin[kept])

    remark = (recoding.remark,) if recoding.remark else ()
    return LargeRelease(
        released, changed | plain.cells, blocks, records.rows, recoding.guarantee, recoding.channel, remark
    )


def listed(cells: NDArray[Any]) -> tuple[list[Any], np.dtype[Any]]:
    """Cells of a column, and the type of the column."""
    return cells.tolist(), cells.dtype


class PlainColumns:
    """Columns that are released as they are.

    Parameters
    ----------
    records : LargeRecords
        The records.
    names : sequence of str
        The columns.

    Attributes
    ----------
    cells : dict of str to CellList
        Cells of the columns that hold codes in blocks.
    """

    def __init__(self, records: LargeRecords, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.cells: dict[str, CellList] = {}
        self._codes: dict[str, NDArray[np.int32]] = {}
        self._types: dict[str, np.dtype[Any]] = {}
        for name in names:
            stored, kind = records.columns[name], records.roles.frame[name].to_numpy().dtype
            if stored.numbers_only:
                self._types[name] = kind
                continue
            values = pd.Series(stored.values.astype(kind), name=name)
            cells = escape_column(values, records.roles.domains.get(name)).to_numpy()
            self.cells[name] = CellList((), cells.dtype)
            self._codes[name] = self.cells[name].codes(cells.tolist())

    def of(self, block: Block, rows: Any = slice(None)) -> Mapping[str, NDArray[Any]]:
        """Columns of a released block, with these rows of the block."""
        return {
            name: self._codes[name][block.columns[name][rows]]
            if name in self._codes
            else block.columns[name][rows].astype(self._types[name])
            for name in self.names
        }
