"""Constraints on the sensitive values of equivalence classes: l-diversity, t-closeness, (alpha, k)-anonymity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from defenses.base import (
    CountedDefense,
    CountedTable,
    KAnonymousDefense,
    Microdata,
    chosen_columns,
    code_column,
    code_values,
    filled,
)
from metrics.columns import (
    Booleans,
    CategoricalDomain,
    Floats,
    Integers,
    check_integer,
    check_real,
    refuse,
    refuse_rows,
    require,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Histogram = csr_array | Integers

ROUNDING = 1e-9
"""Tolerance of a limit, so that rounding errors refuse no class that meets the limit exactly."""

_CELLS = 1 << 22
"""Largest table of counts held at a time."""


@dataclass(frozen=True)
class Constraint(ABC):
    """A constraint on the sensitive values of every class.

    If two classes satisfy a constraint, so does the class that merges them:

    - Merging never reduces the number of distinct values.
    - Entropy is concave and the distances of t-closeness are convex in the shares.
    - The share of a value in the merged class is at most the larger of its shares in the parts.
    - Recursive (c, l)-diversity: let the merged counts be x + y, and T the other values than the l - 1 most frequent
      ones of x + y. Each class has at least as many rows in T as in its own values from the l-th most frequent on,
      which are its fewest. Hence max(x + y) <= max x + max y < c (x(T) + y(T)).

    All generalizations of a table without suppressed rows therefore satisfy the constraint if the table does. So does a
    table whose parts are generalized one by one, unless the constraint compares classes with the table they are in.

    - kept_in_parts: Whether the classes of a table satisfy the constraint if it was generalized part by part and they
      satisfied it in their part.
    - spoils_all: Whether every part of a failing class fails too. If so, generalization can only reduce the number of
      rows that must be suppressed, as under k-anonymity. Otherwise, a failing class may spoil a good one by merging
      with it.
    - words: The constraint in words, with its parameters as format fields.
    """

    kept_in_parts: ClassVar[bool] = True
    spoils_all: ClassVar[bool] = False
    words: ClassVar[str]

    @abstractmethod
    def holds(self, counts: Integers, table: Floats) -> Booleans:
        """Tell which classes satisfy the constraint.

        - counts of shape (classes, values): Counts of each sensitive value in each class, in the order of the values;
          no class is empty.
        - table of shape (values,): Share of each value in the whole table.
        - returns shape (classes,).
        """

    def __str__(self) -> str:
        return self.words.format(**vars(self))


@dataclass(frozen=True)
class DistinctDiversity(Constraint):
    """Distinct l-diversity: a class has at least l distinct values."""

    l: int  # noqa: E741 (the field's own name for it)
    spoils_all: ClassVar[bool] = True
    words: ClassVar[str] = "distinct {l}-diversity"

    def holds(self, counts: Integers, table: Floats) -> Booleans:
        """Compare the number of distinct values with l."""
        return np.asarray((counts > 0).sum(axis=1) >= self.l)


@dataclass(frozen=True)
class EntropyDiversity(Constraint):
    """Entropy l-diversity: the entropy of a class is at least log l."""

    l: float  # noqa: E741
    words: ClassVar[str] = "entropy {l:g}-diversity"

    def holds(self, counts: Integers, table: Floats) -> Booleans:
        """Compare exp(-sum p log p) with l."""
        shares = _shares(counts)
        entropy = -(shares * np.log(np.where(counts > 0, shares, 1.0))).sum(axis=1)
        return np.asarray(np.exp(entropy) >= self.l - ROUNDING)


@dataclass(frozen=True)
class RecursiveDiversity(Constraint):
    """Recursive (c, l)-diversity: r_1 < c (r_l + … + r_m), with r the counts of a class in descending order."""

    c: float
    l: int  # noqa: E741
    words: ClassVar[str] = "recursive ({c:g}, {l})-diversity"

    def holds(self, counts: Integers, table: Floats) -> Booleans:
        """Compare the largest count with the sum of the counts from the l-th on."""
        ranked = -np.sort(-counts, axis=1)
        return np.asarray(ranked[:, 0] < self.c * ranked[:, self.l - 1 :].sum(axis=1))


@dataclass(frozen=True)
class EqualCloseness(Constraint):
    """t-closeness with equal ground distances: sum |p - q| / 2 is at most t."""

    t: float
    kept_in_parts: ClassVar[bool] = False
    words: ClassVar[str] = "{t:g}-closeness with equal distances"

    def holds(self, counts: Integers, table: Floats) -> Booleans:
        """Compare the total variation distance with t."""
        return np.asarray(np.abs(_shares(counts) - table).sum(axis=1) / 2 <= self.t + ROUNDING)


@dataclass(frozen=True)
class OrderedCloseness(Constraint):
    """t-closeness with ordered ground distances: sum |P - Q| / (m - 1) is at most t, with P and Q cumulative."""

    t: float
    kept_in_parts: ClassVar[bool] = False
    words: ClassVar[str] = "{t:g}-closeness with ordered distances"

    def holds(self, counts: Integers, table: Floats) -> Booleans:
        """Compare the earth mover's distance between ordered values with t."""
        moved = np.abs(np.cumsum(_shares(counts) - table, axis=1)).sum(axis=1)
        return np.asarray(moved / max(1, table.size - 1) <= self.t + ROUNDING)


