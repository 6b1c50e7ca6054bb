"""Tables spread over public bins, for comparing original and generalized tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metrics.columns import Domain, Floats, Integers, NumericDomain, escape_column, group_sums, read_cells, require

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_AT_ONCE = 1 << 22
"""Most entries of a table of mass, or of pairs of cells, that is made for `Profile.joint`."""


class Profile(ABC):
    """A table as one block of bins per column.

    - starts, shape (columns,): First bin of each block. The last bin of a block is the missing value.
    - bins: Number of bins of all columns.
    """

    starts: Integers
    rows: int
    bins: int

    @property
    @abstractmethod
    def mass(self) -> Floats:
        """Share of each row in each bin, shape (rows, bins).

        A row sums to 1 in every block. A generalized cell spreads evenly over the values that it covers.
        """

    @property
    @abstractmethod
    def joint(self) -> Floats:
        """Expected number of rows in each pair of bins, shape (bins, bins)."""

    @cached_property
    def counts(self) -> Floats:
        """Expected number of rows in each bin, shape (bins,)."""
        return np.asarray(self.mass.sum(axis=0))

    @cached_property
    def blocks(self) -> list[slice]:
        """Bins of each column."""
        return [slice(start, end) for start, end in pairwise([*self.starts.tolist(), self.bins])]

    def block(self, column: int) -> Floats:
        """Mass of one column, shape (rows, bins of the column)."""
        return self.mass[:, self.blocks[column]]

    def without(self, column: int) -> Floats:
        """Mass of all other columns, shape (rows, their bins)."""
        return np.delete(self.mass, self.blocks[column], axis=1)


class DenseProfile(Profile):
    """A profile given by the mass of its rows.

    - mass, shape (rows, bins): See `Profile`.
    - starts, shape (columns,): See `Profile`.
    """

    def __init__(self, mass: Floats, starts: Integers) -> None:
        self._mass = mass
        self.starts = starts
        self.rows, self.bins = mass.shape

    @property
    def mass(self) -> Floats:
        """Share of each row in each bin, shape (rows, bins)."""
        return self._mass

    @cached_property
    def joint(self) -> Floats:
        """Expected number of rows in each pair of bins, shape (bins, bins)."""
        return np.asarray(self._mass.T @ self._mass)


class CodedProfile(Profile):
    """A profile given by the distinct cells of each column, and the cell of each row.

    Large tables have few distinct cells, and most measures need no more than `joint`.

    - cells, each, shape (distinct, bins of the column): Mass of each column's distinct cells.
    - codes, each, shape (rows,): The distinct cell of each row, by column.
    """

    def __init__(self, cells: Sequence[Floats], codes: Sequence[Integers], rows: int) -> None:
        plain = [_by_bin(block, column) for block, column in zip(cells, codes, strict=True)]
        self.cells = tuple(block for block, _ in plain)
        self.codes = tuple(column for _, column in plain)
        self.rows = rows
        ends = np.cumsum([0, *(block.shape[1] for block in cells)])
        self.starts = ends[:-1].astype(np.intp)
        self.bins = int(ends[-1])

    @cached_property
    def mass(self) -> Floats:
        """Share of each row in each bin, shape (rows, bins)."""
        parts = [block[codes] for block, codes in zip(self.cells, self.codes, strict=True)]
        return np.hstack(parts) if parts else np.zeros((self.rows, 0))

    @cached_property
    def counts(self) -> Floats:
        """Expected number of rows in each bin, shape (bins,)."""
        by_column = [
            np.bincount(codes, minlength=len(block)) @ block
            for block, codes in zip(self.cells, self.codes, strict=True)
        ]
        return np.concatenate(by_column) if by_column else np.zeros(0)

    @cached_property
    def joint(self) -> Floats:
        """Expected number of rows in each pair of bins, shape (bins, bins).

        Small tables multiply their mass. Large ones count pairs of distinct cells, column by column, which are fewer
        than rows.
        """
        if self.rows * self.bins <= _AT_ONCE:
            return np.asarray(self.mass.T @ self.mass)
        joint = np.zeros((self.bins, self.bins))
        for first, row in enumerate(self.blocks):
            for second, column in enumerate(self.blocks[: first + 1]):
                joint[row, column] = self._pairs(first, second)
                joint[column, row] = joint[row, column].T
        return joint

    def _pairs(self, first: int, second: int) -> Floats:
        """Expected number of rows in each pair of bins of two columns."""
        cells, codes = self.cells, self.codes
        kinds = len(cells[first]), len(cells[second])
        if first == second:
            return cells[first].T @ (np.bincount(codes[first], minlength=kinds[0])[:, None] * cells[first])
        if kinds[0] * kinds[1] > max(_AT_ONCE, self.rows):
            return np.asarray(cells[first].T @ group_sums(codes[first], cells[second][codes[second]], kinds[0]))
        counts = np.bincount(codes[first] * kinds[1] + codes[second], minlength=kinds[0] * kinds[1])
        return cells[first].T @ (counts.reshape(kinds) @ cells[second])

    def sparse(self, rows: slice) -> csr_array:
        """Mass of consecutive rows, shape (rows, bins)."""
        from scipy.sparse import csr_array, hstack

        parts = [csr_array(block)[codes[rows]] for block, codes in zip(self.cells, self.codes, strict=True)]
        return csr_array(hstack(parts, format="csr"))

    def take(self, rows: Integers) -> CodedProfile:
        """Profile of some rows, by their positions."""
        return CodedProfile(self.cells, [codes[rows] for codes in self.codes], len(rows))


def _by_bin(block: Floats, codes: Integers) -> tuple[Floats, Integers]:
    """Cells and codes of a column; if each cell lies in one bin, the bins are its cells, which are fewer."""
    if len(block) > block.shape[1] and (block.max(axis=1) == 1).all():
        return np.eye(block.shape[1]), block.argmax(axis=1)[codes]
    return block, codes


def profile(released: pd.DataFrame, domains: Mapping[str, Domain]) -> CodedProfile:
    """Spread a released table over the bins of `domains`, with columns in the order of `domains`.

    Raises ValueError if a column is missing or a cell cannot be read; names column, row and cell.
    """
    for name in domains:
        require(name in released.columns, f"the released table has no column {name!r}")
    columns = [read_cells(released[name], domain) for name, domain in domains.items()]
    return CodedProfile([cells.mass() for cells in columns], [cells.codes for cells in columns], len(released))


def original_profile(original: pd.DataFrame, domains: Mapping[str, Domain]) -> CodedProfile:
    """Spread an original table (values, not cells) over the bins of `domains`."""
    return profile(pd.DataFrame({name: escape_column(original[name], domains[name]) for name in domains}), domains)


def check_comparable(original: pd.DataFrame, released: pd.DataFrame, domains: Mapping[str, Domain], need: str) -> None:
    """Raise ValueError unless both tables have rows and there is a column to compare; `need` starts the message."""
    for title, table in (("original", original), ("released", released)):
        require(len(table) != 0, f"the {title} table has no rows")
    require(domains, f"{need} the domain of at least one column")


BLOCK = 1 << 18
"""Number of rows of a block."""
UNIT = 1 << 30
"""Units of a row in which a block's expected counts are rounded, so that their sum is the same in any order."""


