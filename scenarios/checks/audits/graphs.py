"""Audits of curators of graphs, on two neighbouring graphs."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from defenses.base.microdata import Microdata
from defenses.base.queries import DegreeCounts, EdgeCount, Query, TriangleCount
from defenses.curators.graph_curator import GraphCurator
from metrics.domains import CategoricalDomain
from scenarios.checks.audits.audit import Neighbours, Subject
from scenarios.checks.audits.curators import session_answers

PERSONS = 8
RUNS = 2000


def of_graph_curator(curator: GraphCurator) -> Subject:
    """Make the subject of a curator of a graph: complete graphs of 8 persons, one of them without a pair or a person.

    In the second graph all persons are joined. The first lacks the pair of the first two persons (edge privacy), or all
    pairs of the first person (node privacy). Edges, degrees and triangles change by most of their sensitivity. Each
    workload has sessions of its own.
    """
    graphs = complete(curator.level), complete(None)
    claim = curator.guarantee(graphs[0])
    pairs = [
        Neighbours(title, *(partial(session_answers, curator, graphs, which, *asked) for which in (0, 1)))
        for title, asked in _workloads().items()
    ]
    return Subject(repr(curator), float(claim.epsilon or 0.0), 0.0, tuple(pairs), tight=False, runs=RUNS)


def complete(without: str | None) -> Microdata:
    """All pairs of persons joined, but for one pair ("edge") or all pairs of one person ("node")."""
    names = tuple(f"p{number}" for number in range(PERSONS))
    pairs = np.array(list(combinations(names, 2)), dtype=object)
    apart = {
        "edge": np.arange(len(pairs)) == 0,
        "node": pairs[:, 0] == names[0],
        None: np.zeros(len(pairs), dtype=bool),
    }
    frame = pd.DataFrame({"user": pairs[:, 0], "other": pairs[:, 1]})
    frame["friend"] = np.where(apart[without], "no", "yes").astype(object)
    everybody = CategoricalDomain(names)
    return Microdata(
        frame,
        quasi_identifiers=("user", "other"),
        domains={"user": everybody, "other": everybody, "friend": CategoricalDomain(("no", "yes"))},
    )


def _workloads() -> dict[str, tuple[tuple[Query, ...], int]]:
    """Queries of one session by title, and the number of parts into which they divide its budget."""
    edges, degrees, triangles = EdgeCount(), DegreeCounts(bound=PERSONS), TriangleCount()
    return {
        "edges": ((edges,), 1),
        "degrees": ((degrees,), 1),
        "triangles": ((triangles,), 1),
        "edges, degrees and triangles": ((edges, degrees, triangles), 3),
        "edges, for the whole budget four times": ((edges,) * 4, 1),
    }
