"""Mondrian's recursive partition, computed level by level with array operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from defenses.grouping.mondrian.columns import OrderedColumn
from defenses.grouping.mondrian.cut_requirements import CutRequirements
from metrics.arrays import Floats, Integers
from metrics.classes import count_pairs, group_starts


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


def partition(
    columns: Sequence[OrderedColumn], order: Integers, k: int, *, strict: bool, requirements: CutRequirements
) -> tuple[Integers, int]:
    """Partition records into classes of at least `k` by cutting one column after another.

    Parameters
    ----------
    columns : sequence of OrderedColumn
        The columns to cut.
    order : ndarray of int, shape (n,)
        The records, n >= k, in the order in which tied records fill the left side.
    k : int
        Smallest class size.
    strict : bool
        Whether records of equal value stay on one side of a cut.
    requirements : CutRequirements
        Further constraints on classes, which all records together satisfy.

    Returns
    -------
    classes : ndarray of int, shape (n,)
        The class of each record.
    count : int
        Number of classes.
    """
    finished = np.empty(order.size, dtype=np.intp)
    count = 0
    rows, classes = order, np.zeros(order.size, dtype=np.intp)
    codes = [column.codes[order] for column in columns]
    while rows.size:
        sizes = np.bincount(classes)
        cuts = [
            best_cuts(column, rows, classes, code, sizes, k, strict, requirements)
            for column, code in zip(columns, codes, strict=True)
        ]
        column, best = _best_columns(cuts, sizes.size)
        split = best.gain > -np.inf
        ended = ~split[classes]
        finished[rows[ended]] = (np.cumsum(~split) - 1 + count)[classes[ended]]
        count += int((~split).sum())
        right = _right_sides(column, best, classes, codes)
        children = 2 * (np.cumsum(split) - 1)[classes] + right
        open_rows = np.flatnonzero(~ended)
        open_rows = open_rows[np.argsort(children[open_rows], kind="stable")]
        rows, classes, codes = rows[open_rows], children[open_rows], [code[open_rows] for code in codes]
    return finished, count


def best_cuts(
    column: OrderedColumn,
    rows: Integers,
    classes: Integers,
    codes: Integers,
    sizes: Integers,
    k: int,
    strict: bool,
    requirements: CutRequirements,
) -> Cuts:
    """Find the allowed cut of each class in one column with the largest gain.

    Parameters
    ----------
    column : OrderedColumn
        The column.
    rows, classes, codes : ndarray of int, shape (n,)
        The records in order of their classes, and the class and the value of each.
    sizes : ndarray of int, shape (classes,)
        Number of records in each class.
    k : int
        Smallest number of records on a side.
    strict : bool
        Whether records of equal value stay on one side of a cut.
    requirements : CutRequirements
        Further constraints on both sides.
    """
    groups, values, counts = count_pairs(classes, codes, sizes.size, column.size)
    starts = group_starts(groups)
    ends = np.append(starts[1:], groups.size) - 1
    reach = np.cumsum(counts)
    up_to = reach - (reach[starts] - counts[starts])[groups]
    size, first, last = sizes[groups], values[starts][groups], values[ends][groups]
    rank = np.arange(groups.size) - starts[groups] + 1
    distinct = (ends - starts + 1)[groups]
    following = np.append(values[1:], 0)
    uncut = size * column.loss(first, last, distinct)

    def gains(left: Integers, right_first: Integers, right_distinct: Integers, allowed: NDArray[np.bool_]) -> Floats:
        if requirements and allowed.any():
            allowed[allowed] = requirements.hold(
                rows, classes, classes * column.size + codes, groups[allowed], left[allowed]
            )
        saved = uncut - left * column.loss(first, values, rank)
        saved -= (size - left) * column.loss(right_first, last, right_distinct)
        return np.where(allowed, saved, -np.inf)

    left = up_to
    gain = gains(left, following, distinct - rank, (left >= k) & (size - left >= k))
    if not strict:
        before = up_to - counts
        for inner in (np.full_like(size, k), size - k):
            among = (before < inner) & (inner < up_to) & (k <= inner) & (inner <= size - k) & (distinct > 1)
            tied = gains(inner, values, distinct - rank + 1, among)
            left, gain = np.where(tied > gain, inner, left), np.maximum(gain, tied)
    best = np.maximum.reduceat(gain, starts)
    at = np.flatnonzero(gain == best[groups])
    at = at[group_starts(groups[at])]
    return Cuts(best, values[at], left[at])


def _best_columns(cuts: Sequence[Cuts], class_count: int) -> tuple[Integers, Cuts]:
    """Column with the largest gain for each class, and the cuts in these columns."""
    if not cuts:
        nowhere = np.zeros(class_count, dtype=np.intp)
        return nowhere, Cuts(np.full(class_count, -np.inf), nowhere, nowhere)
    gain = np.stack([cut.gain for cut in cuts])
    column = gain.argmax(axis=0)
    here = column, np.arange(class_count)
    value, left = (np.stack([getattr(cut, name) for cut in cuts])[here] for name in ("value", "left"))
    return column, Cuts(gain[here], value, left)


def _right_sides(column: Integers, cuts: Cuts, classes: Integers, codes: Sequence[Integers]) -> NDArray[np.bool_]:
    """Tell which records lie on the right side of their class's cut; tied records fill the left side in order."""
    column_of_row = column[classes]
    code = np.zeros_like(classes)
    for index, codes_of_column in enumerate(codes):
        np.copyto(code, codes_of_column, where=column_of_row == index)
    value = cuts.value[classes]
    right = code > value
    tied = np.flatnonzero(code == value)
    group = classes[tied]
    starts = group_starts(group)
    rank = np.arange(tied.size) - np.repeat(starts, np.diff(starts, append=tied.size))
    below = np.bincount(classes[code < value], minlength=column.size)
    right[tied] = rank >= (cuts.left - below)[group]
    return right
