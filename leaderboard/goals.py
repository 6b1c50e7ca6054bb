"""Names of attack goals for people, and their order in tables."""

from __future__ import annotations

from collections.abc import Collection

GOALS = ("reidentification", "membership")
"""Goals of the candidate-file game, which come first in every table."""

_WORDS = {
    "reidentification": "rows",
    "membership": "members",
    "attribute": "values",
    "deanonymization": "pseudonyms",
    "downcoding": "cells",
    "linkability": "links",
    "pk": "one row",
}
_TITLES = {
    "reidentification": "Which row is whose (re-identification of rows)",
    "membership": "Who is in the release (membership)",
    "attribute": "What is people's sensitive value (attribute inference)",
    "deanonymization": "Which pseudonym is whose (de-anonymization)",
    "downcoding": "What stands behind generalized cells (downcoding)",
    "linkability": "Which parts of two files are one person's (linkability)",
    "pk": "Which record one row stems from, knowing the whole table (Pk-anonymity)",
    "singling_out": "What holds of one person alone (singling out)",
}


def in_order(goals: Collection[str]) -> tuple[str, ...]:
    """Goals in the order of tables: those of the candidate-file game first, then by name."""
    return (*(goal for goal in GOALS if goal in goals), *sorted(set(goals) - set(GOALS)))


def goal_words(goal: str) -> str:
    """Short name of a goal: ``rows``, ``members``, ``singling out``."""
    return _WORDS.get(goal, goal.replace("_", " "))


def goal_title(goal: str) -> str:
    """Heading of a goal."""
    return _TITLES.get(goal, goal_words(goal).capitalize())
