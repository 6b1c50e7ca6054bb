"""Random draws of PRAM: transitions of codes, and the columns that are randomized together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base import Block, CellList, RecordsInBlocks, Step, category_cells, category_count, codes_in_domain
from defenses.pram.matrix import check_matrix, check_retention
from metrics.columns import Domain, Floats, Integers, refuse, refuse_rows


def replace(codes: ArrayLike, retention: ArrayLike, rng: Generator) -> Integers:
    """Keep each category with its retention probability, otherwise draw another one uniformly; O(N + d).

    Parameters
    ----------
    codes : array_like of int, shape (n,)
        Categories from 0 to d - 1.
    retention : array_like, shape (d,)
        Retention probabilities.

    Raises
    ------
    ValueError
        If a code is not a category or `retention` is not a vector of probabilities.

    Notes
    -----
    The decision compares a multiple of 2^-53 with p. It is exact for p >= 1/2, and otherwise rounds p up by less than
    2^-53. For p >= 1/d the epsilon of a release therefore grows by at most (d + 2) 2^-53.
    """
    probabilities = check_retention(retention)
    released = check_codes(codes, probabilities.size).copy()
    flipped = np.flatnonzero(rng.random(released.size) >= probabilities[released])
    if flipped.size:
        others = rng.integers(0, probabilities.size - 1, flipped.size)
        released[flipped] = others + (others >= released[flipped])
    return released


def draw(codes: ArrayLike, matrix: ArrayLike, rng: Generator) -> Integers:
    """Draw the release of each record from its category's column of a transition matrix; O(N + d^2).

    Parameters
    ----------
    codes : array_like of int, shape (n,)
        Categories from 0 to d - 1.
    matrix : array_like, shape (d, d)
        Columns sum to 1.

    Raises
    ------
    ValueError
        If a code is not a category or `matrix` is not a transition matrix.
    """
    transitions = Transitions.of(matrix)
    return transitions.draw(check_codes(codes, len(transitions.levels)), rng)


@dataclass(frozen=True)
class Transitions:
    """A transition matrix with a guide to its cumulative probabilities.

    - levels of shape (d, d): Cumulative probabilities of the releases (columns) of each original category (rows).
    - guide of shape (d, d): Entry [j, g] is the first release of category j whose cumulative probability exceeds g / d.

    Notes
    -----
    A draw is the first release whose cumulative probability exceeds a uniform number; the guide makes it O(1) on
    average. An entry is exact up to d 2^-52, since sums and the random number are doubles; one below that may never
    occur.

    References
    ----------
    Chen and Asau (1974), On generating random variates from an empirical distribution.
    """

    levels: Floats = field(repr=False)
    guide: NDArray[np.int32] = field(repr=False)

    @classmethod
    def of(cls, matrix: ArrayLike) -> Transitions:
        """Prepare a transition matrix, shape (d, d), whose columns sum to 1.

        Raises ValueError if it is no transition matrix.
        """
        levels = np.cumsum(check_matrix(matrix), axis=0)
        levels = np.ascontiguousarray((levels / levels[-1]).T)
        d = len(levels)
        starts = np.arange(d) / d
        return cls(levels, np.array([np.searchsorted(row, starts, side="right") for row in levels], dtype=np.int32))

    def draw(self, codes: Integers, rng: Generator) -> Integers:
        """Draw the release of each record.

        - codes of shape (n,): Categories from 0 to d - 1.
        """
        d = len(self.levels)
        uniform = rng.random(codes.size)
        # u d may be rounded up to the next integer; then the guide would start behind the draw.
        cell = np.minimum((uniform * d).astype(np.int64), d - 1)
        cell -= cell / d > uniform
        released = self.guide[codes, cell].astype(np.int64)
        levels = self.levels.ravel()
        base = codes * d
        behind = np.flatnonzero(levels[base + released] <= uniform)
        while behind.size:
            released[behind] += 1
            behind = behind[levels[base[behind] + released[behind]] <= uniform[behind]]
        return released


def check_codes(codes: ArrayLike, d: int) -> Integers:
    """Return category codes as an array.

    Raises ValueError if they are not a vector of integers from 0 to d - 1; the message names the row.
    """
    array = np.asarray(codes)
    refuse(
        array.ndim != 1 or (array.size and array.dtype.kind not in "iu"),
        f"codes must be a vector of integers, got shape {array.shape} of {array.dtype}",
    )
    refuse_rows(
        (array < 0) | (array >= d), lambda row: f"codes: row {row} has an unknown category, known are 0 to {d - 1}"
    )
    return array.astype(np.intp)


@dataclass(frozen=True)
class Categories:
    """Categories or public bins of the records in a column.

    - size: Number of categories, with the missing one if a value is missing.
    - of_code of shape (codes,), optional: Category of each code; None where blocks hold numbers.
    """

    name: str
    domain: Domain
    size: int
    of_code: Integers | None = field(repr=False)

    @classmethod
    def of(cls, records: RecordsInBlocks, name: str) -> Categories:
        """Look up the categories of a column's distinct values.

        Raises ValueError if a value is not in the domain; names the column.
        """
        roles, domain = records.counted, records.counted.domain(name)
        of_code = codes_in_domain(records.column(name).values, domain) if records.is_coded(name) else None
        return cls(name, domain, category_count(roles, name), of_code)

    def codes(self, block: Block) -> Integers:
        """Category of each record of a block, shape (rows,)."""
        if self.of_code is None:
            return self.domain.codes(block.numbers(self.name))
        return self.of_code[block.codes(self.name)]


def randomized(columns: Sequence[Categories], mechanism: Transitions | Floats) -> Step:
    """Step of columns whose categories are randomized, each by itself or all together.

    - columns: The columns; several are randomized jointly.
    - mechanism of shape (categories,): Transition matrix, or retention probabilities.
    """
    names = tuple(column.name for column in columns)

    def release(block: Block, rng: Generator) -> Mapping[str, NDArray[Any]]:
        codes, sizes = joint_codes(columns, block)
        drawn = mechanism.draw(codes, rng) if isinstance(mechanism, Transitions) else replace(codes, mechanism, rng)
        return {name: part.astype(np.int32) for name, part in zip(names, np.unravel_index(drawn, sizes), strict=True)}

    return Step(names, {column.name: CellList(category_cells(column.domain).tolist()) for column in columns}, release)


def joint_codes(columns: Sequence[Categories], block: Block) -> tuple[Integers, tuple[int, ...]]:
    """Number of the combination of categories of each record, shape (rows,), and the size of each column."""
    sizes = tuple(column.size for column in columns)
    return np.ravel_multi_index(tuple(column.codes(block) for column in columns), sizes), sizes


def histogram(records: RecordsInBlocks, columns: Sequence[Categories]) -> Integers:
    """Number of records with each combination of categories, shape (product of the sizes,)."""
    total = int(np.prod([column.size for column in columns]))
    if len(columns) == 1 and columns[0].of_code is not None:
        counts = records.column(columns[0].name).counts
        return np.bincount(columns[0].of_code, counts, minlength=total).astype(np.int64)[:total]
    blocks = records.blocks([column.name for column in columns])
    of_blocks = (np.bincount(joint_codes(columns, block)[0], minlength=total) for block in blocks)
    return sum(of_blocks, np.zeros(total, dtype=np.int64))
