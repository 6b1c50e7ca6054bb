"""Queries that attackers pose and curators answer, and the session in which they do.

Every query selects records, by conditions on columns and by a mask over public row numbers, and computes something
about one or two columns of them. `exact` is the answer without protection.

Missing values, the same everywhere:

- a condition on a column does not hold where the column is missing, nor where the mask excludes the row;
- a number is read as clipped into the column's declared bounds, and a missing one (or text that is no number) counts
  as the middle of these bounds, so that how many values there are says nothing about them; where no bounds are
  declared the numbers count as they are, and a missing one is refused;
- a category that is missing or not in the domain is counted in no cell.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from defenses.microdata import Microdata
from metrics.domains import CategoricalDomain, NumericDomain

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Answer = float | str | Floats


class BudgetSpent(ValueError):  # noqa: N818 (what happened, and a refusal rather than a fault)
    """A curator refuses a query that would spend more than is left; nothing was computed and nothing is spent."""


class QuerySession(Protocol):
    """One attacker's conversation with a curator: its own budget, its own noise.

    Attributes
    ----------
    remaining : float
        Epsilon that is left; infinite where nobody counts.
    refused : int
        Queries refused so far because the budget was spent.
    """

    @property
    def remaining(self) -> float:
        """Epsilon that is left."""

    @property
    def refused(self) -> int:
        """Queries refused so far."""

    def answer(self, query: Query, epsilon: float | None = None) -> Answer:
        """Answer a query.

        Parameters
        ----------
        query : Query
            What is asked.
        epsilon : float, optional
            What to spend on it; the curator's share for one query where not given.

        Raises
        ------
        BudgetSpent
            If it would cost more than is left.
        ValueError
            If the query does not fit the records' public description, or epsilon is not positive and finite.
        """


@dataclass(frozen=True)
class Condition:
    """A column takes one of some values, or lies in a closed interval.

    Parameters
    ----------
    column : str
        Which column.
    values : tuple, optional
        Allowed values: texts are compared with the value written as text, numbers as numbers.
    interval : tuple of float, optional
        ``(low, high)``, both included; infinite ends leave a side open.

    Raises
    ------
    ValueError
        If not exactly one of `values` and `interval` is given, or the interval's ends are reversed or NaN.
    """

    column: str
    values: tuple[Any, ...] | None = None
    interval: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if (self.values is None) == (self.interval is None):
            raise ValueError("a condition needs either values or an interval")
        if self.values is not None:
            if isinstance(self.values, str):
                raise ValueError(f"values must be a list, got the text {self.values!r}")
            object.__setattr__(self, "values", tuple(self.values))
        if self.interval is not None:
            low, high = (float(end) for end in self.interval)
            if not low <= high:
                raise ValueError(f"interval must ascend, got [{low:g}, {high:g}]")
            object.__setattr__(self, "interval", (low, high))

    def holds(self, records: Microdata) -> Mask:
        """Where the condition holds, shape (n,).

        Raises
        ------
        ValueError
            If the records lack the column.
        """
        _require_column(records, self.column)
        column = records.frame[self.column]
        if self.interval is not None:
            numbers = _as_numbers(column)
            return (numbers >= self.interval[0]) & (numbers <= self.interval[1])
        assert self.values is not None  # noqa: S101 (one of the two is given)
        codes, distinct = pd.factorize(column)
        texts = {value for value in self.values if isinstance(value, str)}
        others = [value for value in self.values if not isinstance(value, str)]
        allowed = np.array([str(value) in texts or value in others for value in distinct] + [False])
        return np.asarray(allowed[codes], dtype=bool)


@dataclass(frozen=True, eq=False)
class Query(ABC):
    """What can be asked about records; equal where all parts are.

    Attributes
    ----------
    where : tuple of Condition
        Conditions that all must hold of a record that counts; given as one condition, several, or none.
    members : ndarray of bool, shape (n,), optional
        Which rows may count, by their public numbers; all where not given.
    """

    kinds: ClassVar[dict[str, type[Query]]] = {}
    where: tuple[Condition, ...] = field(default=(), kw_only=True)
    members: Mask | None = field(default=None, kw_only=True)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if not cls.__name__.startswith("_"):
            Query.kinds[cls.__name__] = cls

    def __post_init__(self) -> None:
        where = self.where
        given = () if where is None else (where,) if isinstance(where, Condition) else tuple(where)
        for condition in given:
            if not isinstance(condition, Condition):
                raise ValueError(f"where must be a Condition or several, got {type(condition).__name__}")
        object.__setattr__(self, "where", given)
        if self.members is not None:
            members = np.array(self.members)
            if members.dtype != bool or members.ndim != 1:
                raise ValueError("members must be a boolean mask over the rows, shape (n,)")
            members.setflags(write=False)
            object.__setattr__(self, "members", members)

    @property
    def subjects(self) -> tuple[str, ...]:
        """The columns that the answer is about; those of the conditions are not among them."""
        return ()

    @abstractmethod
    def exact(self, records: Microdata) -> Answer:
        """Return the answer without protection.

        Raises
        ------
        ValueError
            If the records lack a column, the mask has another length, or the selection is empty where the answer
            needs a record.
        """

    def selected(self, records: Microdata) -> Mask:
        """Which records count, shape (n,).

        Raises
        ------
        ValueError
            If the records lack a condition's column, or the mask has another length.
        """
        if self.members is not None and self.members.size != len(records):
            raise ValueError(f"members must hold {len(records)} truth values, one a row, got {self.members.size}")
        chosen = np.ones(len(records), dtype=bool) if self.members is None else self.members
        for condition in self.where:
            chosen = chosen & condition.holds(records)
        return chosen

    def to_dict(self) -> dict[str, Any]:
        """Write the query as plain values (JSON, TOML); `from_dict` reads it."""
        plain: dict[str, Any] = {"query": type(self).__name__}
        for part in fields(self):
            value = getattr(self, part.name)
            if part.name == "where":
                value = [
                    {name: _plain(entry) for name, entry in vars(condition).items() if entry is not None}
                    for condition in value
                ]
            if value is not None:
                plain[part.name] = _plain(value)
        return plain

    @staticmethod
    def from_dict(plain: Mapping[str, Any]) -> Query:
        """Read a query that `to_dict` wrote.

        Raises
        ------
        ValueError
            If there is no such query, or a part is unknown or missing.
        """
        content = dict(plain)
        kind = content.pop("query", None)
        if kind not in Query.kinds:
            raise ValueError(f"there is no query {kind!r}; known are {', '.join(sorted(Query.kinds))}")
        try:
            content["where"] = tuple(Condition(**condition) for condition in content.get("where", ()))
            return Query.kinds[kind](**content)
        except TypeError as error:
            raise ValueError(f"query {kind}: {error}") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        mask = None if self.members is None else (self.members.size, np.packbits(self.members).tobytes())
        return type(self), mask, *(getattr(self, part.name) for part in fields(self) if part.name != "members")


@dataclass(frozen=True, eq=False)
class Count(Query):
    """Number of the records that are selected."""

    def exact(self, records: Microdata) -> float:
        """Return the count."""
        return float(np.count_nonzero(self.selected(records)))


@dataclass(frozen=True, eq=False)
class _OfNumbers(Query):
    """A query about one column of numbers."""

    column: str

    @property
    def subjects(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def values(self, records: Microdata) -> Floats:
        """Numbers of the selected records, clipped into the declared bounds, shape (m,)."""
        return numbers(records, self.column)[self.selected(records)]


@dataclass(frozen=True, eq=False)
class Sum(_OfNumbers):
    """Sum of a column over the selected records."""

    def exact(self, records: Microdata) -> float:
        """Return the sum, correctly rounded; 0 over no record."""
        return math.fsum(self.values(records))


@dataclass(frozen=True, eq=False)
class Mean(_OfNumbers):
    """Mean of a column over the selected records."""

    def exact(self, records: Microdata) -> float:
        """Return the mean."""
        values = _filled(self.values(records))
        return math.fsum(values) / values.size


@dataclass(frozen=True, eq=False)
class Variance(_OfNumbers):
    """Variance of a column over the selected records, the mean squared deviation (divided by n)."""

    def exact(self, records: Microdata) -> float:
        """Return the variance."""
        return float(np.var(_filled(self.values(records))))


@dataclass(frozen=True, eq=False)
class Maximum(_OfNumbers):
    """Largest value of a column over the selected records."""

    def exact(self, records: Microdata) -> float:
        """Return the maximum."""
        return float(_filled(self.values(records)).max())


@dataclass(frozen=True, eq=False)
class Minimum(_OfNumbers):
    """Smallest value of a column over the selected records."""

    def exact(self, records: Microdata) -> float:
        """Return the minimum."""
        return float(_filled(self.values(records)).min())


@dataclass(frozen=True, eq=False)
class Median(_OfNumbers):
    """Median of a column over the selected records; the middle of the two where their number is even."""

    def exact(self, records: Microdata) -> float:
        """Return the median."""
        return float(np.median(_filled(self.values(records))))


@dataclass(frozen=True, eq=False)
class Quantile(Query):
    """Value below which a share of the selected records lies, with straight lines between neighbouring values.

    Parameters
    ----------
    level : float
        The share, in [0, 1].
    """

    column: str
    level: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.level, bool) or not isinstance(self.level, int | float) or not 0 <= self.level <= 1:
            raise ValueError(f"level must be a number in [0, 1], got {self.level!r}")

    @property
    def subjects(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def values(self, records: Microdata) -> Floats:
        """Numbers of the selected records, clipped into the declared bounds, shape (m,)."""
        return numbers(records, self.column)[self.selected(records)]

    def exact(self, records: Microdata) -> float:
        """Return the quantile."""
        return float(np.quantile(_filled(self.values(records)), self.level))


@dataclass(frozen=True, eq=False)
class Histogram(Query):
    """How many of the selected records are in each category or public bin of a column."""

    column: str

    @property
    def subjects(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def exact(self, records: Microdata) -> Floats:
        """Return the counts, shape (categories,)."""
        return ContingencyTable((self.column,), where=self.where, members=self.members).exact(records)


@dataclass(frozen=True, eq=False)
class Mode(Query):
    """The category or public bin of a column with the most selected records; the first of several."""

    column: str

    @property
    def subjects(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)

    def exact(self, records: Microdata) -> str:
        """Return the category, or the bin written as a released cell."""
        counts = Histogram(self.column, where=self.where, members=self.members).exact(records)
        return labels(records, self.column)[int(counts.argmax())]


@dataclass(frozen=True, eq=False)
class ContingencyTable(Query):
    """How many of the selected records are in each combination of categories or public bins of some columns."""

    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.columns, str) or not self.columns or len(set(self.columns)) < len(self.columns):
            raise ValueError(f"columns must be a list of column names, each once, got {self.columns!r}")
        object.__setattr__(self, "columns", tuple(self.columns))

    @property
    def subjects(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns

    def exact(self, records: Microdata) -> Floats:
        """Return the counts, shape (categories of the first column, ... of the last)."""
        sizes = tuple(len(labels(records, name)) for name in self.columns)
        cells = np.column_stack([codes(records, name) for name in self.columns])
        cells = cells[self.selected(records) & (cells >= 0).all(axis=1)]
        flat = np.ravel_multi_index(tuple(cells.T), sizes)
        return np.bincount(flat, minlength=math.prod(sizes)).reshape(sizes).astype(float)


@dataclass(frozen=True, eq=False)
class _OfTwo(Query):
    """A query about two columns of numbers."""

    first: str
    second: str

    @property
    def subjects(self) -> tuple[str, ...]:
        """Both columns."""
        return (self.first, self.second)

    def values(self, records: Microdata) -> tuple[Floats, Floats]:
        """Numbers of the selected records in either column, clipped into the declared bounds, shape (m,) each."""
        chosen = self.selected(records)
        return numbers(records, self.first)[chosen], numbers(records, self.second)[chosen]


@dataclass(frozen=True, eq=False)
class Covariance(_OfTwo):
    """Covariance of two columns over the selected records, the mean product of deviations (divided by n)."""

    def exact(self, records: Microdata) -> float:
        """Return the covariance."""
        first, second = self.values(records)
        return float(np.mean((_filled(first) - first.mean()) * (second - second.mean())))


@dataclass(frozen=True, eq=False)
class Correlation(_OfTwo):
    """Pearson's correlation of two columns over the selected records; 0 where one is constant."""

    def exact(self, records: Microdata) -> float:
        """Return the correlation, in [-1, 1]."""
        first, second = self.values(records)
        return correlation_of(
            float(np.var(_filled(first))),
            float(np.var(second)),
            Covariance(self.first, self.second, where=self.where, members=self.members).exact(records),
        )


