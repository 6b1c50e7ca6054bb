"""The report game: name each person's value from what they reported under local differential privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Knowledge
from attacks.base.claims import Claims, RankedAnswers
from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer
from defenses.base.release import ReportsRelease
from metrics.score import Score, Scores
from scenarios.games.game import Game, Secret
from scenarios.games.report_utility import utility_frequencies


@dataclass(frozen=True)
class ReportSecret(Secret):
    """Who reports.

    Attributes
    ----------
    records : Microdata
        The persons' values, one column.
    values : ndarray of int, shape (persons,)
        Their positions in the domain.
    auxiliary : Microdata
        Other people, for the attacker.
    """

    records: Microdata = field(repr=False)
    values: NDArray[np.intp] = field(repr=False)
    auxiliary: Microdata = field(repr=False)


class Reports(Game):
    """Guess what a person's value is from their reports, which carry the sender's name.

    The attacker knows the protocol, as whoever is to read reports must, and the column of other people. One report or
    many: the defense says how often each person reports.

    Parameters
    ----------
    records : Microdata
        The population; records with a missing value in the column are left out.
    column : str
        What is reported; numbers in their public bins.
    persons, auxiliary : int
        How many persons report, at least 1, and how many others the attacker sees (fewer where the population runs
        out).

    Raises
    ------
    ValueError
        If there is no such column, fewer than two of its values occur, or a number is out of range.
    """

    accepts: ClassVar[str] = "reports"
    kind: ClassVar[str] = "reports"
    takes: ClassVar[Mapping[str, type[Claims]]] = {"value": RankedAnswers}
    attacker_knows = "mechanism"

    def __init__(self, *, records: Microdata, column: str, persons: int = 1000, auxiliary: int = 5000) -> None:
        if column not in records.released_columns:
            raise ValueError(
                f"column: there is no released column {column!r}; released are {', '.join(records.released_columns)}"
            )
        check_integer("persons", persons, low=1)
        check_integer("auxiliary", auxiliary, low=0)
        self.records = records
        self.column = column
        self.persons = persons
        self.auxiliary = auxiliary
        if self._shares.max() >= 1:
            raise ValueError(f"column: {column!r} has fewer than two values, so that nothing is left to guess")
        if len(self._population) < persons:
            raise ValueError(f"persons: {persons} are needed and {len(self._population)} rows have a value")

    @cached_property
    def _population(self) -> Microdata:
        return Microdata(
            self.records.frame[[self.column]].dropna().reset_index(drop=True),
            sensitive=(self.column,),
            domains={self.column: self.records.domain(self.column)},
        )

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        domain = self._population.domain(self.column)
        codes = domain.codes(self._population.frame[self.column])
        return np.asarray(np.bincount(codes, minlength=domain.size) / max(1, codes.size))

    def draw(self, rng: Generator, choice: Any = None) -> ReportSecret:
        """Draw who reports and whom the attacker knows, all different people."""
        order = rng.permutation(len(self._population))
        records = self._population.take(order[: self.persons])
        values = records.domain(self.column).codes(records.frame[self.column])
        others = self._population.take(order[self.persons : self.persons + self.auxiliary])
        return ReportSecret(records, values, others)

    def knowledge(self, secret: ReportSecret, defense: Defense) -> Knowledge:
        """Hand over other people, and the mechanism."""

        def simulate(records: Microdata, rng: Generator) -> Any:
            return defense.clone().apply(records, rng)

        return Knowledge(secret.records.frame.iloc[:0], secret.auxiliary, simulate)

    def score(self, secret: ReportSecret, published: ReportsRelease, claims: Claims, rng: Generator) -> Scores:
        """Score person by person.

        Returns
        -------
        Scores
            ``value``: share of persons whose value is named; chance is the same for the guess of the population's
            most frequent value, whatever is reported. Measure ``answered``: share of persons with an answer.

        Raises
        ------
        TypeError
            If the claims are no ranked answers.
        ValueError
            If they are about other numbers of persons or values.
        """
        ranked: RankedAnswers = self.taken(claims)
        if (ranked.targets, ranked.answers) != (self.persons, published.protocol.d):
            raise ValueError(
                f"the answers are about {ranked.targets} persons and {ranked.answers} values, there are "
                f"{self.persons} and {published.protocol.d}"
            )
        answers = ranked.best(rng)
        score = Score("value", float((answers == secret.values).mean()), float(self._shares.max()), self.persons)
        return Scores.of(score, answered=float((answers >= 0).mean()))

    def utility(self, secret: ReportSecret, release: ReportsRelease) -> dict[str, float | None]:
        """Accuracy of the estimated shares (`utility_frequencies`)."""
        counts = np.bincount(secret.values, minlength=release.protocol.d)
        return {"utility_frequencies": utility_frequencies(release, counts)}
