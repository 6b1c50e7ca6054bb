"""The best cut of each class in Mondrian."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from defenses.grouping.mondrian.columns import MISSING, OrderedColumn, OrderedNumbers
from defenses.grouping.mondrian.cut_requirements import CutRequirements
from metrics.arrays import Booleans, Floats, Integers
from metrics.classes import count_pairs, group_starts


@dataclass(frozen=True)
class CutRules:
    """What a cut must satisfy.

    Attributes
    ----------
    k : int
        Smallest number of records on a side.
    strict : bool
        Whether records of equal value stay on one side of a cut.
    requirements : CutRequirements
        Further constraints on both sides.
    """

    k: int
    strict: bool
    requirements: CutRequirements


@dataclass(frozen=True)
class OpenClasses:
    """Classes to cut.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        The rows, class by class: records, or combinations of values that several records share.
    lengths : ndarray of int, shape (classes,)
        Number of rows in each class, at least 1.
    begins : ndarray of int, shape (classes,)
        Position of each class's first row.
    class_of : ndarray of int, shape (n,)
        Class of each row, from 0.
    weights : ndarray of int, shape (n,), optional
        Number of records of each row; by default each row is a record.
    sizes : ndarray of int, shape (classes,)
        Number of records in each class.
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


@dataclass(frozen=True)
class Cuts:
    """The best cut of each class in one column.

    Attributes
    ----------
    gain : ndarray of float, shape (classes,)
        Reduction of the certainty penalty, summed over the records; -inf if no cut is allowed.
    value : ndarray of int, shape (classes,)
        Code of the last value on the left side.
    left : ndarray of int, shape (classes,)
        Number of records on the left side. It leaves out tied records that go right.
    """

    gain: Floats
    value: Integers
    left: Integers


def best_cuts(columns: Sequence[OrderedColumn], classes: OpenClasses, rules: CutRules) -> tuple[Integers, Cuts]:
    """Find the allowed cut of each class with the largest gain; of equal gains the first column and value count.

    Parameters
    ----------
    columns : sequence of OrderedColumn
        At least one column, with the codes of the classes' records.
    classes : OpenClasses
        The classes.
    rules : CutRules
        What a cut must satisfy.

    Returns
    -------
    column : ndarray of int, shape (classes,)
        Position of the column that is cut.
    cuts : Cuts
        The cuts in these columns.
    """
    places = None if classes.weights is not None else Places.between(classes, rules.k)
    if places is not None and not places.at.size:
        nothing = np.zeros(classes.sizes.size, dtype=np.intp)
        return nothing, Cuts(np.full(nothing.size, -np.inf), nothing, nothing)
    cuts = [
        _cuts_between_records(column, classes, places, rules)
        if places is not None and isinstance(column, OrderedNumbers) and _is_continuous(column)
        else _cuts_between_values(column, classes, rules)
        for column in columns
    ]
    gain = np.stack([cut.gain for cut in cuts])
    best = gain.argmax(axis=0)
    here = best, np.arange(best.size)
    value, left = (np.stack([getattr(cut, name) for cut in cuts])[here] for name in ("value", "left"))
    return best, Cuts(gain[here], value, left)


def _is_continuous(column: OrderedColumn) -> bool:
    """Tell whether a column holds numbers, few of them tied and none missing."""
    if not isinstance(column, OrderedNumbers) or column.size <= column.codes.size // 2:
        return False
    return column.domain.high > column.domain.low and bool(column.codes.min() > MISSING)


@dataclass(frozen=True)
class Places:
    """Places between two records, in the order of a column, with at least k records of the class on both sides.

    Attributes
    ----------
    at : ndarray of int, shape (places,)
        Position of the record before each place.
    group : ndarray of int, shape (places,)
        Class of each place, ascending.
    left, right : ndarray of float, shape (places,)
        Number of records of the class on each side.
    """

    at: Integers
    group: Integers
    left: Floats
    right: Floats

    @classmethod
    def between(cls, classes: OpenClasses, k: int) -> Places:
        """The places in these classes."""
        counts = np.maximum(0, classes.sizes - 2 * k + 1)
        group = np.repeat(np.arange(counts.size), counts)
        shift = classes.begins + k - 1 - (np.cumsum(counts) - counts)
        at = np.arange(group.size) + shift[group]
        left = at + 1 - classes.begins[group]
        return cls(at, group, left.astype(float), (classes.sizes[group] - left).astype(float))


