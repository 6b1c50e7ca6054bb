"""A curator who answers queries with differential privacy, from a budget."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

from numpy.random import Generator

from defenses.base.defense import Defense
from defenses.base.guarantee import Guarantee
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer, check_real
from defenses.base.queries import Answer, Query
from defenses.base.release import StatisticsRelease
from defenses.curators.answer_noise import GaussianAnswerNoise, LaplaceAnswerNoise
from defenses.curators.number_plans import AnswerPlan
from defenses.curators.planning import plain_answer, plan_of
from defenses.dp.account import Account
from defenses.dp.accountant import Accountant
from defenses.dp.composition import zcdp_rho
from defenses.dp.concentrated_accountant import ConcentratedAccountant
from defenses.dp.sensitivity import check_neighbours

MECHANISMS = ("laplace", "gaussian")
SMALLEST_SHARE, LARGEST_SHARE = 2.0**-18, 2.0**20
"""Epsilon of one answer, also where it has up to four parts."""


class Curator(Defense):
    """Answers counts, sums, means, quantiles, histograms and the like with noise, until the budget is spent.

    Every attacker who opens the release converses with a curator of its own.

    Parameters
    ----------
    epsilon : float
        The budget of a conversation; positive.
    delta : float
        With ``mechanism="gaussian"`` in (0, 1), otherwise 0.
    mechanism : {"laplace", "gaussian"}
        Noise of numbers: discrete Laplace, epsilons add up; or discrete Gaussian, zero-concentrated costs add up.
    queries : int
        A query that names no epsilon of its own costs one of so many equal parts; at least 1.
    neighbours : {"replace", "add or remove"}
        Which tables are to look alike.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    Only the domains declared with the records are used beside the noise: numbers are clipped into their bounds, a
    missing one counts as their middle, categories outside the domain are not counted (`defenses.base.queries`). A query
    on a column without declared domain is refused. Under "replace" the number of records and their row numbers are
    public; under "add or remove" neither is, and queries about given rows are refused.

    What a query costs, and whether it can be answered, depends on public things alone; the cost is entered before the
    records are looked at. `defenses.curators.planning` holds the plan of each query.
    """

    kind = "statistics"

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        mechanism: str = "laplace",
        queries: int = 10,
        neighbours: str = "replace",
    ) -> None:
        check_real("epsilon", epsilon, low=0, open_low=True)
        check_real("delta", delta, low=0, high=1, open_high=True)
        check_integer("queries", queries, low=1)
        check_neighbours(neighbours)
        if mechanism not in MECHANISMS:
            raise ValueError(f"mechanism must be one of {', '.join(MECHANISMS)}, got {mechanism!r}")
        if (mechanism == "gaussian") != (delta > 0):
            wanted = "positive" if mechanism == "gaussian" else "0"
            raise ValueError(f"delta must be {wanted} with mechanism {mechanism}, got {delta!r}")
        self.epsilon = epsilon
        self.delta = delta
        self.mechanism = mechanism
        self.queries = queries
        self.neighbours = neighbours
        if mechanism == "laplace" and not SMALLEST_SHARE <= float(epsilon) / int(queries) <= LARGEST_SHARE:
            raise ValueError(f"epsilon must give each of {queries} queries 2^-18 to 2^20, got {epsilon!r}")

    def guarantee(self, records: Microdata) -> Guarantee:
        """Epsilon and delta of all answers of a conversation together."""
        change = "replaced by any other" if self.neighbours == "replace" else "added or removed"
        return Guarantee(
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            statement=f"one record {change}, within the declared domains; all answers of one conversation together",
        )

    def account(self) -> Account:
        """Open a fresh account of the budget."""
        if self.mechanism == "gaussian":
            return ConcentratedAccountant(epsilon=self.epsilon, delta=self.delta)
        return Accountant(epsilon=self.epsilon)

    def apply(self, records: Microdata, rng: Generator) -> StatisticsRelease:
        """Open the records to queries."""
        return StatisticsRelease(partial(self.session, records))

    def session(self, records: Microdata, rng: Generator, account: Account | None = None) -> CuratorSession:
        """Open a conversation.

        Parameters
        ----------
        records : Microdata
            What is asked about.
        rng : Generator
            Draws the noise.
        account : Account, optional
            One that goes on, with what was spent before (`defenses.dp.Accountant.restore`); a fresh one where not
            given. What the conversation promises is the account's budget then, with its delta.

        Raises
        ------
        ValueError
            If the account's budget exceeds the curator's epsilon, or does not go with its noise.
        """
        return CuratorSession(records, rng, self, self.account() if account is None else account)


class CuratorSession:
    """A conversation with a curator; threads may share it.

    Parameters
    ----------
    records : Microdata
        What is asked about.
    rng : Generator
        Draws the noise.
    curator : Curator
        Its parameters.
    account : Account
        Where costs are entered.
    """

    def __init__(self, records: Microdata, rng: Generator, curator: Curator, account: Account) -> None:
        if curator.mechanism == "gaussian" and not isinstance(account, ConcentratedAccountant):
            raise ValueError(
                f"account must be a ConcentratedAccountant for Gaussian noise, got {type(account).__name__}"
            )
        if account.epsilon > curator.epsilon:
            raise ValueError(
                f"account: its budget, {account.epsilon:g}, exceeds the curator's epsilon {curator.epsilon:g}"
            )
        self.account = account
        self._records = records
        self._rng = rng
        self._curator = curator
        self._lock = threading.Lock()

    @property
    def remaining(self) -> float:
        """Epsilon that is left; for Gaussian noise that of one more answer without delta."""
        return self.account.remaining

    @property
    def refused(self) -> int:
        """Queries refused because the budget was spent."""
        return self.account.refused

    def answer(self, query: Query, epsilon: float | None = None) -> Answer:
        """Answer a query with fresh noise.

        Parameters
        ----------
        query : Query
            What is asked.
        epsilon : float, optional
            What to spend on it (with the curator's delta, for Gaussian noise); one share of the budget where not given.

        Raises
        ------
        BudgetSpent
            If it would cost more than is left; nothing was computed.
        ValueError
            If epsilon is refused or the query does not fit the public description of the records.
        """
        plan = plan_of(query, self._records, self._curator.neighbours)
        with self._lock:
            return plain_answer(self._answer(plan, epsilon))

    def _answer(self, plan: AnswerPlan, epsilon: float | None) -> Any:
        curator = self._curator
        if epsilon is not None:
            check_real("epsilon", epsilon, low=0, open_low=True)
        if curator.mechanism == "gaussian":
            assert isinstance(self.account, ConcentratedAccountant)  # noqa: S101 (the constructor checks)
            budget = zcdp_rho(float(curator.epsilon), float(curator.delta))
            rho = budget / curator.queries if epsilon is None else zcdp_rho(float(epsilon), float(curator.delta))
            gaussian = GaussianAnswerNoise(rho, self._rng)
            self.account.spend(float(curator.epsilon if epsilon is None else epsilon), float(curator.delta), rho)
            return plan(self._records, gaussian)
        share = float(curator.epsilon) / curator.queries if epsilon is None else float(epsilon)
        laplace = LaplaceAnswerNoise(share, self._rng)
        self.account.spend(share)
        return plan(self._records, laplace)
