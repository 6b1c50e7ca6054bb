"""Curator that answers queries with differential privacy within a budget."""

from __future__ import annotations

from functools import partial

from numpy.random import Generator

from defenses.base import Defense, Guarantee, Microdata, StatisticsRelease
from defenses.curators.curator_session import CuratorSession, SessionTerms, check_share
from defenses.dp import Account, Accountant, ConcentratedAccountant
from defenses.dp.sensitivity import check_neighbours
from metrics.columns import check_choice, check_integer, check_real, require

MECHANISMS = ("laplace", "gaussian")


class Curator(Defense):
    """Differentially private curator: answers statistical queries with noise until the privacy budget is spent.

    Queries are counts, sums, means, variances, covariances, correlations, quantiles, modes, histograms and contingency
    tables (`defenses.base.queries`). Every attacker who opens the release has a session, and a budget, of its own.

    Parameters
    ----------
    epsilon : float
        Budget of a session; positive.
    delta : float
        In (0, 1) with ``mechanism="gaussian"``, otherwise 0.
    mechanism : {"laplace", "gaussian"}
        Noise of numbers: discrete Laplace noise, of which epsilons add up, or discrete Gaussian noise, of which
        zero-concentrated costs add up.
    queries : int
        Number of equal shares of the budget, at least 1. A query without an epsilon of its own costs one share.
    neighbours : {"replace", "add or remove"}
        Relation between neighbouring tables.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    Reads before its noise. Public: names of the columns, declared domains and their types; under "replace" also the
    number and the order of records. Protected: all values, and which of them are missing; under "add or remove" also
    the number of records.

    Sensitivities come from the domains declared with the records. Numbers are clipped into their bounds, and a missing
    number counts as their middle. Categories outside of the domain are not counted (`defenses.base.queries`). A query
    on a column without a declared domain is refused. Under "replace" the number of records and their row numbers are
    public. Under "add or remove" neither is, and queries about given rows are refused.

    The cost of a query, and whether it can be answered, depend on public information only. The cost is entered before
    the records are read. `defenses.curators.planning` holds the plan of each query.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import Curator, Microdata
    >>> from defenses.base.queries import Count
    >>> records = Microdata(pd.DataFrame({"age": [23, 41, 67]}))
    >>> release = Curator(epsilon=1.0, queries=4).apply(records, np.random.default_rng(0))
    >>> session = release.open(np.random.default_rng(1))
    >>> float(session.answer(Count())).is_integer()
    True
    >>> session.remaining
    0.75
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
        self.epsilon = check_real("epsilon", epsilon, low=0, open_low=True)
        self.delta = check_real("delta", delta, low=0, high=1, open_high=True)
        self.queries = check_integer("queries", queries, low=1)
        self.neighbours = check_neighbours(neighbours)
        self.mechanism = check_choice("mechanism", mechanism, MECHANISMS)
        wanted = "positive" if mechanism == "gaussian" else "0"
        require(
            (mechanism == "gaussian") == (delta > 0),
            f"delta must be {wanted} with mechanism {mechanism}, got {delta!r}",
        )
        if mechanism == "laplace":
            check_share(epsilon, queries)

    def guarantee(self, records: Microdata) -> Guarantee:
        """Epsilon and delta of all answers of a session together."""
        change = "replaced by any other" if self.neighbours == "replace" else "added or removed"
        return Guarantee(
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            statement=f"one record {change}, within the declared domains; all answers of one session together",
        )

    def account(self) -> Account:
        """Open a fresh account of the budget."""
        if self.mechanism == "gaussian":
            return ConcentratedAccountant(epsilon=self.epsilon, delta=self.delta)
        return Accountant(epsilon=self.epsilon)

    def apply(self, records: Microdata, rng: Generator) -> StatisticsRelease:
        """Release a curator of the records, with which sessions can be opened."""
        return StatisticsRelease(partial(self.session, records))

    def session(self, records: Microdata, rng: Generator, account: Account | None = None) -> CuratorSession:
        """Open a session.

        Parameters
        ----------
        records : Microdata
            The records that queries are about.
        rng : Generator
            Draws the noise.
        account : Account, optional
            An account to continue, with its earlier costs (`defenses.dp.Accountant.restore`); a fresh one by default.
            The guarantee of the session is then the account's budget, with its delta.

        Raises
        ------
        ValueError
            If the account's epsilon exceeds the curator's, its kind does not fit the curator's noise, or its budget
            holds only for costs fixed in advance.
        """
        terms = SessionTerms(self.epsilon, self.delta, self.mechanism, self.neighbours, self.queries)
        return CuratorSession(records, rng, terms, self.account() if account is None else account)
