"""A user's own methods are played twice at first: the same trial with the same seed must end alike."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import Claims
from defenses.base.parametrized import Parametrized
from defenses.base.release import MicrodataRelease
from scenarios.running.methods.code_places import defined_at
from scenarios.running.methods.methods import source_name
from scenarios.running.workers.differences import different_attribute, released_difference


class Witness(Attack):
    """An attack whose claims are kept.

    Parameters
    ----------
    attack : Attack
        The attack that makes them.
    """

    def __init__(self, attack: Attack) -> None:
        self.attack = attack
        self.claims: Any = None

    def choose(self, knowledge: Knowledge, rng: Generator) -> Any:
        """Let the attack choose."""
        return self.attack.choose(knowledge, rng)

    def run(self, release: Any, knowledge: Knowledge, rng: Generator) -> Claims:
        """Let the attack run, and keep its claims."""
        claims = self.attack.run(release, knowledge, rng)
        self.claims = claims
        return claims


def claims_complaint(attack: Attack, first: Any, again: Any) -> str | None:
    """What is wrong if an attack made other claims the second time, else None."""
    return _complaint(attack, "claims", defined_at(type(attack).run)) if different_attribute(first, again) else None


def release_complaint(defense: Any, first: Any, again: Any) -> str | None:
    """What is wrong if a defense released another table the second time, else None; other releases are not compared."""
    if not isinstance(first, MicrodataRelease) or not isinstance(again, MicrodataRelease):
        return None
    differs = released_difference(first, again)
    return _complaint(defense, "release", defined_at(type(defense).apply)) if differs else None


def _complaint(method: Parametrized, what: str, place: str) -> str:
    name, verb = source_name(method), "differ" if what.endswith("s") else "differs"
    return f"{type(method).__name__}: its {what} {verb} with the same seed{place}; `tokumei check {name}` says why"
