"""The session in which a curator answers queries."""

from __future__ import annotations

from typing import Protocol

from defenses.base.queries.query import Answer, Query


class BudgetSpent(ValueError):  # noqa: N818 (a refusal, not an error)
    """A curator refuses a query whose cost exceeds the remaining budget; nothing was computed and nothing is spent."""


class QuerySession(Protocol):
    """One attacker's session with a curator, with its own budget and noise.

    Attributes
    ----------
    remaining : float
        Remaining epsilon; infinite where the curator has no budget.
    refused : int
        Number of queries refused because the budget was spent.
    """

    @property
    def remaining(self) -> float:
        """Remaining epsilon."""

    @property
    def refused(self) -> int:
        """Number of queries refused."""

    def answer(self, query: Query, epsilon: float | None = None) -> Answer:
        """Answer a query.

        Parameters
        ----------
        query : Query
            The query.
        epsilon : float, optional
            Epsilon to spend on it; by default the curator's share for one query.

        Raises
        ------
        BudgetSpent
            If it would cost more than the remaining budget.
        ValueError
            If the query does not fit the public description of the records, or epsilon is not positive and finite.
        """
