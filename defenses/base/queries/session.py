"""The conversation in which a curator answers queries."""

from __future__ import annotations

from typing import Protocol

from defenses.base.queries.query import Answer, Query


class BudgetSpent(ValueError):  # noqa: N818 (what happened, and a refusal rather than a fault)
    """A curator refuses a query that would spend more than is left; nothing was computed and nothing is spent."""


class QuerySession(Protocol):
    """One attacker's conversation with a curator: its own budget, its own noise.

    Attributes
    ----------
    remaining : float
        Epsilon that is left; infinite where nobody counts.
    refused : int
        Queries refused so far because the budget was spent.
    """

    @property
    def remaining(self) -> float:
        """Epsilon that is left."""

    @property
    def refused(self) -> int:
        """Queries refused so far."""

    def answer(self, query: Query, epsilon: float | None = None) -> Answer:
        """Answer a query.

        Parameters
        ----------
        query : Query
            What is asked.
        epsilon : float, optional
            What to spend on it; the curator's share for one query where not given.

        Raises
        ------
        BudgetSpent
            If it would cost more than is left.
        ValueError
            If the query does not fit the records' public description, or epsilon is not positive and finite.
        """
