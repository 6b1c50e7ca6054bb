"""The distinguishing game on a graph: two graphs that differ in one friendship, or in all of one person."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from attacks.base import Knowledge
from defenses import Defense, Microdata
from defenses.base.queries import DegreeCounts, EdgeCount, TriangleCount
from defenses.dp.graphs import check_level
from metrics.columns import check_integer, check_real, require
from scenarios.games.curators.indistinguishability import DistinguishingSecret, Indistinguishability
from scenarios.games.curators.statistics_game import AnalystQuery, seed_of
from scenarios.games.game import Game


class GraphNeighbours(Indistinguishability):
    """Distinguishing game on a graph, against an adversary who knows all friendships but one, or but one person's.

    At level "edge" a random pair of persons is joined in one graph and not in the other. At level "node" a random
    person has all its friends in one graph and none in the other. Everything else is known to the adversary. The
    curator answers the numbers of edges, degrees and triangles about either graph for half of the challenges, in random
    order. The frequencies of the adversary's decisions give a lower bound on epsilon at this level.

    Parameters
    ----------
    records : Microdata
        The graph: a record for each pair of persons, with columns ``user``, ``other`` and ``friend`` (yes or no).
    level : {"edge", "node"}
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
    lets_choose: ClassVar[bool] = False

    def __init__(
        self,
        *,
        records: Microdata,
        level: str = "edge",
        bound: int = 8,
        challenges: int = 200,
        confidence: float = 0.999,
    ) -> None:
        self.records = records
        self.level = level
        self.bound = bound
        self.challenges = challenges
        self.confidence = confidence
        check_level(level)
        check_integer("bound", bound, low=1)
        check_integer("challenges", challenges, low=2)
        check_real("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
        edges, _ = EdgeCount().graph(records)
        require(len(edges), "records: nobody has a friend in this graph")
        self.delta = 0.0

    @property
    def _questions(self) -> tuple[AnalystQuery, ...]:
        _, persons = EdgeCount().graph(self.records)
        pairs, threes = persons * (persons - 1) / 2, persons * (persons - 1) * (persons - 2) / 6
        # Without knowledge an analyst guesses that a tenth of all pairs are friends, independently.
        guess = 0.1
        return (
            AnalystQuery(EdgeCount(), guess * pairs),
            AnalystQuery(DegreeCounts(bound=self.bound), persons / (self.bound + 1)),
            AnalystQuery(TriangleCount(), guess**3 * threes),
        )

    def briefing(self, defense: Defense, rng: Generator) -> Knowledge:
        """Give no choice, unlike the game on tables: the graphs are drawn."""
        return Game.briefing(self, defense, rng)

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
        without = self.records.with_frame(frame.assign(friend=frame["friend"].mask(changed, "no")))
        order = order_rng.permutation(self.challenges) < self.challenges // 2
        return DistinguishingSecret(
            without, self.records.with_frame(frame.assign(friend=second)), order, seed_of(order_rng)
        )
