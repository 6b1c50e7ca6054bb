"""Generalization hierarchies: ever coarser levels of a column's values."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from metrics.columns import (
    SUPPRESSED,
    UnfitValueError,
    distinct_values,
    errors_at,
    format_number,
    interval_cell,
    numbers_of,
    refuse,
    require,
    set_cell,
)


class Hierarchy(ABC):
    """Ever coarser levels of a column's values; level 0 is the value itself.

    A missing value stays missing on every level, except where the coarsest level is ``*``, which covers it.

    Examples
    --------
    >>> from defenses import Hierarchy
    >>> decades = Hierarchy.from_intervals([[30, 40, 50], [40], []], low=20, high=59, integer=True)
    >>> decades.generalize([23, 37, 59], level=1).tolist()
    ['[20,29]', '[30,39]', '[50,59]']
    >>> decades.generalize([23, 37, 59], level=2).tolist()
    ['[20,39]', '[20,39]', '[40,59]']
    """

    @property
    @abstractmethod
    def height(self) -> int:
        """The coarsest level; levels run from 0 to `height`."""

    @abstractmethod
    def group(self, values: ArrayLike, level: int) -> tuple[NDArray[np.intp], list[str | None]]:
        """Generalize values to a level.

        Parameters
        ----------
        values : array_like, shape (n,)
            Original values.
        level : int
            From 0 to `height`.

        Returns
        -------
        codes : ndarray of int, shape (n,)
            The group of each value.
        cells : list
            The released cell of each group; None where missing.

        Raises
        ------
        ValueError
            If the level is out of range or the hierarchy lacks a value (named).
        """

    @abstractmethod
    def loss(self, values: ArrayLike, level: int) -> NDArray[np.float64]:
        """Share of the domain in each value's group, shape (n,): (leaves - 1) / (all leaves - 1), in [0, 1]."""

    def generalize(self, values: ArrayLike, level: int) -> NDArray[Any]:
        """Released cells of `values` at `level`, shape (n,); the values themselves at level 0."""
        if level == 0:
            return np.asarray(values)
        codes, cells = self.group(values, level)
        return np.array(cells, dtype=object)[codes]

    def check_level(self, level: int) -> None:
        """Raise ValueError unless `level` is an integer from 0 to `height`."""
        refuse(
            isinstance(level, bool) or not isinstance(level, int | np.integer) or not 0 <= level <= self.height,
            f"level must be an integer from 0 to {self.height}, got {level!r}",
        )

    @staticmethod
    def from_csv(
        path: str | PathLike[str], sep: str = ",", encoding: str = "utf-8", *, text: bool = False
    ) -> TableHierarchy:
        """Read a hierarchy from a CSV without header: in each row a value, then its ever coarser groups.

        A byte order mark is left out.

        Values that are all numbers are read as numbers, unless `text` is True; see `TableHierarchy`.

        Raises
        ------
        ValueError
            If the file is empty, is not text of this encoding, or its rows do not form a hierarchy; names the row.
        """
        try:
            content = Path(path).read_bytes().decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: no {encoding} text ({error.reason} at byte {error.start})") from None
        with errors_at(path):
            rows = [row for row in csv.reader(io.StringIO(content, newline=""), delimiter=sep) if row]
            return TableHierarchy(rows, text=text)

    @staticmethod
    def from_intervals(
        levels: Sequence[Sequence[float]], low: float, high: float, integer: bool = False
    ) -> IntervalHierarchy:
        """Build a hierarchy of numbers from the interior cut points of each level; see `IntervalHierarchy`."""
        return IntervalHierarchy(levels, low, high, integer)


