"""The visiting-hours game: a shop's hourly visitor counts, and one regular."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.statistics.statistics_knowledge import LinearSecret, StatisticsKnowledge
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer, check_real
from defenses.base.queries import Condition, Histogram
from metrics.domains import CategoricalDomain
from scenarios.games.statistics_game import Question, StatisticsGame, StatisticsSecret, seed_of


class VisitingHours(StatisticsGame):
    """At what hour does the regular come? A shop's visitors are counted by the hour, each day.

    It is known that the regular comes once on each Wednesday and never on a Tuesday. The counts of Wednesdays less
    those of Tuesdays, averaged over the weeks, stand out at the hour. With nobody else in the shop one Wednesday is
    enough. A record is a visit; a curator that protects one record gives the regular, who has one in each week, the
    group privacy of as many (weeks times epsilon).

    Parameters
    ----------
    records : Microdata
        The population: at what hour people come.
    column : str
        The column of hours, with declared categories.
    weeks : int
        How many weeks are counted.
    crowd : float
        How many others come a day, on average (Poisson).

    Raises
    ------
    ValueError
        If the column has no declared categories, it has no value, or a parameter is out of range.
    """

    def __init__(self, *, records: Microdata, column: str = "hour", weeks: int = 4, crowd: float = 1.0) -> None:
        self.records = records
        self.column = column
        self.weeks = weeks
        self.crowd = crowd
        if not isinstance(records.domains.get(column), CategoricalDomain):
            raise ValueError(f"column: {column!r} is no column with declared categories")
        if not records.frame[column].notna().any():
            raise ValueError(f"column: {column!r} has no value in any row")
        check_integer("weeks", weeks, low=1)
        check_real("crowd", crowd, low=0, high=1000)

    def draw(self, rng: Generator, choice: Any = None) -> StatisticsSecret:
        """Draw the regular's hour and everybody else's visits."""
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
        nobody = visits.take([])
        known = StatisticsKnowledge(nobody.frame, nobody, targets=(target,), categories=domain.categories)
        _, sizes = np.unique(hours, return_counts=True)
        # The shop's owner asks when most guests come; how many there are is public.
        workload = (Question(Histogram(self.column), len(visits) / domain.size),)
        truths = np.array([regular], dtype=object)
        return StatisticsSecret(visits, truths, float(sizes.max() / sizes.sum()), known, workload, seed_of(rng))
