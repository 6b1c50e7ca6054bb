"""The secret-bit game: reconstruct a binary attribute from counts."""

from __future__ import annotations

import numpy as np

from defenses.base.microdata import Microdata
from defenses.base.queries import Condition, Count, Query
from metrics.columns.arrays import Booleans, Floats
from metrics.columns.domains import CategoricalDomain
from metrics.columns.parameters import refuse
from scenarios.games.curators.groups_game import GroupsGame


class SecretBits(GroupsGame):
    """Disclosure of a binary attribute: a curator answers counts of it for any group of persons.

    Parameters
    ----------
    records : Microdata
        The population.
    column, category : str
        A person has the attribute if `column` is `category`.
    persons : int
        Number of persons drawn in each play.
    workload : int
        Number of random halves of the persons that an honest analyst counts in; these answers measure utility.

    Raises
    ------
    ValueError
        If the category does not exist, a number is out of range or the table has too few records.
    """

    low, high, boundary = 0.0, 1.0, 0.5

    def __init__(
        self, *, records: Microdata, column: str, category: str, persons: int = 100, workload: int = 10
    ) -> None:
        domain = records.domains.get(column)
        if not isinstance(domain, CategoricalDomain):
            raise ValueError(f"column: {column!r} is not a column with declared categories")
        refuse(category not in domain.categories, f"category: {column!r} has no category {category!r}")
        super().__init__(records=records, column=column, persons=persons, workload=workload)
        self.category = category

    @property
    def _attribute(self) -> Condition:
        return Condition(self.column, values=(self.category,))

    def numbers(self, records: Microdata) -> Floats:
        """1 for persons with the attribute, 0 for others, shape (n,)."""
        return self._attribute.holds(records).astype(np.float64)

    def asked(self, group: Booleans) -> Query:
        """Number of persons in the group with the attribute."""
        return Count(where=(self._attribute,), members=group)
