"""Evaluation of several finished releases in worker processes; what has ended is stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any

from defenses import Constant, Identity, MicrodataDefense, Mondrian, PrivateMarginals, RetentionReplacement
from leaderboard import Section, StatedGuarantee, Store, Table, guarantee_tables, label
from leaderboard.pages import Value, number
from leaderboard.pages.board_tables import interval_text
from leaderboard.results.goals import goal_meaning, goal_title, goal_words, in_order
from metrics import Estimate, Score
from metrics.columns import one_line
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting, MeasuredAttack
from scenarios.assessment.evaluation.posed_questions import KNOWN, RELEASED_UTILITY, ReleaseEvaluation, evaluate
from scenarios.assessment.evaluation.row_origin import CopiedRecords
from scenarios.running.methods import closure, digest, reason_of, versions
from scenarios.running.plan import NamedMethod, guarantee_on
from scenarios.running.workers.isolation import Death, Limits, isolated
from scenarios.tables import Dataset, as_csv, generator

# Built-in defenses of the same table, released as files so that they are evaluated like any finished release.

DEFENSES: tuple[tuple[type[MicrodataDefense], dict[str, Any]], ...] = (
    (Identity, {}),
    (Mondrian, {"k": 5}),
    (RetentionReplacement, {"retention": 0.5}),
    (PrivateMarginals, {"epsilon": 2.0}),
    (Constant, {}),
)
"""Built-in defenses, from no protection to no information, with their parameters."""


@dataclass(frozen=True)
class UnreadRelease:
    """A finished release before it is read.

    - name: The file, or the built-in defense.
    - note: What the defense guarantees; empty for a file.
    - guarantee: The guarantee of a built-in defense, with what it covers; None for a file.
    """

    name: str
    data: bytes = field(repr=False)
    note: str = ""
    guarantee: StatedGuarantee | None = field(default=None, repr=False, compare=False)


def baseline_releases(dataset: Dataset, seed: int) -> tuple[list[UnreadRelease], list[str]]:
    """Releases of the built-in defenses, and notes on those that refuse the table.

    Rows stay in the order of the records, so that linkage of rows can be measured.
    """
    files, notes, records = [], [], dataset.records
    for method, parameters in DEFENSES:
        defense, name = method(**parameters), label(method.__name__, parameters)
        try:
            defense.check(records)
            release = defense.apply(records, generator(seed, "rank", "baseline", name))
            guaranteed = defense.guarantee(records)
        except ValueError as error:
            notes.append(f"{name}: left out, since {error}")
            continue
        note = f"built-in defense; guaranteed: {guaranteed}"
        guarantee = guarantee_on(dataset, NamedMethod(method.__name__, defense, parameters), guaranteed)
        files.append(UnreadRelease(name, as_csv(release.analyst_table).encode(), note, guarantee))
    return files, notes


# Evaluations of releases as JSON text, for the database of results.


def written_evaluation(evaluation: ReleaseEvaluation) -> str:
    """An evaluation as JSON; the order of names is kept, so that reports of it stay the same."""
    return json.dumps(asdict(evaluation), ensure_ascii=False, allow_nan=False, default=lambda number: number.tolist())


def read_evaluation(text: str) -> ReleaseEvaluation:
    """The evaluation that `written_evaluation` wrote, or a ValueError if the text was changed by others."""
    try:
        content = json.loads(text)
        outcomes = tuple(_outcome(outcome) for outcome in content.pop("outcomes"))
        copies = tuple(CopiedRecords(**one) for one in content.pop("copies", ()))
        return ReleaseEvaluation(
            **{**content, "outcomes": outcomes, "copies": copies, "notes": tuple(content["notes"])}
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"a stored evaluation is damaged ({type(error).__name__})") from None


def _outcome(content: dict[str, Any]) -> MeasuredAttack:
    score = content["score"]
    return MeasuredAttack(**{**content, "score": None if score is None else Score(**score)})


LIMITS = Limits(time=7 * 86_400.0, memory=1 << 50)
"""Limits of one evaluation, which no release reaches: large ones take long, and what the machine has."""


@dataclass(frozen=True)
class RankedRelease:
    """One line of a ranking.

    - name: The file, or the built-in defense.
    - evaluation: Its evaluation; None if it failed.
    - reason: Why it failed; empty if it did not.
    """

    name: str
    evaluation: ReleaseEvaluation | None
    reason: str = ""


@dataclass(frozen=True)
class Ranking:
    """Evaluation of finished releases of one table.

    - store: Holds earlier evaluations and receives new ones.
    - jobs: Number of releases that are evaluated at a time; one runs in this process.
    """

    setting: EvaluationSetting
    store: Store
    jobs: int = 1

    def ranked(self, files: Sequence[UnreadRelease], say: Callable[[str], None]) -> list[RankedRelease]:
        """Evaluate the files that no earlier run evaluated; all in the order of `files`.

        `say` is called with one line of progress at a time.
        """
        stored = {place: self.store.document(self._key(file)) for place, file in enumerate(files)}
        lines = {
            place: RankedRelease(files[place].name, _named(read_evaluation(text), files[place]))
            for place, text in stored.items()
            if text is not None
        }
        missing = [(place, files[place]) for place, text in stored.items() if text is None]
        if lines:
            say(f"{len(lines)} of {len(files)} releases known from earlier runs")
        with closing(self._evaluated(missing)) as evaluated:
            for number, line in evaluated:
                if line.evaluation is not None:
                    self.store.add([], {self._key(files[number]): written_evaluation(line.evaluation)})
                lines[number] = line
                say(f"{line.name}: {line.reason or 'evaluated'} ({len(lines)} of {len(files)})")
        return [lines[number] for number in range(len(files))]

    def _key(self, file: UnreadRelease) -> str:
        """Hash of everything that the evaluation of a file depends on, except for its name."""
        setting = self.setting
        data = [setting.dataset.sha256, setting.control_sha256, hashlib.sha256(file.data).hexdigest()]
        reading = setting.roles.model_dump(
            mode="json", include={"separator", "encoding", "decimal", "na", "suppressed"}
        )
        return digest(["finished release", data, reading, setting.seed, setting.targets, _code()])

    def _evaluated(
        self, files: Sequence[tuple[int, UnreadRelease]]
    ) -> Generator[tuple[int, RankedRelease], None, None]:
        import threadpoolctl

        if self.jobs == 1 or len(files) < 2:
            # Sums of linear algebra depend on the number of threads, and results must not.
            with threadpoolctl.threadpool_limits(1):
                for number, file in files:
                    yield number, _line(self.setting, file)
            return
        with threadpoolctl.threadpool_limits(1):
            self.setting.prepare()
        tasks = [(self.setting, number, file) for number, file in files]
        for (_, number, file), items in isolated(_lines, tasks, self.jobs, LIMITS):
            for item in items:
                if isinstance(item, Death):
                    lacks = "the machine may lack memory: fewer --jobs may help"
                    yield number, RankedRelease(file.name, None, f"the evaluation failed: {item.reason}; {lacks}")
                else:
                    yield number, item


def _lines(task: tuple[EvaluationSetting, int, UnreadRelease]) -> Iterator[RankedRelease]:
    """Evaluate one file in a worker process."""
    setting, _, file = task
    yield _line(setting, file)


def _line(setting: EvaluationSetting, file: UnreadRelease) -> RankedRelease:
    """Evaluate one file; what is wrong with it becomes the reason of its line."""
    try:
        table = setting.read(file.name, file.data)
        return RankedRelease(file.name, _named(evaluate(setting, table), file))
    except ValueError as error:
        return RankedRelease(file.name, None, one_line(error))
    except MemoryError:
        return RankedRelease(
            file.name, None, f"{file.name}: does not fit into memory; fewer --jobs or --targets may help"
        )
    except Exception as error:
        return RankedRelease(file.name, None, f"{file.name}: {reason_of(error).partition(chr(10))[0]}")


def _named(evaluation: ReleaseEvaluation, file: UnreadRelease) -> ReleaseEvaluation:
    """The evaluation under the name of this file, with its note."""
    notes = tuple(note for note in evaluation.notes if note != file.note)
    return replace(evaluation, name=file.name, notes=(file.note, *notes) if file.note else notes)


@cache
def _code() -> str:
    """Hash of this module, of all modules that it imports, and of the numeric packages' versions."""
    return digest([closure([__name__]), versions()])


