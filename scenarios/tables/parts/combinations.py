"""Distinct combinations of quasi-identifiers, counted by DuckDB, and releases that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.random import SeedSequence
from scipy.sparse import csr_array

from defenses.base import (
    Block,
    CellList,
    CodedColumn,
    CountedDefense,
    CountedTable,
    Recoding,
    ReleasedBlock,
    ReleasePlan,
    StoredBlock,
    unchanged_step,
)
from defenses.base import counted_table as limits
from metrics.classes import LARGEST_KEY, key_starts
from metrics.columns import Integers
from scenarios.tables.parts.combination_index import CombinationIndex
from scenarios.tables.parts.raw_columns import coded_source
from scenarios.tables.parts.records import LargeColumn, LargeRecords
from scenarios.tables.parts.released_blocks import BlockByBlock, LargeRelease


class TooManyCombinations(ValueError):  # noqa: N818 (named for what there is too much of)
    """There are more distinct combinations than fit."""


@dataclass(frozen=True)
class CombinationKey:
    """Integers that number the combinations of the stored codes of some columns.

    Parameters
    ----------
    columns : tuple of LargeColumn
        The columns, in blocks whose combinations fit into one integer each.
    """

    columns: tuple[tuple[LargeColumn, ...], ...]

    @classmethod
    def of(cls, columns: Sequence[LargeColumn]) -> CombinationKey:
        """Put columns together as long as their combinations fit into one integer."""
        parts: list[list[LargeColumn]] = [[]]
        bound = 1
        for column in columns:
            if bound * column.raw.size >= LARGEST_KEY:
                parts.append([])
                bound = 1
            bound *= column.raw.size
            parts[-1].append(column)
        return cls(tuple(tuple(part) for part in parts))

    def expressions(self) -> dict[str, str]:
        """SQL expression of each integer, by a name; without columns, all rows have 0."""
        return {
            f"k{number}": " + ".join(
                f"({column.raw.code}) * {radix}"
                for column, radix in zip(
                    part, np.cumprod([1, *(one.raw.size for one in part)], dtype=object), strict=False
                )
            )
            or "0"
            for number, part in enumerate(self.columns)
        }

    def source(self, *others: LargeColumn) -> str:
        """SQL of the table with what the expressions, and codes of other columns, need."""
        columns = [column for part in self.columns for column in part]
        return coded_source(column.raw for column in (*columns, *others))

    def codes(self, keys: Sequence[Integers]) -> dict[str, Integers]:
        """Code of each combination in each column, given its integers."""
        found = {}
        for part, key in zip(self.columns, keys, strict=True):
            # Short integers are divided faster.
            rest = key.astype(np.min_scalar_type(prod(column.raw.size for column in part)))
            for column in part:
                size, kind = rest.dtype.type(column.raw.size), np.min_scalar_type(max(1, column.values.size))
                before = rest // size
                found[column.raw.name] = column.of_raw.astype(kind)[rest - before * size]
                rest = before
        return found


def counted_table(
    records: LargeRecords, names: Sequence[str], sensitive: Sequence[str] = (), *, most: int | None = None
) -> CountedTable:
    """Count the distinct combinations of some columns, in ascending order of the stored codes, the last column first.

    Parameters
    ----------
    records : LargeRecords
        The records.
    names : sequence of str
        The columns; with none, all records are one combination.
    sensitive : sequence of str
        Columns whose values are counted in each combination.
    most : int
        Largest number of combinations; by default `MOST`.

    Raises
    ------
    TooManyCombinations
        If there are more, or a column's values are nearly all distinct numbers.
    """
    files, limit = records.files, limits.MOST if most is None else most
    for name in (*names, *sensitive):
        if records.columns[name].numbers_only:
            raise TooManyCombinations(f"{files.path}: column {name!r} holds nearly distinct numbers")
    key = CombinationKey.of([records.columns[name] for name in names])
    expressions = key.expressions()
    struct = ", ".join(f"{name}: {expression}" for name, expression in expressions.items())
    # An estimate within a few percent, of the part with most.
    (estimate,) = max(files.fetch_parts(f"SELECT approx_count_distinct({{{struct}}}) FROM {key.source()}"))
    if estimate > 1.1 * limit:
        raise TooManyCombinations(f"{files.path}: about {estimate:,} combinations of {', '.join(names)}")
    table = files.counted(expressions, key.source())
    counts = table.column("n").to_numpy().astype(np.int64)
    if counts.size > limit:
        raise TooManyCombinations(f"{files.path}: {counts.size:,} combinations of {', '.join(names)}")
    codes = key.codes([table.column(name).to_numpy() for name in expressions])
    histograms = {}
    for name in sensitive:
        column = records.columns[name]
        rows = files.counted({**expressions, "v": column.raw.code}, key.source(column))
        fresh = key_starts([rows.column(key).to_numpy() for key in expressions])
        where = (np.cumsum(fresh) - 1, column.of_raw[rows.column("v").to_numpy()])
        shape = (counts.size, max(column.values.size, column.missing))
        histograms[name] = csr_array((rows.column("n").to_numpy().astype(np.int64), where), shape=shape)
    files.check_unchanged()
    stored = {name: records.columns[name] for name in names}
    if not all(map(_is_injective, stored.values())):
        # Combinations are put together that differ in the way they are stored only.
        _, first, joined = np.unique(
            np.stack(list(codes.values()), axis=1), axis=0, return_index=True, return_inverse=True
        )
        membership = csr_array((np.ones(joined.size, dtype=np.int64), (joined.ravel(), np.arange(joined.size))))
        codes, counts = {name: column[first] for name, column in codes.items()}, membership @ counts
        histograms = {name: csr_array(membership @ histogram) for name, histogram in histograms.items()}
    columns = {name: CodedColumn(column.values, codes[name], column.missing) for name, column in stored.items()}
    return CountedTable(records.roles, columns, counts, histograms)


def _is_injective(column: LargeColumn) -> bool:
    """Whether different stored values are different values."""
    values = np.sort(column.of_raw[column.raw.of_code >= 0])
    has_both = bool(column.raw.missing) and bool((values == column.missing).any())
    return not has_both and not (values[1:] == values[:-1]).any()


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
