"""Mondrian part by part, for tables whose distinct combinations of values do not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray
from scipy.sparse import csr_array

from defenses import Channel, Mondrian
from defenses.base import (
    Block,
    CellList,
    CodedColumn,
    ReleasedBlock,
    ReleasePlan,
    block_generator,
    filled,
    k_anonymity_over,
    unchanged_step,
)
from defenses.base import blocks as by_position
from defenses.base.channel_parts import Containment
from defenses.grouping.constraints import SensitiveColumn, check_apart, check_whole_table
from defenses.grouping.counted_table import CountedDefense, CountedTable, CountedValues, WeightedColumn
from defenses.grouping.mondrian.coding import code_numbers, each_column
from defenses.grouping.mondrian.columns import MISSING, OrderedColumn, OrderedNumbers, order_column
from defenses.grouping.mondrian.cut_requirements import CutRequirements, CutRules
from defenses.grouping.mondrian.partition import partition
from defenses.grouping.mondrian.top_tree import Path as Node
from defenses.grouping.mondrian.top_tree import SampledColumn, TopCut, TopCuts, TopTree
from leaderboard.pages.number_text import counted
from metrics.columns import Integers, NumericDomain, refuse
from scenarios.tables.parts.combinations import CombinationIndex, Combinations, TooManyCombinations, count_combinations
from scenarios.tables.parts.files.output_files import private_folder
from scenarios.tables.parts.files.spool import Spool
from scenarios.tables.parts.records import LargeRecords, StoredBlock
from scenarios.tables.parts.released_blocks import BlockByBlock, LargeRelease

# Releases that follow from counted combinations, made block by block.

_ROOT = SeedSequence(0)
"""Root of what does not depend on the seed: the sample of the first cuts, and columns that stay as they are."""
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
        histograms[name] = csr_array(column.counts[None, : max(column.values.size, column.missing)])
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
    unchanged = ReleasePlan(
        [unchanged_step(records, name) for name in records.columns if name not in recoding.cells], None
    )
    cells = {name: CellList(kind=of_class.cells.dtype) for name, of_class in recoding.cells.items()}
    # The list puts equal cells together, so that positions may differ from those of the recoding.
    codes = {name: cells[name].codes(each.cells.tolist())[each.codes] for name, each in recoding.cells.items()}
    of_combination = recoding.classes.astype(np.int32)

    def released(block: Block) -> ReleasedBlock:
        assert isinstance(block, StoredBlock)  # noqa: S101 (blocks of this table)
        classes = of_combination[index.positions(block.columns)]
        columns = {name: of_class[classes] for name, of_class in codes.items()}
        same = unchanged.release(block, _ROOT)
        made = ReleasedBlock(block.number, {**columns, **same.columns}, same.origin)
        return made.take(np.flatnonzero(classes >= 0)) if (classes < 0).any() else made

    blocks = BlockByBlock(records, released)
    cells |= unchanged.cells
    remark = (recoding.remark,) if recoding.remark else ()
    return LargeRelease(
        tuple(records.columns), cells, blocks, records.rows, lambda: recoding.guarantee, recoding.channel, remark
    )


PART = 1 << 20
"""Largest number of records of a part, as the sample estimates it."""
LARGEST = 1 << 24
"""Largest number of records of a part that no cut divides."""
SAMPLE = 1 << 20
"""Mean number of records in the sample that the first cuts are chosen on."""
ROUNDS = 16
"""Largest number of times that other cuts are sought in place of refused ones."""


def parted_release(defense: Mondrian, records: LargeRecords) -> LargeRelease:
    """Release a table by Mondrian, whose first cuts are chosen on a sample, and which goes on part by part.

    The first cuts divide the table into parts that fit into memory. They are chosen on a sample of the records by
    Mondrian's own rule with the domains of the whole table. A cut is made only if both sides satisfy all requirements,
    by counts of all records. Each part is then divided as a table in memory.

    Parameters
    ----------
    defense : Mondrian
        The defense, strict and without representatives.
    records : LargeRecords
        The records.

    Raises
    ------
    ValueError
        As the defense in memory; or if too many records cannot be divided.

    Notes
    -----
    Guarantee: that of the defense in memory, since every class is a side of a cut that was tested on all records. The
    sample decides only which cuts are tried. It is drawn by the positions of the records, so that nothing else changes
    the release. Records of a part are in a private temporary folder while the release is written.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2008), Workload-aware anonymization techniques for large-scale datasets, for
    trees whose first cuts are chosen on a sample.
    """
    table = _ordered_table(defense, records)
    tree, sizes = _top_tree(defense, records, table)
    refuse(
        sizes.max() > LARGEST,
        f"{records.files.path}: {sizes.max():,} records cannot be divided by a cut that {defense!r} allows, more "
        f"than the {LARGEST:,} that are divided in memory; name other columns, or fewer constraints",
    )
    unchanged = ReleasePlan(
        [unchanged_step(records, name) for name in records.columns if name not in table.columns], None
    )
    cells = {name: CellList() for name in table.columns}

    def blocks() -> Iterator[ReleasedBlock]:
        number = 0
        with private_folder() as folder:
            for part in _parts(folder / "rows", tree, records, table):
                released = _released_part(defense, table, part.columns, cells)
                for start in range(0, len(part), by_position.BLOCK):
                    rows = slice(start, start + by_position.BLOCK)
                    stored = {name: column[rows] for name, column in part.columns.items()}
                    same = unchanged.release(StoredBlock(number, 0, stored, records.columns), _ROOT)
                    columns = {name: codes[rows] for name, codes in released.items()} | dict(same.columns)
                    yield ReleasedBlock(number, columns, part.origin[rows])
                    number += 1

    promised = k_anonymity_over(defense.k, records.roles, table.names, defense.constraints)
    channel = Channel(tuple(Containment(name, records.roles.domain(name)) for name in table.columns))
    note = f"{counted(len(tree.leaves), 'part')}, cut on a sample and tested on all records, then divided in memory"
    return LargeRelease(
        tuple(records.columns), cells | unchanged.cells, blocks, records.rows, lambda: promised, channel, (note,)
    )


@dataclass(frozen=True)
class _OrderedTable:
    """What is known of the whole table.

    Attributes
    ----------
    names : tuple of str
        The columns of the guarantee.
    columns : mapping of str to OrderedColumn
        Columns to cut, with a code for each of the stored codes; without codes for a column of numbers.
    sensitive : tuple of SensitiveColumn
        Columns under a constraint, without codes.
    """

    names: tuple[str, ...]
    columns: Mapping[str, OrderedColumn]
    sensitive: tuple[SensitiveColumn, ...]

    def cut_values(self, columns: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Number or code of each row in the columns to cut, given the columns of a block."""
        return {
            name: ordered.codes[columns[name]] if ordered.codes.size else columns[name]
            for name, ordered in self.columns.items()
        }

    def ordered(self, columns: Mapping[str, NDArray[Any]]) -> list[OrderedColumn]:
        """Columns to cut with codes for these rows; numbers are coded by those that occur."""
        values = self.cut_values(columns)
        rows = len(next(iter(values.values()), ()))
        return each_column(lambda name: _coded(self.columns[name], values[name]), values, rows)