# Report of a ranking: the board of finished releases, and the evidence for it.

HOW = (
    "Score: utility x (1 - max(0, advantage of the worst attack)). Advantages: 0 is guessing, 1 is always right; "
    "intervals are over persons, and those of a release hold together with 95 %. No attack repeats the mechanism. "
    f"Utility of released columns: {RELEASED_UTILITY}. It orders equal scores."
)


def ranking_sections(
    lines: Sequence[RankedRelease], *, full: bool, guarantees: Sequence[StatedGuarantee] = ()
) -> tuple[Section, ...]:
    """The report of a ranking, best score first, failed releases last.

    - full: Whether to add every attack, utility part by part, and all risk measures.
    - guarantees: What built-in defenses guarantee.
    """
    evaluations = sorted(
        (line.evaluation for line in lines if line.evaluation is not None),
        key=lambda one: (one.score is None, *(-value for value in one.standing), one.name),
    )
    failed = [line for line in lines if line.evaluation is None]
    goals = in_order({outcome.goal for one in evaluations for outcome, _ in one.advantages})
    tables = [_board(evaluations, failed), _by_goal(evaluations, goals)]
    meanings = tuple(f"{goal_title(goal)}. {goal_meaning(goal)}" for goal in goals)
    sections = [
        Section("Finished releases", meanings, tuple(tables)),
        *(Section("Built-in defenses", (), tuple(tables)) for tables in guarantee_tables(guarantees).values()),
        Section("Notes", (), (_notes(evaluations, failed),)),
    ]
    if full:
        sections.insert(-1, Section("Evidence", (), _evidence(evaluations)))
    return tuple(sections)


