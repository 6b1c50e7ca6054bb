"""What an equivalence class must hold besides its size: l-diversity, t-closeness, a limit alpha on any one value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from defenses.base.columns import CodedColumn, code_column, code_values
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer, check_real
from metrics.arrays import Booleans, Floats, Integers
from metrics.domains import CategoricalDomain

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ROUNDING = 1e-9
"""How far a measure may miss its limit, so that rounding refuses no class that holds it exactly."""

_CELLS = 1 << 22
"""Largest table of counts that is laid out at a time."""


@dataclass(frozen=True)
class Constraint(ABC):
    """A demand on the sensitive values of every class.

    Merging two classes that meet any of them makes one that does: distinct values only grow, the entropy and the
    distances are concave and convex in the shares, a share of the whole is at most the larger share of the parts, and
    for (c, l) see the source, section 4. So whatever meets it with no row suppressed, all its generalizations do.

    Attributes
    ----------
    spoils_all : bool
        Whether every part of a class that fails fails too. Then the rows that must be suppressed only become fewer
        by generalization, as with k-anonymity; otherwise merging may spoil a good class by a bad one.
    """

    spoils_all: ClassVar[bool] = False

    @abstractmethod
    def holds(self, counts: Integers, table: Floats) -> Booleans:
        """Whether classes meet the demand.

        Parameters
        ----------
        counts : ndarray of int, shape (classes, values)
            How often each class, none empty, has each sensitive value, in the values' order.
        table : ndarray of float, shape (values,)
            Share of each value in the whole table.

        Returns
        -------
        ndarray of bool, shape (classes,)
        """

    @abstractmethod
    def __str__(self) -> str: ...


@dataclass(frozen=True)
class DistinctDiversity(Constraint):
    """Distinct l-diversity: at least l different values in a class."""

    l: int  # noqa: E741 (the field's own name for it)
    spoils_all: ClassVar[bool] = True

    def holds(self, counts: Integers, table: Floats) -> Booleans:
        """Count the values present."""
        return np.asarray((counts > 0).sum(axis=1) >= self.l)

    def __str__(self) -> str:
        return f"distinct {self.l}-diversity"


@dataclass(frozen=True)
class EntropyDiversity(Constraint):
    """Entropy l-diversity: an entropy of at least log l in a class."""

    l: float  # noqa: E741

    def holds(self, counts: Integers, table: Floats) -> Booleans:
        """Compare exp(-sum p log p) with l."""
        shares = _shares(counts)
        entropy = -(shares * np.log(np.where(counts > 0, shares, 1.0))).sum(axis=1)
        return np.asarray(np.exp(entropy) >= self.l - ROUNDING)

    def __str__(self) -> str:
        return f"entropy {self.l:g}-diversity"


@dataclass(frozen=True)
class RecursiveDiversity(Constraint):
    """Recursive (c, l)-diversity: r_1 < c (r_l + r_(l+1) + … + r_m), r the counts of a class in descending order."""

    c: float
    l: int  # noqa: E741

    def holds(self, counts: Integers, table: Floats) -> Booleans:
        """Compare the most frequent value with the tail from the l-th on."""
        ranked = -np.sort(-counts, axis=1)
        return np.asarray(ranked[:, 0] < self.c * ranked[:, self.l - 1 :].sum(axis=1))

    def __str__(self) -> str:
        return f"recursive ({self.c:g}, {self.l})-diversity"


@dataclass(frozen=True)
class EqualCloseness(Constraint):
    """t-closeness with all values equally far apart: sum |p - q| / 2 at most t."""

    t: float

    def holds(self, counts: Integers, table: Floats) -> Booleans:
        """Compare the total variation with t."""
        return np.asarray(np.abs(_shares(counts) - table).sum(axis=1) / 2 <= self.t + ROUNDING)

    def __str__(self) -> str:
        return f"{self.t:g}-closeness with equal distances"


@dataclass(frozen=True)
class OrderedCloseness(Constraint):
    """t-closeness with values as far apart as their ranks: sum |P - Q| / (m - 1) at most t, P and Q cumulative."""

    t: float

    def holds(self, counts: Integers, table: Floats) -> Booleans:
        """Compare the earth mover's distance along the order with t."""
        moved = np.abs(np.cumsum(_shares(counts) - table, axis=1)).sum(axis=1)
        return np.asarray(moved / max(1, table.size - 1) <= self.t + ROUNDING)

    def __str__(self) -> str:
        return f"{self.t:g}-closeness with ordered distances"


@dataclass(frozen=True)
class LargestShare(Constraint):
    """The alpha of (alpha, k)-anonymity: no value takes more than this share of a class."""

    alpha: float

    def holds(self, counts: Integers, table: Floats) -> Booleans:
        """Compare the most frequent value's share with alpha."""
        return np.asarray(_shares(counts).max(axis=1) <= self.alpha + ROUNDING)

    def __str__(self) -> str:
        return f"shares of at most {self.alpha:g}"


