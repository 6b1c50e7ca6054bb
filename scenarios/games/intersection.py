"""The intersection game: two publishers release overlapping tables, neither knowing of the other."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.attributes.composition_attack import OtherRelease
from attacks.base.attack import Knowledge
from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from defenses.base.parameters import check_integer
from scenarios.games.attribute_inference import AttributeInference
from scenarios.games.control_group import ControlGroupSecret


@dataclass(frozen=True)
class IntersectionSecret(ControlGroupSecret):
    """Who was drawn.

    Attributes
    ----------
    second : Microdata
        The records of the other publisher; its first ones are the first of the originals.
    """

    second: Microdata = field(repr=False)


class Intersection(AttributeInference):
    """Attribute inference about people who are in two tables, each released by itself with the same defense.

    The second table holds some of the originals and as many others as the first has besides; targets are the people
    in both. The control group is in neither. (Ganta's two hospitals.) Attacks on one release alone play as well: what
    the second adds is the difference.

    Parameters
    ----------
    records, sensitive, strangers, auxiliary, attacker_knows
        See `AttributeInference`.
    originals : int
        Number of records of either table.
    overlap : int
        How many people are in both, from 1 to `originals`.

    Raises
    ------
    ValueError
        If a number is out of range or the population too small.

    References
    ----------
    Ganta, Kasiviswanathan and Smith (2008), Composition attacks and auxiliary information in data privacy.
    """

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
        self.overlap = overlap
        check_integer("overlap", overlap, low=1)
        if overlap > originals:
            raise ValueError(f"overlap must not exceed originals, got {overlap} and {originals}")
        if len(records) < 2 * originals - overlap + strangers:
            raise ValueError(
                f"originals: {2 * originals - overlap + strangers} records are needed, the table has {len(records)}"
            )

    @property
    def others(self) -> int:
        """The attacker's own people, and those who are in the second table alone."""
        return self.auxiliary + self.originals - self.overlap

    def draw(self, rng: Generator, choice: Any = None) -> IntersectionSecret:
        """Draw the two tables, strangers and the attacker's own people, all different but for the overlap."""
        drawn = super().draw(rng)
        alone = self.originals - self.overlap
        both = drawn.records.take(np.arange(self.overlap))
        elsewhere = drawn.auxiliary.take(np.arange(alone))
        second = both.with_frame(pd.concat([both.frame, elsewhere.frame], ignore_index=True))
        auxiliary = drawn.auxiliary.take(np.arange(alone, len(drawn.auxiliary)))
        met = drawn.order[(drawn.order < self.overlap) | (drawn.order >= self.originals)]
        return IntersectionSecret(drawn.records, drawn.strangers, auxiliary, met, drawn.rng, drawn.query_rng, second)

    def knowledge(self, secret: ControlGroupSecret, defense: Defense) -> Knowledge:
        """Hand over the second release beside what the first game hands over; it is the same for every attack."""
        known = super().knowledge(secret, defense)
        if not isinstance(secret, IntersectionSecret):
            raise TypeError("the secret is none of this game's")
        defense_rng, publish_rng, view_rng = deepcopy(secret.rng).spawn(3)
        other = self.publish(defense.clone().apply(secret.second, defense_rng), publish_rng)
        view = self.view(other, view_rng)
        return OtherRelease(known.candidates, known.auxiliary, known.simulate, view)
