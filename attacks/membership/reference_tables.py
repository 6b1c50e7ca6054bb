"""Tables of other people in the form of a release, for saying what is unusual about the release itself."""

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
