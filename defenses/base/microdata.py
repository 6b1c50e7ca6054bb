"""Records of a publisher, with the roles of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from metrics.columns import Domain, Integers, infer_domain, refuse, refuse_any, require_column

if TYPE_CHECKING:
    import pandas as pd

    from defenses.base.hierarchy import Hierarchy


@dataclass(frozen=True)
class Microdata:
    """Records of a publisher, one per row, with the roles of the columns.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        The records. Never modified.
    identifiers : tuple of str
        Columns that identify a person by themselves (never released).
    quasi_identifiers : tuple of str
        Columns that an attacker may know about a person.
    sensitive : tuple of str
        Columns that an attacker wants to learn.
    domains : mapping of str to Domain
        Bounds, bins and categories. They are public unless a domain is marked as inferred. Mechanisms with a
        differential privacy guarantee use nothing else about the values.
    hierarchies : mapping of str to Hierarchy
        Ever coarser levels of a column's values.
    person : str, optional
        The column that identifies the person of each row, where a person has many rows; otherwise a row is a person.
    generalized : frozenset of str
        Columns that already hold released cells, which a defense passes on unchanged (for later steps of a pipeline).
    group : str, optional
        The column that identifies the household of each row, or another group of people who find each other.

    Raises
    ------
    ValueError
        If a role, domain or hierarchy names a column that the frame lacks, a column has two roles, or two columns
        share a name.

    Examples
    --------
    >>> import pandas as pd
    >>> from defenses import Microdata
    >>> frame = pd.DataFrame({"name": ["Ann", "Bob"], "age": [34, 52], "disease": ["flu", "none"]})
    >>> records = Microdata(frame, identifiers=("name",), quasi_identifiers=("age",), sensitive=("disease",))
    >>> records
    Microdata(2 rows, 3 columns)
    >>> records.released_columns
    ('age', 'disease')
    """

    frame: pd.DataFrame
    identifiers: tuple[str, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    domains: Mapping[str, Domain] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    person: str | None = None
    generalized: frozenset[str] = frozenset()
    group: str | None = None

    def __post_init__(self) -> None:
        for role in ("identifiers", "quasi_identifiers", "sensitive"):
            refuse(
                isinstance(getattr(self, role), str),
                f"{role} must be a list of column names, got the text {getattr(self, role)!r}",
            )
            object.__setattr__(self, role, tuple(getattr(self, role)))
        for part in ("domains", "hierarchies"):
            object.__setattr__(self, part, MappingProxyType(dict(getattr(self, part))))
        columns = [str(column) for column in self.frame.columns]
        refuse_any(
            sorted({column for column in columns if columns.count(column) > 1}),
            lambda column: f"column {column!r} appears twice; column names must differ",
        )
        roles = [*self.identifiers, *self.quasi_identifiers, *self.sensitive]
        refuse_any(
            [column for column in roles if roles.count(column) > 1],
            lambda column: f"column {column!r} has two roles; give it one",
        )
        for column in (*roles, *self.domains, *self.hierarchies, *filter(None, (self.person, self.group))):
            require_column(columns, column)

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.frame, self.identifiers, self.quasi_identifiers, self.sensitive)
        parts = (dict(self.domains), dict(self.hierarchies), self.person, self.generalized, self.group)
        return Microdata, (*arguments, *parts)

    def __repr__(self) -> str:
        return f"Microdata({len(self.frame)} rows, {len(self.frame.columns)} columns)"

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def released_columns(self) -> tuple[str, ...]:
        """All columns except the identifiers, in the frame's order."""
        return tuple(str(column) for column in self.frame.columns if column not in self.identifiers)

    def domain(self, column: str) -> Domain:
        """Declared domain of a column; without one, a domain inferred from these records, which is not public."""
        declared = self.domains.get(column)
        return infer_domain(self.frame[column]) if declared is None else declared

    def not_public(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return those of the columns whose domain is inferred or not declared, so that no guarantee may rest on it."""
        return tuple(name for name in columns if name not in self.domains or self.domains[name].inferred)

    def row_counts(self, column: str) -> Integers:
        """Number of records that hold the value of each row in a column, shape (rows,): here each row is one record."""
        return np.ones(len(self.frame), dtype=np.intp)

    def place(self, column: str, row: int) -> str:
        """Column and row in words, for a message about a value."""
        return f"column {column!r}, row {row}"

    def with_frame(self, frame: pd.DataFrame) -> Microdata:
        """Return other records with the same roles."""
        return replace(self, frame=frame)

    def check_public(self, columns: Sequence[str], consequence: str = "") -> None:
        """Raise ValueError naming a column whose domain is not declared, and what follows from it."""
        refuse_any(
            self.not_public(columns),
            lambda name: f"the domain of column {name!r} is read from the records{consequence}; declare it",
        )

    def check_released(self, parameter: str, column: str) -> None:
        """Raise ValueError naming the parameter unless the column is a released one."""
        refuse(
            column not in self.released_columns,
            f"{parameter}: there is no released column {column!r}; released are {', '.join(self.released_columns)}",
        )

    def take(self, positions: ArrayLike) -> Microdata:
        """Return the records at `positions`, shape (m,), as a new table with rows numbered from 0."""
        return self.with_frame(self.frame.iloc[np.asarray(positions)].reset_index(drop=True))
