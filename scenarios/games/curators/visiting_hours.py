"""The visiting-hours game: find a regular visitor's hour in daily histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.statistics.statistical_disclosure import LinearSecret, StatisticsKnowledge
from defenses.base import Microdata
from defenses.base.queries import Condition, Histogram
from metrics.columns import CategoricalDomain, check_integer, check_real, require
from scenarios.games.curators.statistics_game import AnalystQuery, StatisticsGame, StatisticsSecret, seed_of


class VisitingHours(StatisticsGame):
    """Disclosure of a regular visitor's hour by daily histograms of a shop's visitors.

    The adversary knows that the regular comes once on each Wednesday and never on a Tuesday. The difference between the
    histograms of Wednesdays and Tuesdays, averaged over the weeks, peaks at the regular's hour. In an otherwise empty
    shop one Wednesday is enough. A record is a visit, and the regular has one in each week. A curator that protects
    one record with epsilon therefore protects the regular by group privacy with weeks times epsilon.

    Parameters
    ----------
    records : Microdata
        The population: one row for each visit, with its hour.
    column : str
        The column of hours, with declared categories.
    weeks : int
        Number of weeks.
    crowd : float
        Mean number of other visitors in a day (Poisson).

    Raises
    ------
    ValueError
        If the column has no declared categories or no value, or a parameter is out of range.
    """

    def __init__(self, *, records: Microdata, column: str = "hour", weeks: int = 4, crowd: float = 1.0) -> None:
        self.records = records
        self.column = column
        self.weeks = weeks
        self.crowd = crowd
        require(
            isinstance(records.domains.get(column), CategoricalDomain),
            f"column: {column!r} is not a column with declared categories",
        )
        require(records.frame[column].notna().any(), f"column: {column!r} has no value in any row")
        check_integer("weeks", weeks, low=1)
        check_real("crowd", crowd, low=0, high=1000)

    def draw(self, rng: Generator, choice: Any = None) -> StatisticsSecret:
        """Draw the regular's hour and all other visits."""
        hours = self.records.frame[self.column].dropna().to_numpy(dtype=object)
        domain = self.records.domain(self.column)
        assert isinstance(domain, CategoricalDomain)  # noqa: S101 (checked by the constructor)
        wednesdays, tuesdays = ([f"{day} {week + 1}" for week in range(self.weeks)] for day in ("Wednesday", "Tuesday"))
        days = [*wednesdays, *tuesdays]
        regular = str(rng.choice(hours))
        others = rng.poisson(self.crowd, len(days))
        frame = pd.DataFrame(
            {
                "day": np.concatenate([wednesdays, np.repeat(days, others)]).astype(object),
                self.column: np.concatenate([[regular] * self.weeks, rng.choice(hours, others.sum())]).astype(object),
            }
        )
        visits = Microdata(
            frame.iloc[rng.permutation(len(frame))].reset_index(drop=True),
            quasi_identifiers=("day",),
            sensitive=(self.column,),
            domains={"day": CategoricalDomain(tuple(days)), self.column: domain},
        )
        counts = {day: Histogram(self.column, where=(Condition("day", values=(day,)),)) for day in days}
        target = LinearSecret(
            tuple(counts[day] for day in days),
            tuple([1 / self.weeks] * self.weeks + [-1 / self.weeks] * self.weeks),
        )
        no_records = visits.take([])
        knowledge = StatisticsKnowledge(no_records.frame, no_records, targets=(target,), categories=domain.categories)
        _, sizes = np.unique(hours, return_counts=True)
        # The analyst asks for the hours of all visits; their total number is public.
        workload = (AnalystQuery(Histogram(self.column), len(visits) / domain.size),)
        truths = np.array([regular], dtype=object)
        return StatisticsSecret(visits, truths, float(sizes.max() / sizes.sum()), knowledge, workload, seed_of(rng))
