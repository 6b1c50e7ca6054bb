"""The intersection attack: two releases that overlap, each anonymous by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import ValueClaims
from attacks.base.released_classes import claims_from_scores, match
from defenses.base.release import MicrodataRelease


@dataclass(frozen=True)
class OtherRelease(Knowledge):
    """What an attacker knows to whom a second release, about some of the same people, is public.

    Parameters
    ----------
    other : MicrodataRelease
        The second release, without origins, rows in an order of their own.
    """

    other: MicrodataRelease = field(
        default_factory=lambda: MicrodataRelease(pd.DataFrame(), np.zeros(0, dtype=np.intp)), repr=False
    )


class CompositionAttack(Attack):
    """Keeps the sensitive values that the target's classes have in both releases, the likeliest first.

    Each release leaves the target the values of one class; who is in both tables has one of the common ones. With n
    and m the counts of the two classes, whose other members are different people with the tables' shares q, the value
    v is proportionally as probable as n(v) m(v) / q(v). Where the two classes share no value the target cannot be in
    both tables, and the first release's class answers.

    References
    ----------
    Ganta, Kasiviswanathan and Smith (2008), Composition attacks and auxiliary information in data privacy.
    """

    goal: ClassVar[str] = "attribute"

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Intersect the candidates' values."""
        if not isinstance(knowledge, OtherRelease):
            raise NotApplicable("there is no second release")
        first, second = match(release, knowledge), match(knowledge.other, knowledge)
        here, there = first.near_counts, second.near_counts
        share = np.maximum((first.table + second.table) / 2, 1e-300)
        both = here * there / share
        empty = both.sum(axis=1) == 0
        return claims_from_scores(np.where(empty[:, None], here, both), first.column, first.domain)
