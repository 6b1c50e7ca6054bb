"""The composition game: two independent releases of overlapping tables."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.attributes.composition_attack import OtherRelease
from attacks.base import Knowledge
from defenses import Defense, Microdata
from metrics.columns import check_integer, refuse
from scenarios.games.control_group import AttributeInference
from scenarios.games.people import People


@dataclass(frozen=True)
class IntersectionSecret(People):
    """The people of one play, and the second publisher's table.

    Attributes
    ----------
    second : Microdata
        Records of the second publisher. The people in both tables come first, in the same order as in `records`.
    """

    second: Microdata = field(repr=False)


class Intersection(AttributeInference):
    """Attribute inference about people in two tables that are released independently with the same defense.

    Both tables have the same size and share `overlap` people, who are the targets (the two hospitals of Ganta et al.).
    The control group is in neither table. Attacks on a single release can play too: the difference between the two
    kinds of attack is what composition adds.

    Parameters
    ----------
    records, sensitive, strangers, auxiliary, attacker_knows
        See `AttributeInference`.
    originals : int
        Number of records in each table.
    overlap : int
        Number of people in both tables, from 1 to `originals`.

    Raises
    ------
    ValueError
        If a number is out of range or the population is too small.

    References
    ----------
    Ganta, Kasiviswanathan and Smith (2008), Composition attacks and auxiliary information in data privacy.
    """

    draws_people = False

    def __init__(
        self,
        *,
        records: Microdata,
        sensitive: str | None = None,
        originals: int = 500,
        overlap: int = 250,
        strangers: int = 250,
        auxiliary: int = 1000,
        attacker_knows: str = "mechanism",
    ) -> None:
        super().__init__(
            records=records,
            sensitive=sensitive,
            originals=originals,
            strangers=strangers,
            auxiliary=auxiliary,
            attacker_knows=attacker_knows,
        )
        self.overlap = check_integer("overlap", overlap, low=1)
        refuse(overlap > originals, f"overlap must not exceed originals, got {overlap} and {originals}")
        refuse(
            len(records) < 2 * originals - overlap + strangers,
            f"originals: {2 * originals - overlap + strangers} records are needed, but the table has {len(records)}",
        )

    @property
    def others(self) -> int:
        """Number of people in the auxiliary population, and of those who are only in the second table."""
        return self.auxiliary + self.originals - self.overlap

    def draw(self, rng: Generator, choice: Any = None) -> IntersectionSecret:
        """Draw two overlapping tables, strangers and the auxiliary population, otherwise disjoint."""
        drawn = super().draw(rng)
        exclusive = self.originals - self.overlap
        shared = drawn.records.take(np.arange(self.overlap))
        only_second = drawn.auxiliary.take(np.arange(exclusive))
        second = shared.with_frame(pd.concat([shared.frame, only_second.frame], ignore_index=True))
        auxiliary = drawn.auxiliary.take(np.arange(exclusive, len(drawn.auxiliary)))
        order = drawn.order[(drawn.order < self.overlap) | (drawn.order >= self.originals)]
        return IntersectionSecret(**{**vars(drawn), "auxiliary": auxiliary, "order": order}, second=second)

    def knowledge(self, secret: People, defense: Defense) -> Knowledge:
        """Give the second release and the knowledge of `AttributeInference`; every attack sees the same release."""
        knowledge = super().knowledge(secret, defense)
        if not isinstance(secret, IntersectionSecret):
            raise TypeError(f"the secret must be an IntersectionSecret, got {type(secret).__name__}")
        defense_rng, publish_rng, view_rng = deepcopy(secret.rng).spawn(3)
        other = self.publish(defense.clone().apply(secret.second, defense_rng), publish_rng)
        view = self.view(other, view_rng)
        return OtherRelease(knowledge.candidates, knowledge.auxiliary, knowledge.simulate, view)
