"""Mondrian part by part, for tables whose distinct combinations of values are too many to be counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from defenses.base import Block, Divided, RecordsInBlocks, WeightedColumn, block_generator, filled, plain_numbers
from defenses.grouping.constraints import Constraint, SensitiveColumn, hold
from defenses.grouping.mondrian.columns import (
    MISSING,
    OrderedColumn,
    OrderedNumbers,
    code_numbers,
    each_column,
    order_column,
)
from defenses.grouping.mondrian.partition import CutRules, partition
from metrics.columns import Booleans, Floats, Integers, NumericDomain

# The top of Mondrian's tree, chosen on a sample of the records.


CANDIDATES = 1 << 10
"""Largest number of cuts that are tried in a column: quantiles of the sample where there are more values."""
SIDE = 32
"""Smallest number of sampled records on a side, so that chance decides little."""
NEARBY = 1 / 8
"""Share of a node's records around a refused cut in which its column is not cut again."""

Path = tuple[bool, ...]
"""Sides from the root down to a node of the tree; True is the right side."""


@dataclass(frozen=True)
class TopCut:
    """A cut of all records of a node.

    - code: Code of the last value on the left side, in the sample's column.
    - value: Number or code that `OrderedColumn.codes` stand for in the whole table: rows above it go right.
    """

    column: str
    code: int
    value: float


@dataclass(frozen=True)
class SampledColumn:
    """A column of the sample.

    - ordered: The column with the codes of the sampled records.
    - values of shape (ordered.size,): What each code stands for in the whole table: a number, or the code itself;
      ascending, -inf or 0 if missing.
    """

    ordered: OrderedColumn
    values: NDArray[Any] = field(repr=False)


@dataclass(frozen=True)
class TopTree:
    """Cuts from the root down, whose leaves are the parts of a table.

    - cuts: The cut of each inner node.
    """

    cuts: Mapping[Path, TopCut]

    @property
    def leaves(self) -> list[Path]:
        """The leaves from left to right."""
        if not self.cuts:
            return [()]
        sides = [(*path, side) for path in self.cuts for side in (False, True)]
        return sorted(path for path in sides if path not in self.cuts)

    def parts(self, columns: Mapping[str, NDArray[Any]], rows: int) -> Integers:
        """Leaf of each row, shape (rows,), as its position in `leaves`; a missing number (NaN) goes left.

        - columns, each of shape (rows,): Numbers or codes, as the values of the cuts.
        """
        number = {path: place for place, path in enumerate(self.leaves)}
        result = np.empty(rows, dtype=np.intp)

        def descend(path: Path, inside: Integers) -> None:
            cut = self.cuts.get(path)
            if cut is None:
                result[inside] = number[path]
                return
            right = columns[cut.column][inside] > cut.value
            descend((*path, False), inside[~right])
            descend((*path, True), inside[right])

        descend((), np.arange(rows))
        return result

    def without(self, path: Path) -> TopTree:
        """The tree with a node and what is below it as a leaf."""
        return TopTree({other: cut for other, cut in self.cuts.items() if other[: len(path)] != path})

    def refused(
        self,
        k: int,
        constraints: Sequence[Constraint],
        sensitive: Sequence[SensitiveColumn],
        sizes: Integers,
        histograms: Sequence[Integers],
    ) -> list[Path]:
        """Inner nodes, the upper ones only, whose cut leaves a side that violates a requirement.

        - k: Smallest number of records on a side.
        - constraints, sensitive: Further constraints on both sides, and the columns that they constrain.
        - sizes of shape (leaves,): Number of records of each leaf.
        - histograms, each of shape (leaves, values): Number of records of each leaf with each value of a sensitive
          column.
        """
        leaves = self.leaves
        result: list[Path] = []
        for path in sorted(self.cuts, key=len):
            if any(path[: len(upper)] == upper for upper in result):
                continue
            for side in (False, True):
                child = (*path, side)
                inside = [place for place, leaf in enumerate(leaves) if leaf[: len(child)] == child]
                counts = [histogram[inside].sum(axis=0) for histogram in histograms]
                enough = int(sizes[inside].sum()) >= k
                if not enough or not all(
                    hold(constraints, n[None, :], c.table)[0] for c, n in zip(sensitive, counts, strict=True)
                ):
                    result.append(path)
                    break
        return result