class TableHierarchy(Hierarchy):
    """A hierarchy that lists every value with its group on each level.

    A group's name only identifies the group. The released cell is the set of the group's values. It is an interval
    where the values are numbers without a gap, and ``*`` where the group is the whole domain.

    Parameters
    ----------
    rows : sequence of sequence of str
        One row per value: the value, then its group on level 1, 2, ….
    text : bool
        Whether the values are categories even if all of them look like numbers (postcodes, grades).

    Raises
    ------
    ValueError
        If there is no row, rows differ in length, a value is listed twice, or a group splits on a coarser level.
    """

    def __init__(self, rows: Sequence[Sequence[str]], *, text: bool = False) -> None:
        require(rows, "a hierarchy needs at least one value")
        width = len(rows[0])
        for index, row in enumerate(rows):
            require(len(row) == width, f"row {index + 1} has {len(row)} fields where the first has {width}")
        self.leaves: tuple[str, ...] = tuple(str(row[0]) for row in rows)
        self._position = {leaf: i for i, leaf in enumerate(self.leaves)}
        if len(self._position) < len(self.leaves):
            twice = next(leaf for leaf in self.leaves if self.leaves.count(leaf) > 1)
            raise ValueError(f"value {twice!r} appears twice")
        columns = [pd.factorize(np.array([str(row[j]) for row in rows], dtype=object)) for j in range(len(rows[0]))]
        self.table: NDArray[np.intp] = np.column_stack([codes for codes, _ in columns]).astype(np.intp)
        for level in range(1, self.table.shape[1]):
            group, parent = self.table[:, level - 1], self.table[:, level]
            parent_of_group = np.empty(int(group.max()) + 1, dtype=np.intp)
            parent_of_group[group] = parent
            split = group[parent_of_group[group] != parent]
            if split.size:
                name = columns[level - 1][1][int(split.min())]
                raise ValueError(f"group {name!r} of level {level - 1} is split on level {level}")
        try:
            self._numbers = None if text else np.array([float(leaf) for leaf in self.leaves])
        except ValueError:
            self._numbers = None
        self._cells = [self._level_cells(level) for level in range(self.table.shape[1])]

    @property
    def height(self) -> int:
        """The coarsest level; levels run from 0 to `height`."""
        return int(self.table.shape[1]) - 1

    def positions(self, values: ArrayLike) -> NDArray[np.intp]:
        """Row of each value in the table, shape (n,); the number of leaves for a missing value."""
        codes, distinct = distinct_values(values)
        names = [format_number(value) if _is_number(value) else str(value) for value in distinct]
        found = [self._position.get(name) for name in names]
        if None in found:
            row = int(np.flatnonzero(codes == found.index(None))[0])
            raise UnfitValueError(row, "the hierarchy has no such value")
        return np.array([*found, len(self.leaves)], dtype=np.intp)[codes]

    def group(self, values: ArrayLike, level: int) -> tuple[NDArray[np.intp], list[str | None]]:
        """Generalize values to a level; see `Hierarchy.group`."""
        self.check_level(level)
        cells = self._cells[level]
        missing = cells.index(SUPPRESSED) if level > 0 and cells == [SUPPRESSED] else len(cells)
        return np.append(self.table[:, level], missing)[self.positions(values)], [*cells, None]

    def loss(self, values: ArrayLike, level: int) -> NDArray[np.float64]:
        """Share of the domain that each value's group covers, shape (n,); a missing value counts as one leaf."""
        self.check_level(level)
        sizes = np.bincount(self.table[:, level])
        blur = (sizes - 1) / max(1, len(self.leaves) - 1)
        missing = blur[0] if level > 0 and sizes.size == 1 else 0.0
        return np.append(blur[self.table[:, level]], missing)[self.positions(values)]

    def _level_cells(self, level: int) -> list[str]:
        groups = self.table[:, level]
        count = int(groups.max()) + 1
        if level > 0 and count == 1:
            return [SUPPRESSED]
        members = np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])
        return [self._cell(leaves) for leaves in members]

    def _cell(self, leaves: NDArray[np.intp]) -> str:
        if self._numbers is None:
            return set_cell(self.leaves[leaf] for leaf in leaves)
        inside = self._numbers[leaves]
        low, high = inside.min(), inside.max()
        if ((self._numbers >= low) & (self._numbers <= high)).sum() == len(leaves):
            return interval_cell(low, high)
        return "{" + "|".join(format_number(value) for value in np.sort(inside)) + "}"


