"""The contract of queries: selection of records, and conversion to plain values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol

import numpy as np

from defenses.base.microdata import Microdata
from defenses.base.queries.condition import Condition
from metrics.columns import Booleans, Floats, refuse, require

Answer = float | str | Floats


@dataclass(frozen=True, eq=False)
class Query(ABC):
    """Base class of queries about records; two queries are equal if all their fields are.

    Attributes
    ----------
    where : tuple of Condition
        Conditions that a selected record meets, all of them; given as one condition, several, or none.
    members : ndarray of bool, shape (n,), optional
        Rows that may be selected, by their public numbers; by default all.
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

    Attributes
    ----------
    remaining : float
        Remaining epsilon; infinite where the curator has no budget.
    refused : int
        Number of queries refused because the budget was spent.
    """

    @property
    def remaining(self) -> float:
        """Remaining epsilon."""

    @property
    def refused(self) -> int:
        """Number of queries refused."""

    def answer(self, query: Query, epsilon: float | None = None) -> Answer:
        """Answer a query.

        Parameters
        ----------
        query : Query
            The query.
        epsilon : float, optional
            Epsilon to spend on it; by default the curator's share for one query.

        Raises
        ------
        BudgetSpent
            If it would cost more than the remaining budget.
        ValueError
            If the query does not fit the public description of the records, or epsilon is not positive and finite.
        """
