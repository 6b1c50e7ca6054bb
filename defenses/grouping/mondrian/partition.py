"""Mondrian's recursive partition, computed level by level with array operations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from defenses.grouping.mondrian.columns import OrderedColumn
from defenses.grouping.mondrian.open_classes import CutRules, Cuts, OpenClasses
from defenses.grouping.mondrian.splits import best_cuts
from metrics.arrays import Booleans, Integers
from metrics.classes import group_starts

_ROWS = 1 << 17
"""Classes with more records than this in all are divided among blocks, whose arrays stay in a processor's cache."""


@dataclass(frozen=True)
class CutBlock:
    """Classes that are still cut, and their rows.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        The rows, class by class, within a class in the order in which tied records fill the left side.
    sizes : ndarray of int, shape (classes,)
        Number of rows in each class.
    columns : tuple of OrderedColumn
        The columns, with the codes of these rows.
    weights : ndarray of int, shape (n,), optional
        Number of records of each row; by default each row is a record.
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

    Parameters
    ----------
    columns : sequence of OrderedColumn
        The columns to cut.
    order : ndarray of int, shape (n,)
        The records, n >= k, in the order in which tied records fill the left side.
    rules : CutRules
        What a cut must satisfy. All records together satisfy the requirements.
    weights : ndarray of int, shape (n,), optional
        Number of records of each row, for rows that stand for several equal records. Cuts are then strict. The classes
        are those of the records. By default each row is a record.

    Returns
    -------
    classes : ndarray of int, shape (n,)
        The class of each row.
    count : int
        Number of classes.
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
