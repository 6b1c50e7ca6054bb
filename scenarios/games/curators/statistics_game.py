"""Disclosure games on a curator that answers statistics: membership, and means that differ in one newcomer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from attacks.base import Claims, Knowledge, ValueClaims
from attacks.statistics.disclosure_by_queries import LinearSecret, StatisticsKnowledge, ask, even_share
from defenses import Defense, Microdata, Release, StatisticsRelease
from defenses.base.queries import Histogram, Mean, Query, numbers
from metrics.columns import Array, Floats, NumericDomain, check_integer, check_real, refuse, require
from metrics.score import Score, Scores
from scenarios.games.candidate_file import Membership
from scenarios.games.game import Game, Secret
from scenarios.games.people import Drawn


@dataclass(frozen=True)
class AnalystQuery:
    """One query of an honest analyst, with the analyst's guess of the answer.

    - guess: Guess of each number of the answer from public knowledge alone.
    """

    query: Query
    guess: float


@dataclass(frozen=True)
class StatisticsSecret(Secret):
    """The curator's records and the secret values of one play.

    - records: The records that the curator holds.
    - truths, shape (targets,): The secret values.
    - chance: Share of them that the best constant guess hits.
    - workload: Queries whose answers measure the release's utility.
    - analyst_seed: Seed of the noise in these answers, the same for every release of the play.
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
        """Score the claimed values, which must be as many as the persons.

        - ``disclosure``: Share of the secrets whose claim is correct; a missing claim is not. Chance is the share that
          the best constant guess hits.
        - ``answered``: Share of the secrets with a claim.
        - ``precision``: Share of correct values among the claimed ones, None if there are no claims.
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

        ``utility_answers`` is max(0, 1 - E/E_0), with E the sum of absolute errors of the answers, and E_0 that of
        guesses from public knowledge alone. It is 1 for exact answers, and 0 for answers no better than guesses. The
        privacy budget is divided evenly among the queries; a refused query counts as guessed.
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


# The membership inference game on a curator that answers statistics.


@dataclass(frozen=True)
class StatisticsMembershipSecret(Drawn):
    """Members and candidates of one play.

    - seed: Seed of the noise in the answers that measure utility.
    """

    seed: int = field(repr=False)


class StatisticsMembership(Membership):
    """Membership inference on statistics: half of the candidates are the records of a curator.

    The adversary asks any queries until the curator refuses. It knows the candidates in clear and the auxiliary
    population, and scores how likely each candidate is a member.

    Parameters
    ----------
    records, members, auxiliary, held_out, attacker_knows
        See `Membership`.

    References
    ----------
    Homer and others (2008), Resolving individuals contributing trace amounts of DNA to highly complex mixtures.
    """

    accepts: ClassVar[str] = "statistics"
    kind: ClassVar[str] = "statistics"

    def draw(self, rng: Generator, choice: Any = None) -> Any:
        """Draw members, as many non-members, and the auxiliary population, all distinct."""
        people_rng, seed_rng = rng.spawn(2)
        drawn, _ = self.people(people_rng)
        return StatisticsMembershipSecret(**vars(drawn), seed=int(seed_rng.integers(2**31)))

    def publish(self, release: Release, rng: Generator) -> Release:
        """Return the release unchanged; attacks query it."""
        return release

    def knowledge(self, secret: Drawn, defense: Defense) -> Knowledge:
        """Give the candidates and the auxiliary population; the curator's mechanism is not repeated."""
        return Knowledge(secret.candidates, secret.auxiliary)

    def utility(self, secret: Any, release: Any) -> dict[str, float | None]:
        """Accuracy of the histograms of all columns, asked in one session with an evenly divided budget.

        Returns
        -------
        dict
            ``utility_answers``: max(0, 1 - E/E_0), with E the sum of absolute errors of the histograms, and E_0 that of
            uniform histograms. A refused histogram counts as uniform.

        Raises
        ------
        TypeError
            If the release is not a statistics release.
        """
        if not isinstance(release, StatisticsRelease):
            raise TypeError(f"this game publishes statistics, got a {release.kind} release")
        records = secret.records
        workload = [
            AnalystQuery(Histogram(name), len(records) / records.domain(name).size) for name in records.released_columns
        ]
        return answered_utility(records, release, workload, secret.seed)


