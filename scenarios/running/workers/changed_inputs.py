"""Methods that change what they were given, and so the results of others."""

from __future__ import annotations

import copy
from dataclasses import fields, is_dataclass
from typing import Any

from numpy.random import Generator

from attacks.base.attack import Attack
from defenses.base.defense import Defense
from defenses.base.microdata import Microdata
from scenarios.running.methods.code_places import defined_at
from scenarios.running.methods.own_code import is_foreign
from scenarios.running.workers.untouched import Untouched


class ChangedInput(Exception):  # noqa: N818 (the name says what happened)
    """A method changed records, knowledge or a release that others use, too; the message names method and place."""


def shared_in(secret: Any, game: Any) -> dict[str, Any]:
    """Parts of what a game drew that methods may reach, by name.

    Where the adversary chooses first, each trial draws its own people; such trials share domains and hierarchies.
    """
    names = [field.name for field in fields(secret)] if is_dataclass(secret) else list(vars(secret))
    parts = {name: getattr(secret, name) for name in names}
    shared = {"domains": game.records.domains, "hierarchies": game.records.hierarchies} if game.lets_choose else {}
    return {**parts, **shared}


def check_defense_input(defense: Defense, given: Untouched) -> None:
    """Raise `ChangedInput` if a defense has changed what it was given."""
    place = given.change()
    if place is not None:
        raise ChangedInput(
            f"{type(defense).__name__} changes the records it was given ({place.removeprefix('records, ')}); copy the "
            f"frame (released_frame does){defined_at(type(defense).apply)}"
        )


def check_attack_input(attack: Attack, *given: Untouched) -> None:
    """Raise `ChangedInput` if an attack has changed what other attacks use, too."""
    for place in filter(None, (each.change() for each in given)):
        raise ChangedInput(
            f"{type(attack).__name__} changes what other attacks use, too ({place}); work on a copy, such as "
            f"knowledge.auxiliary.frame.copy(){defined_at(type(attack).run)}"
        )


def guarded(defense: Defense) -> Defense:
    """The same defense, which raises `ChangedInput` if its `apply` changes its records.

    It serves where the defense is applied inside of a trial: to records that are drawn for the trial alone, or to the
    attacker's own. The project's own defenses stay as they are, since the conformance suite holds them to it and some
    games apply them thousands of times.
    """
    if not is_foreign(defense):
        return defense
    same = copy.copy(defense)

    def apply(records: Microdata, rng: Generator) -> Any:
        before = Untouched(records=records)
        release = defense.apply(records, rng)
        check_defense_input(defense, before)
        return release

    # Attacks apply clones.
    vars(same).update(apply=apply, clone=lambda: guarded(defense.clone()))
    return same
