"""Evaluation of one finished release: utility, risk measures, and the outcome of attacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from leaderboard.statistics.pairs import FEWEST_TRIALS
from metrics import Estimate, equivalence_classes, l_diversity, normalized_certainty_penalty
from metrics.classes import rows_in_classes
from metrics.columns import Booleans, Integers
from metrics.table_utility import headline_utility
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.assessment.evaluation.measured_attack import MeasuredAttack, joint_confidence, upper_confidence
from scenarios.assessment.evaluation.posed_questions import PosedQuestions
from scenarios.assessment.evaluation.row_origin import RowOrigin, people_notes, people_of_rows, recognized_origin
from scenarios.tables.finished_table import FinishedTable
from scenarios.tables.released_classes import PERSON, CodedCells, ReleasedTable
from scenarios.tables.review.rows_of_people import ClassMembers
from scenarios.tables.risk import RiskReport, risk_report
from scenarios.tables.roles import Roles

FEWEST_RIGHT = 10
"""Fewest trials of an attack that is significantly better than guessing, for it to measure a risk."""


@dataclass(frozen=True, kw_only=True)
class ReleaseEvaluation:
    """Utility and risk of one finished release.

    Attributes
    ----------
    name : str
        The file, or the built-in defense.
    sha256 : str
        Checksum of its content.
    rows : int
        Number of released rows.
    origin : {"copies", "aligned", "told", "doubted", "unknown"}
        How the origin of its rows was recognized (`scenarios.assessment.evaluation.row_origin`).
    utility : float
        Utility in [0, 1], as `tokumei utility` measures it; a column that is lacking counts as suppressed.
    components : mapping of str to float or None
        Its components.
    information_loss : float or None
        Normalized certainty penalty of the quasi-identifiers; None without any.
    k : int or None
        Size of the smallest equivalence class, in people if it is known whose the rows are; None without
        quasi-identifiers.
    l : mapping of str to int
        Fewest distinct values of each released sensitive column in a class.
    risks : mapping of str to float
        Risks by model and class measures, as `tokumei risk` shows them.
    outcomes : tuple of MeasuredAttack
        Outcome of every attack.
    notes : tuple of str
        What was recognized, and what cannot be seen, one sentence each.
    """

    name: str
    sha256: str
    rows: int
    origin: str
    utility: float
    components: Mapping[str, float | None]
    information_loss: float | None
    k: int | None
    l: Mapping[str, int]  # noqa: E741 (the field's own name for it)
    risks: Mapping[str, float]
    outcomes: tuple[MeasuredAttack, ...] = field(repr=False)
    notes: tuple[str, ...]

    @cached_property
    def advantages(self) -> list[tuple[MeasuredAttack, Estimate]]:
        """Measured attacks with their advantage; all intervals hold together with 95 % (Bonferroni)."""
        measured = [outcome for outcome in self.outcomes if outcome.score is not None]
        pairs = ((outcome, outcome.advantage(joint_confidence(len(measured)))) for outcome in measured)
        return [(outcome, estimate) for outcome, estimate in pairs if estimate is not None]

    def judged(self, goal: str) -> list[MeasuredAttack]:
        """Attacks of a goal that measure a risk (`enough`)."""
        return [one for one, at in self.advantages if one.goal == goal and enough(one, at)]

    def lowest(self, outcome: MeasuredAttack, number: int = 1) -> float:
        """Lower bound of an attack's advantage; those of all attacks and releases hold together with 97.5 %."""
        estimate = outcome.advantage(joint_confidence(len(self.advantages) * number * (number + 1)))
        return -1.0 if estimate is None else estimate.low

    def interval(self, outcome: MeasuredAttack, number: int = 1) -> tuple[float, float]:
        """Ends that decide about one attack: the lower one of `lowest`, the upper one of `upper_confidence`."""
        estimate = outcome.advantage(upper_confidence(number))
        return self.lowest(outcome, number), 1.0 if estimate is None else estimate.high

    def highest(self, goal: str, number: int = 1) -> float:
        """Largest upper bound of the judged attacks of a goal; 1 without any.

        The upper bound of each attack on each release holds by `upper_confidence`. More attacks need no correction. Let
        some attack have an advantage above a threshold: the largest bound lies below it only if its own does (Berger
        1982).
        """
        return max((self.interval(one, number)[1] for one in self.judged(goal)), default=1.0)

    def worst(self, goal: str | None = None) -> tuple[MeasuredAttack, Estimate] | None:
        """The attack of the largest advantage, in one goal or in all; None if nothing was measured.

        Attacks that are not significantly better than guessing count only if no attack is. Attacks of too few trials do
        not count (`enough`).
        """
        pairs = [pair for pair in self.advantages if (goal is None or pair[0].goal == goal) and enough(*pair)]
        eligible = [pair for pair in pairs if pair[1].low > 0] or pairs
        return max(eligible, key=lambda pair: pair[1].value, default=None)

    def by_knowledge(self, goal: str) -> dict[str, float]:
        """Largest advantage in one goal by what the attacker knows, of attacks that measure a risk (`enough`)."""
        pairs = [(one.knows, at.value) for one, at in self.advantages if one.goal == goal and enough(one, at)]
        return {knows: max(value for other, value in pairs if other == knows) for knows, _ in pairs}

    @property
    def score(self) -> float | None:
        """Utility x (1 - max(0, worst advantage)), as on boards; None if no attack was measured."""
        worst = self.worst()
        return None if worst is None else self.utility * (1 - max(0.0, worst[1].value))


