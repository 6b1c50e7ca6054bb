"""Composition attack: intersects the classes of two overlapping releases."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Attack, Knowledge, NotApplicable, ValueClaims, claims_from_scores, match
from defenses.base import MicrodataRelease


@dataclass(frozen=True)
class OtherRelease(Knowledge):
    """Knowledge of an attacker who sees a second release about some of the same people.

    Parameters
    ----------
    other : MicrodataRelease
        The second release, without origins and with its rows in an independent order.
    """

    other: MicrodataRelease = field(
        default_factory=lambda: MicrodataRelease(pd.DataFrame(), np.zeros(0, dtype=np.intp)), repr=False
    )


class CompositionAttack(Attack):
    """Claims the likeliest sensitive value that the target's classes share in two releases.

    Each release restricts the target to the values of one class, so a person in both tables has a value of the
    intersection. Let n and m be the counts of the two classes, and q the tables' shares of the values. If the other
    members are different people drawn with shares q, the value v has probability proportional to n(v) m(v) / q(v).

    The attack assumes that the target is in both tables. It extends `MajorityInClass` by the second release. If the two
    classes share no value, the target cannot be in both tables, and the first release's class answers.

    References
    ----------
    Ganta, Kasiviswanathan and Smith (2008), Composition attacks and auxiliary information in data privacy.
    """

    called = ("Composition attack", "Intersection attack")

    goal = "attribute"

    def run(self, release: MicrodataRelease, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Intersect the values of each candidate's two classes."""
        if not isinstance(knowledge, OtherRelease):
            raise NotApplicable("there is no second release")
        first, second = match(release, knowledge), match(knowledge.other, knowledge)
        first_counts, second_counts = first.near_counts, second.near_counts
        share = np.maximum((first.table + second.table) / 2, 1e-300)
        both = first_counts * second_counts / share
        empty = both.sum(axis=1) == 0
        return claims_from_scores(np.where(empty[:, None], first_counts, both), first.column, first.domain)
