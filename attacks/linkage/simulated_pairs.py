"""Pairs of released rows and candidates with known answers, from releases of the attacker's own people."""

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
    """Simulate releases of the attacker's own people, and code them beside candidates.

    Each simulation releases as many random people as the release has rows, among as many candidates as there are.
    Where the attacker has fewer people, both numbers shrink in proportion.

    Parameters
    ----------
    release : MicrodataRelease
        The release under attack; it determines the number of rows and the columns.
    knowledge : Knowledge
        The attacker's own people, and the mechanism.
    simulations : int
        Number of simulations; other attacks on the release share them (`attacks.base.simulation`).

    Yields
    ------
    columns : list of SharedColumn
        Both sides of a simulated release.
    truth : ndarray of int, shape (rows,)
        The candidate of each row, -1 where it has none.

    Raises
    ------
    NotApplicable
        If the attacker does not know the mechanism, has fewer than ten people, or released rows of unknown origin; or
        if the defense refuses a table of so few people.
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
    """Pairs to learn from: each row with its own candidate, the nearest others, and random ones; each pair once.

    Parameters
    ----------
    nearest : ndarray of int, shape (rows, near)
        Candidates nearest to each row.
    truth : ndarray of int, shape (rows,)
        The candidate of each row, -1 where it has none.
    candidates : int
        Number of candidates.
    far : int
        Number of random candidates per row.
    rng : Generator
        Draws the random candidates.

    Returns
    -------
    rows, candidates : ndarray of int, shape (pairs,)
        Positions.
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
