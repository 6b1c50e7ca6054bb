"""Base of games on a curator that answers a statistic of any group of persons."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.statistics.disclosure_by_queries import LinearSecret, StatisticsKnowledge
from defenses.base import Microdata
from defenses.base.queries import Condition, Count, Histogram, Mean, Query, Sum, numbers
from metrics.columns import (
    Booleans,
    CategoricalDomain,
    Floats,
    NumericDomain,
    check_choice,
    check_integer,
    check_real,
    refuse,
    require,
)
from scenarios.games.curators.statistics_game import AnalystQuery, StatisticsGame, StatisticsSecret, seed_of

# The visiting-hours game: find a regular visitor's hour in daily histograms.


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
        require(
            isinstance(records.domains.get(column), CategoricalDomain),
            f"column: {column!r} is not a column with declared categories",
        )
        require(records.frame[column].notna().any(), f"column: {column!r} has no value in any row")
        self.weeks = check_integer("weeks", weeks, low=1)
        self.crowd = check_real("crowd", crowd, low=0, high=1000)

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


class GroupsGame(StatisticsGame):
    """Abstract disclosure game: a curator answers a statistic of any group of persons.

    Each person has a secret number. The adversary must find on which side of a boundary it lies. A subclass defines the
    numbers and the query about a group. A ValueError is raised if a number is out of range or the table has too few
    records.

    - column: The column of the secret.
    - persons: Number of persons drawn in each play.
    - workload: Number of random halves of the persons that an honest analyst asks about; their answers measure utility.
    """

    low: float
    high: float
    boundary: float

    def __init__(self, *, records: Microdata, column: str, persons: int, workload: int) -> None:
        self.records = records
        self.column = column
        self.persons = check_integer("persons", persons, low=2)
        self.workload = check_integer("workload", workload, low=1)
        refuse(len(records) < persons, f"persons: {persons} are needed, but the table has {len(records)} rows")

    @abstractmethod
    def numbers(self, records: Microdata) -> Floats:
        """Secret number of each record, in [low, high], shape (n,)."""

    @abstractmethod
    def asked(self, group: Booleans) -> Query:
        """Query about a group of the drawn persons; `group` has shape (persons,)."""

    def weight(self, group: Booleans) -> float:
        """Factor that turns the answer into the sum of the group's numbers."""
        return 1.0

    def guess(self, group: Booleans) -> float:
        """Guess of the answer without a query, where every number is the middle of its bounds."""
        return float(group.sum()) * (self.low + self.high) / 2 / self.weight(group)

    def draw(self, rng: Generator, choice: Any = None) -> StatisticsSecret:
        """Draw persons; the row of each person is public."""
        records = self.records.take(rng.choice(len(self.records), self.persons, replace=False))
        truths = self.numbers(records)
        everybody = np.ones(self.persons, dtype=bool)

        def total(group: Booleans, sign: float = 1.0) -> LinearSecret:
            return LinearSecret((self.asked(group),), (sign * self.weight(group),))

        def one(person: int) -> LinearSecret:
            of_all, of_others = total(everybody), total(np.arange(self.persons) != person, -1.0)
            return LinearSecret(of_all.queries + of_others.queries, of_all.weights + of_others.weights)

        no_records = records.take([])
        knowledge = StatisticsKnowledge(
            no_records.frame,
            no_records,
            targets=tuple(one(person) for person in range(self.persons)),
            low=self.low,
            high=self.high,
            total=total,
        )
        halves = rng.random((self.workload, self.persons)) < 0.5
        halves[~halves.any(axis=1)] = True
        workload = tuple(AnalystQuery(self.asked(half), self.guess(half)) for half in halves)
        share = float(np.mean(truths > self.boundary))
        return StatisticsSecret(records, truths, max(share, 1 - share), knowledge, workload, seed_of(rng))

    def right(self, claimed: Any, truth: Any) -> bool:
        """Whether a claimed number lies on the same side of the boundary as the true one."""
        return bool((claimed > self.boundary) == (truth > self.boundary))


# The secret-bit game: reconstruct a binary attribute from counts.


class SecretBits(GroupsGame):
    """Disclosure of a binary attribute: a curator answers counts of it for any group of persons.

    Parameters
    ----------
    records : Microdata
        The population.
    column, category : str
        A person has the attribute if `column` is `category`.
    persons : int
        Number of persons drawn in each play.
    workload : int
        Number of random halves of the persons that an honest analyst counts in; these answers measure utility.

    Raises
    ------
    ValueError
        If the category does not exist, a number is out of range or the table has too few records.
    """

    low, high, boundary = 0.0, 1.0, 0.5

    def __init__(
        self, *, records: Microdata, column: str, category: str, persons: int = 100, workload: int = 10
    ) -> None:
        domain = records.domains.get(column)
        if not isinstance(domain, CategoricalDomain):
            raise ValueError(f"column: {column!r} is not a column with declared categories")
        refuse(category not in domain.categories, f"category: {column!r} has no category {category!r}")
        super().__init__(records=records, column=column, persons=persons, workload=workload)
        self.category = category

    @property
    def _attribute(self) -> Condition:
        return Condition(self.column, values=(self.category,))

    def numbers(self, records: Microdata) -> Floats:
        """1 for persons with the attribute, 0 for others, shape (n,)."""
        return self._attribute.holds(records).astype(np.float64)

    def asked(self, group: Booleans) -> Query:
        """Number of persons in the group with the attribute."""
        return Count(where=(self._attribute,), members=group)


# The secret-number game: find persons with numbers above a threshold, from sums or means.

QUERIES: dict[str, type[Sum] | type[Mean]] = {"Mean": Mean, "Sum": Sum}


class SecretNumbers(GroupsGame):
    """Disclosure of numbers above a threshold: a curator answers sums or means for any group of persons.

    Parameters
    ----------
    records : Microdata
        The population.
    column : str
        A column of numbers with declared bounds.
    above : float
        The threshold, between the bounds.
    query : {"Sum", "Mean"}
        The query. The size of a group is public, so a mean determines the sum.
    persons : int
        Number of persons drawn in each play.
    workload : int
        Number of random halves of the persons that an honest analyst asks about; their answers measure utility.

    Raises
    ------
    ValueError
        If the column has no declared bounds, a number is out of range or the table has too few records.
    """

    def __init__(
        self,
        *,
        records: Microdata,
        column: str,
        above: float,
        query: str = "Sum",
        persons: int = 100,
        workload: int = 10,
    ) -> None:
        domain = records.domains.get(column)
        if not isinstance(domain, NumericDomain):
            raise ValueError(f"column: {column!r} is not a column of numbers with declared bounds")
        self.above = check_real("above", above, low=domain.low, high=domain.high, open_high=True)
        self.query = check_choice("query", query, QUERIES)
        super().__init__(records=records, column=column, persons=persons, workload=workload)
        self.low, self.high, self.boundary = domain.low, domain.high, float(above)

    def numbers(self, records: Microdata) -> Floats:
        """Numbers of the column, shape (n,)."""
        return numbers(records, self.column)

    def asked(self, group: Booleans) -> Query:
        """Sum or mean of the group's numbers."""
        return QUERIES[self.query](self.column, members=group)

    def weight(self, group: Booleans) -> float:
        """Size of the group for means, 1 for sums."""
        return float(group.sum()) if self.query == "Mean" else 1.0
