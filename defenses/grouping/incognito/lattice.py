"""The lattice of full-domain generalizations: a level per column, the resulting classes, and the losses of nodes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from defenses.base import CodedColumn, Hierarchy
from metrics.classes import example_of_each
from metrics.columns import Booleans, Floats, Integers, in_column

if TYPE_CHECKING:
    from defenses.grouping.constraints import Histogram


Node = tuple[int, ...]

_CACHED = 32
"""Number of frequency sets cached for roll-up."""

DENSE = 8
"""Largest lookup table, in multiples of the number of keys, that is faster than hashing the keys."""

_LARGEST = np.iinfo(np.int64).max
"""Largest number of tuples whose keys fit into 64 bits."""

_DENSE_VALUES = 16
"""Largest number of sensitive values that are counted in a dense histogram."""


def _no_histograms() -> tuple[Histogram, ...]:
    """The histograms without a sensitive column; merged classes then need not refer to their parts."""
    return ()


@dataclass(frozen=True)
class FrequencySet:
    """The equivalence classes of one node, with their sizes.

    - members of shape (classes,): A representative of each class: one of its distinct combinations of original values.
    - sizes of shape (classes,): Number of rows in each class.
    - counted: Returns `histograms`; called when these are first needed.
    """

    members: Integers
    sizes: Integers
    counted: Callable[[], tuple[Histogram, ...]] = field(repr=False)

    @cached_property
    def histograms(self) -> tuple[Histogram, ...]:
        """Counts of each value in each class, for every sensitive column; each of shape (classes, values)."""
        return self.counted()

    def merged(self, classes: Integers, count: int) -> FrequencySet:
        """Merge classes: `classes` holds the new class of each one, from 0 to `count` - 1."""
        members = self.members[example_of_each(classes, count)]
        sizes = np.bincount(classes, weights=self.sizes, minlength=count).astype(np.intp)
        if self.counted is _no_histograms:
            return FrequencySet(members, sizes, _no_histograms)
        return FrequencySet(
            members, sizes, lambda: tuple(_added(histogram, classes, count) for histogram in self.histograms)
        )

    def put_together(self, which: Booleans) -> FrequencySet:
        """Merge the classes selected by `which` into a single class."""
        chosen = FrequencySet(
            self.members[which], self.sizes[which], lambda: tuple(histogram[which] for histogram in self.histograms)
        )
        return chosen.merged(np.zeros(chosen.sizes.size, dtype=np.intp), 1)


@dataclass(frozen=True)
class LeveledColumn:
    """One column at all levels of its hierarchy.

    - codes of shape (combinations,): Level-0 group of each distinct combination of original values.
    - groups of shape (levels, groups on level 0): Group at each level of each level-0 group, numbered from 0.
    - counts: Number of groups at each level.
    - losses of shape (levels, groups on level 0): Normalised loss of each value at each level.
    """

    name: str
    codes: Integers
    groups: Integers
    counts: tuple[int, ...]
    losses: Floats

    def at(self, level: int, members: Integers) -> Integers:
        """Group of each of these combinations at a level."""
        return np.asarray(self.groups[level][self.codes[members]])


class Lattice:
    """The lattice of all nodes with their frequency sets; a node is a choice of one level per column.

    A frequency set is rolled up from that of a finer node, one column at a time. Rows are counted only once.

    - finest: Frequency set of the original values: each distinct combination is a class.
    """

    def __init__(self, columns: Sequence[LeveledColumn], finest: FrequencySet) -> None:
        self.columns = tuple(columns)
        self.finest = finest
        self.shape: Node = tuple(len(column.groups) for column in columns)
        self._order = sorted(range(len(columns)), key=lambda index: -columns[index].counts[0])
        self._rolled = lru_cache(_CACHED)(self._roll)

    def frequency_set(self, node: Node) -> FrequencySet:
        """Frequency set of a node."""
        return self._rolled(_trimmed(tuple([node[index] for index in self._order])))[0]

    def projected(self, subset: Sequence[int]) -> Lattice:
        """Lattice of the columns at the positions in `subset`."""
        columns = [self.columns[index] for index in subset]
        members = self.finest.members
        classes = number_tuples([column.at(0, members) for column in columns], [c.counts[0] for c in columns])
        return Lattice(columns, self.finest.merged(*classes))

    def members_of(self, node: Node, classes: FrequencySet, which: Booleans) -> Booleans:
        """Tell which distinct combinations of original values lie in the classes of a node selected by `which`."""
        number, count = self._classes(np.arange(self.finest.members.size), node)
        chosen = np.zeros(count, dtype=bool)
        chosen[number[classes.members]] = which
        return chosen[number]

    def classes_of(self, node: Node) -> tuple[Integers, Integers]:
        """Class of each distinct combination at a node, and one combination of each class."""
        number, count = self._classes(np.arange(self.finest.members.size), node)
        return number, example_of_each(number, count)

    def _roll(self, levels: Node) -> tuple[FrequencySet, Integers | None, list[int]]:
        """Frequency set with the first columns of the roll-up order at `levels` and the others at level 0.

        With it come the keys of its classes, and their radices: the number of groups of each column. The key of a class
        is the number that its groups form as digits. There are no keys if they may exceed 64 bits.
        """
        if not levels:
            radices = [column.counts[0] for column in self.columns]
            codes = [column.at(0, self.finest.members) for column in self.columns]
            return self.finest, None if math.prod(radices) > _LARGEST else _keys(codes, radices)[0], radices
        finer, keys, radices = self._rolled(_trimmed(levels[:-1]))
        index, level = self._order[len(levels) - 1], levels[-1]
        column = self.columns[index]
        weight, groups = math.prod(radices[index + 1 :]), column.counts[level]
        rolled = [*radices[:index], groups, *radices[index + 1 :]]
        if keys is None:
            level_of = dict(zip(self._order, levels, strict=False))
            node = [level_of.get(other, 0) for other in range(len(self.columns))]
            return finer.merged(*self._classes(finer.members, node)), None, rolled
        change = ((column.groups[level] - column.groups[0]) * weight)[column.codes[finer.members]]
        if index:
            change -= keys // (weight * radices[index]) * (weight * (radices[index] - groups))
        keys = keys + change
        classes, count = _renumber(keys, math.prod(rolled))
        return finer.merged(classes, count), keys[example_of_each(classes, count)], rolled

    def _classes(self, members: Integers, node: Sequence[int]) -> tuple[Integers, int]:
        levels = list(zip(self.columns, node, strict=True))
        codes = [column.at(level, members) for column, level in levels]
        return number_tuples(codes, [column.counts[level] for column, level in levels])


def build_lattice(
    columns: Sequence[LeveledColumn], counts: Integers, histograms: Sequence[csr_array]
) -> tuple[Lattice, Integers]:
    """The lattice of combinations of values that are not all distinct, and the finest class of each combination.

    - columns: The columns, with a code for each combination.
    - counts of shape (combinations,): Number of records of each combination.
    - histograms, each of shape (combinations, values): Number of records of each combination with each value of a
      sensitive column.
    """
    finest, count = number_tuples([column.codes for column in columns], [column.counts[0] for column in columns])
    example = example_of_each(finest, count)
    merged = [replace(column, codes=column.codes[example]) for column in columns]
    sizes = np.bincount(finest, weights=counts, minlength=count).astype(np.intp)
    counted = _counted([csr_array(_added(histogram, finest, count)) for histogram in histograms])
    return Lattice(merged, FrequencySet(np.arange(count), sizes, counted)), finest


def leveled_column(name: str, coded: CodedColumn, hierarchy: Hierarchy | None) -> LeveledColumn:
    """One column at all levels of its hierarchy, with the level-0 group of each row.

    - coded: Its values, each of which occurs or is a category of its domain, and the code of each row.
    - hierarchy, optional: Its hierarchy.

    Raises ValueError if there is no hierarchy, or it lacks a value; names the column.
    """
    if hierarchy is None:
        raise ValueError(f"column {name!r} has no hierarchy to generalize it by")
    try:
        leaf, leaves = pd.factorize(hierarchy.group(coded.values, 0)[0])
        example = example_of_each(leaf, len(leaves))
        levels = range(hierarchy.height + 1)
        groups = [pd.factorize(hierarchy.group(coded.values[example], level)[0])[0] for level in levels]
        losses = [hierarchy.loss(coded.values[example], level) for level in levels]
    except ValueError as error:
        raise in_column(name, error, coded.codes) from None
    counts = tuple(int(group.max()) + 1 for group in groups)
    group_of_value = groups[0][leaf].astype(np.min_scalar_type(counts[0]))
    return LeveledColumn(name, group_of_value[coded.codes], np.stack(groups), counts, np.stack(losses))


def number_tuples(codes: Sequence[Integers], sizes: Sequence[int]) -> tuple[Integers, int]:
    """Number the distinct tuples of codes.

    - codes, each of shape (n,): Codes from 0, at least one sequence.
    - sizes: Number of codes in each sequence.
    - returns number of shape (n,): Number of each tuple, from 0; equal tuples have equal numbers.
    - returns count: Number of distinct tuples.
    """
    return _renumber(*_keys(codes, sizes))


def _keys(codes: Sequence[Integers], sizes: Sequence[int]) -> tuple[Integers, int]:
    """A key for each tuple, and their upper bound; the codes are digits as long as 64 bits hold them."""
    keys, bound = codes[0].astype(np.int64), sizes[0]
    for code, size in zip(codes[1:], sizes[1:], strict=True):
        if bound * size > _LARGEST:
            keys, bound = _renumber(keys, bound)
        keys, bound = keys * size + code, bound * size
    return keys, bound


def _trimmed(levels: Node) -> Node:
    """The levels without the zeros at their end."""
    size = len(levels)
    while size and levels[size - 1] == 0:
        size -= 1
    return levels[:size]


def _counted(histograms: Sequence[csr_array]) -> Callable[[], tuple[Histogram, ...]]:
    """Return the histograms when called, dense where there are few values."""
    if not histograms:
        return _no_histograms
    return lambda: tuple(each.toarray() if each.shape[1] <= _DENSE_VALUES else each for each in histograms)


def _added(histogram: Histogram, classes: Integers, count: int) -> Histogram:
    """Add up the rows of the histogram in each class."""
    if isinstance(histogram, np.ndarray):
        values = histogram.shape[1]
        cells = (classes[:, None] * values + np.arange(values)).ravel()
        # Sums of integers are exact in floats up to 2^53.
        sums = np.bincount(cells, weights=histogram.ravel(), minlength=count * values)
        return sums.astype(np.intp).reshape(count, values)
    where = (classes, np.arange(classes.size))
    membership = csr_array((np.ones_like(classes), where), shape=(count, classes.size))
    return csr_array(membership @ histogram)


def _renumber(keys: Integers, bound: int) -> tuple[Integers, int]:
    if bound > DENSE * keys.size:
        codes, distinct = pd.factorize(keys)
        return codes, len(distinct)
    present = np.zeros(bound, dtype=bool)
    present[keys] = True
    number = np.cumsum(present) - 1
    return number[keys], int(number[-1]) + 1


class NodeLoss(ABC):
    """A loss that generalization never reduces as long as no row is suppressed."""

    def terms(self, lattice: Lattice) -> list[Floats] | None:
        """For each column, its share of the loss at each level without suppression; None if the loss is no such sum."""
        return None

    def bounds(self, lattice: Lattice) -> Floats:
        """Lower bound on the loss of every node, for any set of suppressed rows; has the shape of the lattice.

        By default the loss without suppression, a sum of terms; a loss that is no such sum states its own bound.
        """
        return outer_sum(self.terms(lattice) or [])

    @abstractmethod
    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Loss of a node with these classes, some of them suppressed."""


