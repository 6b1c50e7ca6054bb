"""Releases that follow from counted combinations, made block by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from defenses.base.columns import CodedColumn
from defenses.grouping.counted_table import CountedDefense, CountedTable, CountedValues
from metrics.classes import group_starts
from metrics.columns.arrays import Integers
from scenarios.tables.parts.combinations import Combinations, TooManyCombinations, count_combinations
from scenarios.tables.parts.records import Block, LargeRecords
from scenarios.tables.parts.released_blocks import BlockByBlock, CellList, LargeRelease, ReleasedBlock
from scenarios.tables.parts.rowwise.steps import code_counts, unchanged_step

# Positions of combinations of codes among known ones.

_KEY = 1 << 62
"""Bound of a key of several codes."""
_TABLE = 1 << 22
"""Largest number of keys that are looked up in a table, however few of them occur."""


@dataclass
class CombinationIndex:
    """Index of distinct combinations of codes, which finds the combination of each row of a block.

    Parameters
    ----------
    codes : mapping of str to ndarray of int, each of shape (combinations,)
        Code of each combination in each column; the combinations are distinct.

    Notes
    -----
    The codes of a row are the digits of an integer, its key. Keys are numbered anew where the next column would exceed
    62 bits. Keys are looked up in a hash table, which took 10 seconds for 100 million rows and 10 million combinations.
    A search in the sorted keys took 18 to 150 seconds, and a join in DuckDB 11.

    Examples
    --------
    >>> index = CombinationIndex({"age": np.array([0, 0, 2]), "sex": np.array([0, 1, 1])})
    >>> index.positions({"age": np.array([2, 0, 0]), "sex": np.array([1, 1, 0])}).tolist()
    [2, 1, 0]
    """

    codes: Mapping[str, Integers] = field(repr=False)
    _sizes: dict[str, int] = field(init=False, repr=False)
    _numberings: dict[str, NDArray[np.int64]] = field(init=False, repr=False, default_factory=dict)
    _table: NDArray[np.int32] | None = field(init=False, repr=False, default=None)
    _hashed: Any = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        self._sizes = {name: int(codes.max(initial=0)) + 1 for name, codes in self.codes.items()}
        combinations = next((codes.size for codes in self.codes.values()), 1)
        keys, bound = np.zeros(combinations, dtype=np.int64), 1
        for name, codes in self.codes.items():
            if bound * self._sizes[name] >= _KEY:
                numbering = np.sort(keys)
                numbering = numbering[group_starts(numbering)]
                self._numberings[name] = numbering
                keys, bound = np.searchsorted(numbering, keys), numbering.size
            keys, bound = keys * self._sizes[name] + codes, bound * self._sizes[name]
        if bound <= max(_TABLE, 8 * combinations):
            self._table = np.zeros(bound, dtype=np.int32)
            self._table[keys] = np.arange(combinations)
        else:
            self._hashed = pd.Index(keys)

    def positions(self, codes: Mapping[str, NDArray[Any]]) -> Integers:
        """Position of the combination of each row, shape (rows,).

        Parameters
        ----------
        codes : mapping of str to ndarray of int, each of shape (rows,)
            Code of each row in the columns of the index, and perhaps in others. Each combination is a known one.
        """
        keys = np.zeros(next(iter(codes.values())).size, dtype=np.int64)
        for name, size in self._sizes.items():
            if name in self._numberings:
                keys = np.searchsorted(self._numberings[name], keys)
            keys = keys * size + codes[name]
        if self._table is not None:
            return self._table[keys].astype(np.intp)
        return np.asarray(self._hashed.get_indexer(keys), dtype=np.intp)


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
        for step in steps:
            columns |= step.release(block, np.random.default_rng(0))
        origin = np.arange(block.start, block.start + len(block))
        if (classes < 0).any():
            kept = np.flatnonzero(classes >= 0)
            columns, origin = {name: stored[kept] for name, stored in columns.items()}, origin[kept]
        return ReleasedBlock(block.number, columns, origin)

    blocks = BlockByBlock(records, released)
    cells |= {name: listed for step in steps for name, listed in step.cells.items()}
    remark = (recoding.remark,) if recoding.remark else ()
    return LargeRelease(
        tuple(records.columns), cells, blocks, records.rows, lambda: recoding.guarantee, recoding.channel, remark
    )
