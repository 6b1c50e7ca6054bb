"""Columns in the order of Mondrian's cuts: their codes, certainty penalties and released cells."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from defenses.base import CodedColumn, Hierarchy, Microdata, TableHierarchy, code_column, plain_numbers
from metrics.classes import count_pairs, example_of_each, group_starts
from metrics.columns import (
    SUPPRESSED,
    CategoricalDomain,
    Domain,
    Floats,
    Integers,
    NumericDomain,
    format_number,
    in_column,
    number_texts,
    set_cell,
)

_PARALLEL = 1 << 16
"""Number of rows from which threads are worth their start."""

_Argument = TypeVar("_Argument")
_Result = TypeVar("_Result")


def each_column(function: Callable[[_Argument], _Result], columns: Iterable[_Argument], rows: int) -> list[_Result]:
    """Results of a function of each column; on all processors if the table has many rows.

    NumPy and Arrow release the interpreter's lock while they sort and format.
    """
    if rows < _PARALLEL:
        return [function(column) for column in columns]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(function, columns))


def code_columns(records: Microdata, names: Iterable[str]) -> dict[str, CodedColumn]:
    """Code columns of records by their domains, as `defenses.base.columns.code_column` does.

    Raises ValueError if a value is no finite number or no category of the domain; names the column.
    """
    names = list(names)
    domains = {name: records.domain(name) for name in names}
    coded = each_column(lambda name: _code(records, name, domains[name]), names, len(records))
    return dict(zip(names, coded, strict=True))


def _code(records: Microdata, name: str, domain: Domain) -> CodedColumn:
    column = records.frame[name]
    if not isinstance(domain, NumericDomain):
        return code_column(column, domain)
    codes, numbers = code_numbers(plain_numbers(column))
    values = np.append(numbers, np.nan) if (codes == numbers.size).any() else numbers
    return CodedColumn(values, codes, numbers.size)


def code_numbers(numbers: Floats) -> tuple[Integers, Floats]:
    """Code numbers by their ascending distinct values.

    - numbers of shape (n,): The numbers; NaN where missing.
    - returns codes of shape (n,): Position of each number among the distinct ones; `distinct.size` where missing.
    - returns distinct of shape (distinct,): The distinct numbers, ascending, without NaN.
    """
    order = np.argsort(numbers)
    # -0.0 becomes 0.0, so that it does not matter which of equal numbers comes first.
    ascending = numbers[order] + 0.0
    first = np.empty(ascending.size, dtype=bool)
    first[:1] = True
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    present = ascending.size - int(np.isnan(ascending).sum())
    first[present + 1 :] = False
    distinct = ascending[:present][first[:present]]
    codes = np.empty(ascending.size, dtype=np.intp)
    codes[order] = np.cumsum(first) - 1
    return codes, distinct


# Texts of many intervals at once.


def interval_texts(low: Floats, high: Floats) -> NDArray[np.object_]:
    """Cells for the numbers from `low` to `high`, both included, as `metrics.columns.cells.interval_cell` writes each.

    - low, high of shape (n,): Ends of the intervals; a plain cell where both are equal.
    """
    # Adding 0.0 makes 0.0 of -0.0, which `format_number` writes alike.
    ends = [number_texts(numbers + 0.0, format_number) for numbers in (low, high)]
    texts = pc.binary_join_element_wise(
        pc.binary_join_element_wise("[", ends[0], ""), pc.binary_join_element_wise(ends[1], "]", ""), ","
    )
    cells: NDArray[Any] = pc.if_else(pa.array(low == high), ends[0], texts).to_numpy(zero_copy_only=False)
    return cells if cells.flags.writeable else cells.copy()


MISSING = 0
"""Code of a missing value, which comes before all other values."""


@dataclass(frozen=True)
class OrderedColumn(ABC):
    """A column whose distinct values are numbered in the order of possible cuts.

    - codes of shape (n,): Number of each row's value, from 1; 0 where missing. The type is the smallest that holds
      `size`.
    - size: One more than the largest number.
    """

    name: str
    domain: Domain
    codes: Integers
    size: int

    @abstractmethod
    def spread(self, first: Integers, last: Integers, distinct: Integers) -> Floats:
        """Share of the domain that each class covers, shape (classes,).

        - first, last, distinct of shape (classes,): Smallest code, largest code and number of distinct codes of each
          class; no class mixes missing and others.
        """

    @abstractmethod
    def name_classes(self, values: Integers, starts: Integers) -> tuple[Integers, list[str | None]]:
        """Released cell of each class.

        - values: Distinct codes of the classes, class by class.
        - starts of shape (classes,): Position in `values` where each class begins.
        - returns cell of shape (classes,): Position of each class's cell in the list.
        - returns cells: The distinct cells; None for a missing value.
        """

    def at(self, rows: Integers | slice) -> Self:
        """The column of these records only, given their positions; the codes keep their meaning."""
        return replace(self, codes=self.codes[rows])

    def renumbered(self) -> Self:
        """The column with codes for its own values only, if that saves time; the order of the values stays."""
        return self

    def loss(self, first: Integers, last: Integers, distinct: Integers) -> Floats:
        """Certainty penalty per record of each class; 1 if missing and other values meet, which release ``*``."""
        return np.where((first == MISSING) & (last != MISSING), 1.0, self.spread(first, last, distinct))

    def class_cells(self, classes: Integers, class_count: int) -> tuple[Integers, NDArray[Any]]:
        """Position of each class's released cell among the distinct cells, and these, given each row's class."""
        groups, values, _ = count_pairs(classes, self.codes, class_count, self.size)
        starts = group_starts(groups)
        cell, cells = self.name_classes(values, starts)
        mixed = (values[starts] == MISSING) & (np.diff(starts, append=values.size) > 1)
        cell = np.where(mixed, len(cells), cell)
        return cell, np.array([*cells, SUPPRESSED], dtype=object)

    def cells(self, classes: Integers, class_count: int) -> NDArray[Any]:
        """Released cell of each row, shape (n,), given its class from 0 to `class_count` - 1."""
        cell, cells = self.class_cells(classes, class_count)
        return np.asarray(cells[cell[classes]])


@dataclass(frozen=True)
class OrderedNumbers(OrderedColumn):
    """Numbers, ordered by value.

    - numbers of shape (size,): Number of each code; 0 for the missing value.
    """

    domain: NumericDomain
    numbers: Floats

    def renumbered(self) -> Self:
        """The column with codes for the numbers that occur, so that tables over the codes are small."""
        if self.size <= 4 * self.codes.size:
            return self
        present = np.zeros(self.size, dtype=bool)
        present[self.codes] = True
        present[MISSING] = True
        new = np.cumsum(present, dtype=self.codes.dtype) - 1
        numbers = self.numbers[present]
        return replace(self, codes=new[self.codes], size=numbers.size, numbers=numbers)

    def spread(self, first: Integers, last: Integers, distinct: Integers) -> Floats:
        """Width of each class's interval divided by the width of the domain."""
        width = self.domain.high - self.domain.low
        if width == 0:
            return np.zeros(first.shape)
        return np.minimum(1.0, (self.numbers[last] - self.numbers[first]) / width)

    def name_classes(self, values: Integers, starts: Integers) -> tuple[Integers, list[str | None]]:
        """Interval from the smallest to the largest number of each class."""
        first, last = values[starts], values[np.append(starts[1:], values.size) - 1]
        cell, distinct = pd.factorize(first * self.size + last)
        low, high = divmod(distinct, self.size)
        cells = interval_texts(self.numbers[low], self.numbers[high])
        cells[distinct == MISSING] = None
        return cell, cells.tolist()