class IntervalHierarchy(Hierarchy):
    """A hierarchy of numbers whose levels cut the range into intervals.

    Parameters
    ----------
    levels : sequence of sequence of float
        Interior cut points of level 1, 2, …. Each list ascends and is a subset of the one before; an empty list is
        ``*``.
    low, high : float
        The range.
    integer : bool
        Whether only integers occur; intervals are then written with both ends included.

    Raises
    ------
    ValueError
        If the range is reversed, cuts do not ascend inside it, or a level has a cut that the finer one lacks.
    """

    def __init__(self, levels: Sequence[Sequence[float]], low: float, high: float, integer: bool = False) -> None:
        refuse(
            not np.isfinite([low, high]).all() or low > high,
            f"the range must be finite with low <= high, got {low} to {high}",
        )
        self.low, self.high, self.integer = float(low), float(high), integer
        self.levels: tuple[tuple[float, ...], ...] = tuple(tuple(float(cut) for cut in level) for level in levels)
        for number, cuts in enumerate(self.levels, start=1):
            inside = all(self.low < cut <= self.high for cut in cuts)
            refuse(
                not inside or any(a >= b for a, b in pairwise(cuts)),
                f"the cuts of level {number} must ascend inside ({low:g}, {high:g}]",
            )
            if number > 1 and not set(cuts) <= set(self.levels[number - 2]):
                extra = sorted(set(cuts) - set(self.levels[number - 2]))[0]
                raise ValueError(f"level {number} cuts at {extra:g}, where level {number - 1} does not")

    @property
    def height(self) -> int:
        """The coarsest level; levels run from 0 to `height`."""
        return len(self.levels)

    def group(self, values: ArrayLike, level: int) -> tuple[NDArray[np.intp], list[str | None]]:
        """Generalize values to a level; see `Hierarchy.group`."""
        numbers = self._numbers(values, level)
        if level == 0:
            codes, distinct = pd.factorize(numbers, sort=True, use_na_sentinel=True)
            return np.where(codes < 0, len(distinct), codes), [
                *(format_number(value) for value in distinct),
                None,
            ]
        cuts = self.levels[level - 1]
        if not cuts:
            return np.zeros(numbers.size, dtype=np.intp), [SUPPRESSED]
        codes = np.searchsorted(cuts, numbers, side="right")
        codes[np.isnan(numbers)] = len(cuts) + 1
        edges = [self.low, *cuts, self.high]
        step = 1 if self.integer else 0
        cells: list[str | None] = [interval_cell(a, b - step, closed=self.integer) for a, b in pairwise(edges[:-1])]
        return codes, [*cells, interval_cell(edges[-2], edges[-1]), None]

    def loss(self, values: ArrayLike, level: int) -> NDArray[np.float64]:
        """Share of the range that each value's interval covers, shape (n,); leaves are integers where `integer`."""
        numbers = self._numbers(values, level)
        if level == 0 or self.low == self.high:
            return np.zeros(numbers.size)
        step = 1.0 if self.integer else 0.0
        edges = np.array([self.low, *self.levels[level - 1], self.high + step])
        blur = (np.diff(edges) - step) / (self.high - self.low)
        missing = 1.0 if len(edges) == 2 else 0.0
        codes = np.searchsorted(self.levels[level - 1], numbers, side="right")
        return np.where(np.isnan(numbers), missing, blur[codes])

    def _numbers(self, values: ArrayLike, level: int) -> NDArray[np.float64]:
        self.check_level(level)
        numbers = numbers_of(np.asarray(values).ravel())
        outside = np.flatnonzero((numbers < self.low) | (numbers > self.high))
        if outside.size:
            raise UnfitValueError(
                int(outside[0]), f"the hierarchy covers {self.low:g} to {self.high:g} and has no such value"
            )
        return numbers


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
