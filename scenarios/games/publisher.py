"""The mechanism as the adversary knows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from defenses.base.release import Release


@dataclass(frozen=True)
class Publisher:
    """Repeats a defense and its publication on other records; equal ones are the same mechanism.

    Parameters
    ----------
    defense : Defense
        The defense.
    publish : callable
        ``publish(release, rng)`` of the game.
    """

    defense: Defense
    publish: Callable[[Release, Generator], Any]

    def __call__(self, records: Microdata, rng: Generator) -> Any:
        """Release records of the adversary."""
        return self.publish(self.defense.clone().apply(records, rng), rng)
