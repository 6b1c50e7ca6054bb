"""Audits of curators: the answers of many sessions as features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from attacks.statistics.query_budget import ask, even_share
from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from defenses.base.queries import Query
from defenses.base.release import StatisticsRelease
from metrics.columns.arrays import Floats


def session_answers(
    defense: Defense,
    tables: tuple[Microdata, Microdata],
    which: int,
    queries: tuple[Query, ...],
    parts: int,
    runs: int,
    rng: Generator,
) -> Floats:
    """Answers about one of two tables, and the features that `of_defense` describes, shape (runs, features).

    Parameters
    ----------
    defense : Defense
        The curator.
    tables : tuple of Microdata
        Both tables.
    which : int
        The table that is asked about, 0 or 1.
    queries : tuple of Query
        Queries of one session.
    parts : int
        Number of parts into which they divide its budget.
    runs : int
        Number of sessions.
    rng : Generator
        Draws their noise.
    """
    exact = [[np.ravel(query.exact(records)) for query in queries] for records in tables]
    rows = []
    for _ in range(runs):
        release = defense.apply(tables[which], rng)
        assert isinstance(release, StatisticsRelease)  # noqa: S101 (of a defense of this kind)
        session: Any = release.open(rng)
        epsilon = even_share(session, parts)
        answered = [ask(session, query, epsilon) for query in queries]
        rows.append(
            [
                np.full(blank.size, np.nan) if answer is None else np.ravel(answer)
                for answer, blank in zip(answered, exact[0], strict=True)
            ]
        )
    answers = np.array([np.concatenate(row) for row in rows])
    first, second = (np.abs(answers - np.concatenate(values)) for values in exact)
    laplace, gaussian = np.nansum(second - first, axis=1), np.nansum(second**2 - first**2, axis=1)
    return np.column_stack([answers, laplace, gaussian]) if answers.shape[1] > 1 else answers
