"""Mondrian's recursive partition, computed level by level with array operations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from defenses.grouping.constraints import Constraint, SensitiveColumn, hold
from defenses.grouping.mondrian.columns import MISSING, OrderedColumn, OrderedNumbers
from metrics.classes import count_pairs, group_starts
from metrics.columns import Booleans, Floats, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Constraints on both sides of a cut.

_CELLS = 1 << 23
"""Largest table of counts held at a time; a single class may need a larger one."""


@dataclass(frozen=True)
class CutRules:
    """What a cut must satisfy.

    - k: Smallest number of records on a side.
    - strict: Whether records of equal value stay on one side of a cut.
    - constraints: Further constraints on both sides.
    - columns: The columns that they constrain, with a code for each record.
    - histograms, each of shape (rows, values): Number of records of each row with each value of a column, for rows of
      several records. The columns then have no codes.
    """

    k: int
    strict: bool
    constraints: Sequence[Constraint] = ()
    columns: Sequence[SensitiveColumn] = ()
    histograms: Sequence[csr_array] = ()

    def hold(self, rows: Integers, begins: Integers, groups: Integers, left: Integers) -> Booleans:
        """Tell for each cut whether both sides satisfy every constraint.

        - rows of shape (n,): The rows, class by class and within a class in the order of the cuts.
        - begins of shape (classes + 1,): Position where each class begins, and n.
        - groups of shape (cuts,): Class of each cut, ascending.
        - left of shape (cuts,): Number of the first rows of the class on the left side of each cut. The numbers ascend
          within a class, and each side keeps at least one row.
        - returns shape (cuts,).
        """
        holds = np.ones(groups.size, dtype=bool)
        for index, column in enumerate(self.columns):
            for cuts in _blocks(groups, column.table.size):
                first, last = groups[cuts.start], groups[cuts.stop - 1]
                inside = slice(begins[first], begins[last + 1])
                ends = begins[groups[cuts]] + left[cuts] - inside.start
                starts = begins[first : last + 2] - inside.start
                left_counts, before = _prefix_counts(
                    *self._values(index, rows[inside]), column.table.size, ends, starts
                )
                left_counts -= before[groups[cuts] - first]
                right_counts = np.diff(before, axis=0)[groups[cuts] - first] - left_counts
                for counts in (left_counts, right_counts):
                    holds[cuts] &= hold(self.constraints, counts, column.table)
        return holds

    def _values(self, index: int, rows: Integers) -> tuple[Integers, Integers, Integers | None]:
        """Values of a column in these rows: the position of the row, the code and the number of records of each."""
        if not self.histograms:
            return np.arange(rows.size), self.columns[index].codes[rows], None
        histogram = self.histograms[index][rows]
        positions = np.repeat(np.arange(rows.size), np.diff(histogram.indptr))
        return positions, histogram.indices.astype(np.intp), histogram.data


def _prefix_counts(
    positions: Integers, codes: Integers, records: Integers | None, size: int, ends: Integers, starts: Integers
) -> tuple[Integers, Integers]:
    """Counts of each code before each of these positions, shapes (ends, size) and (starts, size)."""
    edges = np.union1d(ends, starts)
    segment = np.searchsorted(edges, positions, side="right")
    keys = segment * size + codes
    flat = np.bincount(keys, weights=records, minlength=(edges.size + 1) * size).astype(np.intp, copy=False)
    counts = flat.reshape(-1, size)
    before = np.cumsum(counts, axis=0)
    return before[np.searchsorted(edges, ends)], before[np.searchsorted(edges, starts)]


def _blocks(groups: Integers, size: int) -> Iterator[slice]:
    """Slices of the cuts that keep classes whole, each with about `_CELLS` counts."""
    step = max(1, _CELLS // size)
    start = 0
    while start < groups.size:
        stop = int(np.searchsorted(groups, groups[min(start + step, groups.size) - 1], side="right"))
        yield slice(start, stop)
        start = stop


# Classes that Mondrian cuts, and the best cut of each class.


@dataclass(frozen=True)
class OpenClasses:
    """Classes to cut.

    - rows of shape (n,): The rows, class by class: records, or combinations of values that several records share.
    - lengths of shape (classes,): Number of rows in each class, at least 1.
    - begins of shape (classes,): Position of each class's first row.
    - class_of of shape (n,): Class of each row, from 0.
    - weights of shape (n,), optional: Number of records of each row; by default each row is a record.
    - sizes of shape (classes,): Number of records in each class.
    """

    rows: Integers
    lengths: Integers
    begins: Integers
    class_of: Integers
    weights: Integers | None
    sizes: Integers

    @classmethod
    def of(cls, rows: Integers, lengths: Integers, weights: Integers | None = None) -> OpenClasses:
        """The classes with these rows and these numbers of rows."""
        begins = np.cumsum(lengths) - lengths
        sizes = lengths if weights is None else np.add.reduceat(weights, begins)
        return cls(rows, lengths, begins, np.repeat(np.arange(lengths.size), lengths), weights, sizes)

    def satisfied(
        self, column: OrderedColumn, group: Integers, left: Integers, allowed: Booleans, rules: CutRules
    ) -> Booleans:
        """Tell which of the allowed cuts satisfy the constraints too, given class and left rows of each cut."""
        if not rules.constraints or not allowed.any():
            return allowed
        in_order = self.rows[np.argsort(self.class_of * column.size + column.codes, kind="stable")]
        begins = np.append(self.begins, in_order.size)
        result = allowed.copy()
        result[allowed] = rules.hold(in_order, begins, group[allowed], left[allowed])
        return result

    def sorted_codes(self, column: OrderedColumn) -> Integers:
        """Codes of a column, ascending within each class."""
        offset: Integers = np.arange(self.lengths.size) * column.size
        if self.lengths.size * column.size < 1 << 31:
            offset = offset.astype(np.int32)
        offset = np.repeat(offset, self.lengths)
        return np.subtract(np.sort(offset + column.codes), offset)


@dataclass(frozen=True)
class Cuts:
    """The best cut of each class in one column.

    - gain of shape (classes,): Reduction of the certainty penalty, summed over the records; -inf if no cut is allowed.
    - value of shape (classes,): Code of the last value on the left side.
    - left of shape (classes,): Number of records on the left side. It leaves out tied records that go right.
    """

    gain: Floats
    value: Integers
    left: Integers

    @classmethod
    def none(cls, count: int) -> Cuts:
        """No allowed cut in any of the classes."""
        nothing = np.zeros(count, dtype=np.intp)
        return cls(np.full(count, -np.inf), nothing, nothing)


def best_of_each_class(gain: Floats, group: Integers, count: int) -> tuple[Floats, Integers]:
    """Largest gain of each class and position of its first cut with this gain, given cuts in order of their classes.

    A class without a cut has the gain -inf and a position without a meaning.
    """
    best, first = np.full(count, -np.inf), np.zeros(count, dtype=np.intp)
    starts = group_starts(group)
    best[group[starts]] = np.maximum.reduceat(gain, starts)
    at = np.flatnonzero(gain == best[group])
    # Of several positions of a class, the assignment in descending order leaves the first.
    first[group[at[::-1]]] = at[::-1]
    return best, first


# The best cut of each class in Mondrian.

# The best cut of each class in a column of numbers with few ties.

_RUN = 16
"""Places in a run: short, so that bounds are tight; long, so that there are few bounds."""


def is_continuous(column: OrderedColumn) -> bool:
    """Tell whether a column holds numbers, few of them tied and none missing."""
    if not isinstance(column, OrderedNumbers) or column.size <= column.codes.size // 2:
        return False
    return column.domain.high > column.domain.low and bool(column.codes.min() > MISSING)


@dataclass(frozen=True)
class PlaceRuns:
    """Runs of neighbouring places between two records, with at least k records of the class on both sides.

    - group of shape (runs,): Class of each run, ascending.
    - first, last of shape (runs,): Position of the record before the first and before the last place of each run.
    """

    group: Integers
    first: Integers
    last: Integers

    @classmethod
    def between(cls, classes: OpenClasses, k: int) -> PlaceRuns:
        """All places of these classes; a class of fewer than 2 k records has none."""
        places = np.maximum(0, classes.sizes - 2 * k + 1)
        counts = -(-places // _RUN)
        group = np.repeat(np.arange(counts.size), counts)
        rank = np.arange(group.size) - (np.cumsum(counts) - counts)[group]
        first = (classes.begins + k - 1)[group] + rank * _RUN
        return cls(group, first, np.minimum(first + _RUN, (classes.begins + k - 1 + places)[group]) - 1)

    def taken(self, runs: Integers) -> PlaceRuns:
        """Some of the runs."""
        return PlaceRuns(self.group[runs], self.first[runs], self.last[runs])


def cuts_between_records(column: OrderedNumbers, classes: OpenClasses, runs: PlaceRuns, rules: CutRules) -> Cuts | None:
    """Best cuts of a column with few ties and no missing value; None if a relaxed cut may fall among ties.

    - classes: The classes; each row is a record.
    - runs: All places of the classes.
    - rules: What a cut must satisfy.
    """
    codes = classes.sorted_codes(column)
    tied = bool((codes[1:] == codes[:-1]).any())
    if tied and not rules.strict:
        return None
    lowest, highest = column.numbers[codes[classes.begins]], column.numbers[codes[classes.begins + classes.sizes - 1]]
    width = column.domain.high - column.domain.low
    uncut = classes.sizes * np.minimum(1.0, (highest - lowest) / width)
    # Places from `first` to `last` of a run, and the records around them; shape (runs, 1) or (runs, places).
    if not rules.constraints:
        group, first, last = runs.group, runs.first, runs.last
        below = _loss(first - classes.begins[group] + 1, column.numbers[codes[first]] - lowest[group], width)
        rows_right = (classes.begins + classes.sizes)[group] - 1
        above = [_loss(rows_right - at, highest[group] - column.numbers[codes[at + 1]], width) for at in (first, last)]
        reached = uncut[group] - below - above[0]
        if tied:
            reached[codes[first] == codes[first + 1]] = -np.inf
        starts = group_starts(group)
        reached = np.repeat(np.maximum.reduceat(reached, starts), np.diff(starts, append=group.size))
        runs = runs.taken(np.flatnonzero(uncut[group] - below - above[1] >= reached))
    group = runs.group
    at = runs.first[:, None] + np.arange(_RUN)
    np.minimum(at, runs.last[:, None], out=at)
    left = at - (classes.begins[group] - 1)[:, None]
    before, after = codes[at], codes[at + 1]
    gain = uncut[group, None] - _loss(left, column.numbers[before] - lowest[group, None], width)
    gain -= _loss(classes.sizes[group, None] - left, highest[group, None] - column.numbers[after], width)
    if tied:
        gain[before == after] = -np.inf
    if rules.constraints:
        allowed = gain > -np.inf
        groups = np.broadcast_to(group[:, None], gain.shape)
        gain[~classes.satisfied(column, groups, left, allowed, rules)] = -np.inf
    place = gain.argmax(axis=1)
    of_run = np.arange(group.size), place
    best, run = best_of_each_class(gain[of_run], group, classes.sizes.size)
    cut = at[of_run][run]
    return Cuts(best, codes[cut].astype(np.intp), cut + 1 - classes.begins)


def _loss(records: Integers, spread: Floats, width: float) -> Floats:
    """Certainty penalty of this number of records whose numbers spread this far."""
    return np.asarray(records * np.minimum(1.0, spread / width))


def best_cuts(columns: Sequence[OrderedColumn], classes: OpenClasses, rules: CutRules) -> tuple[Integers, Cuts]:
    """Find the allowed cut of each class with the largest gain; of equal gains the first column and value count.

    - columns: At least one column, with the codes of the classes' records.
    - rules: What a cut must satisfy.
    - returns column of shape (classes,): Position of the column that is cut.
    - returns cuts: The cuts in these columns.
    """
    runs = None if classes.weights is not None else PlaceRuns.between(classes, rules.k)
    if runs is not None and not runs.group.size:
        nothing = Cuts.none(classes.sizes.size)
        return nothing.value, nothing
    cuts = [_cuts_of_column(column, classes, runs, rules) for column in columns]
    gain = np.stack([cut.gain for cut in cuts])
    best = gain.argmax(axis=0)
    here = best, np.arange(best.size)
    value, left = (np.stack([getattr(cut, name) for cut in cuts])[here] for name in ("value", "left"))
    return best, Cuts(gain[here], value, left)


def _cuts_of_column(column: OrderedColumn, classes: OpenClasses, runs: PlaceRuns | None, rules: CutRules) -> Cuts:
    cuts = None
    if runs is not None and isinstance(column, OrderedNumbers) and is_continuous(column):
        cuts = cuts_between_records(column, classes, runs, rules)
    return _cuts_between_values(column, classes, rules) if cuts is None else cuts


def _cuts_between_values(column: OrderedColumn, classes: OpenClasses, rules: CutRules) -> Cuts:
    """Best cuts of a column whose values are counted in each class; relaxed ones may fall among tied records."""
    group, value, count, rows = _class_values(column, classes)
    starts = group_starts(group)
    distinct = np.diff(starts, append=group.size)
    first, last = value[starts], value[starts + distinct - 1]
    uncut = classes.sizes * column.loss(first, last, distinct)
    up_to = np.cumsum(count) - (np.cumsum(classes.sizes) - classes.sizes)[group]
    up_to_rows = up_to if classes.weights is None else np.cumsum(rows) - classes.begins[group]
    most = (classes.sizes - rules.k)[group]
    whole = (up_to >= rules.k) & (up_to <= most)
    if rules.strict:
        at = np.flatnonzero(whole)
    else:
        tied = (distinct > 1)[group] & (most >= rules.k)
        before = up_to - count
        among = [tied & (before < inner) & (inner < up_to) for inner in (rules.k, most)]
        at = np.flatnonzero(whole | among[0] | among[1])
    if not at.size:
        return Cuts.none(classes.sizes.size)
    following = value[np.minimum(at + 1, value.size - 1)]
    group, value, left, rank = group[at], value[at], up_to[at], at - starts[group[at]] + 1
    size, first, last, distinct, uncut = classes.sizes[group], first[group], last[group], distinct[group], uncut[group]

    def gains(
        left: Integers, rows: Integers, right_first: Integers, right_distinct: Integers, allowed: Booleans
    ) -> Floats:
        saved = uncut - left * column.loss(first, value, rank)
        saved -= (size - left) * column.loss(right_first, last, right_distinct)
        return np.where(classes.satisfied(column, group, rows, allowed, rules), saved, -np.inf)

    gain = gains(left, up_to_rows[at], following, distinct - rank, whole[at])
    if not rules.strict:
        for inner, allowed in zip((np.full_like(size, rules.k), size - rules.k), among, strict=True):
            among_ties = gains(inner, inner, value, distinct - rank + 1, allowed[at])
            left, gain = np.where(among_ties > gain, inner, left), np.maximum(gain, among_ties)
    best, cut = best_of_each_class(gain, group, classes.sizes.size)
    return Cuts(best, value[cut], left[cut])


def _class_values(column: OrderedColumn, classes: OpenClasses) -> tuple[Integers, Integers, Integers, Integers]:
    """Class, value, number of records and number of rows of each distinct pair, ascending."""
    class_of, count = classes.class_of, classes.sizes.size
    if classes.weights is not None:
        return _weighted_values(column, classes, classes.weights)
    if count * column.size <= class_of.size:
        group, value, records = count_pairs(class_of, column.codes, count, column.size)
        return group, value, records, records
    values = classes.sorted_codes(column).astype(np.intp)
    differs = np.empty(values.size, dtype=bool)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    differs[classes.begins] = True
    at = np.flatnonzero(differs)
    records = np.diff(at, append=values.size)
    return class_of[at], values[at], records, records


def _weighted_values(
    column: OrderedColumn, classes: OpenClasses, weights: Integers
) -> tuple[Integers, Integers, Integers, Integers]:
    """As `_class_values`, for rows of several records each."""
    bound = classes.sizes.size * column.size
    keys = classes.class_of * column.size + column.codes
    if bound <= keys.size:
        table = np.bincount(keys, minlength=bound)
        pairs = np.flatnonzero(table)
        rows, records = table[pairs], np.bincount(keys, weights=weights, minlength=bound)[pairs].astype(np.intp)
    else:
        if bound < 1 << 31:
            # Sorting pairs of a key and a position is faster than an indirect sort.
            pairs = np.sort((keys << 32) + np.arange(keys.size))
            keys, order = pairs >> 32, pairs & 0xFFFFFFFF
        else:
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
        starts = group_starts(keys)
        pairs, rows = keys[starts], np.diff(starts, append=keys.size)
        records = np.add.reduceat(weights[order], starts)
    group = pairs // column.size
    return group, pairs - group * column.size, records, rows


_ROWS = 1 << 17
"""Classes with more records than this in all are divided among blocks, whose arrays stay in a processor's cache."""


