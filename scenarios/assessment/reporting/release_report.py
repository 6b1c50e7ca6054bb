"""Sections of the report on one finished release: first a page to sign, then the evidence."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import exp
from pathlib import Path

from defenses.base import Guarantee
from defenses.grouping.constraints import ROUNDING, DistinctDiversity, EqualCloseness
from leaderboard.pages.number_text import exact, measure, number, with_share
from leaderboard.pages.report import Section, Table, Value
from leaderboard.results.goals import goal_words
from metrics.columns import refuse
from scenarios.assessment.choosing.column_costs import RankCorrelation
from scenarios.assessment.evaluation.evaluation_setting import MeasuredAttack
from scenarios.assessment.evaluation.posed_questions import KNOWN, RELEASED_UTILITY, ReleaseEvaluation
from scenarios.assessment.reporting.findings import (
    COUNTED,
    FEW,
    LITTLE,
    PROFILES,
    THRESHOLDS,
    Finding,
    Measured,
    full_verdict,
    interval_words,
    threshold_words,
)
from scenarios.assessment.reporting.remedies import Advice, remedies_section
from scenarios.tables import CONVENTIONS, Dataset, RiskReport
from scenarios.tables.review.rows_of_people import MOST_NAMED, RowsOfPeople, epsilon_of_a_person
from scenarios.tables.review.summary import ColumnSummary, summary

# Which parts of a declared guarantee a released table can refute, and which rest on the declaration alone.

NAMES = {"k": "k", "l": "l", "t": "t", "epsilon": "epsilon", "delta": "delta", "pk": "Pk"}
"""Parts of a guarantee, as reports name them."""
DISTANCE = "t, equal: "
"""How the names of the largest distances begin, one for each sensitive column, among the risks of an evaluation."""


@dataclass(frozen=True)
class GuaranteeCheck:
    """A guaranteed limit beside the released table.

    - part: Part of the guarantee.
    - guaranteed, measured: What was guaranteed, and what the release has.
    - kept: Whether the release keeps the guarantee so far as it was measured.
    - proves: Whether keeping it proves the guarantee. Entropy and recursive l-diversity need more than distinct values.
    """

    part: str
    guaranteed: float
    measured: float
    kept: bool
    proves: bool = True


def refuse_false_guarantee(
    guaranteed: Guarantee, evaluation: ReleaseEvaluation, name: str, several: Collection[str] = ()
) -> None:
    """Refuse a guarantee that the release does not keep: another defense made it.

    A ValueError is raised if the release has a smaller k or l than was guaranteed, or a larger t with equal distances.

    - name: The defense with its parameters.
    - several: Sensitive columns with sets, intervals or ``*``. With any, l and t are not checked, since such cells are
      no values.
    """
    for check in _checks(guaranteed, evaluation, several):
        refuse(
            not check.kept,
            f"--defense: {name} guarantees {check.part} = {exact(check.guaranteed)}, but the release has "
            f"{check.part} = {exact(check.measured)}: it was not made so",
        )


def unchecked_words(guaranteed: Guarantee, evaluation: ReleaseEvaluation, several: Collection[str] = ()) -> str:
    """Sentence that names the parts of a guarantee which were not checked in the table; empty if there are none."""
    checked = {check.part for check in _checks(guaranteed, evaluation, several) if check.proves}
    names = [shown for part, shown in NAMES.items() if getattr(guaranteed, part) is not None and part not in checked]
    if not names:
        return ""
    return f"As declared with --defense, not checked in the released table: {', '.join(names)}."


def _checks(guaranteed: Guarantee, evaluation: ReleaseEvaluation, several: Collection[str]) -> Iterator[GuaranteeCheck]:
    """Parts of the guarantee that the classes of the release can refute."""
    if guaranteed.k is not None and evaluation.k_rows is not None:
        yield GuaranteeCheck("k", guaranteed.k, evaluation.k_rows, evaluation.k_rows >= guaranteed.k)
    if several or not evaluation.l:
        return
    constraints = () if guaranteed.classes is None else guaranteed.classes.constraints
    if guaranteed.l is not None:
        # A class of entropy or recursive l-diversity has l distinct values, too.
        fewest = min(evaluation.l.values())
        proves = any(isinstance(one, DistinctDiversity) for one in constraints)
        yield GuaranteeCheck("l", guaranteed.l, fewest, fewest >= guaranteed.l - ROUNDING, proves)
    if guaranteed.t is not None and any(isinstance(one, EqualCloseness) for one in constraints):
        largest = max(value for name, value in evaluation.risks.items() if name.startswith(DISTANCE))
        yield GuaranteeCheck("t", guaranteed.t, largest, largest <= guaranteed.t + ROUNDING)


# The seed of a report, which its files give unless somebody chooses one.

SEEDS = 10**6
"""Number of seeds that files can give."""
COUNT = "A report with another seed or other roles is another try: count it with --releases."


def seed_of_tables(table: str, released: str) -> int:
    """The seed that a table and a release give by checksums of their content, so that nobody picks its numbers.

    Examples
    --------
    >>> seed_of_tables("0a", "1b") == seed_of_tables("0a", "1b")
    True
    """
    sums = f"{table} {released}".encode()
    return int.from_bytes(hashlib.sha256(sums).digest()[:8], "big") % SEEDS


def seed_words(seed: int, *, chosen: bool) -> str:
    """Who gave the seed, and what counts as another try."""
    return f"Seed {seed}, {'chosen with --seed' if chosen else 'given by the content of the tables'}. {COUNT}"


# What the parts of a utility measure, and why associations may be missing, 0 or 1.

PARTS = {
    "marginals": "counts of single columns: 1 - distance of the distributions",
    "associations": "relations of pairs of columns (Cramer's V)",
    "queries": "counts of people in ranges of two columns",
    "classifier": "a classifier trained on the release, tested on control people",
}
"""Meaning of each part of `metrics.table_utility.headline_utility`."""
SATURATED = 0.9995
"""Associations that are shown as 1."""
FEWEST = 3
"""Fewest columns whose pairs can differ in strength; a table without information relates all pairs alike."""


def association_words(value: float | None, columns: int) -> str:
    """Why associations are missing or 0, what 1 means, and an empty text otherwise.

    - value: The part ``associations`` of a release's utility.
    - columns: Number of columns that were compared.
    """
    if value is None and columns < FEWEST:
        return f"Associations are not measured: that takes at least {FEWEST} columns, since pairs are compared."
    if value is None:
        return (
            "Associations are not measured: a second sample of as many people would come no closer to the original's "
            "than a release without information."
        )
    if value >= SATURATED:
        return (
            "Associations 1: in their bins, pairs are no further from the table than in a fresh sample of as many "
            "people. Numbers may still be less correlated."
        )
    if value == 0:
        return "Associations 0: the release relates columns no better than constants or random draws."
    return ""


# What a guarantee means for a person, in plain words.


def guarantee_words(stated: Guarantee, rows: RowsOfPeople | None = None) -> list[str]:
    """One sentence for each part of a guarantee, which counts rows.

    `rows` gives numbers of rows and people, if a person has several rows.

    Examples
    --------
    >>> guarantee_words(Guarantee(k=5, statement="5-anonymity over age, job"))[0]
    'k = 5: by the quasi-identifiers alone, everybody looks like at least 4 others.'
    """
    words = []
    if stated.k is not None:
        who, others = ("everybody", "others") if rows is None else ("each row", "other rows")
        words.append(
            f"k = {stated.k}: by the quasi-identifiers alone, {who} looks like at least {stated.k - 1} {others}."
        )
        if rows is not None:
            words.append(f"There are {rows.words}, so a class may hold fewer than {stated.k} people.")
    if stated.l is not None:
        words.append(f"l = {stated.l:g}: every class holds several sensitive values ({stated.statement}).")
    if stated.t is not None:
        words.append(f"t = {stated.t:g}: sensitive values of a class are distributed nearly as in the whole table.")
    if stated.epsilon is not None:
        rare = f", but for an event of probability {stated.delta:g}" if stated.delta else ""
        weak = stated.epsilon > MOST_NAMED
        allows = "nearly any factor" if weak else f"a factor of at most {exp(stated.epsilon):.3g}"
        alone = " This guarantee alone protects nobody; the measurements decide." if weak else ""
        about = "person" if rows is None else "row"
        words.append(
            f"epsilon = {stated.epsilon:.3g}: the release changes the odds of any belief about a {about} by {allows}"
            f"{rare}.{alone}"
        )
        if rows is not None:
            of_person = epsilon_of_a_person(stated.epsilon, stated.delta, rows.most)
            words.append(f"{of_person[0].upper()}{of_person[1:]}.")
    if stated.pk is not None and stated.pk > 1:
        words.append(f"Pk = {stated.pk:.3g}: nobody can be surer than 1/{stated.pk:.3g} that a row is a person's.")
    if stated.statement:
        words.append(f"It refers to: {stated.statement}.")
    return words or ["The method guarantees nothing; the report rests on measurements alone."]


# Rows of the table of all attacks, with one row for attacks that guess by the same classes.

BY_CLASSES = ("MajorityInClass", "Homogeneity", "DeFinetti")
"""Attacks that guess a value from the class of people alike, and seldom differ."""


def attack_rows(measured: Measured) -> Iterator[tuple[Value, ...]]:
    """One row for each attack; of `BY_CLASSES` on one column, the worst that was measured stands for all."""

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


INTERVALS = (
    "The lower ends allow for the number of attacks. The upper ends need not, since a release is within the threshold "
    "only if every attack is."
)
"""How the ends of intervals are computed, in every table of the report."""


COPIES = (
    "A record is unique if nobody else has an equal one. It stands verbatim in the release if some row has its value "
    "in each of the columns. Chance: the share of unique records of half of the people that the other half has, too."
)
"""How copies are counted."""


@dataclass(frozen=True, kw_only=True)
class ReportContent:
    """Everything that the report shows.

    - counts: Whether classes count: rows stem from people.
    - before, after: Class measures of original and release; None without quasi-identifiers.
    - costs: What happened to each column, in words.
    - correlations: Rank correlations of numbers before and after.
    - guarantee: The guarantee of the defense that made the release, if the user named it.
    - guaranteed_by: The defense with its parameters.
    - warnings: What the reader must know before the verdict.
    - advice: How many more people would decide what is not sure.
    - files: Files by option: ``table``, ``released``, ``--roles``, ``--control`` and ``--truth``.
    - options: Further options of the command.
    - seed_chosen: Whether the user chose the seed; else the tables gave it.
    - remedies: What findings rest on, and the cheapest remedies.
    """

    measured: Measured
    counts: bool
    before: RiskReport | None
    after: RiskReport | None
    costs: Mapping[str, str]
    correlations: tuple[RankCorrelation, ...]
    guarantee: Guarantee | None
    guaranteed_by: str
    warnings: tuple[str, ...]
    advice: tuple[str, ...]
    files: Mapping[str, str]
    options: str
    seed_chosen: bool
    remedies: tuple[Advice, ...] = ()


def report_sections(content: ReportContent, profiles: Sequence[str]) -> list[Section]:
    """The report, section by section."""
    return [
        _verdict(content),
        _signature(),
        *([remedies_section(content.remedies)] if content.remedies else []),
        _before_and_after(content),
        _attacks(content.measured),
        *(PROFILES[name](content.measured) for name in dict.fromkeys(profiles)),
        _guarantee(content),
        _utility(content),
        _table(content.measured.setting.dataset),
        _reproduction(content),
    ]


def _verdict(content: ReportContent) -> Section:
    """The verdict and the findings, worst first."""
    measured = content.measured
    text = (
        full_verdict(measured),
        *content.advice,
        *content.warnings,
        f"Threshold: {threshold_words(measured.threshold)}. Risk 0 tells nothing about a person, 1 tells all. A class "
        "with one sensitive value, or of numbers one public bin, counts like a class of one person.",
    )
    columns = ("finding", "risk", "interval", "against threshold", "how measured", "meaning")
    rows = [finding_row(one) for one in measured.findings]
    number = measured.releases
    judged = f"Release {number} of those that are judged on these people. " if number > 1 else ""
    seed = seed_words(measured.setting.seed, chosen=content.seed_chosen)
    note = (
        f"{judged}{len(measured.evaluation.outcomes)} attacks were tried; others may do better. By mistake, some "
        "release is called above the threshold with probability 2.5 % at most, and some release within it with "
        "probability 5 % at most, however many are judged. An interval reaches from the lower end of the worst attack "
        f"to the largest upper end of all attacks of its goal. {INTERVALS} {seed} Notes on what was "
        "recognized, and what cannot be seen, follow the attacks."
    )
    return Section(
        "Verdict",
        text,
        (Table("Findings: above, not sure, within; worst first", columns, rows, 2, note),),
    )


def finding_row(one: Finding) -> tuple[Value, ...]:
    """Cells of a finding: what is at risk, risk, interval, how it compares, how it was measured, and its meaning."""
    hidden = one.status in (FEW, LITTLE)
    interval = "–" if one.how == COUNTED or hidden else interval_words(one.low, one.high)
    # A number that says little, or was hardly measured, would be read as a risk.
    return one.title, None if hidden else one.value, interval, one.status, one.how, one.meaning


def _signature() -> Section:
    line = "_" * 24
    rows = [
        (name, line)
        for name in (
            "Recipient and purpose",
            "Decision (release, release under conditions, refuse)",
            "Conditions, such as: rows are synthetic, no look-up of rows, no passing on",
            "Risks above the threshold or not measured that are accepted, and why",
            "Name and role",
            "Date and signature",
        )
    ]
    return Section("Signature", (), (Table("Decision", ("", "to be filled in"), rows),), ends_page=True)


def _before_and_after(content: ReportContent) -> Section:
    tables = [Table("Columns", ("column", "what happened"), list(content.costs.items()))]
    before, after = content.before, content.after
    if before is not None and after is not None:
        measures = [{(name, about): value for name, about, value in one.measures} for one in (before, after)]
        rows: list[tuple[Value, ...]] = [
            ("records", f"{before.rows:,}", f"{after.rows:,}"),
            ("classes of people alike", f"{before.classes:,}", f"{after.classes:,}"),
            ("alone in their class", with_share(before.uniques, before.rows), with_share(after.uniques, after.rows)),
            *(
                (f"in a class with one value of {name}", with_share(old, before.rows), with_share(new, after.rows))
                for (name, old), (_, new) in zip(before.one_value, after.one_value, strict=True)
            ),
            *(
                (f"{name}: {about}", measure(old), measure(new))
                for (name, _, old), (_, about, new) in zip(before.models, after.models, strict=True)
            ),
            # A table with * has a measure that the other one lacks.
            *(
                (f"{name}: {about}", *(measure(one[name, about]) if (name, about) in one else "–" for one in measures))
                for name, about in dict.fromkeys([*measures[1], *measures[0]])
            ),
        ]
        title = "Risk by classes" if content.counts else "Classes, which say little: rows may stem from nobody"
        ranges = " ".join(str(note) for note in after.notes if note.kind in CONVENTIONS)
        tables.insert(0, Table(title, ("measure", "original", "release"), rows, note=ranges))
    return Section("Before and after", (), tuple(tables))


def _attacks(measured: Measured) -> Section:
    """Every attack, with what the attacker was assumed to know."""
    columns = ("attack", "goal", "attacker knows", "success", "chance", "trials", "advantage, or why not measured")
    note = (
        "Advantage: (success - chance) / (1 - chance). Chance is the success on control people, or what can be said "
        "without the release. An attack that does not answer is counted as wrong. An advantage below 0 is worse than "
        f"guessing, and no risk. {KNOWN[0].upper()}{KNOWN[1:]}. {INTERVALS}"
    )
    texts = [(one,) for one in measured.evaluation.notes]
    notes = Table("Notes", ("what was recognized, and what cannot be seen",), texts)
    attacks = Table("All attacks", columns, list(attack_rows(measured)), 3, note)
    copies = [
        (one.about, one.unique, with_share(one.copied, one.unique), f"{one.chance:.1%}")
        for one in measured.evaluation.copies
        if one.unique
    ]
    if not copies:
        return Section("Attacks", (), (attacks, notes))
    heads = ("columns", "people with a unique record", "stand verbatim in the release", "by chance")
    verbatim = Table("Unique records in the release", heads, copies, note=COPIES)
    return Section("Attacks", (), (attacks, verbatim, notes))


def _guarantee(content: ReportContent) -> Section:
    if content.guarantee is None:
        words = ["None is known of a finished file. --defense names the method that made it, for its guarantee."]
    else:
        rows = RowsOfPeople.of(content.measured.setting.dataset.records)
        words = [f"{content.guaranteed_by} guarantees: {content.guarantee}.", unchecked(content)]
        words += guarantee_words(content.guarantee, rows)
    return Section("Guarantee", tuple(filter(None, words)))


def unchecked(content: ReportContent) -> str:
    """What of the guarantee rests on the declaration alone; empty if nothing does."""
    guaranteed, after = content.guarantee, content.after
    several = () if after is None else after.several
    return "" if guaranteed is None else unchecked_words(guaranteed, content.measured.evaluation, several)


def _utility(content: ReportContent) -> Section:
    evaluation, columns = content.measured.evaluation, len(content.costs)
    rows: list[tuple[Value, ...]] = [("utility", evaluation.utility, "mean of the parts that were measured")]
    if evaluation.partial or evaluation.utility == 0:
        rows.append(("of released columns", evaluation.released_utility, RELEASED_UTILITY))
    rows += [(name, value, PARTS.get(name, "")) for name, value in evaluation.components.items()]
    about = "Spearman's rank correlation in the original table and in the release"
    pairs = [(one.name, number(one.before), number(one.after)) for one in content.correlations]
    rows.append(
        ("information loss", evaluation.information_loss, "share of the domain that a cell covers; lower is better")
    )
    words = association_words(evaluation.components.get("associations"), columns)
    scale = "Each part is rescaled: 1 is the original table, 0 the best that a table without information reaches."
    note = f"{scale} {words}".strip()
    tables = [Table("Part by part", ("part", "value", "meaning"), rows, 3, note)]
    if pairs:
        tables.append(Table("Pairs of numbers, the largest change first", ("pair", "before", "after"), pairs, 2, about))
    return Section("Utility", (), tuple(tables))


def _table(dataset: Dataset) -> Section:
    rows: list[tuple[Value, ...]] = [tuple(row) for row in summary(dataset)]
    return Section("Roles and domains", (), (Table("Original table", ColumnSummary._fields, rows),))


def _reproduction(content: ReportContent) -> Section:
    """The command that reproduces each number."""
    files = {name: shlex.quote(path) for name, path in content.files.items()}
    roles, control, truth = (
        f" {option} {files[option]}" if option in files else "" for option in ("--roles", "--control", "--truth")
    )
    held_out = control.replace("--control", "--held-out")
    table, released = files["table"], files["released"]
    setting, number = content.measured.setting, content.measured.releases
    targets = f"--targets {setting.targets}"
    settings = f"--seed {setting.seed} {targets}"
    # The same files give the same seed.
    chosen = settings if content.seed_chosen else targets
    releases = f" --releases {number}" if number > 1 else ""
    rows = [
        ("attacks (with wider intervals)", f"tokumei rank {table} {released}{roles}{control} {settings} --format csv"),
        ("classes", f"tokumei risk {released}{roles}"),
        ("utility", f"tokumei utility {table} {released}{roles}{held_out} --seed {setting.seed}"),
        (
            "this report",
            f"tokumei report {table} {released}{roles}{control}{truth} {chosen}{releases} "
            f"--threshold {content.measured.threshold:g}{content.options} -o report.html",
        ),
    ]
    facts = [(path, hashlib.sha256(Path(path).read_bytes()).hexdigest()) for path in content.files.values()]
    thresholds = [(exact(one.value), one.classes, one.use, one.source) for one in THRESHOLDS]
    return Section(
        "How to check",
        (),
        (
            Table("Commands", ("numbers", "command"), rows),
            Table("SHA-256 of the files", ("file", "sum"), facts),
            Table("Thresholds in use", ("threshold", "class size", "use", "source"), thresholds),
        ),
    )
