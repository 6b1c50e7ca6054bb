"""Membership inference calibrated by tables of other people."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import Decisions
from attacks.membership.reference_tables import reference_tables
from defenses.base.parameters import check_integer
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats


class CalibratedMembership(Attack):
    """Calls those members whom the release resembles more than tables of other people do.

    Parameters
    ----------
    rounds : int
        How many tables of other people to compare with, at least 1.
    """

    goal = "membership"

    def __init__(self, *, rounds: int = 6) -> None:
        check_integer("rounds", rounds, low=1)
        self.rounds = rounds

    @abstractmethod
    def scores(self, release: MicrodataRelease, tables: Iterator[MicrodataRelease], knowledge: Knowledge) -> Floats:
        """How surely each candidate is a member, shape (candidates,).

        Parameters
        ----------
        release : MicrodataRelease
            What was published.
        tables : iterator of MicrodataRelease
            Tables of other people, as many as there are rounds.
        knowledge : Knowledge
            With the candidates.
        """

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> Decisions:
        """Score every candidate.

        Raises
        ------
        NotApplicable
            If the attacker has no people of its own.
        ValueError
            If release and candidates share no column, or a cell or a value lies outside the column's domain.
        """
        return Decisions(self.scores(release, reference_tables(release, knowledge, self.rounds, rng), knowledge))
