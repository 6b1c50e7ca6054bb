"""The secret-number game: whose number is above a line, behind sums or means."""

from __future__ import annotations

from defenses.base.microdata import Microdata
from defenses.base.parameters import check_real
from defenses.base.queries import Mean, Query, Sum, numbers
from metrics.arrays import Booleans, Floats
from metrics.domains import NumericDomain
from scenarios.games.groups_game import GroupsGame

QUERIES: dict[str, type[Sum] | type[Mean]] = {"Mean": Mean, "Sum": Sum}


class SecretNumbers(GroupsGame):
    """Whose number is above a line? Sums or means of it are answered for any group of persons.

    Parameters
    ----------
    records : Microdata
        The population.
    column : str
        Numbers with declared bounds.
    above : float
        The line, between the bounds.
    query : {"Sum", "Mean"}
        What is answered. A group's size is public, so that a mean tells its sum.
    persons : int
        How many are drawn per play.
    workload : int
        How many random halves of the persons an analyst asks about, by which utility is measured.

    Raises
    ------
    ValueError
        If the column has no declared bounds, a number is out of range or there are too few records.
    """

    def __init__(
        self,
        *,
        records: Microdata,
        column: str,
        above: float,
        query: str = "Sum",
        persons: int = 100,
        workload: int = 10,
    ) -> None:
        domain = records.domains.get(column)
        if not isinstance(domain, NumericDomain):
            raise ValueError(f"column: {column!r} is no column of numbers with declared bounds")
        check_real("above", above, low=domain.low, high=domain.high, open_high=True)
        if query not in QUERIES:
            raise ValueError(f"query must be one of {', '.join(QUERIES)}, got {query!r}")
        super().__init__(records=records, column=column, persons=persons, workload=workload)
        self.above = above
        self.query = query
        self.low, self.high, self.boundary = domain.low, domain.high, float(above)

    def numbers(self, records: Microdata) -> Floats:
        """The column's numbers, shape (n,)."""
        return numbers(records, self.column)

    def asked(self, group: Booleans) -> Query:
        """The sum or the mean of the group's numbers."""
        return QUERIES[self.query](self.column, members=group)

    def weight(self, group: Booleans) -> float:
        """The group's size for means, 1 for sums."""
        return float(group.sum()) if self.query == "Mean" else 1.0
