"""What the promises on a board cover, in notes."""

from __future__ import annotations

from collections.abc import Sequence

from defenses.base.guarantee import Guarantee
from scenarios.running.plan import Plan


def promise_notes(plan: Plan, promises: Sequence[Guarantee]) -> list[str]:
    """One note for each family of defenses: which columns and conditions its promise is about, or why it has none.

    Parameters
    ----------
    plan : Plan
        The defenses.
    promises : sequence of Guarantee
        Guarantee of each. Settings of one family differ in their numbers only, so that the first one is described.
    """
    notes: dict[str, str] = {}
    for entry, promise in zip(plan.defenses, promises, strict=True):
        if promise.statement:
            kind = "promises nothing" if str(promise) == "none" else f"promises {promise}"
            notes.setdefault(entry.name, f"{entry.name} {kind}: {promise.statement.removeprefix('none: ')}")
    return list(notes.values())
