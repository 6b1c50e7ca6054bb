"""Session in which a differentially private curator answers queries within a budget."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

from numpy.random import Generator

from defenses.base import Answer, Microdata, Query
from defenses.curators.answer_plan import AnswerNoise, GaussianAnswerNoise, LaplaceAnswerNoise, Measurement, PartBound
from defenses.curators.planning import plain_answer, plan_of
from defenses.dp import Account, ConcentratedAccountant, zcdp_rho
from metrics.columns import check_real, refuse, require
from metrics.estimate import check_confidence

SMALLEST_SHARE, LARGEST_SHARE = 2.0**-18, 2.0**20
"""Range of the epsilon of one answer, which may have up to four parts."""


class AccountedSession:
    """A session of queries about records, whose costs an account adds up.

    - records: The records that queries are about.
    """

    def __init__(self, records: Microdata, rng: Generator, account: Account) -> None:
        self.account = account
        self._records = records
        self._rng = rng

    @property
    def remaining(self) -> float:
        """Epsilon not yet spent; for Gaussian noise, the largest epsilon of one more answer without delta."""
        return self.account.remaining

    @property
    def refused(self) -> int:
        """Number of queries refused because the budget was spent."""
        return self.account.refused


def check_share(epsilon: float, queries: int) -> None:
    """Raise ValueError unless the epsilon of one of this many equal shares lies in [2^-18, 2^20]."""
    require(
        SMALLEST_SHARE <= float(epsilon) / int(queries) <= LARGEST_SHARE,
        f"epsilon must give each of {queries} queries 2^-18 to 2^20, got {epsilon!r}",
    )


Cost = tuple[float, float, float | None]
"""Epsilon, delta and rho of one answer; rho is None for noise with an epsilon alone."""


@dataclass(frozen=True)
class SessionTerms:
    """What a session keeps to: its budget, noise, relation of neighbouring tables, and number of equal shares."""

    epsilon: float
    delta: float
    mechanism: str
    neighbours: str
    queries: int = 1


class CuratorSession(AccountedSession):
    """A session of queries to a curator; threads may share it.

    - records: The records that queries are about.
    - terms: Gives the mechanism, the shares and the neighbours.
    - rows: Largest number of rows of a person, whom costs are about: noise is that of one row at a smaller cost.

    Raises ValueError if the account's epsilon exceeds the curator's, its kind does not fit the curator's noise, or its
    budget holds only for costs fixed in advance.

    Notes
    -----
    A mechanism with epsilon / g for one row has epsilon for the g rows of a person; with rho / g^2 it has rho.

    References
    ----------
    Dwork and Roth (2014), The Algorithmic Foundations of Differential Privacy, theorem 2.2; Bun and Steinke (2016),
    Concentrated Differential Privacy, proposition 1.9.
    """

    def __init__(
        self, records: Microdata, rng: Generator, terms: SessionTerms, account: Account, *, rows: int = 1
    ) -> None:
        refuse(
            terms.mechanism == "gaussian" and not isinstance(account, ConcentratedAccountant),
            f"account must be a ConcentratedAccountant for Gaussian noise, got {type(account).__name__}",
        )
        require(
            account.adaptive,
            (
                f"account: costs of a session may depend on answers, and {type(account).__name__} needs them fixed in "
                "advance"
            ),
        )
        refuse(
            account.epsilon > terms.epsilon,
            f"account: its budget, {account.epsilon:g}, exceeds the curator's epsilon {terms.epsilon:g}",
        )
        super().__init__(records, rng, account)
        self._terms = terms
        self._rows = rows
        self._lock = threading.Lock()

    def answer(self, query: Query, epsilon: float | None = None) -> Answer:
        """Answer a query with fresh noise.

        - epsilon, optional: Epsilon to spend on it (with the curator's delta, for Gaussian noise); one share of the
          budget by default.

        Raises BudgetSpent if the cost exceeds the remaining budget; nothing is computed then. Raises ValueError if
        epsilon is refused or the query does not fit the public description of the records.
        """
        plan = plan_of(query, self._records, self._terms.neighbours)
        with self._lock:
            return plain_answer(plan(self._records, self._paid(epsilon)))

    def measure(self, query: Query, epsilon: float | None = None, *, confidence: float = 0.95) -> Measurement:
        """Answer a query as `answer` does, with the interval of the answer, which costs nothing more.

        - query, epsilon: See `answer`.
        - confidence: Confidence of the interval, in (0, 1).

        Raises BudgetSpent if the cost exceeds the remaining budget; nothing is computed then. Raises ValueError if a
        parameter is refused or the query does not fit the public description of the records.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from defenses import Curator, Microdata
        >>> from defenses.base.queries import Count
        >>> records = Microdata(pd.DataFrame({"age": [23, 41, 67]}))
        >>> session = Curator(epsilon=1.0).session(records, np.random.default_rng(1))
        >>> measured = session.measure(Count(), 1.0)
        >>> low, high = measured.interval
        >>> measured.bounds[0].bound, bool(low <= measured.answer <= high or measured.answer > 3)
        (3.0, True)
        """
        plan = plan_of(query, self._records, self._terms.neighbours)
        with self._lock:
            # Bounds that cannot be stated are refused before anything is spent.
            plan.bounds(self._noise(epsilon), confidence)
            measured = plan.measure(self._records, self._paid(epsilon), confidence)
        return replace(measured, answer=plain_answer(measured.answer))

    def quote(
        self, query: Query, epsilon: float | None = None, *, confidence: float = 0.95
    ) -> tuple[Cost, tuple[PartBound, ...]]:
        """Cost of a query, and bounds on the noise of its answer; nothing is spent, and no value is read.

        - query, epsilon, confidence: See `measure`.
        - returns cost: Epsilon, delta and rho (None for noise with an epsilon alone) that the answer costs.
        - returns bounds: Bounds on the error of each part of the answer, which hold jointly at this confidence.

        Raises ValueError if a parameter is refused or the query does not fit the public description of the records.
        """
        check_confidence(confidence)
        plan = plan_of(query, self._records, self._terms.neighbours)
        return self._cost(epsilon), plan.bounds(self._noise(epsilon), confidence)

    def _paid(self, epsilon: float | None) -> AnswerNoise:
        """Noise of one answer, whose cost is entered first."""
        noise = self._noise(epsilon)
        self.account.spend(*self._cost(epsilon))
        return noise

    def _noise(self, epsilon: float | None) -> AnswerNoise:
        spent, _, rho = self._cost(epsilon)
        if rho is None:
            return LaplaceAnswerNoise(spent / self._rows, self._rng)
        return GaussianAnswerNoise(rho / self._rows**2, self._rng)

    def _cost(self, epsilon: float | None) -> Cost:
        terms = self._terms
        check_real("epsilon", epsilon, low=0, open_low=True, optional=True)
        if terms.mechanism == "gaussian":
            budget = zcdp_rho(float(terms.epsilon), float(terms.delta))
            rho = budget / terms.queries if epsilon is None else zcdp_rho(float(epsilon), float(terms.delta))
            return float(terms.epsilon if epsilon is None else epsilon), float(terms.delta), rho
        return (float(terms.epsilon) / terms.queries if epsilon is None else float(epsilon)), 0.0, None
