"""Curators without a budget: exact answers, and noisy answers whose costs are not added up."""

from __future__ import annotations

import math
from functools import partial

from numpy.random import Generator

from defenses.base import Answer, Defense, Guarantee, Microdata, Query, StatisticsRelease
from defenses.curators.answer_plan import LaplaceAnswerNoise
from defenses.curators.planning import plain_answer, plan_of
from defenses.dp.sensitivity import check_neighbours
from metrics.columns import check_real


class ExactCurator(Defense):
    """Exact curator, the baseline of the other curators: answers every query exactly and without limit.

    Notes
    -----
    It has no guarantee. Two means over groups that differ in one person disclose that person's value.
    """

    kind = "statistics"

    def apply(self, records: Microdata, rng: Generator) -> StatisticsRelease:
        """Release a curator of the records, with which sessions can be opened."""
        return StatisticsRelease(partial(ExactSession, records))


class ExactSession:
    """A session in which every answer is exact.

    - records: The records that queries are about.
    """

    remaining = math.inf
    refused = 0

    def __init__(self, records: Microdata, rng: Generator) -> None:
        self._records = records

    def answer(self, query: Query, epsilon: float | None = None) -> Answer:
        """Answer exactly; epsilon is ignored.

        Raises ValueError if the query does not fit the records.
        """
        return query.exact(self._records)


class UnaccountedCurator(Defense):
    """Curator without an account: each answer is differentially private, a session of many answers is not.

    Parameters
    ----------
    epsilon : float
        Epsilon of every answer; positive. A query's own epsilon is ignored, so that no query can reduce the noise.
    neighbours : {"replace", "add or remove"}
        Relation between neighbouring tables.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    It has no guarantee: the mean of k answers to one query has 1/k of the variance of one answer.
    """

    kind = "statistics"

    def __init__(self, *, epsilon: float = 1.0, neighbours: str = "replace") -> None:
        self.epsilon = check_real("epsilon", epsilon, low=0, open_low=True)
        self.neighbours = check_neighbours(neighbours)

    def guarantee(self, records: Microdata) -> Guarantee:
        """No guarantee, because the number of answers is unbounded."""
        return Guarantee(statement=f"none: epsilon {self.epsilon:g} for every answer, and no limit on answers")

    def apply(self, records: Microdata, rng: Generator) -> StatisticsRelease:
        """Release a curator of the records, with which sessions can be opened."""
        return StatisticsRelease(partial(UnaccountedSession, self, records))


class UnaccountedSession:
    """A session without an account.

    - curator: Gives epsilon and the neighbours.
    - records: The records that queries are about.
    """

    remaining = math.inf
    refused = 0

    def __init__(self, curator: UnaccountedCurator, records: Microdata, rng: Generator) -> None:
        self._curator = curator
        self._records = records
        self._rng = rng

    def answer(self, query: Query, epsilon: float | None = None) -> Answer:
        """Answer a query with fresh noise of the curator's epsilon; `epsilon` is ignored.

        Raises ValueError if the query does not fit the public description of the records.
        """
        plan = plan_of(query, self._records, self._curator.neighbours)
        noise = LaplaceAnswerNoise(float(self._curator.epsilon), self._rng)
        return plain_answer(plan(self._records, noise))
