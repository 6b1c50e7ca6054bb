"""Records by their distinct combinations of values, and defenses that need no more than these."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from defenses.base.blocks import RecordsInBlocks
from defenses.base.channel import Channel
from defenses.base.columns import CodedColumn, code_column, code_values, is_number_column
from defenses.base.defense import MicrodataDefense, Needs, chosen_columns, released_frame, rowwise_release
from defenses.base.guarantee import Guarantee
from defenses.base.k_anonymous_defense import check_enough
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from metrics.classes import example_of_each
from metrics.columns import Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array


MOST = 1 << 25
"""Largest number of combinations that are counted; the same on every machine, so that releases are too."""
VALUES = 1 << 20
"""Largest number of distinct values that a column of a table in parts is coded by."""


@dataclass(frozen=True)
class WeightedColumn(CodedColumn):
    """A coded column whose rows stand for several records each.

    Attributes
    ----------
    weights : ndarray of int, shape (n,)
        Number of records of each row.
    """

    weights: Integers = field(repr=False)

    @property
    def counts(self) -> Integers:
        """Number of records with each value, shape (size,)."""
        return np.bincount(self.codes, weights=self.weights, minlength=self.size).astype(np.intp)


@dataclass(frozen=True)
class CountedTable:
    """Records by combinations of values that several of them share; or each record as a combination of its own.

    Attributes
    ----------
    roles : Microdata
        Roles, domains and hierarchies of the records. Each column of its frame holds the values of the records, but the
        rows are no records.
    columns : mapping of str to CodedColumn
        Columns with a code for each combination; in the order of `defenses.base.columns.code_column` for a defense that
        needs an order.
    counts : ndarray of int, shape (combinations,)
        Number of records of each combination; 0 where they were suppressed before.
    sensitive : mapping of str to csr_array, each of shape (combinations, values)
        Number of records of each combination with each value of a sensitive column.
    single : bool
        Whether each combination is one record, in the order of the roles' frame.
    """

    roles: Microdata
    columns: Mapping[str, CodedColumn]
    counts: Integers = field(repr=False)
    sensitive: Mapping[str, csr_array] = field(default_factory=dict, repr=False)
    single: bool = False

    def __len__(self) -> int:
        return int(self.counts.sum())

    def occurring(self, name: str) -> CodedColumn:
        """A column with codes for the values that occur only, in the same order."""
        column = self.columns[name]
        present = np.zeros(column.size, dtype=bool)
        present[column.codes] = True
        new = np.cumsum(present) - 1
        codes = new.astype(np.min_scalar_type(max(1, column.size)))[column.codes]
        values = column.values[present]
        missing = int(new[column.missing]) if column.missing < column.size and present[column.missing] else values.size
        return CodedColumn(values, codes, missing)

    def weighted(self, name: str) -> WeightedColumn:
        """A column with the number of records of each combination."""
        column = self.columns[name]
        return WeightedColumn(column.values, column.codes, column.missing, self.counts)

    def classes(self, names: Sequence[str]) -> Integers:
        """Number of the distinct values in some columns of each combination, in order of appearance."""
        classes: Integers = np.zeros(self.counts.size, dtype=np.intp)
        for name in names:
            column = self.columns[name]
            classes = pd.factorize(classes * column.size + column.codes)[0]
        return classes

    @property
    def is_large(self) -> bool:
        """Whether the same table, read in parts, has too many combinations to be counted, or nearly distinct numbers.

        A table whose sensitive values are nearly distinct is not released in parts, so that it does not matter.
        """
        if any(histogram.shape[1] > VALUES for histogram in self.sensitive.values()):
            return False
        numbers = [name for name in self.columns if is_number_column(self.roles.frame[name])]
        if any(self.columns[name].missing > VALUES for name in numbers):
            return True
        return self.counts.size > MOST and int(self.classes(tuple(self.columns)).max()) >= MOST

    def rows(self, name: str) -> Integers:
        """Row of the roles' frame that holds the value of each code, shape (size,); any row if no record has it."""
        column = self.columns[name]
        coded = column if self.single else code_column(self.roles.frame[name], self.roles.domain(name))
        rows = np.zeros(column.size, dtype=np.intp)
        rows[coded.codes] = np.arange(coded.codes.size)
        return rows

    def checked_columns(self, k: int, columns: Sequence[str] | None) -> tuple[str, ...]:
        """The given columns, by default the quasi-identifiers.

        Raises ValueError if there are fewer than `k` records, or a column is unknown.
        """
        check_enough(k, len(self))
        return chosen_columns(self.roles, columns, self.roles.quasi_identifiers)


