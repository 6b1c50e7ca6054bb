"""Mondrian part by part, for tables whose distinct combinations of values are too many to be counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from defenses.base import Block, Divided, RecordsInBlocks, WeightedColumn, block_generator, filled, plain_numbers
from defenses.grouping.constraints import Constraint, SensitiveColumn
from defenses.grouping.mondrian.coding import code_numbers, each_column
from defenses.grouping.mondrian.columns import MISSING, OrderedColumn, OrderedNumbers, order_column
from defenses.grouping.mondrian.cut_requirements import CutRequirements, CutRules
from defenses.grouping.mondrian.partition import partition
from defenses.grouping.mondrian.top_tree import Path, SampledColumn, TopCut, TopCuts, TopTree
from metrics.columns import Integers, NumericDomain

_ROOT = SeedSequence(0)
"""Root of the sample that the first cuts are chosen on, which does not depend on the seed."""
PART = 1 << 20
"""Largest number of records of a part, as the sample estimates it."""
SAMPLE = 1 << 20
"""Mean number of records in the sample that the first cuts are chosen on."""
ROUNDS = 16
"""Largest number of times that other cuts are sought in place of refused ones."""


@dataclass(frozen=True)
class DividedPart:
    """Records of a part, in the order of the table.

    Attributes
    ----------
    positions : ndarray of int, shape (n,)
        Position of each record in the table.
    columns : list of OrderedColumn
        The columns to cut, with a code for each record.
    classes : ndarray of int, shape (n,)
        Class of each record, from 0 in each part.
    count : int
        Number of classes.
    """

    positions: Integers
    columns: list[OrderedColumn]
    classes: Integers
    count: int


@dataclass(frozen=True)
class TableInParts:
    """A table that Mondrian divides part by part.

    The first cuts divide the table into parts that fit into memory. They are chosen on a sample of the records by
    Mondrian's own rule with the domains of the whole table. A cut is made only if both sides satisfy all requirements,
    by counts of all records. Each part is then divided as a table in memory. Hence every class is a side of a cut that
    was tested on all records: the sample decides only which cuts are tried. It is drawn by the positions of the
    records, so that nothing else changes the release.

    Attributes
    ----------
    records : RecordsInBlocks
        The records.
    k : int
        Smallest class size.
    constraints : sequence of Constraint
        Further constraints on every class.
    columns : mapping of str to OrderedColumn
        Columns to cut, with a code for each code of the records; without codes for a column of numbers.
    sensitive : tuple of SensitiveColumn
        Columns under a constraint, without codes.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2008), Workload-aware anonymization techniques for large-scale datasets, for
    trees whose first cuts are chosen on a sample.
    """

    records: RecordsInBlocks = field(repr=False)
    k: int
    constraints: Sequence[Constraint]
    columns: Mapping[str, OrderedColumn]
    sensitive: tuple[SensitiveColumn, ...]

    @classmethod
    def of(
        cls, records: RecordsInBlocks, k: int, names: Sequence[str], constraints: Sequence[Constraint]
    ) -> TableInParts:
        """The table with these columns to cut, in the order of cuts."""
        roles = records.counted
        columns = {name: _ordered_column(records, name) for name in filled(roles, names)}
        sensitive = (
            SensitiveColumn(name, np.empty(0, dtype=np.intp), records.column(name).counts)
            for name in (roles.sensitive if constraints else ())
        )
        return cls(records, k, constraints, columns, tuple(sensitive))

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        return [*self.columns, *(column.name for column in self.sensitive)]

    def values(self, block: Block) -> dict[str, NDArray[Any]]:
        """Number or code in the order of cuts of each record in the columns to cut, and sensitive codes."""
        cut = {
            name: ordered.codes[block.codes(name)] if ordered.codes.size else block.numbers(name)
            for name, ordered in self.columns.items()
        }
        return cut | {column.name: block.codes(column.name) for column in self.sensitive}

    def ordered(self, values: Mapping[str, NDArray[Any]]) -> list[OrderedColumn]:
        """Columns to cut with codes for these rows; numbers are coded by those that occur."""
        rows = len(next(iter(values.values()), ()))
        return each_column(lambda name: _coded(self.columns[name], values[name]), self.columns, rows)

    def coded_sensitive(self, values: Mapping[str, NDArray[Any]]) -> tuple[SensitiveColumn, ...]:
        """Columns under a constraint with the codes of these rows."""
        return tuple(replace(column, codes=values[column.name]) for column in self.sensitive)

    def tree(self) -> tuple[TopTree, Integers]:
        """The first cuts, and the number of records of each part."""
        sample = self._sample()
        sampled = [
            SampledColumn(each, np.arange(each.size) if self.columns[each.name].codes.size else _lasts(each))
            for each in self.ordered(sample)
        ]
        share = len(next(iter(sample.values()), ())) / len(self.records.counted)
        top = TopCuts(sampled, share, self.k, self.constraints, self.coded_sensitive(sample), PART)
        refused: dict[Path, list[TopCut]] = {}
        tree = top.grown(TopTree({}), (), refused)
        for remaining in reversed(range(ROUNDS)):
            sizes, histograms = self._counted(tree)
            upper = tree.refused(self.k, self.constraints, self.sensitive, sizes, histograms)
            if not upper:
                return tree, sizes
            for node in upper:
                refused.setdefault(node, []).append(tree.cuts[node])
                tree = tree.without(node)
                if remaining:
                    tree = top.grown(tree, node, refused)
        return tree, self._counted(tree)[0]

    def _sample(self) -> dict[str, NDArray[Any]]:
        """Values of a simple random sample of the records."""
        share = SAMPLE / len(self.records.counted)
        drawn: dict[str, list[NDArray[Any]]] = {name: [] for name in self.names}
        for block in self.records.blocks(self.names):
            rng = block_generator(_ROOT, "Mondrian: sample", block.number)
            chosen = np.flatnonzero(rng.random(len(block)) < share)
            for name, values in self.values(block).items():
                drawn[name].append(values[chosen])
        return {name: np.concatenate(parts) for name, parts in drawn.items()}

    def _counted(self, tree: TopTree) -> tuple[Integers, list[Integers]]:
        """Number of records of each part, and of each sensitive value in each part."""
        count = len(tree.leaves)
        sizes = np.zeros(count, dtype=np.int64)
        histograms = [np.zeros((count, column.table.size), dtype=np.int64) for column in self.sensitive]
        for block in self.records.blocks(self.names):
            values = self.values(block)
            part = tree.parts(values, len(block))
            sizes += np.bincount(part, minlength=count)
            for column, histogram in zip(self.sensitive, histograms, strict=True):
                keys = part * column.table.size + values[column.name]
                histogram += np.bincount(keys, minlength=histogram.size).reshape(histogram.shape)
        return sizes, histograms

    def divided(self, tree: TopTree, sizes: Integers) -> Iterator[DividedPart]:
        """The classes of each part."""

        def split(block: Block) -> Divided:
            values = self.values(block)
            return tree.parts(values, len(block)), values

        for positions, values in self.records.divided(self.names, split, sizes):
            columns = self.ordered(values)
            requirements = CutRequirements(self.constraints, self.coded_sensitive(values))
            rules = CutRules(self.k, strict=True, requirements=requirements)
            yield DividedPart(positions, columns, *partition(columns, np.arange(positions.size), rules))


def _ordered_column(records: RecordsInBlocks, name: str) -> OrderedColumn:
    domain = records.counted.domain(name)
    if isinstance(domain, NumericDomain) and not records.is_coded(name):
        return OrderedNumbers(name, domain, np.empty(0, dtype=np.intp), 0, np.empty(0))
    column = records.column(name)
    values = plain_numbers(column.values) if isinstance(domain, NumericDomain) else column.values.to_numpy()
    missing = int((~np.isnan(values)).sum()) if isinstance(domain, NumericDomain) else domain.size
    coded = WeightedColumn(values, np.arange(column.counts.size), missing, column.counts)
    return order_column(name, domain, coded, records.counted.hierarchies.get(name))


def _coded(ordered: OrderedColumn, values: NDArray[Any]) -> OrderedColumn:
    """A column with these codes, or with codes for those of these numbers that occur."""
    if not isinstance(ordered, OrderedNumbers) or ordered.codes.size:
        return replace(ordered, codes=values)
    position, distinct = code_numbers(values)
    codes = position.astype(np.int32) + np.int32(1)
    codes[codes > distinct.size] = MISSING
    return replace(ordered, codes=codes, size=distinct.size + 1, numbers=np.concatenate([[0.0], distinct]))


def _lasts(ordered: OrderedColumn) -> NDArray[np.float64]:
    """Number of each code; -inf for a missing one, which goes left of all numbers."""
    assert isinstance(ordered, OrderedNumbers)  # noqa: S101
    return np.concatenate([[-np.inf], ordered.numbers[1:]])
