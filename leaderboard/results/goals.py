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
    "record_reconstruction": "hidden columns",
}
_TITLES = {
    "reidentification": "Which row belongs to whom (re-identification of rows)",
    "membership": "Who is in the release (membership inference)",
    "attribute": "Sensitive value of each person (attribute inference)",
    "deanonymization": "Which pseudonym belongs to whom (de-anonymization)",
    "downcoding": "Original values of generalized cells (downcoding)",
    "linkability": "Which records of two files belong to one person (linkability)",
    "pk": "Which record a row stems from, given the whole table (Pk-anonymity)",
    "record_reconstruction": "Values of each person in several hidden columns (reconstruction)",
    "singling_out": "A predicate that matches exactly one person (singling out)",
}

_SOUGHT = {
    "reidentification": "whose row a row is",
    "membership": "who is in the release",
    "attribute": "a person's sensitive value",
    "deanonymization": "whose pseudonym a pseudonym is",
    "disclosure": "what answers to queries tell about a person",
    "distinguishing": "which of two tables that differ in one person was released",
    "downcoding": "what a generalized cell was before",
    "linkability": "which parts of records belong together",
    "pk": "from which record a row stems",
    "pool": "which pool of values a person prefers",
    "reconstruction": "the records on which a model was trained",
    "record_reconstruction": "several hidden values of a person",
    "singling_out": "whom a property singles out",
    "value": "the true value behind a report",
}

_MEANING = "At .10, the adversary is right in 10 of 100 cases in which a guess would be wrong."
_MEANINGS = {
    "reidentification": (
        "The adversary knows you and says which released row is yours. At .10, it names the right person for 10 of "
        "100 rows for which a guess would be wrong."
    ),
    "membership": (
        "The adversary knows you and says whether you are in the table. If half of the people asked about are in it, "
        ".10 means that 55 of 100 answers are right, while a coin gets 50 right."
    ),
    "attribute": (
        "The adversary knows some of your values and infers a sensitive one. At .10, the table gives away the value "
        "of 10 of 100 people for whom statistics of the population alone would be wrong."
    ),
    "record_reconstruction": (
        "The adversary knows some of your values and reconstructs several others; a rare value counts more than a "
        "frequent one. At .10, the table gives away a tenth of what statistics of the population alone leave open."
    ),
    "singling_out": (
        "The adversary describes one person without knowing anybody. At .10, 10 of 100 descriptions that fit nobody "
        "alone in a table of other people fit exactly one person in this table."
    ),
    "linkability": (
        "Two files hold different columns about you. At .10, the release joins both parts of 10 of 100 people for "
        "whom this fails outside of the table."
    ),
}


def in_order(goals: Collection[str]) -> tuple[str, ...]:
    """Goals in the order of tables: those of the candidate-file game first, the others by name."""
    return (*(goal for goal in GOALS if goal in goals), *sorted(set(goals) - set(GOALS)))


def goal_words(goal: str) -> str:
    """Short name of a goal: ``rows``, ``members``, ``singling out``."""
    return _WORDS.get(goal, goal.replace("_", " "))


def goal_named(text: str) -> str:
    """The goal of a name or a short name: ``membership`` or ``members``; other text is taken as a name.

    Examples
    --------
    >>> [goal_named(text) for text in ("rows", "members", "singling out", "singling-out", "attribute")]
    ['reidentification', 'membership', 'singling_out', 'singling_out', 'attribute']
    """
    name = text.strip().lower().replace("-", " ").replace("_", " ")
    names = {words: goal for goal, words in _WORDS.items()}
    return names.get(name, name.replace(" ", "_"))


def named_goals() -> tuple[str, ...]:
    """Goals that have a short name or a heading of their own."""
    return in_order({*_WORDS, *_TITLES})


def goal_title(goal: str) -> str:
    """Heading of a goal on the page."""
    return _TITLES.get(goal, goal_words(goal).capitalize())


def goal_heading(goal: str) -> str:
    """Heading of a goal over narrow columns: its short name with a capital letter."""
    return goal_words(goal).capitalize() if goal else "Nothing measured"


def sought(goals: Collection[str]) -> str:
    """What attacks with these goals try to find out, as the end of a sentence; goals of one's own are left out.

    Examples
    --------
    >>> sought(["membership", "reidentification"])
    'whose row a row is or who is in the release'
    >>> sought(["singling_out", "membership", "attribute"])
    "who is in the release, a person's sensitive value, or whom a property singles out"
    >>> sought(["a_goal_of_my_own"])
    'what it tells about a person'
    """
    parts = [_SOUGHT[goal] for goal in in_order(goals) if goal in _SOUGHT] or ["what it tells about a person"]
    return " or ".join(parts) if len(parts) < 3 else ", ".join([*parts[:-1], f"or {parts[-1]}"])


def goal_meaning(goal: str) -> str:
    """What an advantage means for a person in the table, in plain words.

    Examples
    --------
    >>> goal_meaning("downcoding")
    'At .10, the adversary is right in 10 of 100 cases in which a guess would be wrong.'
    """
    return _MEANINGS.get(goal, _MEANING)
