"""How many more people a report needs for the findings that are not sure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from leaderboard.pages.number_text import exact
from leaderboard.results.goals import goal_title
from leaderboard.statistics.success import FEWEST_TRIALS
from metrics.columns.arrays import Integers
from metrics.columns.domains import Domain, NumericDomain
from scenarios.assessment.evaluation.control_size import trials_needed
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting, most_asked
from scenarios.assessment.evaluation.posed_questions import most_targets
from scenarios.assessment.evaluation.release_evaluation import FEWEST_RIGHT, ReleaseEvaluation
from scenarios.assessment.reporting.findings import FEW, UNSURE, Finding

# The quasi-identifier that predicts a sensitive value without any release.


def best_predictor(
    frame: pd.DataFrame, column: str, candidates: Sequence[str], domains: Mapping[str, Domain]
) -> tuple[str, float] | None:
    """The column whose value alone tells most people's value of another column.

    Parameters
    ----------
    frame : DataFrame, shape (n, columns)
        Original values.
    column : str
        The column that is predicted.
    candidates : sequence of str
        Columns to predict from.
    domains : mapping of str to Domain
        Their domains; numbers are compared by their public bins.

    Returns
    -------
    tuple of str and float, or None
        The column, and the share of people whose value is the commonest among the others alike. None without a column
        that tells more than the commonest value of all.

    Examples
    --------
    >>> import pandas as pd
    >>> from metrics.columns.domains import CategoricalDomain
    >>> frame = pd.DataFrame({"ward": ["A", "A", "B", "B"], "illness": ["flu", "flu", "cold", "cold"]})
    >>> domains = {"ward": CategoricalDomain(("A", "B")), "illness": CategoricalDomain(("cold", "flu"))}
    >>> best_predictor(frame, "illness", ["ward"], domains)
    ('ward', 1.0)
    """
    codes = {name: domains[name].codes(frame[name]) for name in (column, *candidates)}
    shares = {name: _told(codes[name], codes[column]) for name in candidates}
    best = max(shares, key=shares.__getitem__, default=None)
    commonest = _told(np.zeros(len(frame), dtype=np.intp), codes[column])
    return None if best is None or shares[best] <= commonest else (best, shares[best])


def _told(known: Integers, told: Integers) -> float:
    """Share of people whose value is the commonest among the others with the same known value."""
    counts = np.zeros((known.max(initial=0) + 1, told.max(initial=0) + 1), dtype=np.intp)
    np.add.at(counts, (known, told), 1)
    # Nobody predicts themselves.
    others = counts[known]
    others[np.arange(known.size), told] -= 1
    own = others[np.arange(known.size), told]
    return float(((own == others.max(axis=1)) & (own > 0)).mean()) if known.size else 0.0


SINGLING_OUT = "singling_out"
"""Goal whose trials are predicates, not people."""
NEARLY_SURE = 0.8
"""Chance level from which an advantage can hardly be measured: nearly every guess is right without the release."""


def more_people(
    setting: EvaluationSetting,
    evaluation: ReleaseEvaluation,
    findings: Sequence[Finding],
    threshold: float,
    number: int = 1,
) -> Iterator[str]:
    """One sentence on each finding that is not sure: who would have to be asked, if the rates stay as measured.

    Parameters
    ----------
    setting : EvaluationSetting
        The original table, control people and targets.
    evaluation : ReleaseEvaluation
        The release.
    findings : sequence of Finding
        Its findings.
    threshold : float
        Largest acceptable risk, in (0, 1).
    number : int
        Number of the release among those that are judged on the same people.
    """
    unsure = {one.title for one in findings if one.status == UNSURE}
    few = {one.title for one in findings if one.status == FEW}
    for goal in dict.fromkeys(outcome.goal for outcome, _ in evaluation.advantages):
        if goal_title(goal) in few:
            yield f"{goal_title(goal)}: not measured. {_measured_by(setting, goal)}"
        elif goal == SINGLING_OUT and goal_title(goal) in unsure:
            yield (
                f"{goal_title(goal)}: the interval is over predicates of the attack; more people do not narrow it, "
                "a stronger setting or fewer columns may."
            )
        elif goal_title(goal) in unsure and (chance := _chance(evaluation, goal)) >= NEARLY_SURE:
            yield (
                f"{goal_title(goal)}: {chance:.0%} of guesses are right without the release, so that little can be "
                f"measured. {_known(setting, evaluation, goal)}"
                f"{_words(setting, evaluation.rows, _asked(setting, evaluation, goal, threshold, number), threshold)}"
            )
        elif goal_title(goal) in unsure:
            asked = _asked(setting, evaluation, goal, threshold, number)
            yield f"{goal_title(goal)}: {_words(setting, evaluation.rows, asked, threshold)}"


def _measured_by(setting: EvaluationSetting, goal: str) -> str:
    """How a risk of too few trials is measured."""
    needs = f"A risk takes {FEWEST_TRIALS} trials, or {FEWEST_RIGHT} that are right more often than guessing for sure"
    if goal == SINGLING_OUT:
        return f"{needs}; the attack finds so many predicates only where more released rows stand out."
    if setting.control is not None and most_asked(setting.control_size) < FEWEST_TRIALS:
        return f"{needs}: take at least {2 * FEWEST_TRIALS} control people (--control)."
    return f"{needs}: --targets {FEWEST_TRIALS} or more, of a table and a release that are not smaller."


def _known(setting: EvaluationSetting, evaluation: ReleaseEvaluation, goal: str) -> str:
    """What makes the value of the worst attack's column sure without the release, and what to decide about it."""
    worst = evaluation.worst(goal)
    column = "" if worst is None else worst[0].column
    if not column:
        return ""
    if isinstance(setting.domains[column], NumericDomain):
        return f"{column} holds numbers: declare `cuts` where its values are. "
    quasi = [name for name in setting.records.quasi_identifiers if name in setting.domains]
    best = best_predictor(setting.records.frame, column, quasi, setting.domains)
    if best is None:
        return f"Most people have the same value of {column}. "
    name, share = best
    return (
        f"{name} alone tells {column} of {share:.0%} of the people: decide whether others know {name}; if not, it is "
        "no quasi-identifier. Else "
    )