def _cuts_between_records(column: OrderedNumbers, classes: OpenClasses, places: Places, rules: CutRules) -> Cuts:
    """Best cuts of a column with few ties and no missing value: it is sorted, but its values are not counted."""
    at, group = places.at, places.group
    values = _sorted_codes(column, classes)
    ties = np.flatnonzero(values[1:] == values[:-1])
    if not rules.strict and ties.size:
        return _cuts_between_values(column, classes, rules)
    numbers = column.numbers[values]
    width = column.domain.high - column.domain.low
    first, last = numbers[classes.begins], numbers[classes.begins + classes.sizes - 1]
    gain = (classes.sizes * np.minimum(1.0, (last - first) / width))[group]
    gain -= places.left * np.minimum(1.0, (numbers[at] - first[group]) / width)
    gain -= places.right * np.minimum(1.0, (last[group] - numbers[1:][at]) / width)
    if ties.size:
        gain[values[at] == values[1:][at]] = -np.inf
    if rules.requirements:
        allowed = gain > -np.inf
        gain[~_required(column, classes, group, places.left.astype(np.intp), allowed, rules)] = -np.inf
    best, cut = _best_of_each_class(gain, group, classes.sizes.size)
    at = at[cut]
    return Cuts(best, values[at], at + 1 - classes.begins)


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
        nothing = np.zeros(classes.sizes.size, dtype=np.intp)
        return Cuts(np.full(nothing.size, -np.inf), nothing, nothing)
    following = value[np.minimum(at + 1, value.size - 1)]
    group, value, left, rank = group[at], value[at], up_to[at], at - starts[group[at]] + 1
    size, first, last, distinct, uncut = classes.sizes[group], first[group], last[group], distinct[group], uncut[group]

    def gains(
        left: Integers, rows: Integers, right_first: Integers, right_distinct: Integers, allowed: Booleans
    ) -> Floats:
        saved = uncut - left * column.loss(first, value, rank)
        saved -= (size - left) * column.loss(right_first, last, right_distinct)
        return np.where(_required(column, classes, group, rows, allowed, rules), saved, -np.inf)

    gain = gains(left, up_to_rows[at], following, distinct - rank, whole[at])
    if not rules.strict:
        for inner, allowed in zip((np.full_like(size, rules.k), size - rules.k), among, strict=True):
            among_ties = gains(inner, inner, value, distinct - rank + 1, allowed[at])
            left, gain = np.where(among_ties > gain, inner, left), np.maximum(gain, among_ties)
    best, cut = _best_of_each_class(gain, group, classes.sizes.size)
    return Cuts(best, value[cut], left[cut])


def _required(
    column: OrderedColumn, classes: OpenClasses, group: Integers, left: Integers, allowed: Booleans, rules: CutRules
) -> Booleans:
    """Tell which of the allowed cuts satisfy the requirements too, given the class and the left rows of each cut."""
    if not rules.requirements or not allowed.any():
        return allowed
    in_order = classes.rows[np.argsort(classes.class_of * column.size + column.codes, kind="stable")]
    begins = np.append(classes.begins, in_order.size)
    result = allowed.copy()
    result[allowed] = rules.requirements.hold(in_order, begins, group[allowed], left[allowed])
    return result


def _class_values(column: OrderedColumn, classes: OpenClasses) -> tuple[Integers, Integers, Integers, Integers]:
    """Class, value, number of records and number of rows of each distinct pair, ascending."""
    class_of, count = classes.class_of, classes.sizes.size
    if classes.weights is not None:
        return _weighted_values(column, classes, classes.weights)
    if count * column.size <= class_of.size:
        group, value, records = count_pairs(class_of, column.codes, count, column.size)
        return group, value, records, records
    values = _sorted_codes(column, classes)
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


def _sorted_codes(column: OrderedColumn, classes: OpenClasses) -> Integers:
    """Codes of a column, ascending within each class."""
    count = classes.lengths.size
    offset: Integers = np.arange(count) * column.size
    if count * column.size < 1 << 31:
        offset = offset.astype(np.int32)
    offset = np.repeat(offset, classes.lengths)
    return np.subtract(np.sort(offset + column.codes), offset).astype(np.intp)


def _best_of_each_class(gain: Floats, group: Integers, count: int) -> tuple[Floats, Integers]:
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
