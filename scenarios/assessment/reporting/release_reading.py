"""What a report shows, made from an original table and one finished release."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from defenses import MicrodataDefense, MicrodataRelease
from leaderboard.pages.number_text import counted, exact
from leaderboard.results.goals import goal_title
from leaderboard.statistics.pairs import FEWEST_TRIALS
from metrics.columns import Domain, Integers, NumericCells, NumericDomain, read_cells
from scenarios.assessment.choosing.column_costs import amount, column_costs, correlation_warnings, rank_correlations
from scenarios.assessment.evaluation.control_people import control_warnings, refuse_control_in_release, trials_needed
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting, most_asked, most_targets
from scenarios.assessment.evaluation.finished_classes import FinishedClasses, class_report, released_classes
from scenarios.assessment.evaluation.posed_questions import (
    FEWEST_RIGHT,
    ReleaseEvaluation,
    evaluate,
)
from scenarios.assessment.evaluation.row_origin import (
    RowOrigin,
    given_origin,
    holding_share,
    random_share,
    recognized_origin,
    refuse_misfit,
)
from scenarios.assessment.reporting.findings import (
    ABOVE,
    FEW,
    SMALLEST,
    UNSURE,
    Finding,
    Measured,
    attack_findings,
    class_findings,
    class_title,
    copy_findings,
    group_findings,
    identifier_findings,
    ordered,
)
from scenarios.assessment.reporting.release_report import ReportContent, refuse_false_guarantee, seed_of_tables
from scenarios.assessment.reporting.remedies import Advisor, advice_words
from scenarios.tables import READ, FinishedTable, Note, RiskReport, read_bytes, read_truth, sentence
from scenarios.tables.file_methods import content_hash
from scenarios.tables.review.notes import table_notes
from scenarios.tables.review.release_notes import counted_cells, release_notes
from scenarios.tables.review.rows_of_people import ONE_ROW

# How many more people a report needs for the findings that are not sure.

# The quasi-identifier that predicts a sensitive value without any release.


def best_predictor(
    frame: pd.DataFrame, column: str, candidates: Sequence[str], domains: Mapping[str, Domain]
) -> tuple[str, float] | None:
    """The column whose value alone tells most people's value of another column, and the share of people that it tells.

    The share is that of people whose value is the commonest among the others alike. Numbers are compared by their
    public bins. None means that no column tells more than the commonest value of all.

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
    shares = {name: _predicted(codes[name], codes[column]) for name in candidates}
    best = max(shares, key=shares.__getitem__, default=None)
    commonest = _predicted(np.zeros(len(frame), dtype=np.intp), codes[column])
    return None if best is None or shares[best] <= commonest else (best, shares[best])


def _predicted(known: Integers, secret: Integers) -> float:
    """Share of people whose value is the commonest among the others with the same known value."""
    counts = np.zeros((known.max(initial=0) + 1, secret.max(initial=0) + 1), dtype=np.intp)
    np.add.at(counts, (known, secret), 1)
    # Nobody predicts themselves.
    others = counts[known]
    others[np.arange(known.size), secret] -= 1
    own = others[np.arange(known.size), secret]
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

    - threshold: Largest acceptable risk, in (0, 1).
    - number: Number of the release among those that are judged on the same people.
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


# Released numbers beyond all original ones, as wide bins at the ends of a domain give.

WIDER = 1.25
"""Ratio of the standard deviations, released over original, from which a column is named."""


def far_value_warnings(released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain]) -> Iterator[str]:
    """One sentence for each column of numbers that spreads wider than the original, with numbers beyond it.

    A synthesizer draws numbers anywhere in a bin. A last bin that reaches to what is possible at all then holds numbers
    that nobody has: means and standard deviations change, although the counts of bins are right. `domains` are those of
    the columns in question.
    """
    for name, domain in domains.items():
        if name not in released:
            continue
        cells = read_cells(released[name], domain)
        values = records[name].dropna().to_numpy(dtype=float) if isinstance(domain, NumericDomain) else np.empty(0)
        plain = (cells.plain & ~cells.missing)[cells.codes]
        if not isinstance(cells, NumericCells) or not len(values) or not plain.any():
            continue
        numbers = cells.midpoint()[cells.codes][plain]
        beyond = float(((numbers < values.min()) | (numbers > values.max())).mean())
        before, after = float(values.std()), float(numbers.std())
        if beyond and after > WIDER * before:
            yield (
                f"{name}: the standard deviation grows from {amount(before)} to {amount(after)}, since "
                f"{_percent(beyond)} of the released numbers lie beyond all original ones, by noise or in wide bins at "
                "the ends; narrower cuts mend the bins"
            )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.1g} %"


