"""Readable names of attack goals, and their order in tables."""

from __future__ import annotations

from collections.abc import Collection

GOALS = ("reidentification", "membership")
"""Goals of the candidate-file game; they come first in every table."""

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
    "reidentification": "Which row belongs to whom (re-identification of rows)",
    "membership": "Who is in the release (membership inference)",
    "attribute": "Sensitive value of each person (attribute inference)",
    "deanonymization": "Which pseudonym belongs to whom (de-anonymization)",
    "downcoding": "Original values of generalized cells (downcoding)",
    "linkability": "Which records of two files belong to one person (linkability)",
    "pk": "Which record a row stems from, given the whole table (Pk-anonymity)",
    "singling_out": "A predicate that matches exactly one person (singling out)",
}


def in_order(goals: Collection[str]) -> tuple[str, ...]:
    """Goals in the order of tables: those of the candidate-file game first, the others by name."""
    return (*(goal for goal in GOALS if goal in goals), *sorted(set(goals) - set(GOALS)))


def goal_words(goal: str) -> str:
    """Short name of a goal: ``rows``, ``members``, ``singling out``."""
    return _WORDS.get(goal, goal.replace("_", " "))


def goal_title(goal: str) -> str:
    """Heading of a goal on the page."""
    return _TITLES.get(goal, goal_words(goal).capitalize())
