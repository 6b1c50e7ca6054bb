"""The pool inference game: infer the pool of items that a person prefers from their reports."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks import Claims, Knowledge, RankedAnswers
from attacks.reports.pool_inference import pool_of_each, preferred_pools
from defenses import Defense, Microdata, ReportsRelease
from metrics import CategoricalDomain, Score, Scores
from metrics.columns import Integers, check_integer, refuse, scattered
from scenarios.games.reports import ReportSecret, ReportsGame


class Pool(ReportsGame):
    """Pool inference: infer from linked reports which pool of items (skin tones, political sides) a person prefers.

    Every person reports the same number of items, each under local differential privacy. The adversary knows the
    protocol, the sender of each report, and all items of other people. A person prefers the pool with the largest share
    of all of their items in the population.

    Parameters
    ----------
    records : Microdata
        One row for each use of an item. A column names the person, and level 1 of the item's hierarchy are the pools.
    column : str
        Column of the item; its domain must be declared categories.
    persons, reports : int
        Number of persons who report, and number of items that each reports, at least 1. Persons with fewer items are
        not drawn.

    Raises
    ------
    ValueError
        If the records have no column of persons, no pools or a missing item. Also if fewer than two pools are
        preferred, or too few persons have enough items.

    References
    ----------
    Gadotti, Houssiau, Annamalai and de Montjoye (2022), Pool inference attacks on local differential privacy,
    section 3.
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"pool": RankedAnswers}
    draws_people: ClassVar[bool] = True

    def __init__(self, *, records: Microdata, column: str, persons: int = 500, reports: int = 8) -> None:
        super().__init__(records=records, column=column, persons=persons)
        self.reports = check_integer("reports", reports, low=1)
        refuse(records.person is None, "records: no column names the person whose item it is; declare it as person")
        refuse(
            column not in records.hierarchies or not isinstance(records.domains.get(column), CategoricalDomain),
            f"column: {column!r} must have declared categories and a hierarchy whose level 1 are the pools",
        )
        refuse(
            records.frame[[column, records.person]].isna().any(axis=None),
            f"records: an item or a person is missing in column {column!r} or {records.person!r}",
        )
        refuse(
            not len(records) or self._chance >= 1,
            "records: fewer than two pools are preferred, so there is nothing to infer",
        )
        refuse(
            self._eligible.size <= persons,
            f"persons: more than {persons} with {reports} items are needed, but there are {self._eligible.size}",
        )

    @cached_property
    def _people(self) -> tuple[Integers, Integers]:
        """Preferred pool of each person, and person of each row."""
        preferred, person = preferred_pools(self.records, self.column, pool_of_each(self.records, self.column))
        return preferred, person

    @cached_property
    def _eligible(self) -> Integers:
        return np.flatnonzero(np.bincount(self._people[1]) >= self.reports)

    @property
    def _chance(self) -> float:
        preferred = self._people[0][self._eligible]
        return float(np.bincount(preferred).max(initial=0) / max(1, preferred.size))

    def _table(self, rows: Integers, person: Integers) -> Microdata:
        name = str(self.records.person)
        frame = pd.DataFrame({name: person, self.column: self.records.frame[self.column].to_numpy()[rows]})
        return Microdata(
            frame,
            identifiers=(name,),
            sensitive=(self.column,),
            domains={self.column: self.records.domains[self.column]},
            hierarchies={self.column: self.records.hierarchies[self.column]},
            person=name,
        )

    def draw(self, rng: Generator, choice: Any = None) -> ReportSecret:
        """Draw persons and their reported items; all other people are the auxiliary population."""
        preferred, person = self._people
        targets = rng.permutation(self._eligible)[: self.persons]
        number = scattered(np.arange(self.persons), targets, preferred.size)
        rows = rng.permutation(person.size)
        rows = rows[np.argsort(number[person[rows]], kind="stable")]
        senders = number[person[rows]]
        first = np.searchsorted(senders, senders)
        chosen = (senders >= 0) & (np.arange(rows.size) - first < self.reports)
        others = np.flatnonzero(number[person] < 0)
        return ReportSecret(
            self._table(rows[chosen], senders[chosen]), preferred[targets], self._table(others, person[others])
        )

    def knowledge(self, secret: ReportSecret, defense: Defense) -> Knowledge:
        """Give the sender of each report, the auxiliary population, and the mechanism."""
        return Knowledge(
            secret.records.frame[[str(self.records.person)]].copy(), secret.auxiliary, self.simulation(defense)
        )

    def score(self, secret: ReportSecret, published: ReportsRelease, claims: Claims, rng: Generator) -> Scores:
        """Score the best answer for each person.

        Returns
        -------
        Scores
            ``pool``: share of persons whose pool is inferred. Chance is the share of the most frequent pool among all
            persons with enough items. Measure ``answered``: share of persons with an answer.

        Raises
        ------
        TypeError
            If the claims are not ranked answers.
        ValueError
            If the claims have another number of persons.
        """
        ranked: RankedAnswers = self.taken(claims)
        refuse(
            ranked.targets != self.persons,
            f"the answers are about {ranked.targets} persons, but there are {self.persons}",
        )
        answers = ranked.best(rng)
        score = Score("pool", float((answers == secret.truths).mean()), self._chance, self.persons)
        return Scores.of(score, answered=float((answers >= 0).mean()))
