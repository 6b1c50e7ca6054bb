"""The secret-number game: find persons with numbers above a threshold, from sums or means."""

from __future__ import annotations

from defenses.base.microdata import Microdata
from defenses.base.queries import Mean, Query, Sum, numbers
from metrics.columns.arrays import Booleans, Floats
from metrics.columns.domains import NumericDomain
from metrics.columns.parameters import check_choice, check_real
from scenarios.games.curators.groups_game import GroupsGame

QUERIES: dict[str, type[Sum] | type[Mean]] = {"Mean": Mean, "Sum": Sum}


class SecretNumbers(GroupsGame):
    """Disclosure of numbers above a threshold: a curator answers sums or means for any group of persons.

    Parameters
    ----------
    records : Microdata
        The population.
    column : str
        A column of numbers with declared bounds.
    above : float
        The threshold, between the bounds.
    query : {"Sum", "Mean"}
        The query. The size of a group is public, so a mean determines the sum.
    persons : int
        Number of persons drawn in each play.
    workload : int
        Number of random halves of the persons that an honest analyst asks about; their answers measure utility.

    Raises
    ------
    ValueError
        If the column has no declared bounds, a number is out of range or the table has too few records.
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
            raise ValueError(f"column: {column!r} is not a column of numbers with declared bounds")
        check_real("above", above, low=domain.low, high=domain.high, open_high=True)
        check_choice("query", query, QUERIES)
        super().__init__(records=records, column=column, persons=persons, workload=workload)
        self.above = above
        self.query = query
        self.low, self.high, self.boundary = domain.low, domain.high, float(above)

    def numbers(self, records: Microdata) -> Floats:
        """Numbers of the column, shape (n,)."""
        return numbers(records, self.column)

    def asked(self, group: Booleans) -> Query:
        """Sum or mean of the group's numbers."""
        return QUERIES[self.query](self.column, members=group)

    def weight(self, group: Booleans) -> float:
        """Size of the group for means, 1 for sums."""
        return float(group.sum()) if self.query == "Mean" else 1.0
