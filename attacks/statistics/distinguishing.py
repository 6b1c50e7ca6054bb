"""Distinguishing attack: decides which of two neighbouring tables produced an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Decisions, Knowledge, NotApplicable, given
from attacks.statistics.disclosure_by_queries import ask, even_share
from attacks.statistics.learned_event import learn_event
from defenses.base.queries import Query, QuerySession
from metrics.columns import Floats, NumericDomain, check_integer

CONFIDENCE = 0.999


@dataclass(frozen=True, kw_only=True)
class DistinguishingKnowledge(Knowledge):
    """Knowledge of an attacker who is to distinguish two neighbouring tables.

    Parameters
    ----------
    queries : tuple of Query
        Queries asked in each challenge.
    challenges : sequence of QuerySession
        Fresh sessions on the two tables, equally many on each, in secret order.
    practise : callable, optional
        ``practise(which, rng)`` opens a session of the attacker's own on the first (0) or the second (1) table.
    delta : float
        The delta of the targeted (epsilon, delta).
    """

    queries: tuple[Query, ...] = ()
    challenges: Sequence[QuerySession] = field(default=(), repr=False)
    practise: Callable[[int, Generator], QuerySession] | None = field(default=None, repr=False)
    delta: float = 0.0


class Distinguishing(Attack):
    """Chooses two neighbouring tables and learns an event that separates them.

    The tables differ in one record. In one table it is lowest in every column (first category), in the other highest.
    This is the worst case for sums, means, extremes and counts. The attacker runs the curator on both tables and learns
    from the answers the event that proves the largest epsilon (`attacks.statistics.learned_event`). It then decides
    each challenge by this event.

    The attack assumes that the attacker can run the mechanism. Its baseline is a random guess between the two tables.

    Parameters
    ----------
    runs : int
        Number of runs of the curator on each table, at least 4.

    Raises
    ------
    ValueError
        If `runs` is not an integer of at least 4.

    References
    ----------
    Jagielski, Ullman and Oprea (2020), Auditing differentially private machine learning.
    """

    kind = "statistics"
    goal = "distinguishing"

    def __init__(self, *, runs: int = 500) -> None:
        self.runs = check_integer("runs", runs, low=4)

    def choose(self, knowledge: Knowledge, rng: Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Choose two tables that differ in their first record."""
        table = knowledge.candidates
        ends = {
            name: (domain.low, domain.high) if isinstance(domain, NumericDomain) else domain.categories
            for name, domain in knowledge.domains([str(name) for name in table.columns]).items()
        }
        first, second = (
            pd.concat(
                [pd.DataFrame([{name: end[side] for name, end in ends.items()}]), table.iloc[1:]], ignore_index=True
            )
            for side in (0, -1)
        )
        return first, second

    def run(self, release: QuerySession, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score each challenge; higher means that the second table is more likely.

        Raises
        ------
        NotApplicable
            If there are no challenges, or the attacker cannot run the mechanism itself.
        """
        if not isinstance(knowledge, DistinguishingKnowledge) or not knowledge.queries:
            raise NotApplicable("the game poses no challenges")
        practise = given(
            knowledge.practise, "the event is learned on the attacker's own runs, and the mechanism is not known"
        )
        first, second = (
            _answers([practise(which, rng) for _ in range(self.runs)], knowledge.queries) for which in (0, 1)
        )
        event = learn_event(first, second, delta=knowledge.delta, confidence=CONFIDENCE)
        outputs = _answers(knowledge.challenges, knowledge.queries)
        margin = np.clip(event.score(outputs) - event.threshold, -1e12, 1e12)
        # The event includes its threshold, so a tie must fall on the event's side.
        scores = np.where(event.happens(outputs), margin + 1e-12, margin)
        return Decisions(-scores if event.first else scores)


def _answers(sessions: Sequence[QuerySession], queries: tuple[Query, ...]) -> Floats:
    """Answers of each session, shape (sessions, numbers); NaN where it refuses."""
    rows = []
    for session in sessions:
        epsilon = even_share(session, len(queries))
        answers = [ask(session, query, epsilon) for query in queries]
        rows.append([np.array([np.nan]) if answer is None else answer.ravel() for answer in answers])
    sizes = [max((part.size for part in column), default=1) for column in zip(*rows, strict=True)]
    return np.array(
        [np.concatenate([np.resize(part, size) for part, size in zip(row, sizes, strict=True)]) for row in rows]
    )
