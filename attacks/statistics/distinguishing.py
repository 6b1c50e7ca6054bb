"""Distinguishing: telling which of two neighbouring tables stands behind an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import Decisions
from attacks.statistics.learned_event import learn_event
from attacks.statistics.query_budget import ask, even_share
from defenses.base.parameters import check_integer
from defenses.base.queries import Query, QuerySession
from metrics.domains import NumericDomain

CONFIDENCE = 0.999


@dataclass(frozen=True, kw_only=True)
class DistinguishingKnowledge(Knowledge):
    """What is known to an attacker who is to tell two neighbouring tables apart.

    Parameters
    ----------
    queries : tuple of Query
        What is to be asked of each challenge.
    challenges : sequence of QuerySession
        Fresh sessions, each on one of the two tables, in secret order, as often on either.
    practise : callable, optional
        ``practise(which, rng)``: a session on the first (0) or the second (1) table of the attacker's own making.
    delta : float
        Of the (epsilon, delta) that is aimed at.
    """

    queries: tuple[Query, ...] = ()
    challenges: Sequence[QuerySession] = field(default=(), repr=False)
    practise: Callable[[int, Generator], QuerySession] | None = field(default=None, repr=False)
    delta: float = 0.0


class Distinguishing(Attack):
    """Choose two tables that differ in one record, learn an event that tells them apart, and watch for it.

    The tables differ in a record that is lowest in every column (first category) in one and highest in the other,
    which is the worst case for sums, means, extremes and counts. The attacker runs the curator itself on both, learns
    the event of the largest epsilon from the answers (`attacks.statistics.learned_event`), and then decides about the
    challenges.

    Parameters
    ----------
    runs : int
        How often the attacker runs the curator on each table, at least 4.

    Raises
    ------
    ValueError
        If `runs` is not an integer of at least 4.

    References
    ----------
    Jagielski, Ullman and Oprea (2020), Auditing differentially private machine learning.
    """

    kind: ClassVar[str] = "statistics"
    goal: ClassVar[str] = "distinguishing"

    def __init__(self, *, runs: int = 500) -> None:
        self.runs = runs
        check_integer("runs", runs, low=4)

    def choose(self, knowledge: Knowledge, rng: Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Two tables that differ in their first record."""
        table = knowledge.candidates
        lowest: dict[str, Any] = {}
        highest: dict[str, Any] = {}
        for name, domain in knowledge.domains([str(name) for name in table.columns]).items():
            if isinstance(domain, NumericDomain):
                lowest[name], highest[name] = domain.low, domain.high
            else:
                lowest[name], highest[name] = domain.categories[0], domain.categories[-1]
        first, second = (
            pd.concat([pd.DataFrame([record]), table.iloc[1:]], ignore_index=True) for record in (lowest, highest)
        )
        return first, second

    def run(self, release: QuerySession, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Decide for each challenge; the higher, the surer that the second table is behind it.

        Raises
        ------
        NotApplicable
            If there are no challenges, or the attacker cannot run the mechanism itself.
        """
        if not isinstance(knowledge, DistinguishingKnowledge) or not knowledge.queries:
            raise NotApplicable("the game poses no challenges")
        if knowledge.practise is None:
            raise NotApplicable("the event is learned on runs of one's own, and the mechanism is not known")
        first, second = (
            _answers([knowledge.practise(which, rng) for _ in range(self.runs)], knowledge.queries) for which in (0, 1)
        )
        event = learn_event(first, second, delta=knowledge.delta, confidence=CONFIDENCE)
        outputs = _answers(knowledge.challenges, knowledge.queries)
        above = np.clip(event.score(outputs) - event.threshold, -1e12, 1e12)
        # The event itself includes its threshold; a tie must fall on its side.
        surer = np.where(event.happens(outputs), above + 1e-12, above)
        return Decisions(-surer if event.first else surer)


def _answers(sessions: Sequence[QuerySession], queries: tuple[Query, ...]) -> NDArray[np.float64]:
    """What each session answers, shape (sessions, numbers); NaN where it refuses."""
    rows = []
    for session in sessions:
        epsilon = even_share(session, len(queries))
        answers = [ask(session, query, epsilon) for query in queries]
        rows.append([np.array([np.nan]) if answer is None else answer.ravel() for answer in answers])
    sizes = [max((part.size for part in column), default=1) for column in zip(*rows, strict=True)]
    return np.array(
        [np.concatenate([np.resize(part, size) for part, size in zip(row, sizes, strict=True)]) for row in rows]
    )