def _board(evaluations: Sequence[ReleaseEvaluation], failed: Sequence[RankedRelease]) -> Table:
    columns = (
        *("#", "release", "rows", "utility", "of released columns"),
        *("k", "smallest l", "worst attack", "advantage", "interval", "score"),
    )
    standings = [one.standing for one in evaluations if one.score is not None]
    rows: list[tuple[Value, ...]] = []
    for one in evaluations:
        worst = one.worst()
        rank = None if one.score is None else 1 + sum(standing > one.standing for standing in standings)
        rows.append(
            (
                "–" if rank is None else str(rank),
                one.name,
                one.rows,
                one.utility,
                one.released_utility,
                one.k,
                min(one.l.values(), default=None),
                "–" if worst is None else f"{worst[0].title} ({goal_words(worst[0].goal)}, knows {worst[0].knows})",
                None if worst is None else worst[1].value,
                "–" if worst is None else f"[{number(worst[1].low)}, {number(worst[1].high)}]",
                one.score,
            )
        )
    rows += [("–", line.name, *([None] * 5), "failed, see the notes", None, "–", None) for line in failed]
    return Table("utility and risk", columns, rows, digits=2, note=HOW)


def _by_goal(evaluations: Sequence[ReleaseEvaluation], goals: Sequence[str]) -> Table:
    """One column for each goal and each attacker's knowledge."""
    known = {(outcome.goal, outcome.knows): None for one in evaluations for outcome, _ in one.advantages}
    pairs = [(goal, knows) for goal in goals for other, knows in known if other == goal]
    columns = ("release", *(f"{goal_words(goal)}, knows {knows}" for goal, knows in pairs))
    rows = [(one.name, *(_interval(one.worst(*pair)) for pair in pairs)) for one in evaluations]
    return Table("largest advantage by goal", columns, rows, digits=2, note=f"{KNOWN}. –: not measured, see the notes")


def _evidence(evaluations: Sequence[ReleaseEvaluation]) -> tuple[Table, ...]:
    """Tables of all attacks, parts of utility, measures of classes, and copies."""
    attacks = (
        *("release", "attack", "goal", "attacker knows", "success", "chance", "trials", "control people"),
        *("advantage", "low", "high", "not measured, since"),
    )
    parts = list(dict.fromkeys(name for one in evaluations for name in one.components))
    utilities = [
        (one.name, one.utility, *(one.components.get(name) for name in parts), one.information_loss)
        for one in evaluations
    ]
    measures = list(dict.fromkeys(name for one in evaluations for name in one.risks))
    risks = [(one.name, *(one.risks.get(name) for name in measures)) for one in evaluations]
    copied = ("release", "columns", "people with a unique record", "share that stands in the release", "chance")
    copies = [
        (one.name, copies.about, copies.unique, copies.share, copies.chance)
        for one in evaluations
        for copies in one.copies
        if copies.unique
    ]
    return (
        Table("attacks", attacks, [line for one in evaluations for line in _attack_rows(one)], digits=3),
        Table("utility, part by part", ("release", "utility", *parts, "information loss"), utilities, digits=3),
        Table("risk measures of classes", ("release", *measures), risks, digits=None),
        Table("unique records that stand verbatim", copied, copies, digits=3),
    )


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


def _notes(evaluations: Sequence[ReleaseEvaluation], failed: Sequence[RankedRelease]) -> Table:
    """Each note once, with the releases that it is about."""
    notes = dict.fromkeys(note for one in evaluations for note in one.notes)
    about = {note: [one.name for one in evaluations if note in one.notes] for note in notes}
    rows = [("all" if len(names) == len(evaluations) > 1 else ", ".join(names), note) for note, names in about.items()]
    rows += [(line.name, f"failed: {line.reason}") for line in failed]
    return Table("what was recognized, and what this cannot see", ("release", "note"), rows)


def _interval(worst: tuple[MeasuredAttack, Estimate] | None) -> str:
    return "–" if worst is None else interval_text(worst[1].value, worst[1].low, worst[1].high)