@dataclass(frozen=True)
class TopCuts:
    """Choice of cuts on a sample, by Mondrian's rule.

    - columns: The columns of the sample.
    - share: Share of the records that were drawn.
    - k: Smallest number of records on a side.
    - constraints, sensitive: Further constraints on both sides, and the columns that they constrain, with the codes of
      the sampled records.
    - most: Largest number of records of a leaf, as estimated.
    """

    columns: Sequence[SampledColumn]
    share: float
    k: int
    constraints: Sequence[Constraint]
    sensitive: Sequence[SensitiveColumn]
    most: float

    def grown(self, tree: TopTree, start: Path, refused: Mapping[Path, Sequence[TopCut]]) -> TopTree:
        """Cut a leaf of the tree, and what comes of it, until no leaf is too large or none can be cut.

        - refused: Cuts that a node may not take.
        """
        rows = np.arange(self.columns[0].ordered.codes.size if self.columns else 0)
        for depth, side in enumerate(start):
            rows = rows[self._right(tree.cuts[start[:depth]], rows) == side]
        return TopTree({**tree.cuts, **dict(self._cuts(start, rows, refused))})

    def _cuts(
        self, path: Path, rows: Integers, refused: Mapping[Path, Sequence[TopCut]]
    ) -> Iterator[tuple[Path, TopCut]]:
        open_nodes = [(path, rows)]
        while open_nodes:
            node, inside = open_nodes.pop()
            if inside.size / self.share <= self.most:
                continue
            cut = self._best(inside, refused.get(node, ()))
            if cut is not None:
                yield node, cut
                right = self._right(cut, inside)
                open_nodes += [((*node, False), inside[~right]), ((*node, True), inside[right])]

    def _right(self, cut: TopCut, rows: Integers) -> Booleans:
        column = next(column for column in self.columns if column.ordered.name == cut.column)
        return np.asarray(column.ordered.codes[rows] > cut.code)

    def _best(self, rows: Integers, refused: Sequence[TopCut]) -> TopCut | None:
        """The cut of largest gain, the first of several; None if none is allowed."""
        best, best_gain = None, -np.inf
        for column in self.columns:
            name = column.ordered.name
            codes, left, gains = self._gains(column.ordered, rows)
            for cut in refused:
                if cut.column == name:
                    # A cut nearby would be refused too.
                    below = int((column.ordered.codes[rows] <= cut.code).sum())
                    gains[np.abs(left - below) < NEARBY * rows.size] = -np.inf
            if gains.size and gains.max() > best_gain:
                at = int(gains.argmax())
                code = int(codes[at])
                best, best_gain = TopCut(name, code, column.values[code].item()), float(gains[at])
        return best

    def _gains(self, column: OrderedColumn, rows: Integers) -> tuple[Integers, Integers, Floats]:
        """Codes after which a cut is allowed, the number of sampled records up to each, and the gain of each cut."""
        inside = column.codes[rows]
        values, counts = np.unique(inside, return_counts=True)
        values = values.astype(np.intp)
        left = np.cumsum(counts)[:-1]
        smallest = max(SIDE, 2 * self.k * self.share)
        at = np.flatnonzero((left >= smallest) & (rows.size - left >= smallest))
        if at.size > CANDIDATES:
            at = at[np.unique(np.searchsorted(left[at], np.linspace(left[at[0]], left[at[-1]], CANDIDATES)))]
        if self.constraints and at.size:
            at = at[self._sides_hold(inside, rows, values[at])]
        if not at.size:
            return values[at], left[at], np.empty(0)
        left, distinct = left[at], values.size
        first, last = np.full(at.size, values[0]), np.full(at.size, values[-1])
        gains = rows.size * column.loss(first, last, np.full(at.size, distinct))
        gains = gains - left * column.loss(first, values[at], at + 1)
        gains -= (rows.size - left) * column.loss(values[at + 1], last, distinct - at - 1)
        return values[at], left, gains

    def _sides_hold(self, inside: Integers, rows: Integers, codes: Integers) -> Booleans:
        """Tell for each cut whether the sampled records of both sides satisfy the constraints."""
        segment = np.searchsorted(codes, inside, side="left")
        holds = np.ones(codes.size, dtype=bool)
        for column in self.sensitive:
            size = column.table.size
            table = np.bincount(segment * size + column.codes[rows], minlength=(codes.size + 1) * size)
            before = np.cumsum(table.reshape(-1, size), axis=0)
            for counts in (before[:-1], before[-1] - before[:-1]):
                holds &= hold(self.constraints, counts, column.table)
        return holds


_ROOT = SeedSequence(0)
"""Root of the sample that the first cuts are chosen on, which does not depend on the seed."""
PART = 1 << 20
"""Largest number of records of a part, as the sample estimates it."""
SAMPLE = 1 << 20
"""Mean number of records in the sample that the first cuts are chosen on."""
ROUNDS = 16
"""Largest number of times that other cuts are sought in place of refused ones."""


@dataclass(frozen=True)
class TableInParts:
    """A table that Mondrian divides part by part.

    The first cuts divide the table into parts that fit into memory. They are chosen on a sample of the records by
    Mondrian's own rule with the domains of the whole table. A cut is made only if both sides satisfy all requirements,
    by counts of all records. Each part is then divided as a table in memory. Hence every class is a side of a cut that
    was tested on all records: the sample decides only which cuts are tried. It is drawn by the positions of the
    records, so that nothing else changes the release.

    - constraints: Further constraints on every class.
    - columns: Columns to cut, with a code for each code of the records; without codes for a column of numbers.
    - sensitive: Columns under a constraint, without codes.

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

    def divided(self, tree: TopTree, sizes: Integers) -> Iterator[tuple[Integers, list[OrderedColumn], Integers, int]]:
        """Positions and coded columns of the records of each part, their classes from 0, and the number of classes."""

        def split(block: Block) -> Divided:
            values = self.values(block)
            return tree.parts(values, len(block)), values

        for positions, values in self.records.divided(self.names, split, sizes):
            columns = self.ordered(values)
            rules = CutRules(self.k, True, self.constraints, self.coded_sensitive(values))
            yield positions, columns, *partition(columns, np.arange(positions.size), rules)


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
