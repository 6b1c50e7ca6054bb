"""Records by their distinct combinations of values, and defenses that need no more than these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.base import Channel, CodedColumn, Guarantee, Microdata, check_enough, chosen_columns
from defenses.grouping.constraints import Constraint, OrderedCloseness, SensitiveColumn, check_value_counts
from metrics.columns import CategoricalDomain, Integers, refuse, require

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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
class CountedValues:
    """Values of a sensitive column, counted in each combination.

    Attributes
    ----------
    values : ndarray, shape (values,)
        Its distinct values in the order of `defenses.base.columns.code_column`.
    missing : int
        Position of the missing value; the number of values if none is missing.
    counts : csr_array, shape (combinations, values)
        Number of records of each combination with each value.
    """

    values: NDArray[Any] = field(repr=False)
    missing: int
    counts: csr_array = field(repr=False)


@dataclass(frozen=True)
class CountedTable:
    """Records by their distinct combinations of values, however many records there are.

    Attributes
    ----------
    roles : Microdata
        Roles, domains and hierarchies of the records. Each column of its frame holds the values of the records, but the
        rows are no records.
    columns : mapping of str to CodedColumn
        Columns with a code for each combination, in the order of `defenses.base.columns.code_column`.
    counts : ndarray of int, shape (combinations,)
        Number of records of each combination, at least 1.
    sensitive : mapping of str to CountedValues
        Sensitive columns.
    """

    roles: Microdata
    columns: Mapping[str, CodedColumn]
    counts: Integers = field(repr=False)
    sensitive: Mapping[str, CountedValues] = field(default_factory=dict)

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

    def checked_columns(self, k: int, columns: Sequence[str] | None) -> tuple[str, ...]:
        """The given columns, by default the quasi-identifiers.

        Raises
        ------
        ValueError
            If there are fewer than `k` records, or a column is unknown.
        """
        check_enough(k, len(self))
        return chosen_columns(self.roles, columns, self.roles.quasi_identifiers)

    def constrained(self, constraints: Sequence[Constraint]) -> tuple[SensitiveColumn, ...]:
        """The columns that the constraints apply to, without a code for each record.

        Raises
        ------
        ValueError
            As `defenses.grouping.constraints.sensitive_columns`.
        """
        if not constraints:
            return ()
        check_sensitive(self.roles, constraints)
        columns = []
        for name in self.roles.sensitive:
            totals = np.asarray(self.sensitive[name].counts.sum(axis=0)).ravel()
            columns.append(SensitiveColumn(name, np.empty(0, dtype=np.intp), totals))
        check_value_counts(constraints, columns)
        return tuple(columns)


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
        return cls(position.astype(np.int32)[value], np.asarray(distinct))

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
        What the release promises.
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


@runtime_checkable
class CountedDefense(Protocol):
    """A defense whose release of a table follows from counts of the table's distinct combinations of values."""

    @property
    def works_on_counts(self) -> bool:
        """Whether the parameters allow it."""

    def counted_columns(self, roles: Microdata) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Columns whose combinations the defense needs, and sensitive columns that it needs counted in each."""

    def recode(self, records: CountedTable) -> Recoding:
        """Release the records; nothing is drawn.

        Raises
        ------
        ValueError
            As `apply` in memory.
        """


def check_sensitive(roles: Microdata, constraints: Sequence[Constraint]) -> None:
    """Check that the constraints fit the sensitive columns of a table, given the values that occur.

    Raises
    ------
    ValueError
        If there is no sensitive column. If distances are ordered and a column has a missing value, or no order.
    """
    require(roles.sensitive, f"{constraints[0]} needs a sensitive column, and the records have none")
    for name in roles.sensitive if any(isinstance(each, OrderedCloseness) for each in constraints) else ():
        refuse(roles.frame[name].isna().any(), f"column {name!r}: a missing value cannot be ordered")
        domain = roles.domain(name)
        refuse(
            isinstance(domain, CategoricalDomain) and not domain.ordered,
            f"distance = 'ordered' needs an order; declare an ordered domain for column {name!r}",
        )