@dataclass(frozen=True)
class OrderedCategories(OrderedColumn):
    """Categories, in the order of possible cuts.

    - names: Category of each code, from code 1 on.
    """

    domain: CategoricalDomain
    names: tuple[str, ...]

    def spread(self, first: Integers, last: Integers, distinct: Integers) -> Floats:
        """Number of each class's categories divided by the number in the domain; 0 for a single category."""
        return np.where(distinct > 1, distinct / self.domain.size, 0.0)

    def name_classes(self, values: Integers, starts: Integers) -> tuple[Integers, list[str | None]]:
        """Set of the categories of each class."""
        sets, members = distinct_sequences(values, starts, self.size)
        return sets, [
            None if codes[0] == MISSING else set_cell(self.names[code - 1] for code in codes) for codes in members
        ]


def order_column(name: str, domain: Domain, coded: CodedColumn, hierarchy: Hierarchy | None) -> OrderedColumn:
    """Number the values of a column in the order of possible cuts, given its codes by domain.

    Raises ValueError if the hierarchy lacks a value; names the column.
    """
    if isinstance(domain, NumericDomain):
        numbers = np.concatenate([[0.0], coded.values[: coded.missing]])
        codes = coded.codes.astype(_code_type(numbers.size + 1)) + 1
        codes[codes == numbers.size] = MISSING
        return OrderedNumbers(name, domain, codes, numbers.size, numbers)
    counts = coded.counts[: coded.missing]
    present = np.flatnonzero(counts)
    try:
        order = present[_category_order(present, counts[present], domain, hierarchy)]
    except ValueError as error:
        raise in_column(name, error, np.searchsorted(present, coded.codes)) from None
    rank = np.full(domain.size + 1, MISSING, dtype=_code_type(order.size + 1))
    rank[order] = np.arange(1, order.size + 1)
    categories = tuple(domain.categories[code] for code in order)
    return OrderedCategories(name, domain, rank[coded.codes], order.size + 1, categories)


