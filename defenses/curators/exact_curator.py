"""Curator that answers exactly, without protection."""

from __future__ import annotations

import math
from functools import partial

from numpy.random import Generator

from defenses.base import Defense, Microdata, StatisticsRelease
from defenses.base.queries import Answer, Query


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

    Parameters
    ----------
    records : Microdata
        The records that queries are about.
    rng : Generator
        Not used.
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
