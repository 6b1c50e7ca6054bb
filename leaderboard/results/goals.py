"""Readable names of attack goals, and their order in tables."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

GOALS = ("reidentification", "membership")
"""Goals of the candidate-file game; they come first in every table."""


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What attacks try to find out, in words; the attacks themselves say which goal they serve.

    - sought: What is sought, as the end of a sentence.
    - words, title: Short name, and heading on the page; by default made from the goal's name.
    - meaning: What an advantage means for a person in the table.
    - option, question: Name by which users ask for the goal in a choice, and the question of `scenarios` about it;
      empty where it is no choice.
    """

    sought: str
    words: str = ""
    title: str = ""
    meaning: str = "At .10, the adversary is right in 10 of 100 cases in which a guess would be wrong."
    option: str = ""
    question: str = ""


KNOWN = {
    "reidentification": Goal(
        sought="whose row a row is",
        words="rows",
        title="Which row belongs to whom (re-identification of rows)",
        meaning=(
            "The adversary knows you and says which released row is yours. At .10, it names the right person for "
            "10 of 100 rows for which a guess would be wrong."
        ),
        option="rows",
        question="RowQuestion",
    ),
    "membership": Goal(
        sought="who is in the release",
        words="members",
        title="Who is in the release (membership inference)",
        meaning=(
            "The adversary knows you and says whether you are in the table. If half of the people asked about are "
            "in it, .10 means that 55 of 100 answers are right, while a coin gets 50 right."
        ),
        option="members",
        question="MemberQuestion",
    ),
    "attribute": Goal(
        sought="a person's sensitive value",
        words="values",
        title="Sensitive value of each person (attribute inference)",
        meaning=(
            "The adversary knows some of your values and infers a sensitive one. At .10, the table gives away the "
            "value of 10 of 100 people for whom statistics of the population alone would be wrong."
        ),
        option="attributes",
        question="AttributeQuestion",
    ),
    "singling_out": Goal(
        sought="whom a property singles out",
        title="A predicate that matches exactly one person (singling out)",
        meaning=(
            "The adversary describes one person without knowing anybody. At .10, 10 of 100 descriptions that fit "
            "nobody alone in a table of other people fit exactly one person in this table."
        ),
        option="singling-out",
        question="SinglingOutQuestion",
    ),
    "linkability": Goal(
        sought="which parts of records belong together",
        words="links",
        title="Which records of two files belong to one person (linkability)",
        meaning=(
            "Two files hold different columns about you. At .10, the release joins both parts of 10 of 100 people "
            "for whom this fails outside of the table."
        ),
        option="linkability",
        question="LinkQuestion",
    ),
    "deanonymization": Goal(
        sought="whose pseudonym a pseudonym is",
        words="pseudonyms",
        title="Which pseudonym belongs to whom (de-anonymization)",
    ),
    "disclosure": Goal(sought="what answers to queries tell about a person"),
    "distinguishing": Goal(sought="which of two tables that differ in one person was released"),
    "downcoding": Goal(
        sought="what a generalized cell was before",
        words="cells",
        title="Original values of generalized cells (downcoding)",
    ),
    "pk": Goal(
        sought="from which record a row stems",
        words="one row",
        title="Which record a row stems from, given the whole table (Pk-anonymity)",
    ),
    "pool": Goal(sought="which pool of values a person prefers"),
    "reconstruction": Goal(sought="the records on which a model was trained"),
    "record_reconstruction": Goal(
        sought="several hidden values of a person",
        words="hidden columns",
        title="Values of each person in several hidden columns (reconstruction)",
        meaning=(
            "The adversary knows some of your values and reconstructs several others; a rare value counts more "
            "than a frequent one. At .10, the table gives away a tenth of what statistics of the population alone "
            "leave open."
        ),
    ),
    "value": Goal(sought="the true value behind a report"),
}
"""Goals of the project's attacks, and whatever is said about them."""


def _known(goal: str) -> Goal:
    """What is said about a goal; a user's goal has no words."""
    return KNOWN.get(goal, Goal(sought=""))


def in_order(goals: Collection[str]) -> tuple[str, ...]:
    """Goals in the order of tables: those of the candidate-file game first, the others by name."""
    return (*(goal for goal in GOALS if goal in goals), *sorted(set(goals) - set(GOALS)))


def goal_words(goal: str) -> str:
    """Short name of a goal: ``rows``, ``members``, ``singling out``."""
    return _known(goal).words or goal.replace("_", " ")


def goal_named(text: str) -> str:
    """The goal of a name or a short name: ``membership`` or ``members``; other text is taken as a name.

    Examples
    --------
    >>> [goal_named(text) for text in ("rows", "members", "singling out", "singling-out", "attribute")]
    ['reidentification', 'membership', 'singling_out', 'singling_out', 'attribute']
    """
    name = text.strip().lower().replace("-", " ").replace("_", " ")
    names = {known.words: goal for goal, known in KNOWN.items() if known.words}
    return names.get(name, name.replace(" ", "_"))


def named_goals() -> tuple[str, ...]:
    """Goals that have a short name or a heading of their own."""
    return in_order([goal for goal, known in KNOWN.items() if known.words or known.title])


def goal_title(goal: str) -> str:
    """Heading of a goal on the page."""
    return _known(goal).title or goal_words(goal).capitalize()


def goal_heading(goal: str) -> str:
    """Heading of a goal over narrow columns: its short name with a capital letter."""
    return goal_words(goal).capitalize() if goal else "Nothing measured"


def sought(goals: Collection[str]) -> str:
    """What attacks with these goals try to find out, as the end of a sentence; goals that users defined are left out.

    Examples
    --------
    >>> sought(["membership", "reidentification"])
    'whose row a row is or who is in the release'
    >>> sought(["singling_out", "membership", "attribute"])
    "who is in the release, a person's sensitive value, or whom a property singles out"
    >>> sought(["a_goal_of_my_own"])
    'what it tells about a person'
    """
    parts = [KNOWN[goal].sought for goal in in_order(goals) if goal in KNOWN] or ["what it tells about a person"]
    return " or ".join(parts) if len(parts) < 3 else ", ".join([*parts[:-1], f"or {parts[-1]}"])


def goal_meaning(goal: str) -> str:
    """What an advantage means for a person in the table, in plain words.

    Examples
    --------
    >>> goal_meaning("downcoding")
    'At .10, the adversary is right in 10 of 100 cases in which a guess would be wrong.'
    """
    return _known(goal).meaning
