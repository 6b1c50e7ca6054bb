"""The membership game on a released table: say who of the candidates is among the originals."""

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
from metrics.roc import true_positive_rate
from metrics.score import Score, Scores
from scenarios.games.table_game import CandidatesGame, TableSecret


class Drawn(NamedTuple):
    """People of one play, all different.

    Attributes
    ----------
    records : Microdata
        The members.
    candidates : DataFrame, shape (candidates, columns)
        Members and as many others, shuffled.
    member : ndarray of bool, shape (candidates,)
        Which candidates are members.
    auxiliary, held_out : Microdata
        Other people: the attacker's own, and those who test classifiers.
    """

    records: Microdata
    candidates: pd.DataFrame
    member: NDArray[np.bool_]
    auxiliary: Microdata
    held_out: Microdata


@dataclass(frozen=True)
class MembershipSecret(TableSecret):
    """Who was drawn.

    Attributes
    ----------
    member : ndarray of bool, shape (candidates,)
        Which candidates are originals.
    """

    member: NDArray[np.bool_] = field(repr=False)


class Membership(CandidatesGame):
    """Membership in a released table: half of the candidates are its originals, the others are held out.

    Per play some records are drawn as members and released; the attacker sees the release, rows shuffled, and the
    candidates in clear, members and as many others, and says of each how surely it is a member.

    Parameters
    ----------
    records : Microdata
        The population; at least twice `members` records.
    members : int
        How many records are released, and how many candidates are not among them.
    auxiliary, held_out : int
        How many further people the attacker has for studying, and how many test what classifiers learn from the
        release; fewer where the population runs out (a half of the rest each).
    attacker_knows : {"mechanism", "nothing"}
        Whether attackers read the release's channel and may repeat the defense on records of their own.

    Raises
    ------
    ValueError
        If a number is out of range or the population too small.

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
            raise ValueError(f"members: {2 * members} people are needed and the table has {len(records)} rows")

    def people(self, rng: Generator) -> Drawn:
        """Draw members, as many others, and bystanders, all different people."""
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
        """Draw members, as many others, and bystanders, all different people."""
        people_rng, query_rng = rng.spawn(2)
        drawn = self.people(people_rng)
        utility = self.table_utility(drawn.records, drawn.held_out, query_rng)
        return MembershipSecret(drawn.records, drawn.candidates, drawn.auxiliary, utility, drawn.member)

    def score(self, secret: MembershipSecret, published: Any, claims: Claims, rng: Generator) -> Scores:
        """Score how well members are told from others (`membership_scores`).

        Raises
        ------
        TypeError
            If the claims are no decisions.
        ValueError
            If they are about another number of candidates.
        """
        return membership_scores(self.taken(claims), secret.member, rng)


def membership_scores(claims: Decisions, member: Booleans, rng: Generator) -> Scores:
    """Score decisions about members.

    Parameters
    ----------
    claims : Decisions
        One score a candidate.
    member : ndarray of bool, shape (candidates,)
        The truth; both members and others.
    rng : Generator
        Breaks ties.

    Returns
    -------
    Scores
        ``membership``: share of members among as many candidates of highest score as there are members. Measures:
        ``membership_auc``; ``tpr_at_1_percent_fpr`` and ``tpr_at_tenth_percent_fpr`` (`metrics.roc`), which are worth
        reading where ``non_members`` of all plays together are at least 1,000 and 10,000.

    Raises
    ------
    ValueError
        If they are about another number of candidates.
    """
    if claims.scores.shape != member.shape:
        raise ValueError(f"the decisions are about {claims.scores.size} candidates, there are {member.size}")
    members = int(member.sum())
    rate = float(member[claims.first(members, rng)].mean())
    return Scores.of(
        Score("membership", rate, members / member.size, members),
        non_members=member.size - members,
        membership_auc=area_under_curve(claims.scores, member),
        tpr_at_1_percent_fpr=true_positive_rate(claims.scores, member, 0.01),
        tpr_at_tenth_percent_fpr=true_positive_rate(claims.scores, member, 0.001),
    )
