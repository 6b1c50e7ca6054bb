"""The newcomer game: differencing two means that differ in one person."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.statistics.statistical_disclosure import LinearSecret, StatisticsKnowledge
from defenses.base import Microdata
from defenses.base.queries import Mean, numbers
from metrics.columns import NumericDomain, check_integer, check_real, refuse, require
from scenarios.games.curators.statistics_game import AnalystQuery, StatisticsGame, StatisticsSecret, seed_of


class Newcomer(StatisticsGame):
    """Disclosure of a newcomer's value by the means over all persons and over all but the newcomer.

    Each play draws residents and one newcomer. Let m be the mean over all n persons and m' the mean without the
    newcomer. The newcomer's value is n m - (n - 1) m'. Example: (101 times 20,000) - (100 times 10,000) = 1,020,000.

    Parameters
    ----------
    records : Microdata
        The population.
    column : str
        A column of numbers with declared bounds.
    residents : int
        Number of people besides the newcomer.
    tolerance : float
        Relative error up to which a claim is correct, in [0, 1).
    newcomer : {"drawn", "last"}
        Whether the newcomer is drawn too, or is the table's last record. In the second case the residents are drawn
        from the other records, and a table of one more record than `residents` is one particular city.

    Raises
    ------
    ValueError
        If the column has no declared numeric bounds, a parameter is out of range, or the table has too few records.
    """

    def __init__(
        self,
        *,
        records: Microdata,
        column: str = "spending",
        residents: int = 100,
        tolerance: float = 0.05,
        newcomer: str = "drawn",
    ) -> None:
        self.records = records
        self.column = column
        self.residents = residents
        self.tolerance = tolerance
        self.newcomer = newcomer
        refuse(newcomer not in ("drawn", "last"), f"newcomer must be drawn or last, got {newcomer!r}")
        require(
            isinstance(records.domains.get(column), NumericDomain),
            f"column: {column!r} is not a column of numbers with declared bounds",
        )
        check_integer("residents", residents, low=1)
        check_real("tolerance", tolerance, low=0, high=1, open_high=True)
        refuse(
            len(records) <= residents,
            f"residents: {residents} and a newcomer are needed, but the table has {len(records)} rows",
        )

    def draw(self, rng: Generator, choice: Any = None) -> StatisticsSecret:
        """Draw residents and a newcomer, who is the last row of the table."""
        if self.newcomer == "drawn":
            drawn = rng.choice(len(self.records), self.residents + 1, replace=False)
        else:
            residents = rng.choice(len(self.records) - 1, self.residents, replace=False)
            drawn = np.append(residents, len(self.records) - 1)
        return self.table(self.records.take(drawn), seed_of(rng))

    def table(self, records: Microdata, analyst_seed: int = 0) -> StatisticsSecret:
        """Make a secret from a given table, whose last row is the newcomer."""
        count = len(records)
        residents = np.arange(count) < count - 1
        domain = records.domains[self.column]
        assert isinstance(domain, NumericDomain)  # noqa: S101 (checked by the constructor)
        target = LinearSecret(
            (Mean(self.column), Mean(self.column, members=residents)), (float(count), -float(count - 1))
        )
        values = numbers(records, self.column)
        no_records = records.take([])
        knowledge = StatisticsKnowledge(
            no_records.frame, no_records, targets=(target,), low=domain.low, high=domain.high
        )
        workload = tuple(AnalystQuery(query, (domain.low + domain.high) / 2) for query in target.queries)
        return StatisticsSecret(records, values[-1:], self._chance, knowledge, workload, analyst_seed)

    def right(self, claimed: Any, truth: Any) -> bool:
        """Whether the relative error of a claimed value is at most `tolerance`."""
        # 1e-12 allows for the rounding of sums of doubles.
        return bool(abs(claimed - truth) <= (self.tolerance + 1e-12) * abs(truth))

    @property
    def _chance(self) -> float:
        return best_guess(numbers(self.records, self.column), self.tolerance)


def best_guess(values: NDArray[np.float64], tolerance: float) -> float:
    """Largest share of values that a single guess hits up to a relative error.

    A guess g hits the values v with v - tolerance |v| <= g <= v + tolerance |v|. The share is the largest number of
    these intervals that overlap, divided by n. This number is attained at the left end of one of the intervals.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        The values, at least one.
    tolerance : float
        Relative error, at least 0.
    """
    slack = tolerance * np.abs(values)
    left, right = np.sort(values - slack), np.sort(values + slack)
    open_at_left = np.searchsorted(left, left, side="right") - np.searchsorted(right, left, side="left")
    return float(open_at_left.max() / values.size)
