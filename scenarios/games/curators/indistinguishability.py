"""The distinguishing game: tell from answers which of two neighbouring tables they come from."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks import Claims, Decisions, Knowledge
from attacks.statistics.distinguishing import DistinguishingKnowledge
from defenses import Defense, Microdata, StatisticsRelease
from defenses.base.queries import (
    DegreeCounts,
    EdgeCount,
    Histogram,
    Maximum,
    Mean,
    Median,
    Query,
    QuerySession,
    Sum,
    TriangleCount,
)
from defenses.dp.graphs import check_level
from metrics import CategoricalDomain, NumericDomain, Score, Scores, epsilon_lower_bound
from metrics.columns import Booleans, Floats, check_choice, check_integer, check_real, refuse, require
from scenarios.games.curators.statistics_game import AnalystQuery, CuratorGame, answered_utility, seed_of
from scenarios.games.game import Secret

OF_NUMBERS: dict[str, Callable[[str], Query]] = {"Maximum": Maximum, "Mean": Mean, "Median": Median, "Sum": Sum}
QUERIES: dict[str, Callable[[str], Query]] = {**OF_NUMBERS, "Histogram": Histogram}


@dataclass(frozen=True)
class DistinguishingSecret(Secret):
    """Two neighbouring tables, and the table behind each challenge.

    - records, neighbour: The first and the second table.
    - second, shape (challenges,): Whether each challenge runs on the second table.
    - seed: Seed of the challenges' noise.
    """

    neighbour: Microdata = field(repr=False)
    second: Booleans = field(repr=False)
    seed: int


class NeighboursGame(CuratorGame):
    """Abstract distinguishing game: the curator runs once for each challenge, on either table for half of them."""

    takes: ClassVar[Mapping[str, type[Claims]]] = {"distinguishing": Decisions}

    def __init__(self, *, records: Microdata, challenges: int, confidence: float, delta: float = 0.0) -> None:
        self.records = records
        self.challenges = check_integer("challenges", challenges, low=2)
        self.confidence = check_real("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
        self.delta = check_real("delta", delta, low=0, high=1, open_high=True)

    @property
    @abstractmethod
    def _questions(self) -> tuple[AnalystQuery, ...]:
        """Queries of each challenge, with guesses from public knowledge alone."""

    def _secret(self, first: Microdata, second: Microdata, rng: Generator) -> DistinguishingSecret:
        """Put either table behind half of the challenges, in random order."""
        order = rng.permutation(self.challenges) < self.challenges // 2
        return DistinguishingSecret(first, second, order, seed_of(rng))

    def knowledge(self, secret: DistinguishingSecret, defense: Defense) -> DistinguishingKnowledge:
        """Give the challenges, and a function that runs the curator on either table."""
        tables = secret.records, secret.neighbour

        def session(which: int, rng: Generator) -> QuerySession:
            release = defense.apply(tables[which], rng)
            assert isinstance(release, StatisticsRelease)  # noqa: S101 (the game accepts nothing else)
            return release.open(rng)

        rngs = np.random.default_rng(secret.seed).spawn(self.challenges)
        challenges = [session(int(which), rng) for which, rng in zip(secret.second, rngs, strict=True)]
        no_records = secret.records.take([])
        return DistinguishingKnowledge(
            no_records.frame,
            no_records,
            queries=tuple(question.query for question in self._questions),
            challenges=challenges,
            practise=session,
            delta=self.delta,
        )

    def score(
        self, secret: DistinguishingSecret, published: StatisticsRelease, claims: Claims, rng: Generator
    ) -> Scores:
        """Score the decisions, which must be as many as the challenges.

        - ``distinguishing``: Share of correctly decided challenges. The second table has a known number of challenges;
          as many with the highest scores count as decisions for it. Chance is about 1/2.
        - ``epsilon_bound``: A lower bound on epsilon, by two events: a score above 0, a decision for the second table,
          and one below 0, for the first. It holds at the game's confidence for both events together.
        - ``auc``: Area under the ROC curve of the decisions.
        """
        from metrics.ranking import area_under_curve

        decisions: Decisions = self.taken(claims)
        refuse(
            decisions.scores.shape != secret.second.shape,
            f"there must be {secret.second.size} decisions on the challenges, got {decisions.scores.size}",
        )
        count = int(secret.second.sum())
        decided = np.isin(np.arange(self.challenges), decisions.first(count, rng))
        # A random choice of `count` challenges decides each challenge correctly with this probability.
        chance = (count**2 + (self.challenges - count) ** 2) / self.challenges**2
        return Scores.of(
            Score("distinguishing", float((decided == secret.second).mean()), chance, self.challenges),
            epsilon_bound=self._bound(secret, decisions.scores),
            auc=area_under_curve(decisions.scores, secret.second),
        )

    def _bound(self, secret: DistinguishingSecret, scores: Floats) -> float:
        one, other = scores[~secret.second], scores[secret.second]
        # Bonferroni correction for two events.
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
        """Accuracy of the answer (``utility_answers``, see `StatisticsGame.utility`)."""
        return answered_utility(secret.records, release, self._questions, secret.seed)


class Indistinguishability(NeighboursGame):
    """Distinguishing game of differential privacy: decide which of two neighbouring tables is behind an answer.

    The adversary chooses both tables, which differ in at most one record. The curator runs once for each challenge,
    on either table for half of the challenges, in random order. The adversary can run the curator too. It decides for
    each challenge which table is behind it. The frequencies of its decisions give a lower bound on epsilon.

    Parameters
    ----------
    records : Microdata
        The population from which a first table is drawn; the adversary may change it.
    column : str
        The queried column; the tables have no other.
    query : {"Histogram", "Maximum", "Mean", "Median", "Sum"}
        The query.
    size : int
        Number of records in a table.
    challenges : int
        Number of challenges, half of them on either table.
    confidence : float
        Confidence level of the lower bound on epsilon, in (0, 1).
    delta : float
        The delta of (epsilon, delta)-differential privacy, in [0, 1): epsilon >= ln((p - delta)/q).

    Raises
    ------
    ValueError
        If the column does not fit the query, a number is out of range or the table has too few records.
    """

    lets_choose: ClassVar[bool] = True

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
        super().__init__(records=records, challenges=challenges, confidence=confidence, delta=delta)
        self.column = column
        self.query = check_choice("query", query, sorted(QUERIES))
        domain = records.domains.get(column)
        if domain is None:
            raise ValueError(f"column: {column!r} is not a column with a declared domain")
        refuse(
            query in OF_NUMBERS and isinstance(domain, CategoricalDomain),
            f"column: {query} needs numbers, but {column!r} holds categories",
        )
        self.size = check_integer("size", size, low=1)
        refuse(len(records) < size, f"size: {size} records are needed, but the table has {len(records)}")

    def _table(self, frame: pd.DataFrame) -> Microdata:
        return Microdata(frame, sensitive=(self.column,), domains={self.column: self.records.domain(self.column)})

    def _drawn(self, rng: Generator) -> pd.DataFrame:
        return self.records.take(rng.choice(len(self.records), self.size, replace=False)).frame[[self.column]]

    @property
    def _questions(self) -> tuple[AnalystQuery, ...]:
        domain = self.records.domain(self.column)
        asked = QUERIES[self.query](self.column)
        if self.query == "Histogram":
            return (AnalystQuery(asked, self.size / domain.size),)
        assert isinstance(domain, NumericDomain)  # noqa: S101 (checked by the constructor)
        middle = (domain.low + domain.high) / 2
        return (AnalystQuery(asked, middle * self.size if self.query == "Sum" else middle),)

    def briefing(self, defense: Defense, rng: Generator) -> Knowledge:
        """Give the adversary a drawn table, from which it makes two."""
        table = self._table(self._drawn(rng))
        return Knowledge(table.frame, table.take([]))

    def draw(self, rng: Generator, choice: Any = None) -> DistinguishingSecret:
        """Take the adversary's tables, or draw two tables that differ in one record.

        Raises
        ------
        ValueError
            If the tables have other columns or another size, or differ in more than one record.
        """
        table_rng, order_rng = rng.spawn(2)
        if choice is None:
            first = self._drawn(table_rng)
            choice = first, pd.concat([self._drawn(table_rng).iloc[:1], first.iloc[1:]], ignore_index=True)
        tables = [frame.reset_index(drop=True) for frame in choice]
        for frame in tables:
            refuse(
                list(frame.columns) != [self.column] or len(frame) != self.size,
                f"the tables must have only the column {self.column!r} and {self.size} rows",
            )
        one, other = (frame[self.column] for frame in tables)
        refuse(
            int((~((one == other) | (one.isna() & other.isna()))).sum()) > 1,
            "the tables must differ in at most one record",
        )
        return self._secret(self._table(tables[0]), self._table(tables[1]), order_rng)


# The distinguishing game on a graph: two graphs that differ in a friendship, in all of a person's, or in a person.


class GraphNeighbours(NeighboursGame):
    """Distinguishing game on a graph, against an adversary who knows all friendships but one, or but one person's.

    At level "edge" a random pair of persons is joined in one graph and not in the other. At level "node" a random
    person has all its friends in one graph and none in the other. At level "person" the other graph lacks this person,
    so that the number of persons differs too. Everything else is known to the adversary. The curator answers the
    numbers of edges, degrees and triangles about either graph for half of the challenges, in random order. The
    frequencies of the adversary's decisions give a lower bound on epsilon at this level.

    Parameters
    ----------
    records : Microdata
        The graph: a record for each pair of persons, with columns ``user``, ``other`` and ``friend`` (yes or no).
    level : {"edge", "node", "person"}
        What the graphs differ in.
    bound : int
        Largest degree with a bin of its own, public, at least 1.
    challenges : int
        Number of challenges, half of them on either graph.
    confidence : float
        Confidence level of the lower bound on epsilon, in (0, 1).

    Raises
    ------
    ValueError
        If the records are no graph, nobody has a friend, or a parameter is out of range.
    """

    variants: ClassVar[tuple[str, ...]] = ("level",)

    def __init__(
        self,
        *,
        records: Microdata,
        level: str = "edge",
        bound: int = 8,
        challenges: int = 200,
        confidence: float = 0.999,
    ) -> None:
        super().__init__(records=records, challenges=challenges, confidence=confidence)
        self.level = check_level(level)
        self.bound = check_integer("bound", bound, low=1)
        edges, _ = EdgeCount().graph(records)
        require(len(edges), "records: nobody has a friend in this graph")

    @property
    def _questions(self) -> tuple[AnalystQuery, ...]:
        _, persons = EdgeCount().graph(self.records)
        pairs, threes = persons * (persons - 1) / 2, persons * (persons - 1) * (persons - 2) / 6
        # Without knowledge an analyst guesses that a tenth of all pairs are friends, independently.
        guess = 0.1
        return (
            AnalystQuery(EdgeCount(), guess * pairs),
            AnalystQuery(DegreeCounts(bound=self.bound, present=self.level == "person"), persons / (self.bound + 1)),
            AnalystQuery(TriangleCount(), guess**3 * threes),
        )

    def draw(self, rng: Generator, choice: Any = None) -> DistinguishingSecret:
        """Draw the pair or the person, and both graphs."""
        pick_rng, order_rng = rng.spawn(2)
        frame = self.records.frame
        if self.level == "edge":
            changed = np.arange(len(frame)) == pick_rng.integers(len(frame))
            second = frame["friend"].mask(changed, "yes")
        else:
            friends = frame[frame["friend"] == "yes"]
            person = pick_rng.choice(np.unique(friends[["user", "other"]].to_numpy(dtype=str)))
            changed = ((frame["user"] == person) | (frame["other"] == person)).to_numpy()
            second = frame["friend"]
        fewer = frame[~changed] if self.level == "person" else frame.assign(friend=frame["friend"].mask(changed, "no"))
        without = self.records.with_frame(fewer.reset_index(drop=True))
        return self._secret(without, self.records.with_frame(frame.assign(friend=second)), order_rng)
