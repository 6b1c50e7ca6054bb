"""Games about somebody's secret value behind statistics: what they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.claims import Claims, ValueClaims
from attacks.statistics.query_budget import ask, even_share
from attacks.statistics.statistics_knowledge import StatisticsKnowledge
from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from defenses.base.queries import Query, QuerySession
from defenses.base.release import StatisticsRelease
from metrics.score import Score, Scores
from scenarios.games.game import Game, Secret


@dataclass(frozen=True)
class Question:
    """A query of honest analysts.

    Parameters
    ----------
    query : Query
        What they ask.
    guess : float
        What they would guess of each number without asking, from public knowledge alone.
    """

    query: Query
    guess: float


@dataclass(frozen=True)
class StatisticsSecret(Secret):
    """The records behind the statistics, and whose values are looked for.

    Attributes
    ----------
    records : Microdata
        What the curator holds.
    truths : ndarray, shape (targets,)
        The secret values.
    chance : float
        How many of them, as a share, the best constant guess finds.
    known : StatisticsKnowledge
        What the attacker is handed.
    workload : tuple of Question
        By whose answers the release's utility is measured.
    analyst_seed : int
        Of the noise in these answers, the same for every release of the play.
    """

    records: Microdata = field(repr=False)
    truths: NDArray[Any] = field(repr=False)
    chance: float
    known: StatisticsKnowledge = field(repr=False)
    workload: Sequence[Question] = field(repr=False)
    analyst_seed: int


class StatisticsGame(Game):
    """Somebody's value behind statistics: a curator answers queries, and the attacker names secret values.

    The attacker knows which weighted sums of answers hold the secrets, and all that is public about the records.
    """

    accepts: ClassVar[str] = "statistics"
    kind: ClassVar[str] = "statistics"
    takes: ClassVar[Mapping[str, type[Claims]]] = {"disclosure": ValueClaims}
    attacker_knows = "mechanism"

    def right(self, claimed: Any, truth: Any) -> bool:
        """Whether a claimed value counts as found."""
        return bool(claimed == truth)

    def knowledge(self, secret: StatisticsSecret, defense: Defense) -> StatisticsKnowledge:
        """Hand over the queries behind the secrets."""
        return secret.known

    def score(self, secret: StatisticsSecret, published: StatisticsRelease, claims: Claims, rng: Generator) -> Scores:
        """Score the claimed values.

        Returns
        -------
        Scores
            ``disclosure``: share of the secrets that are found; a secret without a claim is not. Chance is the share
            that the best constant guess finds. Measures: ``answered``: share of the secrets with a claim;
            ``precision``: share of correct values among the claimed ones, None if there is none.

        Raises
        ------
        TypeError
            If the claims are no values.
        ValueError
            If they are about another number of persons.
        """
        claimed, targets = self.taken(claims).values["value"], len(secret.truths)
        if len(claimed) != targets:
            raise ValueError(f"the claims are about {len(claimed)} persons, there are {targets}")
        answered = np.flatnonzero(claimed.notna())
        hits = sum(self.right(claimed.iloc[place], secret.truths[place]) for place in answered)
        return Scores.of(
            Score("disclosure", hits / targets, secret.chance, targets),
            answered=len(answered) / targets,
            precision=hits / len(answered) if answered.size else None,
        )

    def utility(self, secret: StatisticsSecret, release: StatisticsRelease) -> dict[str, float | None]:
        """How near the answers to an analyst's workload come.

        Returns
        -------
        dict
            ``utility_answers``: 1 - (sum of absolute errors of the answers) / (the same of guesses made from public
            knowledge alone), floored at 0: 1 for exact answers, 0 for answers no better than these guesses. A budget
            is divided evenly among the queries; a refused one counts as guessed.
        """
        return answered_utility(secret.records, release, secret.workload, secret.analyst_seed)


def answered_utility(
    records: Microdata, release: StatisticsRelease, workload: Sequence[Question], seed: int
) -> dict[str, float | None]:
    """Utility of a release for a workload, as `StatisticsGame.utility` says; `seed` is that of the noise."""
    session: QuerySession = release.open(np.random.default_rng(seed))  # type: ignore[assignment]  # of a curator
    epsilon = even_share(session, len(workload))
    error = worst = 0.0
    for question in workload:
        exact = np.asarray(question.query.exact(records), dtype=float)
        answer = ask(session, question.query, epsilon)
        guessed = float(np.abs(exact - question.guess).sum())
        worst += guessed
        error += guessed if answer is None else float(np.abs(exact - answer).sum())
    return {"utility_answers": max(0.0, 1 - error / worst) if worst else None}


def seed_of(rng: Generator) -> int:
    """A seed, drawn."""
    return int(rng.integers(2**63))
