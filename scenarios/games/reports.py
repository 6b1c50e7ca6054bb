"""Games on local reports: infer each person's value, or the pool of items that a person prefers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks import Claims, Knowledge, RankedAnswers
from attacks.reports.inference_from_reports import pool_of_each, preferred_pools
from defenses import Defense, Microdata, ReportsRelease, project_to_simplex
from metrics import CategoricalDomain, Score, Scores
from metrics.columns import Floats, Integers, check_integer, refuse, scattered
from scenarios.games.game import Game, Secret

# Utility of randomized reports: accuracy of the estimated frequencies.


def utility_frequencies(release: ReportsRelease, counts: Integers) -> float | None:
    """Anchored accuracy of estimated frequencies: 1 if they are exact, 0 if they are no better than uniform ones.

    It is max(0, 1 - T/T_0). T is the total variation distance between the true frequencies and the estimates, which
    are averaged over rounds and projected onto the simplex. T_0 is the distance between the true frequencies and the
    uniform distribution.

    - release: The reports of at least one round.
    - counts, shape (d,): True counts; they sum to the number of reports in a round.
    - returns: None if there is no report or the true distribution is uniform.
    """
    n, d = int(counts.sum()), counts.size
    if not n:
        return None
    rounds = [release.protocol.estimate(reports) for reports in release.reports]
    estimated = project_to_simplex(np.mean(rounds, axis=0), n)
    uniform_error = np.abs(counts - n / d).sum()
    return None if uniform_error == 0 else float(max(0.0, 1 - np.abs(estimated - counts).sum() / uniform_error))


@dataclass(frozen=True)
class ReportSecret(Secret):
    """Reported values of one play, and what the adversary infers about each person.

    - records: The reported values, one a row.
    - truths, shape (persons,): Position of each person's value in the domain, or the pool that the person prefers.
    """

    truths: Integers = field(repr=False)
    auxiliary: Microdata = field(repr=False)


class ReportsGame(Game):
    """Base of games about what persons report of a column under local differential privacy."""

    accepts: ClassVar[str] = "reports"
    kind: ClassVar[str] = "reports"
    attacker_knows = "mechanism"

    def __init__(self, *, records: Microdata, column: str, persons: int) -> None:
        self.records = records
        self.column = column
        self.persons = check_integer("persons", persons, low=1)

    def utility(self, secret: ReportSecret, release: ReportsRelease) -> dict[str, float | None]:
        """Accuracy of the estimated frequencies of reported values (`utility_frequencies`)."""
        codes = secret.records.domain(self.column).codes(secret.records.frame[self.column])
        return {"utility_frequencies": utility_frequencies(release, np.bincount(codes, minlength=release.protocol.d))}


class Reports(ReportsGame):
    """Inference of a person's value from linked reports under local differential privacy.

    The adversary knows the sender of each report, the protocol (as every reader of reports does), and the column of
    other people. The defense decides how many reports each person sends.

    Parameters
    ----------
    records : Microdata
        The population; records with a missing value in the column are left out.
    column : str
        The reported column; numbers are replaced by their public bins.
    persons, auxiliary : int
        Number of persons who report, at least 1, and size of the auxiliary population. It is smaller if the population
        has too few people left.

    Raises
    ------
    ValueError
        If the column does not exist, fewer than two of its values occur, or a number is out of range.
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"value": RankedAnswers}

    def __init__(self, *, records: Microdata, column: str, persons: int = 1000, auxiliary: int = 5000) -> None:
        records.check_released("column", column)
        super().__init__(records=records, column=column, persons=persons)
        self.auxiliary = check_integer("auxiliary", auxiliary, low=0)
        refuse(self._shares.max() >= 1, f"column: {column!r} has fewer than two values, so there is nothing to infer")
        refuse(
            len(self._population) < persons,
            f"persons: {persons} are needed, but only {len(self._population)} rows have a value",
        )

    @cached_property
    def _population(self) -> Microdata:
        return Microdata(
            self.records.frame[[self.column]].dropna().reset_index(drop=True),
            sensitive=(self.column,),
            domains={self.column: self.records.domain(self.column)},
        )

    @cached_property
    def _shares(self) -> Floats:
        domain = self._population.domain(self.column)
        codes = domain.codes(self._population.frame[self.column])
        return np.asarray(np.bincount(codes, minlength=domain.size) / max(1, codes.size))

    def draw(self, rng: Generator, choice: Any = None) -> ReportSecret:
        """Draw persons and the auxiliary population, all distinct."""
        order = rng.permutation(len(self._population))
        records = self._population.take(order[: self.persons])
        values = records.domain(self.column).codes(records.frame[self.column])
        others = self._population.take(order[self.persons : self.persons + self.auxiliary])
        return ReportSecret(records, values, others)

    def knowledge(self, secret: ReportSecret, defense: Defense) -> Knowledge:
        """Give the auxiliary population and the mechanism."""
        return Knowledge(secret.records.frame.iloc[:0], secret.auxiliary, self.simulation(defense))

    def score(self, secret: ReportSecret, published: ReportsRelease, claims: Claims, rng: Generator) -> Scores:
        """Score the best answer for each person.

        Returns
        -------
        Scores
            ``value``: share of persons whose value is inferred; chance is the share of the population's most frequent
            value. Measure ``answered``: share of persons with an answer.

        Raises
        ------
        TypeError
            If the claims are not ranked answers.
        ValueError
            If the claims have another number of persons or values.
        """
        ranked: RankedAnswers = self.taken(claims)
        refuse(
            (ranked.targets, ranked.answers) != (self.persons, published.protocol.d),
            f"the answers are about {ranked.targets} persons and {ranked.answers} values, but there are "
            f"{self.persons} and {published.protocol.d}",
        )
        return _best_answers("value", ranked, secret, float(self._shares.max()), rng)


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
        return _best_answers("pool", ranked, secret, self._chance, rng)


def _best_answers(goal: str, ranked: RankedAnswers, secret: ReportSecret, chance: float, rng: Generator) -> Scores:
    """Score of the best answer for each person; the measure ``answered`` is the share of persons with an answer."""
    answers = ranked.best(rng)
    score = Score(goal, float((answers == secret.truths).mean()), chance, answers.size)
    return Scores.of(score, answered=float((answers >= 0).mean()))
