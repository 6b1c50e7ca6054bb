"""The verdict of a report, with what the attackers know whose success it states."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.pages.number_text import number
from scenarios.assessment.evaluation.posed_questions import EVERYTHING, HALVES, NOTHING, QUASI, two_halves
from scenarios.assessment.reporting.findings import ABOVE, UNSURE, WITHIN, Finding, verdict
from scenarios.assessment.reporting.profiles import Measured, unmeasured_goals

MOST_NAMED = 12
"""Largest number of columns that a sentence names."""


def full_verdict(measured: Measured) -> str:
    """What the findings say together, and to whom; the same on the terminal and in the report."""
    says = verdict(measured.findings, unmeasured_goals(measured), measured.unknown, measured.threshold)
    return " ".join([says, *attacker_words(measured)])


def attacker_words(measured: Measured) -> list[str]:
    """One sentence for each kind of attacker: the columns that it knows, and the risks that it makes.

    Risks that were measured with and without the sensitive columns stand in two sentences.
    """
    by_attacker: dict[str, list[str]] = {}
    for one in measured.findings:
        for knows, value in one.by_knowledge if one.status in (ABOVE, UNSURE, WITHIN) else ():
            title = one.title.partition(" (")[0]
            words = f"{title[0].lower()}{title[1:]}{_at_least(one)} {number(value)}"
            by_attacker.setdefault(_attacker(knows, measured), []).append(words)
    return [f"{attacker}: {', '.join(risks)}." for attacker, risks in by_attacker.items()]


def _at_least(one: Finding) -> str:
    """What precedes the value of a finding that was counted in rows because nobody knows whose they are."""
    if len(one.by_knowledge) > 1 or one.value == one.high or one.how.startswith("attack"):
        return ""
    return " at least" if one.low == one.value else " in rows"


def _attacker(knows: str, measured: Measured) -> str:
    """Who an attacker is, by the columns that it knows."""
    sensitive = _named(measured.sensitive)
    if knows == EVERYTHING and set(measured.columns) != set(measured.quasi_identifiers):
        others = _named([name for name in measured.columns if name not in measured.sensitive])
        parts = [f"{others} of a person" if others else "", f"the sensitive {sensitive}" if sensitive else ""]
        return f"Whoever knows {' and '.join(filter(None, parts))}"
    if knows in (EVERYTHING, QUASI):
        hidden = f", but not {sensitive}" if sensitive else ""
        return f"Whoever knows {_named(measured.quasi_identifiers)} of a person{hidden}"
    if knows == HALVES:
        first, second = two_halves(measured.columns)
        return f"Whoever holds {_named(first)} of people in one file and {_named(second)} in another"
    return "Whoever knows nobody" if knows == NOTHING else f"Whoever knows {knows}"


def _named(columns: Sequence[str]) -> str:
    """Names of columns in a sentence."""
    shown = list(columns[:MOST_NAMED])
    if len(columns) > MOST_NAMED:
        return f"{', '.join(shown)} and {len(columns) - MOST_NAMED} more columns"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))