def _ordered_table(defense: Mondrian, records: LargeRecords) -> _OrderedTable:
    roles = records.roles
    whole = counted_table(records, (), roles.sensitive if defense.constraints else ())
    names = whole.checked_columns(defense.k, defense.columns)
    sensitive = whole.constrained(defense.constraints)
    check_apart(names, sensitive)
    check_whole_table(defense.constraints, sensitive)
    return _OrderedTable(names, {name: _ordered_column(records, name) for name in filled(roles, names)}, sensitive)


def _ordered_column(records: LargeRecords, name: str) -> OrderedColumn:
    column, domain = records.columns[name], records.roles.domain(name)
    if column.numbers_only and isinstance(domain, NumericDomain):
        return OrderedNumbers(name, domain, np.empty(0, dtype=np.intp), 0, np.empty(0))
    counts = column.counts
    coded = WeightedColumn(column.values, np.arange(counts.size), column.missing, counts)
    return order_column(name, domain, coded, records.roles.hierarchies.get(name))


def _coded(ordered: OrderedColumn, values: NDArray[Any]) -> OrderedColumn:
    """A column with these codes, or with codes for those of these numbers that occur."""
    if not isinstance(ordered, OrderedNumbers) or ordered.codes.size:
        return replace(ordered, codes=values)
    position, distinct = code_numbers(values)
    codes = position.astype(np.int32) + np.int32(1)
    codes[codes > distinct.size] = MISSING
    return replace(ordered, codes=codes, size=distinct.size + 1, numbers=np.concatenate([[0.0], distinct]))


