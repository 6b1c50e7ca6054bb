"""What an attacker of a statistics release knows (which answers combine to somebody's secret), and attacks on it."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import ValueClaims
from defenses.base.queries import BudgetSpent, Query, QuerySession


@dataclass(frozen=True)
class Target:
    """A secret that is a weighted sum of exact answers.

    Parameters
    ----------
    queries : tuple of Query
        What to ask.
    weights : tuple of float
        The secret is the sum of weights times exact answers; where answers are histograms, its largest entry.
    """

    queries: tuple[Query, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class StatisticsKnowledge(Knowledge):
    """What is known to an attacker who wants values of persons out of statistics.

    Parameters
    ----------
    targets : sequence of Target
        One for each secret, in the order of the claims.
    low, high : float
        Public bounds of numeric secrets.
    categories : tuple of str
        Public categories of secrets that are none.
    total : callable, optional
        ``total(mask)``, mask of bool with shape (targets,), not empty, is the sum of the secrets of these persons, from
        the answer to one query; None where the game has no such query.
    """

    targets: Sequence[Target] = ()
    low: float = 0.0
    high: float = 1.0
    categories: tuple[str, ...] = ()
    total: Callable[[NDArray[np.bool_]], Target] | None = field(default=None, repr=False)

    def claims(self, estimates: Sequence[NDArray[np.float64] | None]) -> ValueClaims:
        """Claims of estimated secrets: clipped into the public bounds, or the category of the largest entry.

        Parameters
        ----------
        estimates : sequence of ndarray or None
            One a target; None abstains.
        """
        values = [None if estimate is None else self._claim(np.asarray(estimate)) for estimate in estimates]
        sure = [float(value is not None) for value in values]
        return ValueClaims(pd.DataFrame({"value": pd.Series(values, dtype=object)}), np.array(sure))

    def _claim(self, estimate: NDArray[np.float64]) -> Any:
        if self.categories:
            return self.categories[int(np.argmax(estimate))]
        return float(np.clip(estimate, self.low, self.high))


class SecretsOfStatistics(Attack):
    """Claims each target's secret by what a curator answers."""

    kind: ClassVar[str] = "statistics"
    goal: ClassVar[str] = "disclosure"

    @abstractmethod
    def secrets(
        self, session: QuerySession, known: StatisticsKnowledge, rng: Generator
    ) -> Sequence[NDArray[np.float64] | None]:
        """Ask, and estimate each target's secret; None where nothing is known of it."""

    def run(self, release: QuerySession, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Claim the estimated secrets.

        Raises
        ------
        NotApplicable
            If the knowledge is not of statistics, or has not what the attack asks for.
        """
        if not isinstance(knowledge, StatisticsKnowledge):
            raise NotApplicable("the game does not say which statistics hold the secret")
        return knowledge.claims(self.secrets(release, knowledge, rng))


def ask(session: QuerySession, query: Query, epsilon: float | None = None) -> NDArray[np.float64] | None:
    """The session's answer as an array, None where the budget is spent."""
    try:
        return np.asarray(session.answer(query, epsilon), dtype=float)
    except BudgetSpent:
        return None


def even_share(session: QuerySession, queries: int) -> float | None:
    """What to spend on each of some queries so that the budget is just spent; None where there is no end to it.

    One answer at epsilon tells more than r answers at epsilon / r, so that whoever knows its questions divides the
    budget by their number and asks each once.
    """
    if queries < 1 or not math.isfinite(session.remaining) or session.remaining <= 0:
        return None
    # Rounding must not make the last query too expensive.
    return session.remaining / queries * (1 - 1e-9)
