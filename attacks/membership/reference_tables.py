"""Reference tables: samples of other people, released as the publisher does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from attacks.base import Attack, Knowledge, applicable
from attacks.base.simulation import Simulation, simulation
from defenses.base import MicrodataRelease, released_frame, rowwise_release
from metrics.columns import Booleans, Integers, check_integer


class RepeatedMembership(Attack):
    """Base class of membership attacks that compare the release with several tables of other people.

    `rounds` is the number of such tables, at least `fewest_rounds`.
    """

    goal = "membership"

    fewest_rounds = 1

    def __init__(self, *, rounds: int = 6) -> None:
        self.rounds = check_integer("rounds", rounds, low=self.fewest_rounds)


def reference_tables(
    release: MicrodataRelease, knowledge: Knowledge, rounds: int, rng: Generator
) -> Iterator[MicrodataRelease]:
    """Draw samples of the auxiliary people, each as large as the release, and release them as the publisher does.

    Samples stay in clear where the attacker does not know the mechanism, where the defense refuses so few people, or
    where it releases other columns. All tables have the release's columns, so that their densities compare. If the
    attacker has no people, `NotApplicable` is raised.

    `rng` draws samples that stay in clear; simulations are shared (`attacks.base.simulation`).
    """
    people = knowledge.auxiliary
    applicable(len(people), "the attacker has no people of its own to compare with")
    size = min(len(people), max(1, len(release.frame)))
    for number in range(rounds):
        repeated = _repeated(release, knowledge, size, number)
        if repeated is not None:
            yield repeated.release
        else:
            sample = released_frame(people.take(rng.permutation(len(people))[:size]))
            yield rowwise_release(sample[sample.columns.intersection(release.frame.columns, sort=False)], None)


def same_columns(table: MicrodataRelease, release: MicrodataRelease, knowledge: Knowledge) -> bool:
    """Return whether two releases hold the same of the attacker's people's columns."""
    columns = knowledge.auxiliary.frame.columns
    return bool((columns.isin(table.frame.columns) == columns.isin(release.frame.columns)).all())


def _repeated(release: MicrodataRelease, knowledge: Knowledge, size: int, number: int) -> Simulation | None:
    """The defense repeated; None if it is unknown, refuses its people or releases other columns."""
    if knowledge.simulate is None:
        return None
    try:
        repeated = simulation(release, knowledge, size, number)
    except ValueError:
        return None
    return repeated if same_columns(repeated.release, release, knowledge) else None


def evenly_spaced(count: int, most: int) -> Integers:
    """Positions of at most so many of `count` people."""
    return np.linspace(0, count, min(count, most), endpoint=False).astype(np.intp)


# Shadow syntheses: repetitions of the defense on the attacker's people, of whom the attacker knows the members.


@dataclass(frozen=True)
class ShadowSynthesis:
    """A table that the attacker made of some auxiliary people.

    - members, others: Positions of the people who are in the table, and of those who are not, both in random order.
    """

    table: MicrodataRelease
    members: Integers
    others: Integers

    @property
    def member(self) -> Booleans:
        """Whether each auxiliary person is in the table, shape (auxiliary,)."""
        return np.isin(np.arange(self.members.size + self.others.size), self.members)


def shadow_syntheses(release: MicrodataRelease, knowledge: Knowledge, rounds: int) -> Iterator[ShadowSynthesis]:
    """Repeat the defense on samples of the auxiliary people, at most half of them and at most one for each row.

    Where there are at least two auxiliary people for each row, these are the simulations behind `reference_tables`. All
    attacks on a release share the simulations.

    There is no table if the attacker does not know the mechanism or has fewer than two people, or if the release is
    empty. Rounds in which the defense refuses its people or releases other columns are left out.
    """
    size = min(len(release.frame), len(knowledge.auxiliary) // 2)
    for number in range(rounds if size else 0):
        repeated = _repeated(release, knowledge, size, number)
        if repeated is not None and len(repeated.release.frame):
            yield ShadowSynthesis(repeated.release, repeated.order[:size], repeated.order[size:])
