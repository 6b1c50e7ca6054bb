"""A curator who adds noise to every answer and counts nothing."""

from __future__ import annotations

import math
from functools import partial

from numpy.random import Generator

from defenses.base.defense import Defense
from defenses.base.guarantee import Guarantee
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_real
from defenses.base.queries import Answer, Query
from defenses.base.release import StatisticsRelease
from defenses.curators.answer_noise import LaplaceAnswerNoise
from defenses.curators.planning import plain_answer, plan_of
from defenses.dp.sensitivity import check_neighbours


class UnaccountedCurator(Defense):
    """Answers as `Curator` does, as often as it is asked: each answer is private, a conversation is not.

    Parameters
    ----------
    epsilon : float
        Spent on every answer; positive. A query's own epsilon is not heeded, so that asking cannot buy less noise.
    neighbours : {"replace", "add or remove"}
        Which tables are to look alike.

    Raises
    ------
    ValueError
        If a parameter is refused.

    Notes
    -----
    The mean of k answers to one question has a k-th of the variance. The guarantee is none.
    """

    kind = "statistics"

    def __init__(self, *, epsilon: float = 1.0, neighbours: str = "replace") -> None:
        check_real("epsilon", epsilon, low=0, open_low=True)
        check_neighbours(neighbours)
        self.epsilon = epsilon
        self.neighbours = neighbours

    def guarantee(self, records: Microdata) -> Guarantee:
        """None: there is no bound on the number of answers."""
        return Guarantee(statement=f"none: epsilon {self.epsilon:g} for every answer, without end")

    def apply(self, records: Microdata, rng: Generator) -> StatisticsRelease:
        """Open the records to queries."""
        return StatisticsRelease(partial(UnaccountedSession, self, records))


class UnaccountedSession:
    """A conversation without an account.

    Parameters
    ----------
    curator : UnaccountedCurator
        Its parameters.
    records : Microdata
        What is asked about.
    rng : Generator
        Draws the noise.
    """

    remaining = math.inf
    refused = 0

    def __init__(self, curator: UnaccountedCurator, records: Microdata, rng: Generator) -> None:
        self._curator = curator
        self._records = records
        self._rng = rng

    def answer(self, query: Query, epsilon: float | None = None) -> Answer:
        """Answer a query with fresh noise.

        Raises
        ------
        ValueError
            If the query does not fit the public description of the records.
        """
        plan = plan_of(query, self._records, self._curator.neighbours)
        noise = LaplaceAnswerNoise(float(self._curator.epsilon), self._rng)
        return plain_answer(plan(self._records, noise))