@dataclass(frozen=True)
class LargestShare(Constraint):
    """The alpha of (alpha, k)-anonymity: no value has a larger share of a class."""

    alpha: float
    words: ClassVar[str] = "shares of at most {alpha:g}"

    def holds(self, counts: Integers, table: Floats) -> Booleans:
        """Compare the share of the most frequent value with alpha."""
        return np.asarray(_shares(counts).max(axis=1) <= self.alpha + ROUNDING)


def make_constraints(
    l: float | None,  # noqa: E741
    diversity: str,
    c: float | None,
    t: float | None,
    distance: str,
    alpha: float | None,
) -> tuple[Constraint, ...]:
    """Make the constraints that the parameters of a defense describe.

    Raises ValueError if `diversity` or `distance` is unknown, or `c` is missing, superfluous or not above 0. If `l` is
    not an integer of at least 1 (for entropy: not a number of at least 1). If `t` lies outside [0, 1], or `alpha`
    outside (0, 1].
    """
    require(
        diversity in ("distinct", "entropy", "recursive"),
        f"diversity must be 'distinct', 'entropy' or 'recursive', got {diversity!r}",
    )
    require(distance in ("equal", "ordered"), f"distance must be 'equal' or 'ordered', got {distance!r}")
    return tuple(_checked_constraints(l, diversity, c, t, distance, alpha))


