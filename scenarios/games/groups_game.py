"""Games about statistics of any group of persons: what they share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.random import Generator

from attacks.statistics.statistics_knowledge import LinearSecret, StatisticsKnowledge
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer
from defenses.base.queries import Query
from metrics.arrays import Booleans, Floats
from scenarios.games.statistics_game import Question, StatisticsGame, StatisticsSecret, seed_of


class GroupsGame(StatisticsGame):
    """A statistic is answered for any group of persons, and each has a number on one side of a boundary.

    A subclass says whose numbers these are and what is asked about a group.

    Parameters
    ----------
    records : Microdata
        The population.
    column : str
        What is asked about.
    persons : int
        How many are drawn per play.
    workload : int
        How many random halves of the persons an analyst asks about, by which utility is measured.

    Raises
    ------
    ValueError
        If a number is out of range or there are too few records.
    """

    low: float
    high: float
    boundary: float

    def __init__(self, *, records: Microdata, column: str, persons: int, workload: int) -> None:
        self.records = records
        self.column = column
        self.persons = persons
        self.workload = workload
        check_integer("persons", persons, low=2)
        check_integer("workload", workload, low=1)
        if len(records) < persons:
            raise ValueError(f"persons: {persons} are needed, the table has {len(records)} rows")

    @abstractmethod
    def numbers(self, records: Microdata) -> Floats:
        """Each record's number, in [low, high], shape (n,)."""

    @abstractmethod
    def asked(self, group: Booleans) -> Query:
        """What is asked about a group of the drawn persons, shape (persons,)."""

    def weight(self, group: Booleans) -> float:
        """What the answer is multiplied by to give the sum of the group's numbers."""
        return 1.0

    def guess(self, group: Booleans) -> float:
        """What one would guess of the answer without asking: everybody's number is the middle of its bounds."""
        return float(group.sum()) * (self.low + self.high) / 2 / self.weight(group)

    def draw(self, rng: Generator, choice: Any = None) -> StatisticsSecret:
        """Draw persons, whose rows' numbers are public."""
        records = self.records.take(rng.choice(len(self.records), self.persons, replace=False))
        truths = self.numbers(records)
        everybody = np.ones(self.persons, dtype=bool)

        def total(group: Booleans, sign: float = 1.0) -> LinearSecret:
            return LinearSecret((self.asked(group),), (sign * self.weight(group),))

        def one(person: int) -> LinearSecret:
            whole, rest = total(everybody), total(np.arange(self.persons) != person, -1.0)
            return LinearSecret(whole.queries + rest.queries, whole.weights + rest.weights)

        nobody = records.take([])
        known = StatisticsKnowledge(
            nobody.frame,
            nobody,
            targets=tuple(one(person) for person in range(self.persons)),
            low=self.low,
            high=self.high,
            total=total,
        )
        halves = rng.random((self.workload, self.persons)) < 0.5
        halves[~halves.any(axis=1)] = True
        workload = tuple(Question(self.asked(half), self.guess(half)) for half in halves)
        share = float(np.mean(truths > self.boundary))
        return StatisticsSecret(records, truths, max(share, 1 - share), known, workload, seed_of(rng))

    def right(self, claimed: Any, truth: Any) -> bool:
        """Whether a claimed number is on the true one's side of the boundary."""
        return bool((claimed > self.boundary) == (truth > self.boundary))
