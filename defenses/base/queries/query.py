"""The contract of queries: columns as queries read them, selection of records by conditions, and plain answers."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from defenses.base.column_table import CodedTexts
from defenses.base.microdata import Microdata
from metrics.columns import (
    Booleans,
    CategoricalDomain,
    Floats,
    NumericDomain,
    distinct_values,
    errors_at,
    number_of,
    refuse,
    require,
    require_column,
    texts_of,
)

if TYPE_CHECKING:
    import pandas as pd

    Column = pd.Series[Any] | Floats | CodedTexts


def numbers(records: Microdata, column: str) -> Floats:
    """Numbers of a column, clipped into its declared bounds, shape (n,); missing ones become the middle of the bounds.

    Raises ValueError if there is no such column, its domain is categorical, or a value is missing and no bounds are
    declared.
    """
    require_column(records.frame.columns, column)
    values = as_numbers(records.frame[column])
    domain = records.domains.get(column)
    if isinstance(domain, CategoricalDomain):
        raise ValueError(f"column {column!r} holds categories; the query needs numbers")
    if domain is None:
        require(np.isfinite(values).all(), f"column {column!r} has missing or infinite values and no declared bounds")
        return values
    middle = domain.low + (domain.high - domain.low) / 2
    return np.asarray(np.clip(np.where(np.isnan(values), middle, values), domain.low, domain.high))


def codes(records: Microdata, column: str) -> NDArray[np.intp]:
    """Category or public bin of each record, shape (n,); -1 where it is missing or not in the domain.

    Raises ValueError if there is no such column.
    """
    require_column(records.frame.columns, column)
    domain = records.domain(column)
    if isinstance(domain, NumericDomain):
        result = domain.codes(as_numbers(records.frame[column]))
        return np.where(result == domain.size, -1, result)
    value_codes, distinct = coded(records.frame[column])
    positions = {name: position for position, name in enumerate(domain.categories)}
    code_of_value = [next((positions[text] for text in texts_of(value) if text in positions), -1) for value in distinct]
    return np.array([*code_of_value, -1], dtype=np.intp)[value_codes]


def labels(records: Microdata, column: str) -> list[str]:
    """Names of a column's categories, or its public bins as released cells.

    Raises ValueError if there is no such column.
    """
    require_column(records.frame.columns, column)
    domain = records.domain(column)
    return domain.cells() if isinstance(domain, NumericDomain) else list(domain.categories)


def require_selection(values: Floats) -> Floats:
    """Return the selected values.

    Raises ValueError if the query selects no record.
    """
    require(values.size, "the query selects no record")
    return values


def as_numbers(column: Column) -> Floats:
    """Numbers of a column without clipping, shape (n,); NaN where a value is missing or not a number.

    The number of a record depends on its own value only, not on the types of the other records' values.
    """
    if isinstance(column, np.ndarray):
        return column
    if not isinstance(column, CodedTexts):
        from pandas.api.types import is_complex_dtype, is_numeric_dtype

        if is_numeric_dtype(column) and not is_complex_dtype(column):
            return np.asarray(column.to_numpy(dtype=float, na_value=np.nan))
    value_codes, distinct = coded(column)
    return np.array([*map(number_of, distinct), np.nan])[value_codes]


def coded(column: Column) -> tuple[NDArray[np.intp], Sequence[Any]]:
    """Position of each value among the distinct ones, shape (n,), -1 where it is missing; and the distinct values."""
    return (column.codes, column.texts) if isinstance(column, CodedTexts) else distinct_values(column)


@dataclass(frozen=True)
class Condition:
    """Condition that a column takes one of some values, or lies in a closed interval.

    - values, optional: Allowed values: texts, finite numbers and booleans. A text is compared with the column's value
      as text. A number is compared with it as a number, also where the column holds text that reads as a number. True
      counts as 1.
    - interval, optional: ``(low, high)``, both included; an infinite end leaves that side open.

    Raises ValueError if not exactly one of `values` and `interval` is given, a value is refused, or the interval's ends
    are not two numbers in ascending order.
    """

    column: str
    values: tuple[Any, ...] | None = None
    interval: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        require((self.values is None) != (self.interval is None), "a condition needs either values or an interval")
        if self.values is not None:
            refuse(isinstance(self.values, str), f"values must be a list, got the text {self.values!r}")
            object.__setattr__(self, "values", tuple(_checked(value) for value in self.values))
        if self.interval is not None:
            try:
                low, high = (float(end) for end in self.interval)
            except (TypeError, ValueError, OverflowError):
                raise ValueError("interval must be two numbers, (low, high)") from None
            require(low <= high, f"interval must ascend, got [{low:g}, {high:g}]")
            object.__setattr__(self, "interval", (low, high))

    def holds(self, records: Microdata) -> Booleans:
        """Return for each record whether the condition holds, shape (n,).

        Raises ValueError if the records lack the column.
        """
        require_column(records.frame.columns, self.column)
        column = records.frame[self.column]
        if self.interval is not None:
            numbers = as_numbers(column)
            return (numbers >= self.interval[0]) & (numbers <= self.interval[1])
        assert self.values is not None  # noqa: S101 (one of the two is given)
        texts = {value for value in self.values if isinstance(value, str)}
        result = np.zeros(len(records), dtype=bool)
        if texts:
            codes, distinct = coded(column)
            result = np.array([*(not texts.isdisjoint(texts_of(value)) for value in distinct), False])[codes]
        allowed = [float(value) for value in self.values if not isinstance(value, str)]
        if allowed:
            result = result | np.isin(as_numbers(column), allowed)
        return np.asarray(result, dtype=bool)


def _checked(value: Any) -> str | float | bool:
    """Return a value as a plain text, number or boolean.

    Raises ValueError if it is anything else, or not finite.
    """
    plain = value.item() if isinstance(value, np.bool_ | np.integer | np.floating) else value
    if isinstance(plain, str | bool):
        return plain
    if isinstance(plain, int | float):
        # An integer above the largest float would be equal to no number.
        refuse(
            (isinstance(plain, float) and not math.isfinite(plain)) or abs(plain) > sys.float_info.max,
            "values must be texts, finite numbers or booleans, got a number that is not finite",
        )
        return plain
    raise ValueError(f"values must be texts, finite numbers or booleans, got {type(value).__name__}")


Answer = float | str | Floats


@dataclass(frozen=True, eq=False)
class Query(ABC):
    """Base class of queries about records; two queries are equal if all their fields are.

    - where: Conditions that a selected record meets, all of them; given as one condition, several, or none.
    - members of shape (n,), optional: Rows that may be selected, by their public numbers; by default all.
    """

    kinds: ClassVar[dict[str, type[Query]]] = {}
    where: tuple[Condition, ...] = field(default=(), kw_only=True)
    members: Booleans | None = field(default=None, kw_only=True)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if not cls.__name__.startswith("_"):
            Query.kinds[cls.__name__] = cls

    def __post_init__(self) -> None:
        where = self.where
        given = () if where is None else (where,) if isinstance(where, Condition) else tuple(where)
        for condition in given:
            require(
                isinstance(condition, Condition),
                f"where must be a Condition or several, got {type(condition).__name__}",
            )
        object.__setattr__(self, "where", given)
        if self.members is not None:
            members = np.array(self.members)
            require(
                members.dtype == bool and members.ndim == 1,
                "members must be a boolean mask over the rows, shape (n,)",
            )
            members.setflags(write=False)
            object.__setattr__(self, "members", members)

    @property
    def subjects(self) -> tuple[str, ...]:
        """The columns that the answer is about, without those of the conditions."""
        return ()

    @abstractmethod
    def exact(self, records: Microdata) -> Answer:
        """Return the answer without protection.

        Raises ValueError if the records lack a column, the mask has another length, or the answer needs a record and
        none is selected.
        """

    def selected(self, records: Microdata) -> Booleans:
        """Return which records are selected, shape (n,).

        Raises ValueError if the records lack a condition's column, or the mask has another length.
        """
        self.check_members(records)
        chosen = np.ones(len(records), dtype=bool) if self.members is None else self.members
        for condition in self.where:
            chosen = chosen & condition.holds(records)
        return chosen

    def check_members(self, records: Microdata) -> None:
        """Raise ValueError if the mask, where there is one, has another length than the records."""
        if self.members is not None and self.members.size != len(records):
            raise ValueError(f"members must hold {len(records)} truth values, one a row, got {self.members.size}")

    def to_dict(self) -> dict[str, Any]:
        """Write the query as plain values (for JSON or TOML) that `from_dict` reads."""
        plain: dict[str, Any] = {"query": type(self).__name__}
        for part in fields(self):
            value = getattr(self, part.name)
            if part.name == "where":
                value = [
                    {name: plain_entry(entry) for name, entry in vars(condition).items() if entry is not None}
                    for condition in value
                ]
            if value is not None:
                plain[part.name] = plain_entry(value)
        return plain

    @staticmethod
    def from_dict(plain: Mapping[str, Any]) -> Query:
        """Read a query from the output of `to_dict`.

        Raises ValueError if there is no such query, or a part is unknown or missing.
        """
        content = dict(plain)
        kind = content.pop("query", None)
        refuse(kind not in Query.kinds, f"there is no query {kind!r}; known are {', '.join(sorted(Query.kinds))}")
        with errors_at(f"query {kind}", TypeError):
            content["where"] = tuple(Condition(**condition) for condition in content.get("where", ()))
            return Query.kinds[kind](**content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        mask = None if self.members is None else (self.members.size, np.packbits(self.members).tobytes())
        return type(self), mask, *(getattr(self, part.name) for part in fields(self) if part.name != "members")


def plain_entry(value: Any) -> Any:
    """A value as JSON and TOML hold it: arrays and tuples as lists, NumPy's numbers as Python's."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [plain_entry(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value


# The session in which a curator answers queries.


class BudgetSpent(ValueError):  # noqa: N818 (a refusal, not an error)
    """A curator refuses a query whose cost exceeds the remaining budget; nothing was computed and nothing is spent."""


class QuerySession(Protocol):
    """One attacker's session with a curator, with its own budget and noise.

    - remaining: Remaining epsilon; infinite where the curator has no budget.
    - refused: Number of queries refused because the budget was spent.
    """

    @property
    def remaining(self) -> float:
        """Remaining epsilon."""

    @property
    def refused(self) -> int:
        """Number of queries refused."""

    def answer(self, query: Query, epsilon: float | None = None) -> Answer:
        """Answer a query.

        - epsilon, optional: Epsilon to spend on it; by default the curator's share for one query.

        Raises BudgetSpent if it would cost more than the remaining budget. Raises ValueError if the query does not fit
        the public description of the records, or epsilon is not positive and finite.
        """