def class_report(
    setting: EvaluationSetting, cells: pd.DataFrame, sensitive: Sequence[str], people: Integers | None
) -> RiskReport:
    """Class measures of original values or released cells, as `tokumei risk` shows them.

    Parameters
    ----------
    setting : EvaluationSetting
        The original table.
    cells : DataFrame, shape (rows, columns with a role)
        The values or cells.
    sensitive : sequence of str
        Sensitive columns that were released.
    people : ndarray of int, shape (rows,), or None
        The person of each row, if it is known.
    """
    records = setting.records
    columns = {name: CodedCells.of_values(cells[name]) for name in (*records.quasi_identifiers, *sensitive)}
    if setting.repeats and people is not None:
        columns[PERSON] = CodedCells.of_values(people)
    roles = Roles(person=records.person if setting.repeats else None)
    return risk_report(ReleasedTable(Path(), columns, records.quasi_identifiers, tuple(sensitive), (), roles, {}))


class FinishedClasses(NamedTuple):
    """Equivalence classes of a release in its quasi-identifiers.

    Parameters
    ----------
    inside : ndarray of bool, shape (rows,)
        Which rows belong to a class.
    classes : ndarray of int, shape (rows inside,)
        The class of each of them.
    people : ndarray of int, shape (rows,), or None
        The person of each row, if it is known.
    report : RiskReport
        Class measures, as `tokumei risk` shows them.
    """

    inside: Booleans
    classes: Integers
    people: Integers | None
    report: RiskReport

    @property
    def sizes(self) -> Integers:
        """Number of people in each class; of rows if nobody knows whose they are."""
        numbers = np.arange(self.classes.size) if self.people is None else self.people[self.inside]
        return ClassMembers.of(self.classes, numbers).sizes


def released_classes(setting: EvaluationSetting, table: FinishedTable, origin: RowOrigin) -> FinishedClasses | None:
    """Classes of a release, which are computed once; None without quasi-identifiers.

    Parameters
    ----------
    setting, table, origin
        As in `evaluate`.
    """

    def compute() -> FinishedClasses:
        people, cells = people_of_rows(setting, table, origin), table.alike[list(setting.columns)]
        report = class_report(setting, cells, [name for name in records.sensitive if name in table.frame], people)
        inside = rows_in_classes(cells, quasi)
        return FinishedClasses(inside, equivalence_classes(cells[inside], quasi), people, report)

    records, quasi = setting.records, setting.records.quasi_identifiers
    key = table.sha256, origin.kind, origin.origin.tobytes()
    return setting.kept("classes", key, compute) if quasi else None


def enough(outcome: MeasuredAttack, estimate: Estimate) -> bool:
    """Whether an attack has enough trials to measure a risk.

    It takes `FEWEST_TRIALS`, or `FEWEST_RIGHT` if it is significantly better than guessing. A strong release leaves few
    rare rows to single out. What three predicates hit by chance is no risk of it. Where the release tells nobody apart,
    no trial is needed.
    """
    significant = estimate.low > 0 and estimate.n >= FEWEST_RIGHT
    return outcome.nothing_told or estimate.n >= FEWEST_TRIALS or significant


def evaluate(setting: EvaluationSetting, table: FinishedTable, origin: RowOrigin | None = None) -> ReleaseEvaluation:
    """Evaluate a finished release.

    Parameters
    ----------
    setting : EvaluationSetting
        The original table, control people, seed and targets. What one release leaves behind there serves the next.
    table : FinishedTable
        The release.
    origin : RowOrigin, optional
        The record of each row; it is recognized by default.
    """
    records = setting.records
    cells = table.suppressed[list(setting.columns)]
    utility, components = headline_utility(setting.utility(table.domains).score(cells))
    quasi, sensitive = records.quasi_identifiers, [name for name in records.sensitive if name in table.frame]
    loss = normalized_certainty_penalty(cells, {name: table.domains[name] for name in quasi}) if quasi else None
    origin = origin or recognized_origin(table.frame, records.frame, table.domains)
    questions = PosedQuestions(setting, table, origin)
    found, risks, diversity = released_classes(setting, table, origin), {}, {}
    if found is not None:
        risks = {name: value for name, _, value in found.report.models}
        risks["records alone in their class"] = float(found.report.uniques)
        risks |= {f"{name}: {about}": value for name, about, value in found.report.measures}
        own = table.alike[found.inside]
        diversity = {name: l_diversity(own, quasi, name, classes=found.classes) for name in sensitive}
    people = None if found is None else found.people
    notes = [*map(str, table.notes), *questions.notes(), *people_notes(setting, people)]
    if origin.kind == "unknown":
        notes.append("if rows are synthetic, classes (k, l) say little about risk")
    return ReleaseEvaluation(
        name=table.name,
        sha256=table.sha256,
        rows=len(table.frame),
        origin=origin.kind,
        utility=utility,
        components=components,
        information_loss=loss,
        k=None if found is None else int(found.sizes.min()),
        l=diversity,
        risks=risks,
        outcomes=tuple(questions.outcomes()),
        notes=tuple(notes),
    )