def _code_type(size: int) -> np.dtype[np.signedinteger[Any]]:
    """Smallest type of integers that holds codes below this size."""
    return np.min_scalar_type(-size)


def _category_order(
    present: Integers, counts: Integers, domain: CategoricalDomain, hierarchy: Hierarchy | None
) -> Integers:
    """Order of the categories that occur, given their ascending codes in the domain and their counts."""
    if isinstance(hierarchy, TableHierarchy):
        rows = hierarchy.positions([domain.categories[code] for code in present])
        return _hierarchical_order(hierarchy.table[rows], counts)
    if domain.ordered:
        return np.arange(present.size)
    return np.lexsort((present, -counts))


def _hierarchical_order(groups: Integers, counts: Integers) -> Integers:
    """Order of categories that keeps every group of every level together, the most frequent groups first.

    `groups` holds each category's group on every level, shape (categories, levels).
    """
    keys = [key for level in groups.T for key in (level, -np.bincount(level, weights=counts)[level])]
    return np.lexsort(keys)


def distinct_sequences(values: Integers, starts: Integers, size: int) -> tuple[Integers, list[Integers]]:
    """Distinct sequences among consecutive slices of `values`.

    Each sequence is a path in the tree of all prefixes. All slices walk down this tree together, one step a round.

    - values: Integers from 0 to `size` - 1.
    - starts of shape (slices,): Position in `values` where each slice begins.
    - size: One more than the largest possible value.
    - returns sequence_of_slice of shape (slices,): Position of each slice's sequence in `sequences`.
    - returns sequences: The distinct sequences.
    """
    lengths = np.diff(starts, append=values.size)
    node = np.zeros(starts.size, dtype=np.intp)
    nodes = 1
    for step in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > step)
        child, distinct = pd.factorize(node[longer] * size + values[starts[longer] + step])
        node[longer] = child + nodes
        nodes += len(distinct)
    sequence_of_slice, ends = pd.factorize(node)
    examples = example_of_each(sequence_of_slice, len(ends)).tolist()
    return sequence_of_slice, [values[starts[i] : starts[i] + lengths[i]] for i in examples]
