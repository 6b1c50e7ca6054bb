"""The secret-bit game: who is in the group that is counted."""

from __future__ import annotations

import numpy as np

from defenses.base.microdata import Microdata
from defenses.base.queries import Condition, Count, Query
from metrics.arrays import Booleans, Floats
from metrics.domains import CategoricalDomain
from scenarios.games.groups_game import GroupsGame


class SecretBits(GroupsGame):
    """Who has the secret attribute? Counts of it are answered for any group of persons.

    Parameters
    ----------
    records : Microdata
        The population.
    column, category : str
        The attribute: the records whose `column` is `category`.
    persons : int
        How many are drawn per play.
    workload : int
        How many counts over random halves of the persons an analyst asks for, by which utility is measured.

    Raises
    ------
    ValueError
        If there is no such category, a number is out of range or there are too few records.
    """

    low, high, boundary = 0.0, 1.0, 0.5

    def __init__(
        self, *, records: Microdata, column: str, category: str, persons: int = 100, workload: int = 10
    ) -> None:
        domain = records.domains.get(column)
        if not isinstance(domain, CategoricalDomain):
            raise ValueError(f"column: {column!r} is no column with declared categories")
        if category not in domain.categories:
            raise ValueError(f"category: {column!r} has no category {category!r}")
        super().__init__(records=records, column=column, persons=persons, workload=workload)
        self.category = category

    @property
    def _attribute(self) -> Condition:
        return Condition(self.column, values=(self.category,))

    def numbers(self, records: Microdata) -> Floats:
        """1 for who has the attribute, else 0, shape (n,)."""
        return self._attribute.holds(records).astype(np.float64)

    def asked(self, group: Booleans) -> Query:
        """How many of the group have the attribute."""
        return Count(where=(self._attribute,), members=group)
