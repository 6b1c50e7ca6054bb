"""Disclosure of persons' values through the answers of a curator."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Knowledge, NotApplicable, ValueClaims
from defenses.base.queries import Query, QuerySession
from metrics.columns import Booleans, Floats

# Knowledge of an attacker on statistics: which answers combine to a person's secret.


@dataclass(frozen=True)
class LinearSecret:
    """Secret that is a linear combination of exact answers.

    Parameters
    ----------
    queries : tuple of Query
        The queries to ask.
    weights : tuple of float
        The secret is the sum of weights times exact answers. For histograms it is the largest entry of this sum.
    """

    queries: tuple[Query, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class StatisticsKnowledge(Knowledge):
    """Knowledge of an attacker who infers persons' values from statistics.

    Parameters
    ----------
    targets : sequence of LinearSecret
        One for each secret, in the order of the claims.
    low, high : float
        Public bounds of numeric secrets.
    categories : tuple of str
        Public categories of categorical secrets; empty for numeric ones.
    total : callable, optional
        ``total(mask)`` is the sum of the secrets of a non-empty group, as the answer to one query. The mask is a
        ndarray of bool, shape (targets,). None if the game has no such query.
    """

    targets: Sequence[LinearSecret] = ()
    low: float = 0.0
    high: float = 1.0
    categories: tuple[str, ...] = ()
    total: Callable[[Booleans], LinearSecret] | None = field(default=None, repr=False)

    def claims(self, estimates: Sequence[Floats | None]) -> ValueClaims:
        """Claim estimated secrets: numbers clipped to the public bounds, or the category of the largest entry.

        Parameters
        ----------
        estimates : sequence of ndarray or None
            One estimate for each target; None abstains.
        """
        values = [None if estimate is None else self._claim(np.asarray(estimate)) for estimate in estimates]
        confidence = [float(value is not None) for value in values]
        return ValueClaims(pd.DataFrame({"value": pd.Series(values, dtype=object)}), np.array(confidence))

    def _claim(self, estimate: Floats) -> Any:
        if self.categories:
            return self.categories[int(np.argmax(estimate))]
        return float(np.clip(estimate, self.low, self.high))


class StatisticalDisclosure(Attack):
    """Base class of attacks that infer each target's secret from the answers of a curator."""

    kind = "statistics"
    goal = "disclosure"

    @abstractmethod
    def secrets(self, session: QuerySession, knowledge: StatisticsKnowledge, rng: Generator) -> Sequence[Floats | None]:
        """Query the session and estimate each target's secret; None where there is no estimate."""

    def run(self, release: QuerySession, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Claim the estimated secrets.

        Raises
        ------
        NotApplicable
            If the knowledge is not a `StatisticsKnowledge`, or lacks the queries that the attack needs.
        """
        if not isinstance(knowledge, StatisticsKnowledge):
            raise NotApplicable("the game does not say which statistics hold the secret")
        return knowledge.claims(self.secrets(release, knowledge, rng))