def correlation_of(first: float, second: float, covariance: float) -> float:
    """Correlation from two variances and the covariance, clamped to [-1, 1]; 0 where a variance is not positive."""
    if first <= 0 or second <= 0:
        return 0.0
    return float(np.clip(covariance / math.sqrt(first) / math.sqrt(second), -1.0, 1.0))


def numbers(records: Microdata, column: str) -> Floats:
    """A column's numbers, clipped into its declared bounds, a missing one at their middle, shape (n,).

    Raises
    ------
    ValueError
        If there is no such column, its domain is one of categories, or no bounds are declared and a value is missing.
    """
    _require_column(records, column)
    values = _as_numbers(records.frame[column])
    domain = records.domains.get(column)
    if isinstance(domain, CategoricalDomain):
        raise ValueError(f"column {column!r} holds categories; the query needs numbers")
    if domain is None:
        if not np.isfinite(values).all():
            raise ValueError(f"column {column!r} has missing or infinite values and no declared bounds")
        return values
    middle = domain.low + (domain.high - domain.low) / 2
    return np.asarray(np.clip(np.where(np.isnan(values), middle, values), domain.low, domain.high))


def codes(records: Microdata, column: str) -> NDArray[np.intp]:
    """Each record's category or public bin, shape (n,); -1 where it is missing or not in the domain.

    Raises
    ------
    ValueError
        If there is no such column.
    """
    _require_column(records, column)
    domain = records.domain(column)
    if isinstance(domain, NumericDomain):
        result = domain.codes(_as_numbers(records.frame[column]))
        return np.where(result == domain.size, -1, result)
    found, distinct = pd.factorize(records.frame[column])
    known = pd.Index(domain.categories).get_indexer(pd.Index([str(value) for value in distinct], dtype=object))
    return np.asarray(np.append(known, -1)[found], dtype=np.intp)


def labels(records: Microdata, column: str) -> list[str]:
    """Names of a column's categories, or its public bins written as released cells.

    Raises
    ------
    ValueError
        If there is no such column.
    """
    _require_column(records, column)
    domain = records.domain(column)
    return domain.cells() if isinstance(domain, NumericDomain) else list(domain.categories)


def _require_column(records: Microdata, column: str) -> None:
    if column not in records.frame.columns:
        raise ValueError(f"there is no column {column!r}; the table has {', '.join(map(str, records.frame.columns))}")


def _as_numbers(column: pd.Series[Any]) -> Floats:
    return np.asarray(pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan))


def _filled(values: Floats) -> Floats:
    if not values.size:
        raise ValueError("the query selects no record")
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value
