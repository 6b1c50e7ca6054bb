"""PRAM of categories that are read in parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from defenses import Channel, OptimalMatrix, RetentionReplacement
from defenses.base import category_cells, category_codes, category_count
from defenses.base.channel_parts import RetentionVector, TransitionTable
from defenses.pram.matrix import check_matrix
from defenses.pram.retention_vectors import RetentionVectors
from defenses.pram.sampling import replace
from metrics.columns import Domain, Floats, Integers
from scenarios.tables.parts.files.spool import block_generator
from scenarios.tables.parts.records import Block, LargeRecords
from scenarios.tables.parts.released_blocks import CellList, LargeRelease
from scenarios.tables.parts.rowwise.steps import Step, by_code, code_counts, counted, rowwise

# Fast draws from the columns of one transition matrix, block by block.


@dataclass(frozen=True)
class Transitions:
    """A transition matrix with a guide to its cumulative probabilities.

    Parameters
    ----------
    levels : ndarray, shape (d, d)
        Cumulative probabilities of the releases (columns) of each original category (rows).
    guide : ndarray of int32, shape (d, d)
        Entry [j, g] is the first release of category j whose cumulative probability exceeds g / d.

    Notes
    -----
    A draw is the first release whose cumulative probability exceeds a uniform number, as in
    `defenses.pram.sampling.draw`; equal generators give equal draws. The guide makes it O(1) on average.

    References
    ----------
    Chen and Asau (1974), On generating random variates from an empirical distribution.
    """

    levels: Floats = field(repr=False)
    guide: NDArray[np.int32] = field(repr=False)

    @classmethod
    def of(cls, matrix: ArrayLike) -> Transitions:
        """Prepare a transition matrix, shape (d, d), whose columns sum to 1.

        Raises
        ------
        ValueError
            If it is no transition matrix.
        """
        levels = np.cumsum(check_matrix(matrix), axis=0)
        levels = np.ascontiguousarray((levels / levels[-1]).T)
        d = len(levels)
        starts = np.arange(d) / d
        return cls(levels, np.array([np.searchsorted(row, starts, side="right") for row in levels], dtype=np.int32))

    def draw(self, codes: Integers, rng: Generator) -> Integers:
        """Draw the release of each record.

        Parameters
        ----------
        codes : ndarray of int, shape (n,)
            Categories from 0 to d - 1.
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


@dataclass(frozen=True)
class Categories:
    """Categories or public bins of the records in a column.

    Parameters
    ----------
    name : str
        The column.
    domain : Domain
        Its domain.
    size : int
        Number of categories, with the missing one if a value is missing.
    of_code : ndarray of int, shape (codes,), optional
        Category of each code; None where blocks hold numbers.
    """

    name: str
    domain: Domain
    size: int
    of_code: Integers | None = field(repr=False)

    @classmethod
    def of(cls, records: LargeRecords, name: str) -> Categories:
        """Look up the categories of a column's distinct values.

        Raises
        ------
        ValueError
            If a value is not in the domain; names the column.
        """
        column, roles = records.columns[name], records.roles
        codes = category_codes(roles, name)
        of_code = None if column.numbers_only else by_code(column, codes)
        return cls(name, roles.domain(name), category_count(roles, name), of_code)

    def codes(self, block: Block) -> Integers:
        """Category of each record of a block, shape (rows,)."""
        stored = block.columns[self.name]
        return np.asarray(self.domain.codes(stored) if self.of_code is None else self.of_code[stored])

    def cell_list(self) -> CellList:
        """Released cells, in the order of the categories and then the missing value."""
        return CellList(category_cells(self.domain).tolist())


def randomized(columns: Sequence[Categories], mechanism: Transitions | Floats) -> Step:
    """Step of columns whose categories are randomized, each by itself or all together.

    Parameters
    ----------
    columns : sequence of Categories
        The columns; several are randomized jointly.
    mechanism : Transitions or ndarray, shape (categories,)
        Transition matrix, or retention probabilities.
    """
    names = tuple(column.name for column in columns)

    def release(block: Block, rng: Generator) -> Mapping[str, NDArray[Any]]:
        codes, sizes = joint_codes(columns, block)
        drawn = mechanism.draw(codes, rng) if isinstance(mechanism, Transitions) else replace(codes, mechanism, rng)
        return {name: part.astype(np.int32) for name, part in zip(names, np.unravel_index(drawn, sizes), strict=True)}

    return Step(names, {column.name: column.cell_list() for column in columns}, release)


def joint_codes(columns: Sequence[Categories], block: Block) -> tuple[Integers, tuple[int, ...]]:
    """Number of the combination of categories of each record, shape (rows,), and the size of each column."""
    sizes = tuple(column.size for column in columns)
    return np.ravel_multi_index(tuple(column.codes(block) for column in columns), sizes), sizes


def retention_replacement(defense: RetentionReplacement, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """Retention-replacement; the matrices depend on the number of records and on domains alone.

    Parameters
    ----------
    defense : RetentionReplacement
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.

    Raises
    ------
    ValueError
        If the parameters do not fit the records.
    """
    parts = defense._parts(counted(records))
    steps = [
        randomized([Categories.of(records, part.column)], np.full(part.categories, part.retention)) for part in parts
    ]
    return rowwise(records, defense, root, steps, Channel(parts))


def optimal_matrix(defense: OptimalMatrix, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """PRAM with the most informative matrices, which depend on domains and a public prior alone.

    Parameters
    ----------
    defense : OptimalMatrix
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.

    Raises
    ------
    ValueError
        If the parameters do not fit the records.
    """
    matrices = defense._matrices(counted(records))
    steps = [randomized([Categories.of(records, name)], Transitions.of(matrix)) for name, matrix in matrices.items()]
    parts = tuple(
        TransitionTable(name, records.roles.domain(name), tuple(map(tuple, matrix.tolist())))
        for name, matrix in matrices.items()
    )
    return rowwise(records, defense, root, steps, Channel(parts))


def retention_vectors(defense: RetentionVectors, records: LargeRecords, root: SeedSequence) -> LargeRelease:
    """PRAM with one retention probability per category, chosen by the histogram of the whole table.

    Parameters
    ----------
    defense : RetentionVectors
        The defense.
    records : LargeRecords
        The records.
    root : SeedSequence
        Root of the random generators.

    Raises
    ------
    ValueError
        If the parameters do not fit the records.
    """
    table = counted(records)
    groups = defense._groups(table)
    steps, parts = [], []
    for number, names in enumerate(groups):
        columns = tuple(Categories.of(records, name) for name in names)
        histogram = _histogram(records, columns)
        rng = block_generator(root, "matrix", number)
        retention = defense._retention(table, names, histogram, len(groups), rng)
        steps.append(randomized(columns, retention))
        domains, sizes = tuple(column.domain for column in columns), tuple(column.size for column in columns)
        parts.append(RetentionVector(names, domains, sizes, tuple(retention.tolist())))
    return rowwise(records, defense, root, steps, Channel(tuple(parts)))


def _histogram(records: LargeRecords, columns: Sequence[Categories]) -> Integers:
    """Number of records with each combination of categories, shape (product of the sizes,)."""
    total = int(np.prod([column.size for column in columns]))
    if len(columns) == 1 and columns[0].of_code is not None:
        counts = code_counts(records.columns[columns[0].name])
        return np.bincount(columns[0].of_code, counts, minlength=total).astype(np.int64)[:total]
    histogram = np.zeros(total, dtype=np.int64)
    for block in records.blocks([column.name for column in columns]):
        histogram += np.bincount(joint_codes(columns, block)[0], minlength=total)
    return histogram