def _top_tree(defense: Mondrian, records: LargeRecords, table: _OrderedTable) -> tuple[TopTree, Integers]:
    """The parts, and the number of records of each."""
    sample, codes = _sample(records, table)
    sampled = [
        SampledColumn(ordered, np.arange(ordered.size) if table.columns[ordered.name].codes.size else _lasts(ordered))
        for ordered in table.ordered(sample)
    ]
    sensitive = [replace(column, codes=codes[column.name]) for column in table.sensitive]
    share = len(next(iter(sample.values()), ())) / records.rows
    top = TopCuts(sampled, share, defense.k, defense.constraints, sensitive, PART)
    refused: dict[Node, list[TopCut]] = {}
    tree = top.grown(TopTree({}), (), refused)
    for remaining in reversed(range(ROUNDS)):
        sizes, histograms = _counted_parts(records, table, tree)
        upper = tree.refused(defense.k, defense.constraints, table.sensitive, sizes, histograms)
        if not upper:
            return tree, sizes
        for node in upper:
            refused.setdefault(node, []).append(tree.cuts[node])
            tree = tree.without(node)
            if remaining:
                tree = top.grown(tree, node, refused)
    return tree, _counted_parts(records, table, tree)[0]


def _lasts(ordered: OrderedColumn) -> NDArray[np.float64]:
    """Number of each code; -inf for a missing one, which goes left of all numbers."""
    assert isinstance(ordered, OrderedNumbers)  # noqa: S101
    return np.concatenate([[-np.inf], ordered.numbers[1:]])


def _sample(records: LargeRecords, table: _OrderedTable) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """Stored columns to cut, and codes of sensitive columns, of a simple random sample of the records."""
    share = SAMPLE / records.rows
    names = [*table.columns, *(column.name for column in table.sensitive)]
    drawn: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
    for block in records.blocks(names):
        rng = block_generator(_ROOT, "Mondrian: sample", block.number)
        chosen = np.flatnonzero(rng.random(len(block)) < share)
        for name in names:
            drawn[name].append(block.columns[name][chosen])
    columns = {name: np.concatenate(parts) for name, parts in drawn.items()}
    return {name: columns[name] for name in table.columns}, columns


def _counted_parts(records: LargeRecords, table: _OrderedTable, tree: TopTree) -> tuple[Integers, list[Integers]]:
    """Number of records of each part, and of each sensitive value in each part."""
    count = len(tree.leaves)
    sizes = np.zeros(count, dtype=np.int64)
    histograms = [np.zeros((count, column.table.size), dtype=np.int64) for column in table.sensitive]
    for block in records.blocks([*table.columns, *(column.name for column in table.sensitive)]):
        part = tree.parts(table.cut_values(block.columns), len(block))
        sizes += np.bincount(part, minlength=count)
        for column, histogram in zip(table.sensitive, histograms, strict=True):
            keys = part * column.table.size + block.columns[column.name]
            histogram += np.bincount(keys, minlength=histogram.size).reshape(histogram.shape)
    return sizes, histograms


def _parts(path: Path, tree: TopTree, records: LargeRecords, table: _OrderedTable) -> Iterator[ReleasedBlock]:
    """Stored columns and positions of the records of each part."""
    spool = Spool(path, tuple(records.columns), len(tree.leaves), _ROOT, origins=True)
    for block in records.blocks():
        part = tree.parts(table.cut_values(block.columns), len(block))
        spool.place(ReleasedBlock(block.number, block.columns, block.start + np.arange(len(block))), part)
    for number, rows in enumerate(spool.stored()):
        columns = {name: np.ascontiguousarray(rows[f"c{i}"]) for i, name in enumerate(records.columns)}
        yield ReleasedBlock(number, columns, np.ascontiguousarray(rows["origin"]))


def _released_part(
    defense: Mondrian, table: _OrderedTable, part: Mapping[str, NDArray[Any]], cells: Mapping[str, CellList]
) -> dict[str, NDArray[np.int32]]:
    """Position of the released cell of each row of a part."""
    columns = table.ordered(part)
    sensitive = tuple(replace(column, codes=part[column.name]) for column in table.sensitive)
    rows = np.arange(len(next(iter(part.values()))))
    rules = CutRules(defense.k, strict=True, requirements=CutRequirements(defense.constraints, sensitive))
    classes, count = partition(columns, rows, rules)
    class_cells = each_column(lambda column: column.class_cells(classes, count), columns, rows.size)
    return {
        column.name: cells[column.name].codes(distinct.tolist())[cell][classes]
        for column, (cell, distinct) in zip(columns, class_cells, strict=True)
    }
