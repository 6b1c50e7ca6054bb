"""The newcomer game: a city's mean spending before and after somebody moves in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.statistics.statistics_knowledge import LinearSecret, StatisticsKnowledge
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer, check_real
from defenses.base.queries import Mean, numbers
from metrics.domains import NumericDomain
from scenarios.games.statistics_game import Question, StatisticsGame, StatisticsSecret, seed_of


class Newcomer(StatisticsGame):
    """What did the newcomer spend? The mean is asked for over everybody, and over everybody but the newcomer.

    Per play some residents and one newcomer are drawn. n m - (n - 1) m' is the newcomer's value, m and m' the means
    with and without: (101 times 20,000) - (100 times 10,000) = 1,020,000.

    Parameters
    ----------
    records : Microdata
        The population.
    column : str
        A column of numbers with declared bounds.
    residents : int
        How many people live there before.
    tolerance : float
        By what share of the true value a claim may be off, in [0, 1).

    Raises
    ------
    ValueError
        If the column is none of numbers with declared bounds, a parameter is out of range, or there are too few
        records.
    """

    def __init__(
        self, *, records: Microdata, column: str = "spending", residents: int = 100, tolerance: float = 0.05
    ) -> None:
        self.records = records
        self.column = column
        self.residents = residents
        self.tolerance = tolerance
        if not isinstance(records.domains.get(column), NumericDomain):
            raise ValueError(f"column: {column!r} is no column of numbers with declared bounds")
        check_integer("residents", residents, low=1)
        check_real("tolerance", tolerance, low=0, high=1, open_high=True)
        if len(records) <= residents:
            raise ValueError(f"residents: {residents} and a newcomer are needed, the table has {len(records)} rows")

    def draw(self, rng: Generator, choice: Any = None) -> StatisticsSecret:
        """Draw residents and a newcomer, who stands last in the table."""
        drawn = rng.choice(len(self.records), self.residents + 1, replace=False)
        return self.table(self.records.take(drawn), seed_of(rng))

    def table(self, records: Microdata, analyst_seed: int = 0) -> StatisticsSecret:
        """The game on a table of residents with the newcomer last."""
        count = len(records)
        before = np.arange(count) < count - 1
        domain = records.domains[self.column]
        assert isinstance(domain, NumericDomain)  # noqa: S101 (checked by the constructor)
        target = LinearSecret((Mean(self.column), Mean(self.column, members=before)), (float(count), -float(count - 1)))
        values = numbers(records, self.column)
        nobody = records.take([])
        known = StatisticsKnowledge(nobody.frame, nobody, targets=(target,), low=domain.low, high=domain.high)
        workload = tuple(Question(query, (domain.low + domain.high) / 2) for query in target.queries)
        return StatisticsSecret(records, values[-1:], self._chance, known, workload, analyst_seed)

    def right(self, claimed: Any, truth: Any) -> bool:
        """Whether a claimed value is off by at most `tolerance` times the true one."""
        # A millionth of a millionth is left for the rounding of sums of doubles.
        return bool(abs(claimed - truth) <= (self.tolerance + 1e-12) * abs(truth))

    @property
    def _chance(self) -> float:
        return best_guess(numbers(self.records, self.column), self.tolerance)


def best_guess(values: NDArray[np.float64], tolerance: float) -> float:
    """Largest share of values that one guess meets up to `tolerance` times each of them.

    A guess g meets the values v with v - tolerance |v| <= g <= v + tolerance |v|: the share is the largest number of
    these intervals that overlap, which is reached at the left end of one of them.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        At least one.
    tolerance : float
        At least 0.
    """
    slack = tolerance * np.abs(values)
    left, right = np.sort(values - slack), np.sort(values + slack)
    open_at_left = np.searchsorted(left, left, side="right") - np.searchsorted(right, left, side="left")
    return float(open_at_left.max() / values.size)