@dataclass(frozen=True)
class ClassCells:
    """Released cells of a column.

    Attributes
    ----------
    codes : ndarray of int, shape (classes,)
        Position of each class's cell in `cells`.
    cells : ndarray, shape (distinct,)
        The distinct cells; None or NaN stands for a missing value.
    """

    codes: NDArray[np.int32] = field(repr=False)
    cells: NDArray[Any]

    @classmethod
    def of(cls, value: Integers, cells: NDArray[Any]) -> Self:
        """Cells of classes that hold a single value each, given the value's position and the cell of each value."""
        position, distinct = pd.factorize(cells, use_na_sentinel=False)
        return cls(position.astype(np.int32)[value], cells[example_of_each(position, len(distinct))])

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Cells of the classes of several parts, one part after the other."""
        starts = np.cumsum([0, *(part.cells.size for part in parts)])
        codes = [part.codes + start for part, start in zip(parts, starts, strict=False)]
        return cls(np.concatenate(codes).astype(np.int32), np.concatenate([part.cells for part in parts]))

    def extended(self, cell: str) -> ClassCells:
        """The cells with one more class, which has a cell of its own."""
        last = np.array([self.cells.size], dtype=np.int32)
        return ClassCells(np.append(self.codes, last), np.append(self.cells.astype(object), cell))


@dataclass(frozen=True)
class Recoding:
    """Release of counted records: the class of each combination, and the released cells of each class.

    Attributes
    ----------
    classes : ndarray of int, shape (combinations,)
        Class of each combination; -1 if its records are not released.
    cells : mapping of str to ClassCells
        Cells of the columns that the defense replaces; other columns are released as they are.
    guarantee : Guarantee
        What the release guarantees.
    channel : Channel
        What is public about the defense.
    remark : str
        What else the publisher should know, such as a loss.
    """

    classes: Integers = field(repr=False)
    cells: Mapping[str, ClassCells] = field(repr=False)
    guarantee: Guarantee
    channel: Channel
    remark: str = ""


class CountedDefense(MicrodataDefense):
    """A defense whose release of a table follows from counts of the table's distinct combinations of values.

    Releases are the same whether these are counted in a table that is read in parts, or each record in memory is a
    combination of its own.
    """

    @property
    def works_on_counts(self) -> bool:
        """Whether the parameters allow it."""
        return True

    @property
    def only_suppresses(self) -> bool:
        """Whether cells stay as they are, and it matters of values only which ones are equal."""
        return False

    @property
    def needs(self) -> Needs:
        """Combinations, where the parameters allow it."""
        return "combinations" if self.works_on_counts else "table"

    @abstractmethod
    def counted_columns(self, roles: Microdata) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Columns whose combinations the defense needs, and sensitive columns that it needs counted in each."""

    @abstractmethod
    def recode(self, records: CountedTable) -> Recoding:
        """Release the records; nothing is drawn.

        Raises ValueError if the parameters do not fit the records.
        """

    def recode_large(self, records: RecordsInBlocks) -> Recoding | None:
        """Release records whose combinations are too many to be counted: the class of each record, in their order.

        By default there is no such release.
        """
        return None

    def coded(self, records: Microdata, names: Sequence[str]) -> Mapping[str, CodedColumn]:
        """Code columns of records in memory; a defense that needs an order of the values codes them in this order."""
        return {name: code_values(records.frame[name]) for name in names}

    def counted(self, records: Microdata) -> CountedTable:
        """Records in memory, each a combination of its own."""
        names, _ = self.counted_columns(records)
        return CountedTable(records, self.coded(records, names), np.ones(len(records), dtype=np.intp), single=True)

    def apply(self, records: Microdata, rng: Generator) -> MicrodataRelease:
        """Release the records by the classes that their combinations have; nothing is drawn."""
        return recoded_release(records, self.recode(self.counted(records)))


def recoded_release(records: Microdata, recoding: Recoding) -> MicrodataRelease:
    """Release of records in memory, given the class of each record."""
    cells = {name: each.cells[each.codes[recoding.classes]] for name, each in recoding.cells.items()}
    release = rowwise_release(released_frame(records, cells), recoding.channel)
    kept = recoding.classes >= 0
    return release if kept.all() else release.take(np.flatnonzero(kept))