# Ends of released intervals that are values of single people.

TIGHT = 0.5
"""Share of a column's ends that are values of one person each, above which the intervals were fitted to people."""


def interval_end_warnings(
    released: pd.DataFrame, records: pd.DataFrame, domains: Mapping[str, Domain]
) -> Iterator[str]:
    """One sentence for each column whose intervals end at values of single people.

    Intervals as narrow as a class allows end at the values of two people of it. Downcoding (Cohen 2022) recovers
    records from them. Ends of a public hierarchy meet the value of one person only by chance.
    """
    for name in released.columns:
        cells = read_cells(released[name], domains[str(name)])
        if isinstance(cells, NumericCells):
            ends = _ends(cells)
            values, people = np.unique(records[name].dropna().to_numpy(dtype=float), return_counts=True)
            single = int(np.isin(ends, values[people == 1]).sum())
            if single > TIGHT * ends.size:
                yield (
                    f"{name}: {single:,} of {ends.size:,} ends of intervals are values of one person each; whoever "
                    "sees such an end learns that somebody has this value. Hierarchies have public ends: see Incognito."
                )


def _ends(cells: NumericCells) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Distinct ends of the intervals of a column, without those of its domain."""
    wide = (cells.low < cells.high) & ~cells.suppressed[cells.owner]
    ends = np.unique(np.concatenate([cells.low[wide], cells.high[wide]]))
    return np.asarray(ends[np.isfinite(ends) & (ends != cells.domain.low) & (ends != cells.domain.high)])


# How strict t-closeness must be for the findings on classes that are above a threshold.


def closeness_advice(
    records: pd.DataFrame, sensitive: Mapping[str, Domain], findings: Sequence[Finding], threshold: float
) -> Iterator[str]:
    """One sentence for each sensitive column whose classes are above the threshold: the t that keeps them within.

    With equal distances, t-closeness bounds the difference of a value's shares p in a class and q in the table by t.
    The risk (p - q) / (1 - q) is then at most t / (1 - q), which is largest for the commonest value. So t = threshold
    (1 - max q) keeps every class within the threshold. It counts each number as a value of its own, while findings
    count public bins. A class holds few of many distinct numbers, so that only the whole table is close.

    `threshold` is the largest acceptable risk, in (0, 1).

    Source: Li, Li and Venkatasubramanian (2007), t-closeness, section 4.
    """
    above = {one.title for one in findings if one.status == ABOVE}
    for column, domain in sensitive.items():
        if class_title(column) in above:
            # Values are no cells: "{E}" may be a category, and as a cell it is a set.
            commonest = float(np.bincount(domain.codes(records[column])).max() / len(records))
            closeness = math.floor(1000 * threshold * (1 - commonest)) / 1000
            single = records[column].nunique() > domain.size
            first = (
                f" Before, write {column} in ranges: single numbers leave one class of all people." if single else ""
            )
            if closeness > 0:
                yield (
                    f"{class_title(column)}: a defense with t-closeness keeps it within {exact(threshold)} by "
                    f"t={closeness:g}, as Mondrian or Incognito with `-p t={closeness:g}`.{first}"
                )


def _read(setting: EvaluationSetting, released: str, *, seed_chosen: bool) -> tuple[EvaluationSetting, FinishedTable]:
    """The release, which holds nobody of the control group, and the setting with the seed.

    Where the user chose no seed, the content of the tables gives it: another spelling or order of columns is no other
    try.
    """
    table, records = setting.read(released, read_bytes(Path(released))), setting.records
    if not seed_chosen:
        seed = seed_of_tables(content_hash(records.frame.sort_index(axis=1)), table.content)
        setting = replace(setting, seed=seed)
    if setting.control is not None:
        refuse_control_in_release(released, table.frame, records, setting.control, table.domains)
    return setting, table


def report_content(
    setting: EvaluationSetting,
    files: Mapping[str, str],
    threshold: float,
    defense: MicrodataDefense | None,
    defense_name: str,
    options: str,
    releases: int = 1,
    *,
    seed_chosen: bool = True,
) -> ReportContent:
    """Measure a release for its report.

    - files: Files by option; ``released`` is the release.
    - threshold: Largest acceptable risk, in (0, 1).
    - defense, defense_name: The defense that made the release, for its guarantee, and its name with parameters.
    - options: Further options of the command, which the report repeats.
    - releases: Number of releases that were judged on the same people, this one included.
    - seed_chosen: Whether the user chose the seed; else `setting` has none yet, and the tables give it.

    A ValueError is raised if the release or the records of its rows cannot be read. It is also raised if the defense
    does not fit the original table, or guarantees more than the release keeps.
    """
    setting, table = _read(setting, files["released"], seed_chosen=seed_chosen)
    records = setting.records
    guarantee = None if defense is None else defense.guarantee(setting.dataset.records)
    truth = files.get("--truth")
    origin, random = _origin(truth, setting, table)
    evaluation = evaluate(setting, table, origin)
    classes = released_classes(setting, table, origin)
    sensitive = {name: table.domains[name] for name in records.sensitive if name in table.frame.columns}
    before, after = _compared(setting, classes, list(sensitive))
    if guarantee is not None:
        refuse_false_guarantee(guarantee, evaluation, defense_name, after.several if after else ())
    counts = evaluation.origin != "unknown" or _generalized(table)
    count = _counting(setting, table, origin, classes, threshold, counts=counts)
    of_classes = count(table.among_records[list(setting.columns)])
    of_identifiers = identifier_findings(table.unknown, records.frame[list(records.identifiers)])
    of_copies = copy_findings(evaluation, threshold)
    of_attacks = attack_findings(evaluation, threshold, releases)
    of_groups = group_findings(classes, threshold) if counts else []
    findings = ordered([*of_classes, *of_groups, *of_identifiers, *of_copies, *of_attacks])
    measured = Measured(
        setting=setting,
        evaluation=evaluation,
        findings=tuple(findings),
        pseudonyms=_pseudonyms(pd.concat([table.frame, table.unknown], axis=1)),
        unknown=tuple(map(str, table.unknown.columns)),
        alone=0 if classes is None else int((classes.sizes[classes.classes] == 1).sum()),
        threshold=threshold,
        releases=releases,
        unit="row" if setting.repeats and (classes is None or classes.people is None) else "person",
        columns=tuple(table.frame.columns),
        quasi_identifiers=tuple(name for name in records.quasi_identifiers if name in table.frame.columns),
        sensitive=tuple(sensitive),
    )
    sets = () if after is None else tuple(after.sets)
    remedies = Advisor(setting, table, origin, evaluation, threshold, count, sets).advice(findings)
    domains = {name: table.domains[name] for name in setting.columns}
    correlations = tuple(rank_correlations(records.frame, table.suppressed[list(setting.columns)], domains))
    people = replace(records, domains={**records.domains, **table.domains})
    release = MicrodataRelease(table.frame, origin.origin)
    return ReportContent(
        measured=measured,
        counts=counts,
        before=before,
        after=after,
        costs=column_costs(people, release, setting.dataset.written.date_units),
        correlations=correlations,
        guarantee=guarantee,
        guaranteed_by=defense_name,
        warnings=(
            *_warnings(setting, table, truth, random),
            *(f"{one}." for one in correlation_warnings(correlations)),
        ),
        advice=(*_advice(setting, evaluation, findings, sensitive, threshold, releases), *advice_words(remedies)),
        files=files,
        options=options,
        seed_chosen=seed_chosen,
        remedies=tuple(remedies),
    )


def _advice(
    setting: EvaluationSetting,
    evaluation: ReleaseEvaluation,
    findings: Sequence[Finding],
    sensitive: Mapping[str, Domain],
    threshold: float,
    releases: int,
) -> Iterator[str]:
    """What would help, but for the remedies that were tried."""
    if setting.control is None:
        yield (
            "Membership and linkability need people who were not in the table (--control); `tokumei split` sets some "
            "aside before a release is made."
        )
    of_rows = f" It counts rows: {ONE_ROW}." if setting.repeats else ""
    if any(one.title == SMALLEST and one.status == ABOVE for one in findings):
        k = math.ceil(1 / threshold)
        yield (
            f"{SMALLEST}: a defense with k-anonymity keeps it within {exact(threshold)} by k={k}, as Mondrian or "
            f"Incognito with `-p k={k}`.{of_rows}"
        )
    for advice in closeness_advice(setting.records.frame, sensitive, findings, threshold):
        yield f"{advice}{of_rows}"
    yield from more_people(setting, evaluation, findings, threshold, releases)


def _origin(truth: str | None, setting: EvaluationSetting, table: FinishedTable) -> tuple[RowOrigin, float | None]:
    """The record of each row, and the share of given ones that fit no better than random ones, if it was measured."""
    tables = table.frame, setting.records.frame, table.domains
    if truth is None:
        return recognized_origin(*tables), None
    given = read_truth(Path(truth), len(table.frame), len(setting.records))
    refuse_misfit(Path(truth), *tables, given)
    random = random_share(*tables, given)
    return given_origin(given, random), random


def _compared(
    setting: EvaluationSetting, classes: FinishedClasses | None, sensitive: Sequence[str]
) -> tuple[RiskReport | None, RiskReport | None]:
    """Classes of the original table and of the release; none without quasi-identifiers."""
    if classes is None:
        return None, None
    known = None if classes.people is None else setting.people
    return class_report(setting, setting.records.frame[list(setting.columns)], sensitive, known), classes.report


def _counting(
    setting: EvaluationSetting,
    table: FinishedTable,
    origin: RowOrigin,
    classes: FinishedClasses | None,
    threshold: float,
    *,
    counts: bool,
) -> Callable[[pd.DataFrame], list[Finding]]:
    """What counts the classes of released cells, recoded or not, into findings; none without quasi-identifiers."""
    if classes is None:
        return lambda cells: []
    person = setting.records.person if setting.repeats else None
    quasi = [name for name in setting.records.quasi_identifiers if name in table.frame]
    return partial(
        class_findings,
        quasi_identifiers=setting.records.quasi_identifiers,
        sensitive={name: table.domains[name] for name in setting.records.sensitive if name in table.frame.columns},
        threshold=threshold,
        counts=counts,
        people=None if person is None else classes.people,
        person=person,
        holding=holding_share(table.frame[quasi], setting.records.frame, table.domains, origin.origin),
    )


def _warnings(
    setting: EvaluationSetting, table: FinishedTable, truth: str | None, random: float | None
) -> Iterator[str]:
    """What the reader must know before the verdict; `random` is the share of given records that fit at random."""
    if random is not None:
        yield (
            f"{truth}: about {random:.0%} of the given records fit their rows no better than random records. Either "
            "the file is wrong, or the release keeps little of these rows. So linkage of rows is not measured, unless "
            "it is above the threshold."
        )
    dataset, records = setting.dataset, setting.records
    numbers = {name: domain for name, domain in table.domains.items() if dataset.written.dates(name) is None}
    inferred = tuple(name for name in dataset.inferred if name not in dataset.left_out)
    of_table = (note for note in table_notes(dataset) if note.kind not in READ)
    cells = counted_cells(table.frame, table.frame)
    doubts = release_notes(counted_cells(records.frame, cells), cells, numbers)
    if table.lacking:
        yield f"Not in the release: {', '.join(table.lacking)}. Is it a release of this table?"
    if len(table.frame) != len(records):
        yield (
            f"The release has {counted(len(table.frame), 'row')}, and the original table has {len(records):,}. Is it a "
            "whole release of this table?"
        )
    yield from map(sentence, (*of_table, *doubts))
    yield from interval_end_warnings(table.frame, records.frame, table.domains)
    yield from (f"{one}." for one in far_value_warnings(table.frame, records.frame, numbers))
    yield from control_warnings(setting)
    if inferred:
        yield sentence(Note("inferred domains", inferred))


def _generalized(table: FinishedTable) -> bool:
    """Whether some cell is an interval, a set or suppressed: such rows stem from people."""
    return any(not read_cells(table.frame[name], table.domains[name]).plain.all() for name in table.frame.columns)


def _pseudonyms(frame: pd.DataFrame) -> tuple[str, ...]:
    """Columns of text that differ in every row."""
    return tuple(
        str(name)
        for name in frame.columns
        if len(frame) > 1 and frame[name].notna().all() and frame[name].is_unique
        if pd.to_numeric(frame[name], errors="coerce").isna().any()
    )