def _checked_constraints(
    l: Any,  # noqa: E741
    diversity: str,
    c: Any,
    t: Any,
    distance: str,
    alpha: Any,
) -> Iterator[Constraint]:
    check_real("c", c, low=0, open_low=True, optional=True)
    require(
        (c is not None) == (l is not None and diversity == "recursive"),
        f"c goes with l and diversity = 'recursive', got c = {c!r}, l = {l!r} and {diversity!r}",
    )
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

    - codes of shape (n,): Code of each record's value; codes ascend with the values if these have an order.
    - counts of shape (values,): Number of records with each value.
    """

    name: str
    codes: Integers
    counts: Integers

    @cached_property
    def table(self) -> Floats:
        """Share of each value among all records, shape (values,)."""
        return np.asarray(self.counts / self.counts.sum())


@runtime_checkable
class ConstrainsValues(Protocol):
    """A defense that can release only tables whose sensitive values satisfy constraints as a whole."""

    def value_constraints(self, records: Microdata) -> Mapping[str, tuple[Constraint, ...]]:
        """Constraints on the values of a column in all records together, by column."""


def sensitive_columns(records: Microdata, constraints: Sequence[Constraint]) -> tuple[SensitiveColumn, ...]:
    """Code the columns that the constraints apply to: all sensitive ones, or none if there is no constraint.

    Raises ValueError if there are constraints but no sensitive column, or a column has fewer values than `l`. If
    distances are ordered and a column has a missing value, or categories without an order.
    """
    if not constraints:
        return ()
    ordered = _ordered_columns(records, constraints)
    return _with_enough_values(constraints, (_sensitive_column(records, *each) for each in ordered.items()))


def counted_sensitive_columns(records: CountedTable, constraints: Sequence[Constraint]) -> tuple[SensitiveColumn, ...]:
    """The columns that the constraints apply to; they have codes only where each combination is a record.

    Raises ValueError: As `sensitive_columns`.
    """
    if not constraints:
        return ()
    histograms = {name: records.sensitive[name] for name in _ordered_columns(records.roles, constraints)}
    columns = (
        SensitiveColumn(
            name,
            np.asarray(histogram.indices if records.single else [], dtype=np.intp),
            np.asarray(histogram.sum(axis=0)).ravel(),
        )
        for name, histogram in histograms.items()
    )
    return _with_enough_values(constraints, columns)


def _ordered_columns(records: Microdata, constraints: Sequence[Constraint]) -> dict[str, bool]:
    """The sensitive columns, and whether the constraints need an order of their values, which is checked."""
    require(records.sensitive, f"{constraints[0]} needs a sensitive column, and the records have none")
    ordered = any(isinstance(constraint, OrderedCloseness) for constraint in constraints)
    for name in records.sensitive if ordered else ():
        _check_no_missing(records, name)
        domain = records.domain(name)
        refuse(
            isinstance(domain, CategoricalDomain) and not domain.ordered,
            f"distance = 'ordered' needs an order; declare an ordered domain for column {name!r}",
        )
    return dict.fromkeys(records.sensitive, ordered)


def _check_no_missing(records: Microdata, name: str) -> None:
    missing = records.frame[name].isna()
    refuse_rows(missing, lambda row: f"{records.place(name, row)}: a missing value cannot be ordered")


def _with_enough_values(
    constraints: Sequence[Constraint], columns: Iterable[SensitiveColumn]
) -> tuple[SensitiveColumn, ...]:
    """The columns; ValueError if one has fewer values than `l`."""
    checked = tuple(columns)
    for column in checked:
        value_count = int((column.table > 0).sum())
        largest_l = max(getattr(constraint, "l", 0) for constraint in constraints)
        require(
            largest_l <= value_count,
            f"l must not exceed the {value_count} values of column {column.name!r}, got {largest_l!r}",
        )
    return checked


def check_apart(names: Sequence[str], columns: Sequence[SensitiveColumn]) -> None:
    """Raise ValueError if a column to generalize is one that the constraints apply to."""
    for column in columns:
        require(
            column.name not in names,
            f"columns: {column.name!r} is sensitive and cannot be generalized under a constraint on it",
        )


def check_whole_table(constraints: Sequence[Constraint], columns: Sequence[SensitiveColumn]) -> None:
    """Raise ValueError if all records together violate a constraint; a class of every partition would then too."""
    for column in columns:
        for constraint in constraints:
            require(
                constraint.holds(column.counts[None, :], column.table)[0],
                f"column {column.name!r}: the table as a whole does not have {constraint}",
            )


def _sensitive_column(records: Microdata, name: str, ordered: bool) -> SensitiveColumn:
    coded = code_column(records.frame[name], records.domain(name)) if ordered else code_values(records.frame[name])
    counts = np.bincount(coded.codes, weights=records.row_counts(name), minlength=coded.size)
    return SensitiveColumn(name, coded.codes, counts.astype(np.intp))


def hold(constraints: Sequence[Constraint], counts: Integers, table: Floats) -> Booleans:
    """Whether each class meets all constraints on one column, shape (classes,)."""
    every = np.ones(len(counts), dtype=bool)
    return np.asarray(np.logical_and.reduce([every, *(each.holds(counts, table) for each in constraints)]))


def all_hold(
    constraints: Sequence[Constraint], columns: Sequence[SensitiveColumn], histograms: Sequence[Histogram], size: int
) -> Booleans:
    """Tell which classes satisfy every constraint in every sensitive column.

    - histograms, each of shape (size, values): Counts of each value in each class, for every column; no class is empty.
    - returns shape (size,).
    """
    holds = np.ones(size, dtype=bool)
    for column, histogram in zip(columns, histograms, strict=True):
        for block, counts in blocks(histogram) if constraints else ():
            holds[block] &= hold(constraints, counts, column.table)
    return holds


def blocks(histogram: Histogram, which: Integers | None = None) -> Iterator[tuple[slice, Integers]]:
    """Yield counts of all classes, or of those in `which`, in blocks of bounded size, each with its position."""
    size = histogram.shape[0] if which is None else which.size
    step = max(1, _CELLS // max(1, histogram.shape[1]))
    for start in range(0, size, step):
        block = slice(start, start + step)
        part = histogram[block if which is None else which[block]]
        yield block, part if isinstance(part, np.ndarray) else part.toarray()


def _shares(counts: Integers) -> Floats:
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


# Base of k-anonymous defenses with further constraints on their classes.


class ConstrainedDefense(KAnonymousDefense, CountedDefense):
    """A k-anonymous defense whose classes satisfy further constraints on the sensitive columns.

    For the parameters, see `KAnonymousDefense` and `defenses.grouping.constraints.make_constraints`.
    """

    def __init__(
        self,
        *,
        k: int,
        l: float | None,  # noqa: E741 (the field's own name for it)
        diversity: str,
        c: float | None,
        t: float | None,
        distance: str,
        alpha: float | None,
        columns: Sequence[str] | None,
    ) -> None:
        super().__init__(k=k, columns=columns)
        self.l = l
        self.diversity = diversity
        self.c = c
        self.t = t
        self.distance = distance
        self.alpha = alpha
        _ = self.constraints

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Constraints on the sensitive values of every class."""
        return make_constraints(self.l, self.diversity, self.c, self.t, self.distance, self.alpha)

    def counted_columns(self, roles: Microdata) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Columns to generalize, and sensitive columns under a constraint."""
        names = filled(roles, chosen_columns(roles, self.columns, roles.quasi_identifiers))
        return names, tuple(roles.sensitive) if self.constraints else ()

    def counted(self, records: Microdata) -> CountedTable:
        """Records in memory, each a combination of its own, with its sensitive values under a constraint."""
        self._checked_columns(records)
        table = super().counted(records)
        return replace(table, sensitive=self._histograms(records)) if self.constraints else table

    def _histograms(self, records: Microdata) -> dict[str, csr_array]:
        """Value of each record in each column under a constraint, shape (n, values)."""
        from scipy.sparse import csr_array

        rows = np.arange(len(records) + 1)
        return {
            column.name: csr_array(
                (np.ones_like(column.codes), column.codes, rows), shape=(len(records), column.table.size)
            )
            for column in sensitive_columns(records, self.constraints)
        }

    def value_constraints(self, records: Microdata) -> Mapping[str, tuple[Constraint, ...]]:
        """The constraints, for each sensitive column: a table that violates one has no class that satisfies it."""
        return dict.fromkeys(records.sensitive, self.constraints) if self.constraints else {}
