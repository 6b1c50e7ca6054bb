"""The membership inference game on a released table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from attacks.base.claims import Claims, Decisions
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer
from metrics.arrays import Booleans
from metrics.ranking import area_under_curve
from metrics.roc import resolves_rate, true_positive_rate
from metrics.score import Score, Scores
from scenarios.games.table_game import CandidatesGame, TableSecret


class Drawn(NamedTuple):
    """People of one play, all distinct.

    Attributes
    ----------
    records : Microdata
        The members.
    candidates : DataFrame, shape (candidates, columns)
        Members and as many non-members, in random order.
    member : ndarray of bool, shape (candidates,)
        Whether each candidate is a member.
    auxiliary, held_out : Microdata
        The auxiliary population, and the people who test classifiers.
    """

    records: Microdata
    candidates: pd.DataFrame
    member: NDArray[np.bool_]
    auxiliary: Microdata
    held_out: Microdata


@dataclass(frozen=True)
class MembershipSecret(TableSecret):
    """Members and candidates of one play.

    Attributes
    ----------
    member : ndarray of bool, shape (candidates,)
        Whether each candidate is a member.
    """

    member: NDArray[np.bool_] = field(repr=False)


class Membership(CandidatesGame):
    """Membership inference on a released table: half of the candidates are its originals.

    Each play draws some records as members and releases them. The adversary sees the release with its rows in random
    order. The candidates are the members and as many other people, in clear. The adversary scores how likely each of
    them is a member.

    Parameters
    ----------
    records : Microdata
        The population; at least twice `members` records.
    members : int
        Number of released records, and number of candidates who are not members.
    auxiliary, held_out : int
        Size of the auxiliary population, and number of people who test classifiers trained on the release. A small
        population gives fewer: half of the remaining people each.
    attacker_knows : {"mechanism", "nothing"}
        Whether attacks can read the release's channel and repeat the defense on other records.

    Raises
    ------
    ValueError
        If a number is out of range or the population is too small.

    References
    ----------
    Shokri, Stronati, Song and Shmatikov (2017), Membership inference attacks against machine learning models; Stadler,
    Oprisanu and Troncoso (2022), Synthetic data: anonymisation groundhog day, for released tables.
    """

    takes: ClassVar[Mapping[str, type[Claims]]] = {"membership": Decisions}

    def __init__(
        self,
        *,
        records: Microdata,
        members: int = 500,
        auxiliary: int = 2000,
        held_out: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(records=records, auxiliary=auxiliary, held_out=held_out, attacker_knows=attacker_knows)
        self.members = members
        check_integer("members", members, low=1)
        if len(records) < 2 * members:
            raise ValueError(f"members: {2 * members} people are needed, but the table has {len(records)} rows")

    def people(self, rng: Generator) -> Drawn:
        """Draw members, as many non-members, auxiliary and held-out people, all distinct."""
        people_rng, order_rng = rng.spawn(2)
        population = people_rng.permutation(len(self.records))
        candidates, rest = np.split(population, [2 * self.members])
        held_out, others = np.split(rest, [min(self.held_out, rest.size // 2)])
        order = order_rng.permutation(candidates.size)
        return Drawn(
            self.records.take(candidates[: self.members]),
            self.records.take(candidates[order]).frame[list(self.records.released_columns)],
            order < self.members,
            self.records.take(others[: self.auxiliary]),
            self.records.take(held_out),
        )

    def draw(self, rng: Generator, choice: Any = None) -> MembershipSecret:
        """Draw the people of one play, all distinct (`people`)."""
        people_rng, query_rng = rng.spawn(2)
        drawn = self.people(people_rng)
        utility = self.table_utility(drawn.records, drawn.held_out, query_rng)
        return MembershipSecret(drawn.records, drawn.candidates, drawn.auxiliary, utility, drawn.member)

    def score(self, secret: MembershipSecret, published: Any, claims: Claims, rng: Generator) -> Scores:
        """Score how well the decisions separate members from non-members (`membership_scores`).

        Raises
        ------
        TypeError
            If the claims are not decisions.
        ValueError
            If the number of decisions is not the number of candidates.
        """
        return membership_scores(self.taken(claims), secret.member, rng)


def membership_scores(claims: Decisions, member: Booleans, rng: Generator) -> Scores:
    """Score decisions on membership.

    Parameters
    ----------
    claims : Decisions
        One score for each candidate; members should have higher scores.
    member : ndarray of bool, shape (candidates,)
        Whether each candidate is a member; both classes must occur.
    rng : Generator
        Breaks ties at random.

    Returns
    -------
    Scores
        ``membership``: share of members among the candidates with the highest scores, as many as there are members.
        Measures: ``non_members``; ``membership_auc``; ``tpr_at_1_percent_fpr`` and ``tpr_at_tenth_percent_fpr``
        (`metrics.roc`). These two rates are None if less than one false positive is expected, with fewer than 99 and
        999 non-members. They are reliable if all plays together have at least 1,000 and 10,000 non-members.

    Raises
    ------
    ValueError
        If the number of decisions is not the number of candidates.
    """
    if claims.scores.shape != member.shape:
        raise ValueError(f"the decisions are about {claims.scores.size} candidates, there are {member.size}")
    members = int(member.sum())
    rate = float(member[claims.first(members, rng)].mean())
    return Scores.of(
        Score("membership", rate, members / member.size, members),
        non_members=member.size - members,
        membership_auc=area_under_curve(claims.scores, member),
        tpr_at_1_percent_fpr=_rate_at(0.01, claims, member),
        tpr_at_tenth_percent_fpr=_rate_at(0.001, claims, member),
    )


def _rate_at(false_positive_rate: float, claims: Decisions, member: Booleans) -> float | None:
    """True positive rate at a false positive rate; None if there are too few non-members for it."""
    if not resolves_rate(int((~member).sum()), false_positive_rate):
        return None
    return true_positive_rate(claims.scores, member, false_positive_rate)
