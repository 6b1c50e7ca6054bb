"""Base of disclosure games on a curator that answers statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from attacks.base import Claims, ValueClaims
from attacks.statistics.query_budget import ask, even_share
from attacks.statistics.statistical_disclosure import StatisticsKnowledge
from defenses import Defense, Microdata, StatisticsRelease
from defenses.base.queries import Query
from metrics.columns import Array, refuse
from metrics.score import Score, Scores
from scenarios.games.game import Game, Secret


@dataclass(frozen=True)
class AnalystQuery:
    """One query of an honest analyst, with the analyst's guess of the answer.

    Parameters
    ----------
    query : Query
        The query.
    guess : float
        Guess of each number of the answer from public knowledge alone.
    """

    query: Query
    guess: float


@dataclass(frozen=True)
class StatisticsSecret(Secret):
    """The curator's records and the secret values of one play.

    Attributes
    ----------
    records : Microdata
        The records that the curator holds.
    truths : ndarray, shape (targets,)
        The secret values.
    chance : float
        Share of them that the best constant guess hits.
    known : StatisticsKnowledge
        The adversary's knowledge.
    workload : tuple of AnalystQuery
        Queries whose answers measure the release's utility.
    analyst_seed : int
        Seed of the noise in these answers, the same for every release of the play.
    """

    truths: Array = field(repr=False)
    chance: float
    known: StatisticsKnowledge = field(repr=False)
    workload: Sequence[AnalystQuery] = field(repr=False)
    analyst_seed: int


class CuratorGame(Game):
    """Base of games about what a curator answers."""

    accepts: ClassVar[str] = "statistics"
    kind: ClassVar[str] = "statistics"
    attacker_knows = "mechanism"


class StatisticsGame(CuratorGame):
    """Abstract disclosure game: a curator answers queries, and the adversary claims secret values.

    The adversary knows which weighted sums of answers equal the secrets, and everything public about the records.
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"disclosure": ValueClaims}

    def right(self, claimed: Any, truth: Any) -> bool:
        """Whether a claimed value counts as correct."""
        return bool(claimed == truth)

    def knowledge(self, secret: StatisticsSecret, defense: Defense) -> StatisticsKnowledge:
        """Give the queries that determine the secrets."""
        return secret.known

    def score(self, secret: StatisticsSecret, published: StatisticsRelease, claims: Claims, rng: Generator) -> Scores:
        """Score the claimed values.

        Returns
        -------
        Scores
            ``disclosure``: share of the secrets whose claim is correct; a missing claim is not. Chance is the share
            that the best constant guess hits. Measures: ``answered``: share of the secrets with a claim;
            ``precision``: share of correct values among the claimed ones, None if there are no claims.

        Raises
        ------
        TypeError
            If the claims are not values.
        ValueError
            If the claims have another number of persons.
        """
        claimed, targets = self.taken(claims).values["value"], len(secret.truths)
        refuse(len(claimed) != targets, f"the claims are about {len(claimed)} persons, but there are {targets}")
        answered = np.flatnonzero(claimed.notna())
        hits = sum(self.right(claimed.iloc[target], secret.truths[target]) for target in answered)
        return Scores.of(
            Score("disclosure", hits / targets, secret.chance, targets),
            answered=len(answered) / targets,
            precision=hits / len(answered) if answered.size else None,
        )

    def utility(self, secret: StatisticsSecret, release: StatisticsRelease) -> dict[str, float | None]:
        """Accuracy of the answers to an honest analyst's workload.

        Returns
        -------
        dict
            ``utility_answers``: max(0, 1 - E/E_0), with E the sum of absolute errors of the answers, and E_0 that of
            guesses from public knowledge alone. It is 1 for exact answers, and 0 for answers no better than guesses.
            The privacy budget is divided evenly among the queries; a refused query counts as guessed.
        """
        return answered_utility(secret.records, release, secret.workload, secret.analyst_seed)


def answered_utility(
    records: Microdata, release: StatisticsRelease, workload: Sequence[AnalystQuery], seed: int
) -> dict[str, float | None]:
    """Utility of a release for a workload (`StatisticsGame.utility`); `seed` seeds the noise."""
    session = release.open(np.random.default_rng(seed))
    epsilon = even_share(session, len(workload))
    error = guess_error = 0.0
    for question in workload:
        exact = np.asarray(question.query.exact(records), dtype=float)
        answer = ask(session, question.query, epsilon)
        error_of_guess = float(np.abs(exact - question.guess).sum())
        guess_error += error_of_guess
        error += error_of_guess if answer is None else float(np.abs(exact - answer).sum())
    return {"utility_answers": max(0.0, 1 - error / guess_error) if guess_error else None}


def seed_of(rng: Generator) -> int:
    """Draw a seed."""
    return int(rng.integers(2**63))
