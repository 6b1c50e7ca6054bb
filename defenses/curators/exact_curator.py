"""A curator without protection."""

from __future__ import annotations

import math
from functools import partial

from numpy.random import Generator

from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from defenses.base.queries import Answer, Query
from defenses.base.release import StatisticsRelease


class ExactCurator(Defense):
    """Answers every query exactly, as often as it is asked: what other curators are measured against.

    Notes
    -----
    It guarantees nothing. Two means over groups that differ in one person give that person's value away.
    """

    kind = "statistics"

    def apply(self, records: Microdata, rng: Generator) -> StatisticsRelease:
        """Open the records to queries."""
        return StatisticsRelease(partial(ExactSession, records))


class ExactSession:
    """A conversation in which every answer is exact.

    Parameters
    ----------
    records : Microdata
        What is asked about.
    rng : Generator
        Not used.
    """

    remaining = math.inf
    refused = 0

    def __init__(self, records: Microdata, rng: Generator) -> None:
        self._records = records

    def answer(self, query: Query, epsilon: float | None = None) -> Answer:
        """Answer exactly, whatever epsilon is.

        Raises
        ------
        ValueError
            If the query does not fit the records.
        """
        return query.exact(self._records)