class CellLoss(NodeLoss):
    """Mean over rows and columns of a loss per cell in [0, 1]; a suppressed cell costs 1.

    No cell costs more than 1, so suppression never reduces the mean. The mean without suppression is a lower bound.
    """

    @abstractmethod
    def cells(self, lattice: Lattice, column: int) -> Floats:
        """Loss of each value of a column at each level, shape (levels, groups on level 0)."""

    def terms(self, lattice: Lattice) -> list[Floats]:
        """Each column's share of the mean without suppression."""
        sizes = lattice.finest.sizes
        means = []
        for index, column in enumerate(lattice.columns):
            rows = np.bincount(column.codes, weights=sizes, minlength=column.counts[0])
            means.append(self.cells(lattice, index) @ rows / (sizes.sum() * len(lattice.columns)))
        return means

    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Average the losses of the released cells, and 1 for every suppressed cell."""
        members = classes.members[~suppressed]
        cells = (
            self.cells(lattice, index)[level, column.codes[members]]
            for index, (column, level) in enumerate(zip(lattice.columns, node, strict=True))
        )
        row_loss = sum(cells, np.zeros(members.size))
        columns = len(node)
        total = row_loss @ classes.sizes[~suppressed] + columns * classes.sizes[suppressed].sum()
        return float(total / (columns * classes.sizes.sum()))


class NormalizedLoss(CellLoss):
    """Normalised loss: the share (leaves - 1) / (all leaves - 1) of the domain that a cell covers."""

    def cells(self, lattice: Lattice, column: int) -> Floats:
        """Losses given by the hierarchy."""
        return lattice.columns[column].losses


class PrecisionLoss(CellLoss):
    """Precision loss: level divided by the height of the hierarchy, which is 1 - Sweeney's precision."""

    def cells(self, lattice: Lattice, column: int) -> Floats:
        """Level divided by height, equal for all values."""
        losses = lattice.columns[column].losses
        share = np.linspace(0.0, 1.0, len(losses)) if len(losses) > 1 else np.zeros(1)
        return np.broadcast_to(share[:, None], losses.shape)