def _chance(evaluation: ReleaseEvaluation, goal: str) -> float:
    """Chance level of the worst attack of a goal; 0 if nothing was measured."""
    worst = evaluation.worst(goal)
    return 0.0 if worst is None or worst[0].score is None else worst[0].score.chance or 0.0


def _asked(
    setting: EvaluationSetting, evaluation: ReleaseEvaluation, goal: str, threshold: float, number: int
) -> int | None:
    """Number of people to ask about, so that every attack of a goal is shown to be within; None if no number does."""
    asked = most_targets(setting.targets, setting.size, evaluation.rows)
    most = 0
    for outcome in evaluation.judged(goal):
        needed = trials_needed(outcome, threshold, number)
        if needed is None or outcome.score is None:
            return None
        # Not everybody whom an attack is asked about is a trial of it.
        most = max(most, -(-needed * asked // outcome.score.trials))
    return most


def _words(setting: EvaluationSetting, rows: int, asked: int | None, threshold: float) -> str:
    if asked is None:
        return (
            f"an attack measured {exact(threshold)} or nearly so; more people would not help, a stronger setting may."
        )
    control = setting.control_size
    if most_targets(asked, setting.size, rows) < asked:
        return f"{asked:,} people would have to be asked about, more than this table allows; take a stronger setting."
    if setting.control is None or most_asked(control) >= asked:
        return f"--targets {asked} would show it to be within {exact(threshold)}, if the measured rates stay."
    people = setting.size + control
    if 4 * asked > people:
        return (
            f"it takes about {2 * asked:,} control people, and all are {people:,}; take a stronger setting, or accept "
            "the measured risk by name."
        )
    return (
        f"about {2 * asked:,} control people would show it to be within {exact(threshold)}, if the measured rates "
        "stay. Hold so many back once, and make the release anew."
    )
