"""Curator of a graph under edge, node or person differential privacy."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.random import Generator

from defenses.base import Defense, Guarantee, Microdata, StatisticsRelease
from defenses.base.queries import Answer, DegreeCounts, EdgeCount, Query, TriangleCount
from defenses.curators.curator_session import LARGEST_SHARE, SMALLEST_SHARE, AccountedSession, check_share
from defenses.dp.account import Accountant
from defenses.dp.graphs import check_level, release_degree_counts, release_edge_count, release_triangle_count
from metrics.columns import check_integer, check_real, refuse


class GraphCurator(Defense):
    """Curator of a graph: numbers of edges, degrees and triangles, under edge, node or person differential privacy.

    Edge privacy hides whether two persons are friends. Node privacy hides all friendships of a person at once; who the
    persons are, and how many, is public. Person privacy hides whether a person is in the graph at all, and so the
    number of persons. The last two need far more noise. Every attacker who opens the release has a session, and a
    budget, of its own.

    Parameters
    ----------
    epsilon : float
        Budget of a session; positive.
    level : {"edge", "node", "person"}
        What neighbouring graphs differ in: one edge, any edges of one person, or one person, whom one graph lacks with
        all edges. The persons are public, but at level "person" only who could be in the graph.
    bound : int, optional
        Public bound of degrees, to which the graph is projected before edges are counted, except under edge privacy. A
        degree query has a bound of its own.
    queries : int
        Number of equal shares of the budget, at least 1. A query without an epsilon of its own costs one share.

    Raises
    ------
    ValueError
        If a parameter is refused. A session refuses queries that are not about a graph.

    Notes
    -----
    Noise is discrete Laplace with the sensitivities of `defenses.dp.graphs`, and epsilons add up.

    Reads before its noise. Public: the number of persons, who are the declared domain of both columns, the names of the
    columns, the bounds of degrees, and that no person is missing from a pair. Protected: which pairs are joined, and so
    the number and the order of records. At level "person" also who of the declared persons is named by a record.

    References
    ----------
    Hay, Li, Miklau and Jensen (2009), Accurate estimation of the degree distribution of private networks (edge and
    node privacy); Kasiviswanathan, Nissim, Raskhodnikova and Smith (2013), Analyzing graphs with node differential
    privacy.
    """

    kind = "statistics"

    def __init__(
        self, *, epsilon: float = 1.0, level: str = "edge", bound: int | None = None, queries: int = 3
    ) -> None:
        self.epsilon = check_real("epsilon", epsilon, low=0, open_low=True)
        self.level = check_level(level)
        self.bound = check_integer("bound", bound, low=1, optional=True)
        self.queries = check_integer("queries", queries, low=1)
        check_share(epsilon, queries)

    def guarantee(self, records: Microdata) -> Guarantee:
        """Epsilon of all answers of a session together."""
        change = {
            "edge": "one pair joined or parted",
            "node": "all pairs of one person joined or parted",
            "person": "one person in the graph with all pairs, or not in it",
        }[self.level]
        return Guarantee(
            epsilon=float(self.epsilon), delta=0.0, statement=f"{change}; all answers of one session together"
        )

    def apply(self, records: Microdata, rng: Generator) -> StatisticsRelease:
        """Release a curator of the graph, with which sessions can be opened."""
        return StatisticsRelease(partial(GraphSession, self, records))


class GraphSession(AccountedSession):
    """A session of queries to a curator of a graph.

    - curator: Gives the level, the bound and the shares.
    """

    def __init__(self, curator: GraphCurator, records: Microdata, rng: Generator) -> None:
        super().__init__(records, rng, Accountant(epsilon=curator.epsilon))
        self._curator = curator

    def answer(self, query: Query, epsilon: float | None = None) -> Answer:
        """Answer a query about the graph with fresh noise.

        - query: An `EdgeCount`, `DegreeCounts` or `TriangleCount` of all pairs.
        - epsilon, optional: Epsilon to spend on it; one share of the budget by default.

        Raises BudgetSpent if the cost exceeds the remaining budget; nothing is computed then. Raises ValueError if the
        query is not about a graph, selects records, or does not fit them; or epsilon is refused.
        """
        curator = self._curator
        if not isinstance(query, EdgeCount | DegreeCounts | TriangleCount):
            raise ValueError(f"a curator of a graph cannot answer {type(query).__name__}")
        refuse(
            query.where or query.members is not None,
            f"{type(query).__name__} is answered about the whole graph only, without a selection",
        )
        share = float(curator.epsilon) / curator.queries if epsilon is None else epsilon
        check_real("epsilon", share, low=SMALLEST_SHARE, high=LARGEST_SHARE)
        edges, persons = query.graph(self._records)
        self.account.spend(float(share))
        if isinstance(query, EdgeCount):
            # Projection does not reduce the noise of edges.
            bound = None if curator.level == "edge" else curator.bound
            return float(release_edge_count(edges, persons, self._rng, epsilon=share, level=curator.level, bound=bound))
        if isinstance(query, TriangleCount):
            return float(release_triangle_count(edges, persons, self._rng, epsilon=share, level=curator.level))
        counts = release_degree_counts(
            edges,
            persons,
            self._rng,
            epsilon=share,
            bound=query.bound,
            level=curator.level,
            absent=query.absent(self._records),
        )
        return np.asarray(counts, dtype=float)
