"""Columns as Mondrian sees them: values in an order, what blurring them costs, and the cells that say so."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base.columns import plain_numbers
from defenses.base.hierarchy import Hierarchy, TableHierarchy
from defenses.base.microdata import Microdata
from metrics.arrays import Floats, Integers
from metrics.cells import SUPPRESSED, interval_cell, set_cell
from metrics.classes import count_pairs, group_starts
from metrics.domains import CategoricalDomain, Domain, NumericDomain

MISSING = 0
"""Code of a missing value: it stands before all values."""


@dataclass(frozen=True)
class OrderedColumn(ABC):
    """A column whose distinct values are numbered in the order in which classes may be cut.

    Attributes
    ----------
    name : str
        The column's name.
    domain : Domain
        What the values may be.
    codes : ndarray of int, shape (n,)
        Number of each row's value, from 1; 0 where missing.
    size : int
        One more than the largest number.
    """

    name: str
    domain: Domain
    codes: Integers
    size: int

    @abstractmethod
    def spread(self, first: Integers, last: Integers, distinct: Integers) -> Floats:
        """Share of the domain that classes cover which hold so many `distinct` codes, from `first` to `last`."""

    @abstractmethod
    def name_classes(self, values: Integers, starts: Integers) -> tuple[Integers, list[str | None]]:
        """Cell of each class, given the distinct codes of all classes one after the other and where each begins.

        Returns
        -------
        cell : ndarray of int, shape (classes,)
            Position of each class's cell in the list.
        cells : list
            The distinct cells; None for a missing value.
        """

    def loss(self, first: Integers, last: Integers, distinct: Integers) -> Floats:
        """Normalised certainty penalty of such classes; 1 where missing values and others meet, released as ``*``."""
        return np.where((first == MISSING) & (last != MISSING), 1.0, self.spread(first, last, distinct))

    def cells(self, classes: Integers, class_count: int) -> NDArray[Any]:
        """Released cell of each row: what its class, from 0 to `class_count` - 1, covers; shape (n,)."""
        groups, values, _ = count_pairs(classes, self.codes, class_count, self.size)
        starts = group_starts(groups)
        cell, cells = self.name_classes(values, starts)
        mixed = (values[starts] == MISSING) & (np.diff(starts, append=values.size) > 1)
        cell = np.where(mixed, len(cells), cell)
        return np.array([*cells, SUPPRESSED], dtype=object)[cell[classes]]


@dataclass(frozen=True)
class NumericColumn(OrderedColumn):
    """Numbers by value.

    Attributes
    ----------
    numbers : ndarray of float, shape (size,)
        The number behind each code; 0 for a missing one.
    """

    domain: NumericDomain
    numbers: Floats

    def spread(self, first: Integers, last: Integers, distinct: Integers) -> Floats:
        """Width of the interval by the width of the domain."""
        width = self.domain.high - self.domain.low
        if width == 0:
            return np.zeros(first.shape)
        return np.minimum(1.0, (self.numbers[last] - self.numbers[first]) / width)

    def name_classes(self, values: Integers, starts: Integers) -> tuple[Integers, list[str | None]]:
        """Interval from the smallest to the largest number of each class."""
        first, last = values[starts], values[np.append(starts[1:], values.size) - 1]
        cell, distinct = pd.factorize(first * self.size + last)
        ends = zip(*(self.numbers[codes].tolist() for codes in divmod(distinct, self.size)), strict=True)
        cells = [None if code == MISSING else interval_cell(*pair) for code, pair in zip(distinct, ends, strict=True)]
        return cell, cells


@dataclass(frozen=True)
class CategoricalColumn(OrderedColumn):
    """Categories in the order that `order_categories` gives them.

    Attributes
    ----------
    names : tuple of str
        The category behind each code, from code 1 on.
    """

    domain: CategoricalDomain
    names: tuple[str, ...]

    def spread(self, first: Integers, last: Integers, distinct: Integers) -> Floats:
        """Share of the domain's categories that the set holds; 0 for a single one."""
        return np.where(distinct > 1, distinct / self.domain.size, 0.0)

    def name_classes(self, values: Integers, starts: Integers) -> tuple[Integers, list[str | None]]:
        """Set of the categories of each class."""
        sets, members = distinct_sequences(values, starts, self.size)
        return sets, [
            None if codes[0] == MISSING else set_cell(self.names[code - 1] for code in codes) for codes in members
        ]


def order_columns(records: Microdata, names: Sequence[str]) -> list[OrderedColumn]:
    """Return the columns of these names with their values numbered in order.

    Raises
    ------
    ValueError
        If a column holds an infinity or a value that its domain or hierarchy lacks; names the column.
    """
    return [_order_column(records.frame[name], records.domain(name), records.hierarchies.get(name)) for name in names]


def _order_column(column: pd.Series[Any], domain: Domain, hierarchy: Hierarchy | None) -> OrderedColumn:
    if isinstance(domain, NumericDomain):
        return _order_numbers(column, domain)
    try:
        return _order_categories(column, domain, hierarchy)
    except ValueError as error:
        raise ValueError(f"column {column.name!r}: {error}") from None


def _order_numbers(column: pd.Series[Any], domain: NumericDomain) -> NumericColumn:
    codes, distinct = pd.factorize(plain_numbers(column), sort=True, use_na_sentinel=True)
    return NumericColumn(str(column.name), domain, codes + 1, len(distinct) + 1, np.concatenate([[0.0], distinct]))


def _order_categories(
    column: pd.Series[Any], domain: CategoricalDomain, hierarchy: Hierarchy | None
) -> CategoricalColumn:
    codes, distinct = pd.factorize(column.astype(object), use_na_sentinel=True)
    names = [str(value) for value in distinct]
    position = domain.codes(names)
    counts = np.bincount(codes + 1, minlength=len(names) + 1)[1:]
    if isinstance(hierarchy, TableHierarchy):
        order = _hierarchical_order(hierarchy.table[hierarchy.positions(names)], counts)
    elif domain.ordered:
        order = np.argsort(position)
    else:
        order = np.lexsort((position, -counts))
    rank = np.empty(len(names) + 1, dtype=np.intp)
    rank[order] = np.arange(1, len(names) + 1)
    rank[-1] = MISSING
    return CategoricalColumn(str(column.name), domain, rank[codes], len(names) + 1, tuple(names[i] for i in order))


def _hierarchical_order(groups: Integers, counts: Integers) -> Integers:
    """Order of categories that keeps every group of every level together, the most frequent groups first.

    `groups` holds each category's group on every level, shape (categories, levels).
    """
    keys = [key for level in groups.T for key in (level, -np.bincount(level, weights=counts)[level])]
    return np.lexsort(keys)


def distinct_sequences(values: Integers, starts: Integers, size: int) -> tuple[Integers, list[Integers]]:
    """Distinct sequences among consecutive slices of `values`, which lie in 0..size - 1.

    A sequence is a path in the tree of all prefixes; all slices walk down it together, one step a round.

    Returns
    -------
    which : ndarray of int, shape (slices,)
        The sequence of each slice.
    sequences : list of ndarray of int
        The distinct sequences.
    """
    lengths = np.diff(starts, append=values.size)
    node = np.zeros(starts.size, dtype=np.intp)
    nodes = 1
    for step in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > step)
        child, distinct = pd.factorize(node[longer] * size + values[starts[longer] + step])
        node[longer] = child + nodes
        nodes += len(distinct)
    which, ends = pd.factorize(node)
    example = np.zeros(len(ends), dtype=np.intp)
    example[which] = np.arange(starts.size)
    return which, [values[starts[i] : starts[i] + lengths[i]] for i in example]
