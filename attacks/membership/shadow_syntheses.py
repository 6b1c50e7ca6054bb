"""Shadow syntheses: repetitions of the defense on the attacker's own people, of whom the attacker knows the members."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attacks.base.attack import Knowledge
from attacks.base.simulation import simulation
from attacks.membership.reference_tables import same_columns
from defenses.base.release import MicrodataRelease
from metrics.columns.arrays import Booleans, Integers


@dataclass(frozen=True)
class ShadowSynthesis:
    """A table that the attacker made of some of its own people.

    Attributes
    ----------
    table : MicrodataRelease
        The table.
    members, others : ndarray of int
        Positions of the auxiliary people who are in the table, and of those who are not, both in random order.
    """

    table: MicrodataRelease
    members: Integers
    others: Integers

    @property
    def member(self) -> Booleans:
        """Whether each auxiliary person is in the table, shape (auxiliary,)."""
        result = np.zeros(self.members.size + self.others.size, dtype=bool)
        result[self.members] = True
        return result


def shadow_syntheses(release: MicrodataRelease, knowledge: Knowledge, rounds: int) -> Iterator[ShadowSynthesis]:
    """Repeat the defense on samples of the auxiliary people, at most half of them and at most one for each row.

    Where there are at least two auxiliary people for each row, these are the simulations behind `reference_tables`.

    Parameters
    ----------
    release : MicrodataRelease
        The published table; all attacks on it share the simulations (`attacks.base.simulation`).
    knowledge : Knowledge
        Holds the auxiliary people and the mechanism.
    rounds : int
        Number of tables.

    Yields
    ------
    ShadowSynthesis
        One table a round. There is none if the attacker does not know the mechanism or has fewer than two people of
        its own, or if the release is empty. Rounds in which the defense refuses its people or releases other columns
        are left out.
    """
    size = min(len(release.frame), len(knowledge.auxiliary) // 2)
    if knowledge.simulate is None or size < 1:
        return
    for number in range(rounds):
        try:
            repeated = simulation(release, knowledge, size, number)
        except ValueError:
            continue
        if len(repeated.release.frame) and same_columns(repeated.release, release, knowledge):
            yield ShadowSynthesis(repeated.release, repeated.order[:size], repeated.order[size:])