class HeightLoss(NodeLoss):
    """Height: sum of the levels; suppression costs nothing."""

    def terms(self, lattice: Lattice) -> list[Floats]:
        """Levels of each column."""
        return [np.arange(levels, dtype=float) for levels in lattice.shape]

    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Add the levels."""
        return float(sum(node))


class DiscernibilityLoss(NodeLoss):
    """Discernibility: each released row counts the size of its class, and each suppressed row the table's size."""

    def bounds(self, lattice: Lattice) -> Floats:
        """Loss of the original values: classes only grow, so no node has a smaller one."""
        return np.full(lattice.shape, float((lattice.finest.sizes.astype(float) ** 2).sum()))

    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Sum the squared sizes of the released classes, and n for every suppressed row."""
        sizes = classes.sizes.astype(float)
        return float((sizes[~suppressed] ** 2).sum() + sizes[suppressed].sum() * sizes.sum())


class AverageClassSizeLoss(NodeLoss):
    """Average class size; all suppressed rows form one class."""

    def bounds(self, lattice: Lattice) -> Floats:
        """Average class size of the original values, which have the most classes."""
        return np.full(lattice.shape, float(lattice.finest.sizes.mean()))

    def of(self, lattice: Lattice, node: Node, classes: FrequencySet, suppressed: Booleans) -> float:
        """Divide the number of rows by the number of classes."""
        return float(classes.sizes.sum() / ((~suppressed).sum() + suppressed.any()))


LOSSES: dict[str, NodeLoss] = {
    "normalized": NormalizedLoss(),
    "precision": PrecisionLoss(),
    "discernibility": DiscernibilityLoss(),
    "average_class_size": AverageClassSizeLoss(),
    "height": HeightLoss(),
}


def outer_sum(terms: Sequence[Floats]) -> Floats:
    """Sums of one term from each sequence, in all combinations; shape (len(terms[0]), len(terms[1]), …)."""
    total = np.zeros(())
    for term in terms:
        total = total[..., None] + term
    return np.asarray(total)
