"""Methods that play no game of their scenario."""

from __future__ import annotations

from collections.abc import Sequence

from scenarios.running.methods.code_places import defined_at
from scenarios.running.methods.own_code import is_own_code
from scenarios.running.plan import NamedMethod, Plan


def check_fits(plan: Plan, entries: Sequence[NamedMethod]) -> None:
    """Check that each of these methods plays some game of the plan.

    Parameters
    ----------
    plan : Plan
        The games, and the defenses and attacks that play them.
    entries : sequence of NamedMethod
        Defenses and attacks of the plan.

    Raises
    ------
    ValueError
        If one would be skipped in all trials; names the reason, and the line of the user's own class.
    """
    for entry in entries:
        is_attack = entry in plan.attacks
        others = plan.defenses if is_attack else plan.attacks
        pairs = [(other.method, entry.method) if is_attack else (entry.method, other.method) for other in others]
        reasons = [game.misfit(*pair) for game in plan.games for pair in pairs]
        if reasons and all(reasons):
            cls = type(entry.method)
            place = "" if is_own_code(cls.__module__) else defined_at(cls)
            raise ValueError(f"{entry.name} plays no game of {plan.name!r}: {reasons[0]}{place}")
