"""Reference tables: samples of other people, released as the publisher does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from attacks.base.attack import Knowledge, NotApplicable
from defenses.base.defense import released_frame, rowwise_release
from defenses.base.release import MicrodataRelease


def reference_tables(
    release: MicrodataRelease, knowledge: Knowledge, rounds: int, rng: Generator
) -> Iterator[MicrodataRelease]:
    """Draw samples of the auxiliary people, each as large as the release, and release them as the publisher does.

    Samples stay in clear where the attacker does not know the mechanism, or where the defense refuses so few people.

    Parameters
    ----------
    release : MicrodataRelease
        The published table.
    knowledge : Knowledge
        Holds the auxiliary people.
    rounds : int
        Number of tables.
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
        yield _released_sample(knowledge, rng.permutation(len(people))[:size], rng)


def _released_sample(knowledge: Knowledge, positions: np.ndarray, rng: Generator) -> MicrodataRelease:
    sample = knowledge.auxiliary.take(positions)
    if knowledge.simulate is not None:
        try:
            simulated: MicrodataRelease = knowledge.simulate(sample, rng)
        except ValueError:
            pass
        else:
            return simulated
    return rowwise_release(released_frame(sample), None)
