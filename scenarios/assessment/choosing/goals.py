"""Kinds of defenses and goals of attacks, as users name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leaderboard.results.goals import KNOWN

if TYPE_CHECKING:
    from scenarios.running.plan import NamedMethod

QUESTIONS = {goal.option: goal.question for goal in KNOWN.values() if goal.option}
"""Question about the people of a play, by the goal that a user names."""

REAL_ROWS = "real-rows"
"""Every family whose rows stem from people."""
SYNTHETIC = "synthetic"
"""The family whose rows stem from nobody."""
KINDS = ("recoding", "grouping", "perturbation", "pram", "ldp", SYNTHETIC, REAL_ROWS)
"""Families of the portfolio's defenses, by the names of their packages, and `REAL_ROWS`."""


def is_of(entry: NamedMethod, kind: str) -> bool:
    """Whether a setting is of one of `KINDS`, by the package of `defenses` that holds its defense."""
    from scenarios.running.methods.methods import find

    family = find(entry.name, "defenses").__module__.split(".")[1]
    return family != SYNTHETIC if kind == REAL_ROWS else family == kind
