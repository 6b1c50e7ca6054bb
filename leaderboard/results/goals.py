"""Readable names of attack goals, and their order in tables."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

GOALS = ("reidentification", "membership")
"""Goals of the candidate-file game; they come first in every table."""

_MEANING = "At .10, the adversary is right in 10 of 100 cases in which a guess would be wrong."


@dataclass(frozen=True)
class GoalTexts:
    """What pages say about a goal.

    Attributes
    ----------
    words : str
        Short name; the goal's own name if empty.
    title : str
        Heading; the short name if empty.
    sought : str
        What attacks with the goal try to find out, as the end of a sentence.
    meaning : str
        What an advantage means for a person in the table.
    """

    words: str = ""
    title: str = ""
    sought: str = ""
    meaning: str = _MEANING


_TEXTS = {
    "reidentification": GoalTexts(
        words="rows",
        title="Which row belongs to whom (re-identification of rows)",
        sought="whose row a row is",
        meaning="The adversary knows you and says which released row is yours. At .10, it names the right person for "
        "10 of 100 rows for which a guess would be wrong.",
    ),
    "membership": GoalTexts(
        words="members",
        title="Who is in the release (membership inference)",
        sought="who is in the release",
        meaning="The adversary knows you and says whether you are in the table. If half of the people asked about are "
        "in it, .10 means that 55 of 100 answers are right, while a coin gets 50 right.",
    ),
    "attribute": GoalTexts(
        words="values",
        title="Sensitive value of each person (attribute inference)",
        sought="a person's sensitive value",
        meaning="The adversary knows some of your values and infers a sensitive one. At .10, the table gives away the "
        "value of 10 of 100 people for whom statistics of the population alone would be wrong.",
    ),
    "deanonymization": GoalTexts(
        words="pseudonyms",
        title="Which pseudonym belongs to whom (de-anonymization)",
        sought="whose pseudonym a pseudonym is",
    ),
    "disclosure": GoalTexts(sought="what answers to queries tell about a person"),
    "distinguishing": GoalTexts(sought="which of two tables that differ in one person was released"),
    "downcoding": GoalTexts(
        words="cells",
        title="Original values of generalized cells (downcoding)",
        sought="what a generalized cell was before",
    ),
    "linkability": GoalTexts(
        words="links",
        title="Which records of two files belong to one person (linkability)",
        sought="which parts of records belong together",
        meaning="Two files hold different columns about you. At .10, the release joins both parts of 10 of 100 people "
        "for whom this fails outside of the table.",
    ),
    "pk": GoalTexts(
        words="one row",
        title="Which record a row stems from, given the whole table (Pk-anonymity)",
        sought="from which record a row stems",
    ),
    "pool": GoalTexts(sought="which pool of values a person prefers"),
    "reconstruction": GoalTexts(sought="the records on which a model was trained"),
    "record_reconstruction": GoalTexts(
        words="hidden columns",
        title="Values of each person in several hidden columns (reconstruction)",
        sought="several hidden values of a person",
        meaning="The adversary knows some of your values and reconstructs several others; a rare value counts more "
        "than a frequent one. At .10, the table gives away a tenth of what statistics of the population alone leave "
        "open.",
    ),
    "singling_out": GoalTexts(
        title="A predicate that matches exactly one person (singling out)",
        sought="whom a property singles out",
        meaning="The adversary describes one person without knowing anybody. At .10, 10 of 100 descriptions that fit "
        "nobody alone in a table of other people fit exactly one person in this table.",
    ),
    "value": GoalTexts(sought="the true value behind a report"),
}
"""Texts of each goal; a goal of one's own needs none."""


def in_order(goals: Collection[str]) -> tuple[str, ...]:
    """Goals in the order of tables: those of the candidate-file game first, the others by name."""
    return (*(goal for goal in GOALS if goal in goals), *sorted(set(goals) - set(GOALS)))


def goal_words(goal: str) -> str:
    """Short name of a goal: ``rows``, ``members``, ``singling out``."""
    return _TEXTS.get(goal, GoalTexts()).words or goal.replace("_", " ")


def goal_named(text: str) -> str:
    """The goal of a name or a short name: ``membership`` or ``members``; other text is taken as a name.

    Examples
    --------
    >>> [goal_named(text) for text in ("rows", "members", "singling out", "singling-out", "attribute")]
    ['reidentification', 'membership', 'singling_out', 'singling_out', 'attribute']
    """
    name = text.strip().lower().replace("-", " ").replace("_", " ")
    names = {texts.words: goal for goal, texts in _TEXTS.items() if texts.words}
    return names.get(name, name.replace(" ", "_"))


def named_goals() -> tuple[str, ...]:
    """Goals that have a heading of their own."""
    return in_order({goal for goal, texts in _TEXTS.items() if texts.title})


def goal_title(goal: str) -> str:
    """Heading of a goal on the page."""
    return _TEXTS.get(goal, GoalTexts()).title or goal_words(goal).capitalize()


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
    named = [_TEXTS.get(goal, GoalTexts()).sought for goal in in_order(goals)]
    parts = [words for words in named if words] or ["what it tells about a person"]
    return " or ".join(parts) if len(parts) < 3 else ", ".join([*parts[:-1], f"or {parts[-1]}"])


def goal_meaning(goal: str) -> str:
    """What an advantage means for a person in the table, in plain words.

    Examples
    --------
    >>> goal_meaning("downcoding")
    'At .10, the adversary is right in 10 of 100 cases in which a guess would be wrong.'
    """
    return _TEXTS.get(goal, GoalTexts()).meaning