class Newcomer(StatisticsGame):
    """Disclosure of a newcomer's value by the means over all persons and over all but the newcomer.

    Each play draws residents and one newcomer. Let m be the mean over all n persons and m' the mean without the
    newcomer. The newcomer's value is n m - (n - 1) m'. Example: (101 times 20,000) - (100 times 10,000) = 1,020,000.

    Parameters
    ----------
    records : Microdata
        The population.
    column : str
        A column of numbers with declared bounds.
    residents : int
        Number of people besides the newcomer.
    tolerance : float
        Relative error up to which a claim is correct, in [0, 1).
    newcomer : {"drawn", "last"}
        Whether the newcomer is drawn too, or is the table's last record. In the second case the residents are drawn
        from the other records, and a table of one more record than `residents` is one particular city.

    Raises
    ------
    ValueError
        If the column has no declared numeric bounds, a parameter is out of range, or the table has too few records.
    """

    def __init__(
        self,
        *,
        records: Microdata,
        column: str = "spending",
        residents: int = 100,
        tolerance: float = 0.05,
        newcomer: str = "drawn",
    ) -> None:
        self.records = records
        self.column = column
        self.newcomer = newcomer
        refuse(newcomer not in ("drawn", "last"), f"newcomer must be drawn or last, got {newcomer!r}")
        require(
            isinstance(records.domains.get(column), NumericDomain),
            f"column: {column!r} is not a column of numbers with declared bounds",
        )
        self.residents = check_integer("residents", residents, low=1)
        self.tolerance = check_real("tolerance", tolerance, low=0, high=1, open_high=True)
        refuse(
            len(records) <= residents,
            f"residents: {residents} and a newcomer are needed, but the table has {len(records)} rows",
        )

    def draw(self, rng: Generator, choice: Any = None) -> StatisticsSecret:
        """Draw residents and a newcomer, who is the last row of the table."""
        if self.newcomer == "drawn":
            drawn = rng.choice(len(self.records), self.residents + 1, replace=False)
        else:
            residents = rng.choice(len(self.records) - 1, self.residents, replace=False)
            drawn = np.append(residents, len(self.records) - 1)
        return self.table(self.records.take(drawn), seed_of(rng))

    def table(self, records: Microdata, analyst_seed: int = 0) -> StatisticsSecret:
        """Make a secret from a given table, whose last row is the newcomer."""
        count = len(records)
        residents = np.arange(count) < count - 1
        domain = records.domains[self.column]
        assert isinstance(domain, NumericDomain)  # noqa: S101 (checked by the constructor)
        target = LinearSecret(
            (Mean(self.column), Mean(self.column, members=residents)), (float(count), -float(count - 1))
        )
        values = numbers(records, self.column)
        no_records = records.take([])
        knowledge = StatisticsKnowledge(
            no_records.frame, no_records, targets=(target,), low=domain.low, high=domain.high
        )
        workload = tuple(AnalystQuery(query, (domain.low + domain.high) / 2) for query in target.queries)
        chance = best_guess(numbers(self.records, self.column), self.tolerance)
        return StatisticsSecret(records, values[-1:], chance, knowledge, workload, analyst_seed)

    def right(self, claimed: Any, truth: Any) -> bool:
        """Whether the relative error of a claimed value is at most `tolerance`."""
        # 1e-12 allows for the rounding of sums of doubles.
        return bool(abs(claimed - truth) <= (self.tolerance + 1e-12) * abs(truth))


def best_guess(values: Floats, tolerance: float) -> float:
    """Largest share of values that a single guess hits up to a relative error.

    A guess g hits the values v with v - tolerance |v| <= g <= v + tolerance |v|. The share is the largest number of
    these intervals that overlap, divided by n. This number is attained at the left end of one of the intervals.

    - values, shape (n,): The values, at least one.
    - tolerance: Relative error, at least 0.
    """
    slack = tolerance * np.abs(values)
    left, right = np.sort(values - slack), np.sort(values + slack)
    open_at_left = np.searchsorted(left, left, side="right") - np.searchsorted(right, left, side="left")
    return float(open_at_left.max() / values.size)
