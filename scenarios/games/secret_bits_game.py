"""The secret-bit game: who is in the group that is counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.statistics_knowledge import StatisticsKnowledge, Target
from defenses.microdata import Microdata
from defenses.parameters import check_whole
from defenses.queries import Condition, Count, Query
from metrics.domains import CategoricalDomain
from scenarios.games.statistics_game import Question, StatisticsGame, StatisticsSecret, seed_of


class SecretBitsGame(StatisticsGame):
    """Who has the secret attribute? Counts of it are answered for any group of persons.

    Parameters
    ----------
    records : Microdata
        The population.
    column, category : str
        The attribute: the records whose `column` is `category`.
    persons : int
        How many are drawn per play.
    workload : int
        How many counts over random halves of the persons an analyst asks for, by which utility is measured.

    Raises
    ------
    ValueError
        If there is no such category, a number is out of range or there are too few records.
    """

    def __init__(
        self, *, records: Microdata, column: str, category: str, persons: int = 100, workload: int = 10
    ) -> None:
        self.records = records
        self.column = column
        self.category = category
        self.persons = persons
        self.workload = workload
        domain = records.domains.get(column)
        if not isinstance(domain, CategoricalDomain):
            raise ValueError(f"column: {column!r} is no column with declared categories")
        if category not in domain.categories:
            raise ValueError(f"category: {column!r} has no category {category!r}")
        check_whole("persons", persons, low=2)
        check_whole("workload", workload, low=1)
        if len(records) < persons:
            raise ValueError(f"persons: {persons} are needed, the table has {len(records)} rows")

    def draw(self, rng: Generator, choice: Any = None) -> StatisticsSecret:
        """Draw persons, whose rows' numbers are public."""
        records = self.records.take(rng.choice(len(self.records), self.persons, replace=False))
        condition = (Condition(self.column, values=(self.category,)),)
        truths = condition[0].holds(records).astype(float)

        def subset(mask: NDArray[np.bool_]) -> Query:
            return Count(where=condition, members=mask)

        everybody = np.ones(self.persons, dtype=bool)
        targets = tuple(
            Target((subset(everybody), subset(np.arange(self.persons) != person)), (1.0, -1.0))
            for person in range(self.persons)
        )
        nobody = records.take([])
        known = StatisticsKnowledge(nobody.frame, nobody, targets=targets, low=0.0, high=1.0, subset=subset)
        masks = rng.random((self.workload, self.persons)) < 0.5
        workload = tuple(Question(subset(mask), mask.sum() / 2) for mask in masks)
        share = truths.mean()
        return StatisticsSecret(records, truths, float(max(share, 1 - share)), known, workload, seed_of(rng))

    def right(self, claimed: Any, truth: Any) -> bool:
        """Whether a claimed value is on the bit's side of a half."""
        return bool((claimed > 0.5) == (truth > 0.5))
