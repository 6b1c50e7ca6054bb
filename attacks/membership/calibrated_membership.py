"""Membership inference calibrated by tables of other people."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from numpy.random import Generator

from attacks.base import Attack, Decisions, Knowledge
from attacks.membership.reference_tables import reference_tables
from defenses.base import MicrodataRelease
from metrics.columns import Floats, check_integer


class CalibratedMembership(Attack):
    """Base class of attacks that compare the release with reference tables, which hold other people.

    Parameters
    ----------
    rounds : int
        Number of reference tables, at least 1.
    """

    goal = "membership"

    def __init__(self, *, rounds: int = 6) -> None:
        self.rounds = check_integer("rounds", rounds, low=1)

    @abstractmethod
    def scores(self, release: MicrodataRelease, tables: Iterator[MicrodataRelease], knowledge: Knowledge) -> Floats:
        """Membership score of each candidate, shape (candidates,); higher means more likely a member.

        Parameters
        ----------
        release : MicrodataRelease
            The published table.
        tables : iterator of MicrodataRelease
            Reference tables, one for each round.
        knowledge : Knowledge
            Holds the candidates.
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
