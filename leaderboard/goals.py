"""Goals of attacks: what a play's numbers are called, and what people call them.

A game reports each goal under its name, a rate in [0, 1], and beside it what guessing reaches (`chance_name`), of how
many rows or people the rate is a share (`trials_name`) and, where chance is what the same attack reaches where there is
nothing to leak, of how many people that is a share (`control_name`).
"""

from __future__ import annotations

from collections.abc import Collection

GOALS = ("reidentification", "membership")
"""Goals of the candidate-file game, which come first in every table."""

_CHANCE = {"reidentification": "chance"}
_TRIALS = {"reidentification": "rows", "membership": "persons"}
_WORDS = {
    "reidentification": "rows",
    "membership": "members",
    "attribute": "values",
    "deanonymization": "pseudonyms",
    "downcoding": "cells",
    "linkability": "links",
}
_TITLES = {
    "reidentification": "Which row is whose (re-identification of rows)",
    "membership": "Who is in the release (membership)",
    "attribute": "What is people's sensitive value (attribute inference)",
    "deanonymization": "Which pseudonym is whose (de-anonymization)",
    "downcoding": "What stands behind generalized cells (downcoding)",
    "linkability": "Which parts of two files are one person's (linkability)",
    "singling_out": "What holds of one person alone (singling out)",
}


def chance_name(goal: str) -> str:
    """Name of what guessing reaches."""
    return _CHANCE.get(goal, f"{goal}_chance")


def trials_name(goal: str) -> str:
    """Name of the number of rows or people of which a play's rate is a share."""
    return _TRIALS.get(goal, f"{goal}_trials")


def control_name(goal: str) -> str:
    """Name of the number of people of which a play's chance is a share, where it is estimated."""
    return f"{goal}_control_trials"


def reported(names: Collection[str]) -> set[str]:
    """Goals among the names of a play's numbers: those beside which there is a chance."""
    return {name for name in names if chance_name(name) in names}


def in_order(goals: Collection[str]) -> tuple[str, ...]:
    """Goals in the order of tables: those of the candidate-file game first, then by name."""
    return (*(goal for goal in GOALS if goal in goals), *sorted(set(goals) - set(GOALS)))


def goal_words(goal: str) -> str:
    """A goal in a word or two: ``rows``, ``members``, ``singling out``."""
    return _WORDS.get(goal, goal.replace("_", " "))


def goal_title(goal: str) -> str:
    """A goal as a heading."""
    return _TITLES.get(goal, goal_words(goal).capitalize())
