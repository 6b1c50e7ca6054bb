"""A random sample of a release's rows, about which an attack is asked where all of them are too many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from attacks import (
    Attack,
    BlockedLinkage,
    ExpectationMaximizationLinkage,
    GroupLinkage,
    LikelihoodAssignment,
    NearestNeighbour,
    SweeneyJoin,
)
from defenses.base import ChannelPart, Likelihood, MicrodataRelease, Presence
from metrics.columns import Domain, Integers
from scenarios.tables.seeds import generator

MOST_PAIRS = 25_000_000
"""Pairs of released rows and candidates that an attack compares by default; at most about 4 GB."""
MOST_SPARSE = 100_000
"""Released rows that an attack which does not compare all pairs is asked about by default."""
IN_BLOCKS = (BlockedLinkage, ExpectationMaximizationLinkage, GroupLinkage)
"""Attacks that search the candidates of large tables in blocks, and answer for all rows."""
ROW_BY_ROW = (NearestNeighbour, SweeneyJoin)
"""Attacks whose answer to a row does not depend on other rows."""


def drawn_rows(attack: Attack, rows: int, candidates: int, targets: int | None, seed: int) -> Integers:
    """Released rows that an attack is asked about, ascending: all, or a random sample."""
    if targets is None and isinstance(attack, IN_BLOCKS):
        targets = rows
    elif targets is None:
        sparse = isinstance(attack, LikelihoodAssignment)
        fitting = max(1, MOST_PAIRS // max(1, candidates))
        targets = max(MOST_SPARSE, fitting) if sparse else fitting
    if targets >= rows:
        return np.arange(rows)
    return np.sort(generator(seed, "targets").choice(rows, targets, replace=False))


def sampled_release(release: MicrodataRelease, drawn: Integers) -> MicrodataRelease:
    """Only the drawn rows of a release; its channel still knows the whole release."""
    sample = release.take(drawn)
    if release.channel is None:
        return sample
    parts = tuple(
        WholeReleasePart(part, release.frame, drawn) if isinstance(part, Presence) else part
        for part in release.channel.parts
    )
    return replace(sample, channel=replace(release.channel, parts=parts))


def sampling_notes(attack: Attack, targets: int, rows: int, candidates: int, *, asked: bool) -> list[str]:
    """What a sample of rows means for the answers."""
    notes = [f"answers are about {targets:,} of {rows:,} released rows, drawn at random by --seed"]
    if not asked:
        reason = f"all rows and candidates make {rows * candidates:,} pairs, more than the limit of {MOST_PAIRS:,}"
        if isinstance(attack, LikelihoodAssignment):
            reason = f"the limit is {MOST_SPARSE:,}"
        notes[0] += (
            f": {reason}; --targets N asks about N rows, with time and memory to match, and BlockedLinkage answers for "
            "all rows of large tables"
        )
    if not isinstance(attack, ROW_BY_ROW):
        notes.append(
            f"{type(attack).__name__} matches the drawn rows alone: rows that were not drawn rule out no candidate, so "
            "that it may find fewer than among all rows"
        )
    return notes


@dataclass(frozen=True, eq=False)
class WholeReleasePart(ChannelPart):
    """A channel part whose likelihoods depend on all released rows, for a sample of them.

    Attributes
    ----------
    part : ChannelPart
        The part.
    released : DataFrame, shape (rows, columns)
        The whole release.
    drawn : ndarray of int, shape (targets,)
        Positions of the sampled rows.
    """

    part: ChannelPart
    released: pd.DataFrame
    drawn: Integers

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the part."""
        return self.part.columns

    @property
    def original_domains(self) -> Mapping[str, Domain]:
        """The domains that the part states."""
        return self.part.original_domains

    def bind(self, released: pd.DataFrame, original: pd.DataFrame) -> Likelihood:
        """Prepare log-likelihoods of the sampled rows under original rows."""
        likelihood = self.part.bind(self.released, original)
        return replace(likelihood, released=tuple(array[self.drawn] for array in likelihood.released))