def make_constraints(
    l: float | None,  # noqa: E741
    diversity: str,
    c: float | None,
    t: float | None,
    distance: str,
    alpha: float | None,
) -> tuple[Constraint, ...]:
    """Constraints that a defense's parameters ask for.

    Raises
    ------
    ValueError
        If `diversity` or `distance` is unknown, `l` is not an integer (for entropy: no number) of at least 1, `c` is
        missing, superfluous or not above 0, or `t` or `alpha` lies outside [0, 1] and (0, 1].
    """
    if diversity not in ("distinct", "entropy", "recursive"):
        raise ValueError(f"diversity must be 'distinct', 'entropy' or 'recursive', got {diversity!r}")
    if distance not in ("equal", "ordered"):
        raise ValueError(f"distance must be 'equal' or 'ordered', got {distance!r}")
    return tuple(_made(l, diversity, c, t, distance, alpha))


def _made(
    l: Any,  # noqa: E741
    diversity: str,
    c: Any,
    t: Any,
    distance: str,
    alpha: Any,
) -> Iterator[Constraint]:
    if c is not None:
        check_real("c", c, low=0, open_low=True)
    if (c is not None) != (l is not None and diversity == "recursive"):
        raise ValueError(f"c goes with l and diversity = 'recursive', got c = {c!r}, l = {l!r} and {diversity!r}")
    if l is not None:
        if diversity == "entropy":
            check_real("l", l, low=1)
            yield EntropyDiversity(l)
        else:
            check_integer("l", l, low=1)
            yield DistinctDiversity(l) if diversity == "distinct" else RecursiveDiversity(c, l)
    if t is not None:
        check_real("t", t, low=0, high=1)
        yield EqualCloseness(t) if distance == "equal" else OrderedCloseness(t)
    if alpha is not None:
        check_real("alpha", alpha, low=0, high=1, open_low=True)
        yield LargestShare(alpha)


@dataclass(frozen=True)
class SensitiveColumn:
    """A sensitive column in coded form.

    Attributes
    ----------
    name : str
        The column's name.
    codes : ndarray of int, shape (n,)
        Each record's value, in the values' order where they have one.
    table : ndarray of float, shape (values,)
        Share of each value among all records.
    """

    name: str
    codes: Integers
    table: Floats


def sensitive_columns(records: Microdata, constraints: Sequence[Constraint]) -> tuple[SensitiveColumn, ...]:
    """The columns that the constraints are about: all sensitive ones, none where there is no constraint.

    Raises
    ------
    ValueError
        If there are constraints and no sensitive column, a column has fewer values than `l`, or ordered distances
        meet a missing value or categories without order.
    """
    if not constraints:
        return ()
    if not records.sensitive:
        raise ValueError(f"{constraints[0]} needs a sensitive column, and the records have none")
    ordered = any(isinstance(constraint, OrderedCloseness) for constraint in constraints)
    columns = tuple(_sensitive_column(records, name, ordered) for name in records.sensitive)
    for column in columns:
        present = int((column.table > 0).sum())
        demanded = max(getattr(constraint, "l", 0) for constraint in constraints)
        if demanded > present:
            raise ValueError(f"l must not exceed the {present} values of column {column.name!r}, got {demanded!r}")
    return columns


def check_apart(names: Sequence[str], columns: Sequence[SensitiveColumn]) -> None:
    """Raise ValueError if a column to generalize is one that the constraints are about."""
    for column in columns:
        if column.name in names:
            raise ValueError(
                f"columns: {column.name!r} is sensitive and cannot be generalized under a constraint on it"
            )


def check_whole_table(constraints: Sequence[Constraint], columns: Sequence[SensitiveColumn]) -> None:
    """Raise ValueError if all records together fail a constraint, and so some class of every partition would."""
    for column in columns:
        counts = np.bincount(column.codes, minlength=column.table.size)[None, :]
        for constraint in constraints:
            if not constraint.holds(counts, column.table)[0]:
                raise ValueError(f"column {column.name!r}: not even the table as a whole has {constraint}")


def _sensitive_column(records: Microdata, name: str, ordered: bool) -> SensitiveColumn:
    coded = _code_in_order(records, name) if ordered else code_values(records.frame[name])
    return SensitiveColumn(name, coded.codes, coded.counts / len(records))


def _code_in_order(records: Microdata, name: str) -> CodedColumn:
    """Code a column so that codes are ranks: of its numbers, or of the categories of its ordered domain."""
    column = records.frame[name]
    if column.isna().any():
        row = int(np.flatnonzero(column.isna())[0])
        raise ValueError(f"column {name!r}, row {row}: a missing value has no place in the order")
    domain = records.domain(name)
    if not isinstance(domain, CategoricalDomain):
        return code_values(column, ascending=True)
    if not domain.ordered:
        raise ValueError(f"distance = 'ordered' needs an order; declare an ordered domain for column {name!r}")
    return code_column(column, domain)


def all_hold(
    constraints: Sequence[Constraint], columns: Sequence[SensitiveColumn], histograms: Sequence[csr_array], size: int
) -> Booleans:
    """Whether each class meets every constraint in every sensitive column, shape (size,).

    `histograms` holds the counts of each column, shape (size, values); none of the classes is empty.
    """
    holds = np.ones(size, dtype=bool)
    for column, histogram in zip(columns, histograms, strict=True):
        step = max(1, _CELLS // max(1, column.table.size))
        for start in range(0, size if constraints else 0, step):
            block = slice(start, start + step)
            counts = histogram[block].toarray()
            for constraint in constraints:
                holds[block] &= constraint.holds(counts, column.table)
    return holds


def _shares(counts: Integers) -> Floats:
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares
