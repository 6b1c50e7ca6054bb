"""Categories of a column that are randomized block by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base import Block, CellList, RecordsInBlocks, Step, category_cells, category_count, codes_in_domain
from defenses.pram.sampling import Transitions, replace
from metrics.columns import Domain, Floats, Integers


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


def histogram(records: RecordsInBlocks, columns: Sequence[Categories]) -> Integers:
    """Number of records with each combination of categories, shape (product of the sizes,)."""
    total = int(np.prod([column.size for column in columns]))
    if len(columns) == 1 and columns[0].of_code is not None:
        counts = records.column(columns[0].name).counts
        return np.bincount(columns[0].of_code, counts, minlength=total).astype(np.int64)[:total]
    counts = np.zeros(total, dtype=np.int64)
    for block in records.blocks([column.name for column in columns]):
        counts += np.bincount(joint_codes(columns, block)[0], minlength=total)
    return counts
