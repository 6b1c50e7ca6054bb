"""Report of a ranking: the board of finished releases, and the evidence for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leaderboard import Promise, Section, Table, promise_tables
from leaderboard.pages.number_text import number
from leaderboard.pages.report import Value
from leaderboard.pages.tables import interval_text
from leaderboard.results.goals import goal_meaning, goal_title, goal_words, in_order
from metrics.estimate import Estimate
from scenarios.assessment.evaluation.measured_attack import MeasuredAttack
from scenarios.assessment.evaluation.ranking import RankedRelease
from scenarios.assessment.evaluation.release_evaluation import ReleaseEvaluation

HOW = (
    "Score: utility x (1 - max(0, advantage of the worst attack)). Advantages: 0 is guessing, 1 is always right; "
    "intervals are over persons, and those of a release hold together with 95 %. No attack repeats the mechanism."
)


def ranking_sections(
    lines: Sequence[RankedRelease], *, full: bool, promises: Sequence[Promise] = ()
) -> tuple[Section, ...]:
    """The report of a ranking, best score first, failed releases last.

    Parameters
    ----------
    lines : sequence of RankedRelease
        The releases.
    full : bool
        Whether to add every attack, utility part by part, and all risk measures.
    promises : sequence of Promise
        What built-in defenses promise.
    """
    evaluations = sorted(
        (line.evaluation for line in lines if line.evaluation is not None),
        key=lambda one: (one.score is None, -(one.score or 0.0), one.name),
    )
    failed = [line for line in lines if line.evaluation is None]
    goals = in_order({outcome.goal for one in evaluations for outcome, _ in one.advantages})
    tables = [_board(evaluations, failed), _by_goal(evaluations, goals)]
    meanings = tuple(f"{goal_title(goal)}. {goal_meaning(goal)}" for goal in goals)
    sections = [
        Section("Finished releases", meanings, tuple(tables)),
        *(Section("Built-in defenses", (), tuple(tables)) for tables in promise_tables(promises).values()),
        Section("Notes", (), (_notes(evaluations, failed),)),
    ]
    if full:
        evidence = (_attacks(evaluations), _components(evaluations), _risks(evaluations))
        sections.insert(-1, Section("Evidence", (), evidence))
    return tuple(sections)


def _board(evaluations: Sequence[ReleaseEvaluation], failed: Sequence[RankedRelease]) -> Table:
    columns = ("#", "release", "rows", "utility", "k", "smallest l", "worst attack", "advantage", "interval", "score")
    scores = [one.score for one in evaluations]
    rows: list[tuple[Value, ...]] = []
    for one in evaluations:
        worst = one.worst()
        rank = None if one.score is None else 1 + sum(score is not None and score > one.score for score in scores)
        rows.append(
            (
                "–" if rank is None else str(rank),
                one.name,
                one.rows,
                one.utility,
                one.k,
                min(one.l.values(), default=None),
                "–" if worst is None else f"{worst[0].title} ({goal_words(worst[0].goal)})",
                None if worst is None else worst[1].value,
                "–" if worst is None else f"[{number(worst[1].low)}, {number(worst[1].high)}]",
                one.score,
            )
        )
    rows += [("–", line.name, None, None, None, None, "failed, see the notes", None, "–", None) for line in failed]
    return Table("utility and risk", columns, rows, digits=2, note=HOW)


def _by_goal(evaluations: Sequence[ReleaseEvaluation], goals: Sequence[str]) -> Table:
    columns = ("release", *(goal_words(goal) for goal in goals))
    rows = []
    for one in evaluations:
        pairs = (one.worst(goal) for goal in goals)
        rows.append((one.name, *(_interval(None if pair is None else pair[1]) for pair in pairs)))
    return Table("largest advantage by goal", columns, rows, digits=2, note="–: not measured, see the notes")


def _attacks(evaluations: Sequence[ReleaseEvaluation]) -> Table:
    columns = (
        *("release", "attack", "goal", "attacker knows", "success", "chance", "trials", "control people"),
        *("advantage", "low", "high", "not measured, since"),
    )
    rows = [line for one in evaluations for line in _attack_rows(one)]
    return Table("attacks", columns, rows, digits=3)


def _attack_rows(one: ReleaseEvaluation) -> Iterator[tuple[Value, ...]]:
    estimates = {id(outcome): estimate for outcome, estimate in one.advantages}
    for outcome in one.outcomes:
        yield (
            one.name,
            outcome.title,
            goal_words(outcome.goal),
            outcome.knows,
            *_numbers(outcome, estimates.get(id(outcome))),
        )


def _numbers(outcome: MeasuredAttack, estimate: Estimate | None) -> tuple[Value, ...]:
    score = outcome.score
    if score is None or estimate is None:
        return (None,) * 7 + (outcome.reason,)
    return (
        *(score.rate, score.chance, score.trials, score.control_trials),
        *(estimate.value, estimate.low, estimate.high, ""),
    )


def _components(evaluations: Sequence[ReleaseEvaluation]) -> Table:
    names = list(dict.fromkeys(name for one in evaluations for name in one.components))
    rows = [
        (one.name, one.utility, *(one.components.get(name) for name in names), one.information_loss)
        for one in evaluations
    ]
    return Table("utility, part by part", ("release", "utility", *names, "information loss"), rows, digits=3)


def _risks(evaluations: Sequence[ReleaseEvaluation]) -> Table:
    names = list(dict.fromkeys(name for one in evaluations for name in one.risks))
    rows = [(one.name, *(one.risks.get(name) for name in names)) for one in evaluations]
    return Table("risk measures of classes", ("release", *names), rows, digits=None)


def _notes(evaluations: Sequence[ReleaseEvaluation], failed: Sequence[RankedRelease]) -> Table:
    """Each note once, with the releases that it is about."""
    about: dict[str, list[str]] = {}
    for one in evaluations:
        for note in one.notes:
            about.setdefault(note, []).append(one.name)
    everything = len(evaluations)
    rows = [("all" if len(names) == everything > 1 else ", ".join(names), note) for note, names in about.items()]
    rows += [(line.name, f"failed: {line.reason}") for line in failed]
    return Table("what was recognized, and what this cannot see", ("release", "note"), rows)


def _interval(estimate: Estimate | None) -> str:
    return "–" if estimate is None else interval_text(estimate.value, estimate.low, estimate.high)
