"""Rows of the table of all attacks, with one row for attacks that guess by the same classes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from leaderboard.pages.number_text import number
from leaderboard.pages.report import Value
from leaderboard.results.goals import goal_words
from scenarios.assessment.evaluation.measured_attack import MeasuredAttack
from scenarios.assessment.reporting.findings import interval_words
from scenarios.assessment.reporting.profiles import Measured

BY_CLASSES = ("MajorityInClass", "Homogeneity", "DeFinetti")
"""Attacks that guess a value from the class of people alike, and seldom differ."""


def attack_rows(measured: Measured) -> Iterator[tuple[Value, ...]]:
    """One row for each attack; of `BY_CLASSES` on one column, the worst that was measured stands for all.

    Parameters
    ----------
    measured : Measured
        The release, and the number of releases that widens intervals.
    """

    def together(outcome: MeasuredAttack) -> tuple[bool, str, str]:
        return outcome.attack in BY_CLASSES, outcome.column, outcome.knows

    for (by_classes, *_), group in groupby(measured.evaluation.outcomes, together):
        outcomes = list(group)
        yield from [_folded(measured, outcomes)] if by_classes else [_row(measured, one) for one in outcomes]


def _folded(measured: Measured, outcomes: list[MeasuredAttack]) -> tuple[Value, ...]:
    worst = max(outcomes, key=lambda one: -2.0 if one.score is None else one.score.advantage or 0.0)
    others = [one.attack for one in outcomes if one is not worst]
    title, *rest = _row(measured, worst)
    return (f"{title}; no worse: {', '.join(others)}" if others else title, *rest)


def _row(measured: Measured, outcome: MeasuredAttack) -> tuple[Value, ...]:
    head = outcome.title, goal_words(outcome.goal), outcome.knows
    score = outcome.score
    if score is None or score.advantage is None:
        return (*head, None, None, None, outcome.reason)
    interval = interval_words(*measured.evaluation.interval(outcome, measured.releases))
    return (*head, score.rate, score.chance, score.trials, f"{number(score.advantage)} {interval}")
