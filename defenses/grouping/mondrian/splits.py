"""The best cut of each class in Mondrian."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from defenses.grouping.mondrian.columns import OrderedColumn, OrderedNumbers
from defenses.grouping.mondrian.open_classes import CutRules, Cuts, OpenClasses, best_of_each_class
from defenses.grouping.mondrian.record_cuts import PlaceRuns, cuts_between_records, is_continuous
from metrics.arrays import Booleans, Floats, Integers
from metrics.classes import count_pairs, group_starts


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
        return np.where(classes.satisfied(column, group, rows, allowed, rules.requirements), saved, -np.inf)

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
