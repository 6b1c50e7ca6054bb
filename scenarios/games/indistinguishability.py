"""The distinguishing game: the adversary picks two neighbouring tables and tells answers from one from the other's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Knowledge
from attacks.base.claims import Claims, Decisions
from attacks.statistics.distinguishing import DistinguishingKnowledge
from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer, check_real
from defenses.base.queries import Histogram, Maximum, Mean, Median, Query, QuerySession, Sum
from defenses.base.release import StatisticsRelease
from metrics.domains import CategoricalDomain, NumericDomain
from metrics.empirical_epsilon import epsilon_lower_bound
from metrics.score import Score, Scores
from scenarios.games.game import Game, Secret
from scenarios.games.statistics_game import Question, answered_utility, seed_of

OF_NUMBERS: dict[str, Callable[[str], Query]] = {"Maximum": Maximum, "Mean": Mean, "Median": Median, "Sum": Sum}
QUERIES: dict[str, Callable[[str], Query]] = {**OF_NUMBERS, "Histogram": Histogram}


@dataclass(frozen=True)
class DistinguishingSecret(Secret):
    """Two tables, and which one is behind each challenge.

    Attributes
    ----------
    records, neighbour : Microdata
        The first and the second table.
    second : ndarray of bool, shape (challenges,)
        Whether the second is behind each challenge.
    seed : int
        Of the challenges' noise.
    """

    records: Microdata = field(repr=False)
    neighbour: Microdata = field(repr=False)
    second: NDArray[np.bool_] = field(repr=False)
    seed: int


class Indistinguishability(Game):
    """Which of two tables that differ in one record is behind an answer? The adversary picks both.

    As often as there are challenges, the curator runs anew on one of the two tables, half of them on either, in random
    order. The adversary, who can run it as well, says for each which table is behind it. How often its event happens
    on either gives a lower bound on epsilon.

    Parameters
    ----------
    records : Microdata
        The population, from which the rest of the tables is drawn.
    column : str
        What is asked about; the tables have this column alone.
    query : {"Histogram", "Maximum", "Mean", "Median", "Sum"}
        What is asked.
    size : int
        Records in a table.
    challenges : int
        How many, a half of them on either table.
    confidence : float
        Of the lower bound on epsilon.
    delta : float
        Of the (epsilon, delta) that is bounded: epsilon >= ln((p - delta)/q); in [0, 1).

    Raises
    ------
    ValueError
        If the column does not fit the query, a number is out of range or there are too few records.
    """

    accepts: ClassVar[str] = "statistics"
    kind: ClassVar[str] = "statistics"
    takes: ClassVar[Mapping[str, type[Claims]]] = {"distinguishing": Decisions}
    lets_choose: ClassVar[bool] = True
    attacker_knows = "mechanism"

    def __init__(
        self,
        *,
        records: Microdata,
        column: str,
        query: str = "Sum",
        size: int = 20,
        challenges: int = 400,
        confidence: float = 0.999,
        delta: float = 0.0,
    ) -> None:
        self.records = records
        self.column = column
        self.query = query
        self.size = size
        self.challenges = challenges
        self.confidence = confidence
        self.delta = delta
        if query not in QUERIES:
            raise ValueError(f"query must be one of {', '.join(sorted(QUERIES))}, got {query!r}")
        domain = records.domains.get(column)
        if domain is None:
            raise ValueError(f"column: {column!r} is no column with a declared domain")
        if query in OF_NUMBERS and isinstance(domain, CategoricalDomain):
            raise ValueError(f"column: {query} is asked of numbers, {column!r} holds categories")
        check_integer("size", size, low=1)
        check_integer("challenges", challenges, low=2)
        check_real("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
        check_real("delta", delta, low=0, high=1, open_high=True)
        if len(records) < size:
            raise ValueError(f"size: {size} records are needed, the table has {len(records)}")

    def _table(self, frame: pd.DataFrame) -> Microdata:
        return Microdata(frame, sensitive=(self.column,), domains={self.column: self.records.domain(self.column)})

    def _drawn(self, rng: Generator) -> pd.DataFrame:
        rows = rng.choice(len(self.records), self.size, replace=False)
        return self.records.take(rows).frame[[self.column]]

    @property
    def _question(self) -> Question:
        domain = self.records.domain(self.column)
        asked = QUERIES[self.query](self.column)
        if self.query == "Histogram":
            return Question(asked, self.size / domain.size)
        assert isinstance(domain, NumericDomain)  # noqa: S101 (checked by the constructor)
        middle = (domain.low + domain.high) / 2
        return Question(asked, middle * self.size if self.query == "Sum" else middle)

    def briefing(self, defense: Defense, rng: Generator) -> Knowledge:
        """Show a table as it would be drawn, of which the adversary makes two."""
        table = self._table(self._drawn(rng))
        return Knowledge(table.frame, table.take([]))

    def draw(self, rng: Generator, choice: Any = None) -> DistinguishingSecret:
        """Take the adversary's tables, or two drawn ones that differ in one record.

        Raises
        ------
        ValueError
            If the tables have other columns, another size, or differ in more than one record.
        """
        table_rng, order_rng = rng.spawn(2)
        if choice is None:
            first = self._drawn(table_rng)
            choice = first, pd.concat([self._drawn(table_rng).iloc[:1], first.iloc[1:]], ignore_index=True)
        tables = [frame.reset_index(drop=True) for frame in choice]
        for frame in tables:
            if list(frame.columns) != [self.column] or len(frame) != self.size:
                raise ValueError(f"the tables must have the column {self.column!r} alone and {self.size} rows")
        one, other = (frame[self.column] for frame in tables)
        if int((~((one == other) | (one.isna() & other.isna()))).sum()) > 1:
            raise ValueError("the tables must differ in at most one record")
        second = order_rng.permutation(self.challenges) < self.challenges // 2
        return DistinguishingSecret(self._table(tables[0]), self._table(tables[1]), second, seed_of(order_rng))

    def knowledge(self, secret: DistinguishingSecret, defense: Defense) -> DistinguishingKnowledge:
        """Hand over the challenges, and a way to run the curator on either table."""
        tables = secret.records, secret.neighbour

        def session(which: int, rng: Generator) -> QuerySession:
            made = defense.apply(tables[which], rng)
            assert isinstance(made, StatisticsRelease)  # noqa: S101 (the game accepts nothing else)
            opened: QuerySession = made.open(rng)  # type: ignore[assignment]  # a curator's session counts its budget
            return opened

        rngs = np.random.default_rng(secret.seed).spawn(self.challenges)
        challenges = [session(int(which), rng) for which, rng in zip(secret.second, rngs, strict=True)]
        nobody = secret.records.take([])
        return DistinguishingKnowledge(
            nobody.frame,
            nobody,
            queries=(self._question.query,),
            challenges=challenges,
            practise=session,
            delta=self.delta,
        )

    def score(
        self, secret: DistinguishingSecret, published: StatisticsRelease, claims: Claims, rng: Generator
    ) -> Scores:
        """Score the decisions.

        Returns
        -------
        Scores
            ``distinguishing``: share of the challenges decided correctly, taking the surer half of them for the second
            table; chance is about a half. Measures: ``epsilon_bound``: the
            lower bound on epsilon from how often a decision is above 0 (for the second table) or below (for the
            first), at the game's confidence for both together; ``auc`` of the decisions.

        Raises
        ------
        TypeError
            If the claims are no decisions.
        ValueError
            If they are about another number of challenges.
        """
        from metrics.ranking import area_under_curve

        decisions: Decisions = self.taken(claims)
        if decisions.scores.shape != secret.second.shape:
            raise ValueError(f"there are {secret.second.size} challenges, got {decisions.scores.size} decisions")
        count = int(secret.second.sum())
        called = np.zeros(self.challenges, dtype=bool)
        called[decisions.first(count, rng)] = True
        # Someone who names `count` challenges at random decides each correctly with this probability.
        chance = (count**2 + (self.challenges - count) ** 2) / self.challenges**2
        return Scores.of(
            Score("distinguishing", float((called == secret.second).mean()), chance, self.challenges),
            epsilon_bound=self._bound(secret, decisions.scores),
            auc=area_under_curve(decisions.scores, secret.second),
        )

    def _bound(self, secret: DistinguishingSecret, scores: NDArray[np.float64]) -> float:
        one, other = scores[~secret.second], scores[secret.second]
        # Two events are looked at.
        level = 1 - (1 - self.confidence) / 2
        return max(
            float(
                epsilon_lower_bound(
                    int(hits.sum()), hits.size, int(misses.sum()), misses.size, delta=self.delta, confidence=level
                )
            )
            for hits, misses in ((other > 0, one > 0), (one < 0, other < 0))
        )

    def utility(self, secret: DistinguishingSecret, release: StatisticsRelease) -> dict[str, float | None]:
        """How near the answer comes (``utility_answers``, see `StatisticsGame.utility`)."""
        return answered_utility(secret.records, release, (self._question,), secret.seed)
