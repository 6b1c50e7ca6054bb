"""The membership inference game on a released table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from defenses.base import Microdata
from metrics.columns import Integers, check_integer, refuse
from scenarios.games.people import Drawn
from scenarios.games.questions.member_question import MemberQuestion
from scenarios.games.table_game import QuestionGame


class Membership(QuestionGame):
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

    question = MemberQuestion()

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
        refuse(
            len(records) < 2 * members,
            f"members: {2 * members} people are needed, but the table has {len(records)} rows",
        )

    def groups(self, rng: Generator) -> Sequence[Integers]:
        """Draw members, as many non-members, auxiliary and held-out people, all distinct."""
        population = rng.permutation(len(self.records))
        members, others, rest = np.split(population, [self.members, 2 * self.members])
        held_out, bystanders = np.split(rest, [min(self.held_out, rest.size // 2)])
        return members, others, bystanders[: self.auxiliary], held_out

    def people(self, rng: Generator) -> tuple[Drawn, Microdata]:
        """Draw the people of one play; the held-out people come second."""
        people_rng, order_rng, own_rng = rng.spawn(3)
        return self.seated(self.groups(people_rng), order_rng, own_rng)

    def draw(self, rng: Generator, choice: Any = None) -> Any:
        """Draw the people of one play (`people`)."""
        people_rng, query_rng = rng.spawn(2)
        return self.measured(*self.people(people_rng), query_rng)
