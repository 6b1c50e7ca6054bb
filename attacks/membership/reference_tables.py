"""Tables of other people in the form of a release, for saying what is unusual about the release itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import Decisions
from defenses.base.defense import released_frame, rowwise_release
from defenses.base.parameters import check_integer
from defenses.base.release import MicrodataRelease
from metrics.arrays import Floats


class ReferencedMembership(Attack):
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


def reference_tables(
    release: MicrodataRelease, knowledge: Knowledge, rounds: int, rng: Generator
) -> Iterator[MicrodataRelease]:
    """Draw samples of the auxiliary people, as large as the release, and release each as the publisher does.

    Where the attacker does not know the mechanism the samples are left in clear; a defense that refuses so few people
    leaves them in clear too.

    Parameters
    ----------
    release : MicrodataRelease
        What was published.
    knowledge : Knowledge
        With the auxiliary people.
    rounds : int
        How many tables to draw.
    rng : Generator
        Draws people and repeats the defense.

    Yields
    ------
    MicrodataRelease
        One table a round.

    Raises
    ------
    NotApplicable
        If there are no auxiliary people.
    """
    people = knowledge.auxiliary
    if not len(people):
        raise NotApplicable("the attacker has no people of its own to compare with")
    size = min(len(people), max(1, len(release.frame)))
    for _ in range(rounds):
        yield _table(knowledge, rng.permutation(len(people))[:size], rng)


def _table(knowledge: Knowledge, chosen: np.ndarray, rng: Generator) -> MicrodataRelease:
    sample = knowledge.auxiliary.take(chosen)
    if knowledge.simulate is not None:
        try:
            simulated: MicrodataRelease = knowledge.simulate(sample, rng)
        except ValueError:
            pass
        else:
            return simulated
    return rowwise_release(released_frame(sample), None)