@dataclass(frozen=True)
class CutBlock:
    """Classes that are still cut, and their rows.

    - rows of shape (n,): The rows, class by class, within a class in the order in which tied records fill the left
      side.
    - sizes of shape (classes,): Number of rows in each class.
    - columns: The columns, with the codes of these rows.
    - weights of shape (n,), optional: Number of records of each row; by default each row is a record.
    """

    rows: Integers
    sizes: Integers
    columns: tuple[OrderedColumn, ...]
    weights: Integers | None = None

    def taken(self, rows: Integers | slice, sizes: Integers) -> CutBlock:
        """Some of the rows, given their positions, as classes of these numbers of rows."""
        weights = None if self.weights is None else self.weights[rows]
        return CutBlock(self.rows[rows], sizes, tuple(column.at(rows) for column in self.columns), weights)

    def divided(self) -> list[CutBlock]:
        """Blocks of about `_ROWS` rows; a larger class has a block of its own, with the next small ones."""
        ends = np.cumsum(self.sizes)
        first = group_starts((ends - self.sizes) // _ROWS)
        blocks = []
        for classes in map(slice, first, np.append(first[1:], ends.size)):
            rows = slice(ends[classes.start] - self.sizes[classes.start], ends[classes.stop - 1])
            block = self.taken(rows, self.sizes[classes])
            blocks.append(replace(block, columns=tuple(column.renumbered() for column in block.columns)))
        return blocks


_Classes = tuple[Integers, Integers]
"""Rows of finished classes, class by class, and the number of rows in each class."""


def partition(
    columns: Sequence[OrderedColumn], order: Integers, rules: CutRules, weights: Integers | None = None
) -> tuple[Integers, int]:
    """Partition records into classes of at least `k` by cutting one column after another.

    - order of shape (n,): The records, n >= k, in the order in which tied records fill the left side.
    - rules: What a cut must satisfy. All records together satisfy the constraints.
    - weights of shape (n,), optional: Number of records of each row, for rows that stand for several equal records.
      Cuts are then strict. The classes are those of the records. By default each row is a record.
    - returns classes of shape (n,): The class of each row.
    - returns count: Number of classes.
    """
    in_order = tuple(column.at(order) for column in columns)
    blocks = [CutBlock(order, np.array([order.size]), in_order, None if weights is None else weights[order])]
    finished: list[_Classes] = []
    # NumPy releases the interpreter's lock while it sorts and computes, so blocks are cut in parallel.
    with nullcontext() if order.size <= 2 * _ROWS else ThreadPoolExecutor(os.cpu_count()) as threads:
        while blocks:
            results = list((threads.map if threads else map)(partial(_cut, rules=rules), blocks))
            finished += [classes for result in results for classes in result[0]]
            blocks = [block for result in results for block in result[1]]
    rows, sizes = (np.concatenate(arrays) for arrays in zip(*finished, strict=True))
    classes = np.empty(order.size, dtype=np.intp)
    classes[rows] = np.repeat(np.arange(sizes.size), sizes)
    return classes, sizes.size


def _cut(block: CutBlock, rules: CutRules) -> tuple[list[_Classes], list[CutBlock]]:
    """Cut classes level by level until all are finished or can be divided among blocks."""
    finished = []
    while block.rows.size:
        ended, block = _cut_once(block, rules)
        finished.append(ended)
        if block.rows.size > _ROWS and block.sizes.size > 1:
            return finished, block.divided()
    return finished, []


def _cut_once(block: CutBlock, rules: CutRules) -> tuple[_Classes, CutBlock]:
    """Cut each class where its penalty falls most: the classes that cannot be cut further, and the others."""
    if not block.columns:
        return (block.rows, block.sizes), block.taken(slice(0), block.sizes[:0])
    classes = OpenClasses.of(block.rows, block.sizes, block.weights)
    column, cuts = best_cuts(block.columns, classes, rules)
    sides = 2 * classes.class_of + _right_sides(block.columns, classes.class_of, column, cuts, strict=rules.strict)
    sizes = records = np.bincount(sides, minlength=2 * column.size)
    if block.weights is not None:
        records = np.bincount(sides, weights=block.weights, minlength=2 * column.size).astype(np.intp)
    ended = (records < 2 * rules.k) | np.repeat(cuts.gain == -np.inf, 2)
    key = np.where(ended, 2 * column.size, 0) + np.arange(2 * column.size)
    rows = np.sort((key[sides] << 32) + np.arange(sides.size)) & 0xFFFFFFFF
    open_rows, ended_rows = np.split(rows, [int(sizes[~ended].sum())])
    ended_sizes = sizes[ended]
    return (block.rows[ended_rows], ended_sizes[ended_sizes > 0]), block.taken(open_rows, sizes[~ended])


def _right_sides(
    columns: Sequence[OrderedColumn], class_of: Integers, column: Integers, cuts: Cuts, *, strict: bool
) -> Booleans:
    """Tell which records lie on the right side of their class's cut; tied records fill the left side in order."""
    column_of_row = column[class_of]
    code = np.zeros_like(class_of)
    for index, one in enumerate(columns):
        np.copyto(code, one.codes, where=column_of_row == index)
    value = np.where(cuts.gain > -np.inf, cuts.value, np.iinfo(np.intp).max)[class_of]
    right = code > value
    if not strict:
        tied = np.flatnonzero(code == value)
        group = class_of[tied]
        starts = group_starts(group)
        rank = np.arange(tied.size) - np.repeat(starts, np.diff(starts, append=tied.size))
        below = np.bincount(class_of[code < value], minlength=column.size)
        right[tied] = rank >= (cuts.left - below)[group]
    return right