class CountedProfile(Profile):
    """A profile of rows that arrive in blocks: the expected number of rows in each pair of bins, without the rows.

    - starts, shape (columns,): First bin of each column's block.
    - bins: Number of bins of all columns.

    Raises TypeError if the mass of single rows is asked for.
    """

    def __init__(self, starts: Integers, bins: int) -> None:
        self.starts, self.bins, self.rows = starts, bins, 0
        self._units = np.zeros((bins, bins), dtype=np.int64)

    @classmethod
    def of(cls, table: CodedProfile, block: int = BLOCK) -> CountedProfile:
        """Count the rows of a table, some at a time."""
        counted = cls(table.starts, table.bins)
        for start in range(0, table.rows if table.bins else 0, block):
            counted.update(table.sparse(slice(start, start + block)))
        counted.rows = table.rows
        return counted

    def update(self, mass: csr_array) -> None:
        """Add a block of rows by their mass, shape (rows, bins)."""
        self._add(np.rint((mass.T @ mass).toarray() * UNIT).astype(np.int64), mass.shape[0])

    def merge(self, other: CountedProfile) -> None:
        """Add the blocks of another profile of the same bins."""
        self._add(other._units, other.rows)

    def _add(self, units: Integers, rows: int) -> None:
        self._units += units
        self.rows += rows
        for name in ("joint", "counts"):
            self.__dict__.pop(name, None)

    @property
    def mass(self) -> Floats:
        """The mass of single rows, which is not kept."""
        raise TypeError("a counted profile keeps no rows")

    @cached_property
    def joint(self) -> Floats:
        """Expected number of rows in each pair of bins, shape (bins, bins)."""
        return self._units / UNIT

    @cached_property
    def counts(self) -> Floats:
        """Expected number of rows in each bin, shape (bins,): every row has mass 1 in its first column."""
        return np.asarray(self.joint[self.blocks[0]].sum(axis=0)) if self.blocks else np.zeros(0)


# Similarity of released rows to original records, cell by cell.


def record_similarity(original: Profile, released: Profile, domains: Mapping[str, Domain]) -> Floats:
    """Mean similarity over columns of every original to every released row, shape (originals, released), in [0, 1].

    The similarity of numbers and ordered categories is 1 - |distance of bins| / (bins - 1). That of other categories
    and of missing values is 1 if they are equal and 0 otherwise. A generalized cell has the mean similarity of the
    values that it covers, so that ``*`` has no advantage over a guess.

    - original, released: Tables spread over the bins of `domains`.
    - domains: The columns, in the order of the profiles.
    """
    parts = (
        original.block(position) @ _bin_similarity(domain) @ released.block(position).T
        for position, domain in enumerate(domains.values())
    )
    return np.asarray(sum(parts, np.zeros((original.rows, released.rows))) / max(1, len(domains)))


def _bin_similarity(domain: Domain) -> Floats:
    """Similarity of bins, shape (size + 1, size + 1); the last one is the missing value."""
    similarity = np.eye(domain.size + 1)
    if isinstance(domain, NumericDomain) or domain.ordered:
        position = np.arange(domain.size)
        similarity[:-1, :-1] = 1 - np.abs(position[:, None] - position) / max(1, domain.size - 1)
    return similarity
