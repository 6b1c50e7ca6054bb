"""Pairs of released rows and candidates with known answers, from releases of the attacker's people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from attacks.base import Knowledge, NotApplicable, SharedColumn, applicable, shared_columns
from attacks.base.simulation import simulation
from defenses.base import MicrodataRelease
from metrics.columns import Floats, Integers, Integers32

# Smallest number of people for a simulation.
FEWEST = 10


def simulated_pairs(
    release: MicrodataRelease, knowledge: Knowledge, simulations: int
) -> Iterator[tuple[list[SharedColumn], Integers]]:
    """Simulate releases of the attacker's people; yield both sides of each, and the candidate of each row, -1 for none.

    Each simulation releases as many random people as the release has rows, among as many candidates as there are. Where
    the attacker has fewer people, both numbers shrink in proportion. Other attacks on the release share the simulations
    (`attacks.base.simulation`).

    `NotApplicable` is raised if the attacker does not know the mechanism or has fewer than ten people. It is also
    raised if no released row has a known origin, or the defense refuses so few people.
    """
    applicable(knowledge.simulate is not None, "the attacker cannot repeat the defense")
    people, rows = len(knowledge.auxiliary), len(release.frame)
    candidates = min(people, max(len(knowledge.candidates), 2 * FEWEST))
    applicable(candidates >= FEWEST, f"the attacker has {people} people of its own; {FEWEST} are needed")
    released = max(2, min(candidates, round(rows * candidates / len(knowledge.candidates))))
    names = [name for name in release.frame.columns if name in knowledge.candidates.columns]
    for number in range(simulations):
        try:
            simulated = simulation(release, knowledge, released, number)
        except ValueError as reason:
            raise NotApplicable(f"the defense cannot be repeated on {released} people: {reason}") from reason
        applicable((simulated.release.origin >= 0).any(), "released rows stem from no single person")
        chosen = knowledge.auxiliary.frame.iloc[simulated.order[:candidates]].reset_index(drop=True)
        own = replace(knowledge, candidates=chosen[[name for name in names if name in chosen.columns]])
        yield shared_columns(simulated.release, own), simulated.release.origin


def some_rows(count: int, most: int, rng: Generator) -> Integers:
    """Positions of random rows, at most `most` of them."""
    return np.arange(count) if count <= most else np.sort(rng.permutation(count)[:most])


def chosen_pairs(
    nearest: Integers | Integers32, truth: Integers, candidates: int, far: int, rng: Generator
) -> tuple[Integers, Integers]:
    """Rows and candidates of pairs to learn from, each once: the true, the nearest and some random candidates.

    - nearest, shape (rows, near): Candidates nearest to each row.
    - truth, shape (rows,): The candidate of each row, -1 where it has none.
    - far: Number of random candidates per row.
    """
    rows = len(nearest)
    others = rng.integers(0, candidates, size=(rows, far))
    pairs = np.arange(rows)[:, None] * candidates + np.hstack([nearest, others])
    own = np.flatnonzero(truth >= 0)
    chosen = np.unique(np.concatenate([pairs.ravel(), own * candidates + truth[own]]))
    return np.divmod(chosen, candidates)


def nearest_by(distance: Floats, near: int) -> Integers:
    """Candidates of the smallest distances of each row, at most `near`, in no order, shape (rows, near)."""
    near = min(near, distance.shape[1])
    return np.argpartition(distance, near - 1, axis=1)[:, :near]
