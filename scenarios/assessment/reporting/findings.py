"""Findings on a release, each a risk between 0 and 1 beside a threshold, worst first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from leaderboard.pages import Section, Table, Value, counted, exact, number
from leaderboard.results.goals import goal_meaning, goal_title
from leaderboard.statistics.pairs import FEWEST_TRIALS
from metrics.classes import equivalence_classes, rows_in_classes
from metrics.columns import Cells, Domain, Floats, Integers, NumericDomain, read_cells
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting, MeasuredAttack
from scenarios.assessment.evaluation.finished_classes import FinishedClasses
from scenarios.assessment.evaluation.posed_questions import EVERYTHING, HALVES, NOTHING, QUASI, ReleaseEvaluation
from scenarios.assessment.evaluation.row_origin import QUASI_IDENTIFIERS, UNRELIABLE
from scenarios.games.questions.person_questions import two_halves
from scenarios.tables.review.rows_of_people import ClassMembers

# What equivalence classes show about a sensitive column.

_SURE = 1 - 1e-9
"""Share from which all of a class lies in one bin, up to rounding."""


@dataclass(frozen=True)
class ClassValues:
    """What equivalence classes show about a sensitive column, by categories or public bins.

    - excess: Largest (p - q) / (1 - q) for a value with share p in a class and q in the table; 0 if there is one value
      only. Where a person may have several rows, the larger one of rows and of people.
    - one_value: People in classes whose people all have some value for sure (distinct l-diversity 1). Classes of one
      person count.
    - open_cells: Records whose cell leaves more than one value: an interval, a set or ``*``.
    - worst: The class with this excess, and the number of its value in the mass of the cells.
    """

    excess: float
    one_value: int
    open_cells: int
    worst: tuple[int, int] = field(default=(0, 0), compare=False)


def class_values(classes: Integers, cells: Cells, people: Integers | None = None) -> ClassValues:
    """Measure what classes show.

    Where people have several rows, shares are taken of rows and of people: a person has the values of all their rows.

    A set or an interval counts evenly for the values that it covers. ``*`` says nothing, so it counts for values as the
    other cells of the table do. A missing value is a value like others.

    - classes, shape (rows,): The class of each record, from 0 without a gap.
    - cells: The sensitive column.
    - people, shape (rows,): Number of the person of each record; by default, each record is a person.
    """
    mass = cells.mass()
    rows = np.bincount(cells.codes, minlength=len(mass))
    shown = rows * ~cells.suppressed
    if not shown.any():
        return ClassValues(0.0, 0, int(classes.size))
    table = shown @ mass / shown.sum()
    mass[cells.suppressed] = table
    known = (mass.max(axis=1) > _SURE) & ~cells.suppressed
    certain, open_cells = np.where(known[:, None], mass, 0), int(rows[~known].sum())
    sizes = np.bincount(classes)
    counts = csr_array((np.ones(classes.size), (classes, cells.codes)), shape=(sizes.size, len(mass)))
    if people is None:
        one_value = (counts @ csr_array(certain)).max(axis=1).toarray().ravel() > _SURE * sizes
        exposed = int(sizes[one_value].sum())
    else:
        sure = _shares_of_people(classes, people, certain[cells.codes])
        one_value = sure.max(axis=1).toarray().ravel() > _SURE
        exposed = np.unique(people[one_value[classes]]).size
    # A table of one value has no news, even where some cells hide it.
    if table.max() > _SURE:
        return ClassValues(0.0, exposed, open_cells)
    found = [_largest_excess(counts @ csr_array(mass), sizes, table)]
    if people is not None:
        of_all = _shares_of_people(np.zeros_like(classes), people, mass[cells.codes]).toarray()[0]
        shares = _shares_of_people(classes, people, mass[cells.codes])
        found.append(_largest_excess(shares, np.ones(sizes.size), of_all))
    excess, *worst = max(found)
    return ClassValues(excess, exposed, open_cells, (worst[0], worst[1]))


def _largest_excess(numbers: csr_array, sizes: NDArray[Any], overall: Floats) -> tuple[float, int, int]:
    """Largest (p - q) / (1 - q), at least 0, with its class and value; a value that everybody has is no news.

    The share p of a value in a class is its number there divided by the size of the class.
    """
    found = numbers.tocoo()
    shares, known = found.data / sizes[found.row], overall[found.col]
    excess = np.where(known < _SURE, (shares - known) / np.maximum(1 - known, 1 - _SURE), 0.0)
    worst = int(excess.argmax())
    return max(0.0, float(excess[worst])), int(found.row[worst]), int(found.col[worst])


def _shares_of_people(classes: Integers, people: Integers, mass: Floats) -> csr_array:
    """Share of the people of each class who have each value, shape (classes, values).

    A person has a value as surely as the surest row of the person in the class.
    """
    pairs = pd.DataFrame({"class": classes, "person": people})
    member = pairs.groupby(["class", "person"], sort=False).ngroup().to_numpy()
    order = np.argsort(member, kind="stable")
    starts = np.flatnonzero(np.diff(member[order], prepend=-1))
    surest = np.maximum.reduceat(mass[order], starts, axis=0)
    of_class = classes[order][starts]
    weight = csr_array((1 / np.bincount(of_class)[of_class], (of_class, np.arange(of_class.size))))
    return csr_array(weight @ csr_array(surest))


ABOVE, UNSURE, WITHIN, LITTLE, FEW = "above", "not sure", "within", "says little", "not measured"
"""How a finding compares with the threshold."""
COUNTED = "counted"
"""How findings are measured that are no estimates."""
SYNTHETIC = "If rows stem from people, this counts. Rows of a synthetic table stem from nobody."
"""What a class of rows means of which nobody knows whether they stem from people."""
CHANGED = (
    "{:.1%} of the rows hold their person's quasi-identifiers. So exact matching does not apply, and attacks measure "
    "who is found."
)
"""What a class means of rows whose values were changed, as by noise."""
SMALLEST = "Smallest class of people alike"
"""Title of the finding on the smallest class."""
UNSTATED = (
    "A person ({0}) may have several rows, so a class may hold fewer people; --truth, or a column of pseudonyms in the "
    "release, tells whose the rows are."
)
"""What is said of classes of rows whose people nobody knows."""
ALL = 1 - 1e-9
"""Share of a class from which all of it have a value, up to rounding."""
CRITERIA = ("singling out", "linkability", "inference")
"""The three risks of Article 29 Working Party, opinion 05/2014, as the verdict names them."""
COPIED = 0.5
"""Share of a column's values that are those of an identifier, above which it holds the identifier."""


@dataclass(frozen=True)
class Finding:
    """One risk of a release.

    - title: What is at risk.
    - value: The risk in [0, 1]: 0 for a table that says nothing, 1 for a person who is found out for sure.
    - low, high: Ends of its interval; both are the value if it is counted, not estimated.
    - status: `ABOVE`, `UNSURE` or `WITHIN` the threshold. `LITTLE` says little about this kind of release, and `FEW`
      had too few trials to measure a risk.
    - how: How it was measured.
    - meaning: What it means for a person in the table.
    - by_knowledge: The risk by what the attacker knows (`scenarios.assessment.evaluation.posed_questions`), where it
      was measured.
    - attacked: Whether an attack measured it, and the release distinguishes people.
    - names_people: Whether a released column holds an identifier in the clear.
    """

    title: str
    value: float
    low: float
    high: float
    status: str
    how: str
    meaning: str
    by_knowledge: tuple[tuple[str, float], ...] = ()
    attacked: bool = False
    names_people: bool = False


def class_findings(
    cells: pd.DataFrame,
    quasi_identifiers: Sequence[str],
    sensitive: Mapping[str, Domain],
    threshold: float,
    *,
    counts: bool,
    people: Integers | None = None,
    person: str | None = None,
    holding: float | None = None,
) -> list[Finding]:
    """Risks of the smallest class, and of the class that says most about a sensitive value.

    Whoever matches exactly finds the rows of at most the share `holding` of the people. Where it is within the
    threshold, as after noise, classes say little, and attacks that compare by distance decide.

    A class that holds one value of a sensitive column is as bad as a class of one person: its people are found out. Let
    a value have the share p in the class and q in the table. The risk of a class is its largest (p - q) / (1 - q).
    Cells that leave several values count as `scenarios.assessment.reporting.findings` says.

    If a person may have several rows and nobody knows whose they are, a class of n rows holds n people at most. Its
    risk is 1 / n at least, and never called within.

    - quasi_identifiers: Columns that an attacker may know, at least one.
    - sensitive: Sensitive columns with their domains. Numbers are compared by their public bins: cents do not protect a
      salary.
    - threshold: Largest acceptable risk.
    - counts: Whether classes count: rows stem from people. Classes of synthetic rows say little.
    - people, shape (rows,): Number of the person of each row, if `person` is named; None if it is not known.
    - person: Column that names the person, if somebody has several rows; else each row is a person.
    - holding: Share of the rows that hold their person's quasi-identifiers, if it is known whose they are.
    """
    inside = rows_in_classes(cells, quasi_identifiers)
    cells, people = cells[inside], None if people is None else people[inside]
    classes = equivalence_classes(cells, quasi_identifiers)
    members = ClassMembers.of(classes, np.arange(classes.size) if people is None else people)
    smallest = 1 / int(members.sizes.min())
    everybody = np.unique(members.people).size
    words = _smallest_words(smallest, "rows" if people is None else "people")
    if people is not None:
        above = members.in_small_classes(1 / threshold)
        words += f" {above:,} of {everybody:,} people have a row in a class above {exact(threshold)}."
    shown = {name: class_values(classes, read_cells(cells[name], domain), people) for name, domain in sensitive.items()}
    risks = [(SMALLEST, smallest, words)] + [
        (class_title(name), values.excess, _value_words(name, sensitive[name], values, everybody, classes.size))
        for name, values in shown.items()
    ]
    changed = holding is not None and holding <= threshold
    if not counts or changed:
        meaning = CHANGED.format(holding) if changed else SYNTHETIC
        return [Finding(title, value, value, value, LITTLE, COUNTED, meaning) for title, value, _ in risks]
    findings = []
    for title, value, words in risks:
        low, high, how = value, value, COUNTED
        if person is not None and people is None:
            # A value that all rows of a class have is that of all its people; other shares may be those of one person.
            low, high = (value if title == SMALLEST or value > ALL else 0.0), 1.0
            how = f"{COUNTED} in rows: nobody knows whose they are"
            words = f"{words} {UNSTATED.format(person)}"
        status = _status(low, high, threshold)
        findings.append(Finding(title, value, low, high, status, how, words, ((QUASI, value),)))
    return findings


GROUP = "Somebody of a household or other group"
"""Title of the finding on declared groups."""


def group_findings(classes: FinishedClasses | None, threshold: float) -> list[Finding]:
    """The highest risk that somebody in a declared group is recognized, where it is known whose the rows are."""
    if classes is None or classes.groups is None:
        return []
    value, mean = classes.groups
    words = f"Whoever recognizes one member finds the others; {number(mean)} on average over the groups."
    return [Finding(GROUP, value, value, value, _status(value, value, threshold), COUNTED, words, ((QUASI, value),))]


def class_title(column: str) -> str:
    """Title of the finding on the class that says most about a sensitive column."""
    return f"Class that says most about {column}"


def identifier_findings(unknown: pd.DataFrame, identifiers: pd.DataFrame) -> list[Finding]:
    """Released columns that hold the values of an identifier, among those that the original table does not have."""
    cells = {name: column.dropna().astype(str) for name, column in unknown.items()}
    known = {name: set(column.dropna().astype(str)) for name, column in identifiers.items()}
    shares = {
        (name, identifier): float(cells[name].isin(values).mean())
        for name in cells
        for identifier, values in known.items()
        if len(cells[name])
    }
    said = "{:.0%} of the values of this column are values of {!r}: people are named."
    return [
        Finding(
            f"Identifier in column {name!r}",
            1.0,
            1.0,
            1.0,
            ABOVE,
            COUNTED,
            said.format(share, identifier),
            names_people=True,
        )
        for (name, identifier), share in shares.items()
        if share > COPIED
    ]


def copy_findings(evaluation: ReleaseEvaluation, threshold: float) -> Iterator[Finding]:
    """Unique records that stand verbatim in the release, where their share beyond chance is above the threshold.

    A small share is no finding: a release may tell people apart without a copy of anybody.
    """
    for one in evaluation.copies:
        if one.excess > threshold and one.unique >= FEWEST_TRIALS:
            knows = QUASI if one.about == QUASI_IDENTIFIERS else EVERYTHING
            yield Finding(
                f"Unique records that stand verbatim ({one.about})",
                one.excess,
                one.excess,
                one.excess,
                ABOVE,
                COUNTED,
                f"Whoever finds the row knows that it is the person's: {one.words}.",
                ((knows, one.excess),),
            )


def attack_findings(evaluation: ReleaseEvaluation, threshold: float, number: int = 1) -> Iterator[Finding]:
    """The worst attack of each goal.

    A goal is `ABOVE` the threshold if its worst attack is: the lower bounds of all attacks hold together. It is
    `WITHIN` if every attack is: then the upper bound of each must hold alone (`ReleaseEvaluation.highest`). By mistake,
    some release is called above with probability 2.5 % at most, and some within with 5 % at most. A goal of too few
    trials is `FEW`, not measured (`ReleaseEvaluation.judged`). Linkage of rows by unreliable records says `LITTLE`,
    unless it is above the threshold: false records only understate it.

    - threshold: Largest acceptable risk.
    - number: Number of the release among those that are judged on the same people, from which one is picked.

    Source: Berger (1982), Multiparameter hypothesis testing and acceptance sampling.
    """
    for goal in dict.fromkeys(outcome.goal for outcome, _ in evaluation.advantages):
        worst = evaluation.worst(goal)
        if worst is None:
            yield _few(evaluation, goal)
        else:
            outcome, estimate = worst
            value = min(1.0, max(0.0, estimate.value))
            low = min(value, max(0.0, evaluation.lowest(outcome, number)))
            high = max(value, min(1.0, evaluation.highest(goal, number)))
            trials = "" if outcome.score is None else f", {counted(outcome.score.trials, 'trial')}"
            known = {knows: max(0.0, at) for knows, at in evaluation.by_knowledge(goal).items()}
            how = f"attack {outcome.title}, who knows {outcome.knows}{trials}{_compared(outcome)}"
            how += _of_others(known, outcome.knows)
            if outcome.nothing_told:
                how = "the release tells nobody apart, whoever attacks"
            status = _status(low, high, threshold)
            if goal == "reidentification" and evaluation.origin == UNRELIABLE and status != ABOVE:
                status, how = LITTLE, f"{how}, by given records of which many fit no better than random ones"
            yield Finding(
                goal_title(goal),
                value,
                low,
                high,
                status,
                how,
                goal_meaning(goal),
                tuple(known.items()),
                not outcome.nothing_told,
            )


def _of_others(known: Mapping[str, float], knows: str) -> str:
    """The risk by attackers of other knowledge than the worst one."""
    return "".join(f"; {number(at)} for those who know {other}" for other, at in known.items() if other != knows)


def _few(evaluation: ReleaseEvaluation, goal: str) -> Finding:
    """A goal about which no attack had enough trials."""
    outcome, _ = max((pair for pair in evaluation.advantages if pair[0].goal == goal), key=lambda pair: pair[1].n)
    trials = 0 if outcome.score is None else outcome.score.trials
    how = f"attack {outcome.title}, who knows {outcome.knows}, {counted(trials, 'trial')}, too few to judge"
    return Finding(goal_title(goal), 0.0, 0.0, 1.0, FEW, how, goal_meaning(goal))


def _compared(outcome: MeasuredAttack) -> str:
    """What singling out is compared with where control people were too few to measure chance; else nothing."""
    score = outcome.score
    if outcome.goal != "singling_out" or score is None or score.control_trials is not None:
        return ""
    return f", compared with {number(score.chance)}, the most that chance isolates: rather understated"


def interval_words(low: float, high: float) -> str:
    """An interval rounded outwards, so that an end beyond the threshold is shown beyond it."""
    low, high = math.floor(round(100 * low, 9)) / 100, math.ceil(round(100 * high, 9)) / 100
    return f"[{number(low)}, {number(high)}]"


def ordered(findings: Sequence[Finding]) -> list[Finding]:
    """Findings above the threshold first, then those not sure and within; the worst first, counted before estimated."""
    rank = {ABOVE: 0, UNSURE: 1, WITHIN: 2, FEW: 3, LITTLE: 4}
    return sorted(findings, key=lambda one: (rank[one.status], -round(one.value, 2), one.how != COUNTED, one.title))


def passes(findings: Sequence[Finding], unchecked: Sequence[str]) -> bool:
    """Whether something was measured, all of it is within the threshold, and no released column was left unchecked."""
    decisive = [one for one in findings if one.status not in (FEW, LITTLE)]
    return bool(decisive) and all(one.status == WITHIN for one in decisive) and not unchecked


def verdict(findings: Sequence[Finding], unmeasured: Sequence[str], unchecked: Sequence[str], threshold: float) -> str:
    """What the findings say together, in plain words.

    - findings: Findings in the order of `ordered`.
    - unmeasured: Goals of attacks that were not measured.
    - unchecked: Released columns that the original table does not have.
    - threshold: Largest acceptable risk.
    """
    of_wp29 = sum(words.startswith(CRITERIA) for words in unmeasured)
    count = f" That is {of_wp29} of the {len(CRITERIA)} risks of WP29: {', '.join(CRITERIA)}." if of_wp29 else ""
    lacking = f"ot measured: {', '.join(unmeasured)}.{count}" if unmeasured else ""
    missing = f" N{lacking}" if lacking else ""
    if unchecked:
        missing = f" Not in the original table, and not checked: {', '.join(unchecked)}.{missing}"
    by_status = {status: [one for one in findings if one.status == status] for status in (ABOVE, UNSURE, WITHIN)}
    if by_status[ABOVE]:
        worst, *others = by_status[ABOVE]
        also = f" Also above: {_inside(others)}." if others else ""
        return f"The risk is above {exact(threshold)}. Worst: {_inside([worst])}, {number(worst.value)}.{also}{missing}"
    if by_status[UNSURE]:
        words = f"the interval is too wide for {_inside(by_status[UNSURE])}"
        return f"The risk is not shown to be within {exact(threshold)}: {words}.{missing}"
    if not by_status[WITHIN]:
        return f"No risk was measured, so nothing can be said.{missing}"
    if unchecked:
        return f"The release is not shown to be within {exact(threshold)}.{missing}"
    if lacking:
        return f"Measured risks are within {exact(threshold)}; n{lacking}"
    return f"Every risk is within {exact(threshold)}."


def _inside(findings: Sequence[Finding]) -> str:
    """Titles inside a sentence; names of columns keep their capital letters."""
    return ", ".join(one.title[0].lower() + one.title[1:] for one in findings)


def _status(low: float, high: float, threshold: float) -> str:
    if low > threshold:
        return ABOVE
    return WITHIN if high <= threshold else UNSURE


def _value_words(column: str, domain: Domain, shown: ClassValues, people: int, rows: int) -> str:
    """What the classes show about a sensitive column, and how many cells leave several values."""
    what = "bin" if isinstance(domain, NumericDomain) else "value"
    words = f"In the worst class a {what} of {column} is that much surer than in the whole table."
    if shown.one_value and shown.excess:
        words = (
            f"{shown.one_value / people:.1%} of the people are in a class in which all have one {what} of {column}: "
            f"whoever finds the class knows the {what}."
        )
    if not shown.open_cells:
        return words
    return (
        f"{words} {shown.open_cells:,} of {counted(rows, 'cell')} leave several {what}s: a set or an interval counts "
        f"evenly for each, and * as the whole table."
    )


def _smallest_words(risk: float, unit: str) -> str:
    people = round(1 / risk)
    if people == 1:
        return "Somebody stands alone: whoever knows this person's quasi-identifiers finds the row."
    return f"Whoever knows a person's quasi-identifiers finds {people} {unit} that fit, at the least."


# Profiles: which criteria of a rule were measured, and how.

# Named thresholds of risk, with their sources.


@dataclass(frozen=True)
class Threshold:
    """A threshold in use.

    - value: Largest acceptable risk of a person.
    - classes: Smallest equivalence class that it allows: 1 / value, rounded.
    - use: Who uses it, and for what.
    - source: Where it is written.
    """

    value: float
    classes: int
    use: str
    source: str


THRESHOLDS = (
    Threshold(
        0.05, 20, "releases to everybody whose disclosure would do much harm", "El Emam (2013), Guide, chapter 16"
    ),
    Threshold(
        0.09,
        11,
        "clinical reports that are published",
        "European Medicines Agency, guidance on policy 0070, 2016; Health Canada, guidance on public release, 2019",
    ),
    Threshold(0.2, 5, "releases under a contract, to known users", "El Emam (2013), Guide, chapter 16"),
    Threshold(0.33, 3, "releases to trusted users under control", "El Emam (2013), Guide, chapter 16"),
)
"""Thresholds in ascending order."""


def threshold_words(value: float) -> str:
    """A threshold with its usual use, if it has one."""
    known = next((one for one in THRESHOLDS if one.value == value), None)
    return exact(value) if known is None else f"{exact(value)} ({known.use}; classes of {known.classes} people)"


NOT_MEASURED = "not measured"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What the criteria of profiles are answered from.

    - pseudonyms: Released columns that differ in every row, which could link this table with others.
    - unknown: Released columns that the original table does not have.
    - alone: Number of released rows in a class of one `unit`.
    - unit: What classes count: ``person``, or ``row`` where a person may have several rows and nobody knows whose they
      are.
    - threshold: Largest acceptable risk.
    - releases: Number of releases that were judged on the same people, this one included.
    - columns: Released columns of the original table.
    - quasi_identifiers, sensitive: Those of them with these roles.
    """

    setting: EvaluationSetting
    evaluation: ReleaseEvaluation
    findings: tuple[Finding, ...]
    pseudonyms: tuple[str, ...]
    unknown: tuple[str, ...]
    alone: int
    threshold: float
    releases: int = 1
    unit: str = "person"
    columns: tuple[str, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()

    def interval(self, outcome: MeasuredAttack) -> str:
        """Advantage of a measured attack with the ends that decide about it."""
        estimate = outcome.advantage()
        value = 0.0 if estimate is None else estimate.value
        return f"{number(value)} {interval_words(*self.evaluation.interval(outcome, self.releases))}"


def wp29(measured: Measured) -> Section:
    """The three criteria of Article 29 Working Party, opinion 05/2014 on anonymisation techniques."""
    criteria = (
        ("Singling out: can a person's records be isolated?", "singling_out"),
        ("Linkability: can records of one person be linked?", "linkability"),
        ("Inference: can a value be deduced from others?", "attribute"),
    )
    rows = [(words, *_of_goal(measured, goal)) for words, goal in criteria]
    note = (
        "Article 29 Working Party (2014), opinion 05/2014, section 2.2; measured after Giomi et al. (2023), section 4."
    )
    return Section(
        "Profile: WP29 opinion 05/2014",
        ("The opinion calls a technique sound if none of the three is possible. It names no numbers.",),
        (Table("Three criteria", ("criterion", "advantage", "by", "compared with"), rows, 3, note),),
    )


def japan(measured: Measured) -> Section:
    """The five criteria of article 34 of the enforcement rules of Japan's personal information protection law."""
    identifiers = ", ".join(measured.setting.records.identifiers) or "none is declared"
    linking = ", ".join(measured.pseudonyms)
    named = [one.title for one in measured.findings if one.names_people]
    worst = measured.evaluation.worst()
    rows: list[tuple[Value, ...]] = [
        (
            "1. Descriptions that identify a person are deleted or replaced",
            "checked",
            f"in the clear: {', '.join(named)}" if named else f"no declared identifier is in the clear ({identifiers})",
        ),
        (
            "2. Individual identification codes are deleted",
            "by declaration",
            "such codes (numbers of passports or insurance, features of the body) must be declared as identifiers",
        ),
        (
            "3. Codes that link the information with other information are deleted",
            "checked",
            f"these columns differ in every row: {linking}" if linking else "no released column differs in every row",
        ),
        (
            "4. Peculiar descriptions are deleted",
            "measured",
            f"{counted(measured.alone, 'row')} in a class of one {measured.unit} by the quasi-identifiers",
        ),
        (
            "5. Other measures that the nature of the database calls for",
            "measured" if worst else NOT_MEASURED,
            f"worst attack: {worst[0].title}, advantage {measured.interval(worst[0])}"
            if worst
            else "no attack was measured",
        ),
    ]
    note = (
        "Enforcement rules of the Act on the Protection of Personal Information, article 34, for anonymously processed "
        "information (匿名加工情報). Whether a measure suffices is for a person to decide."
    )
    return Section(
        "Profile: Japan, enforcement rules article 34",
        (),
        (Table("Five criteria", ("criterion", "how", "result"), rows, note=note),),
    )


def health(measured: Measured) -> Section:
    """The usual thresholds of health data, and which of them the findings of the release keep."""
    decisive = [one for one in measured.findings if one.status not in (FEW, LITTLE)]
    rows: list[tuple[Value, ...]] = []
    for one in THRESHOLDS:
        over = [finding.title for finding in decisive if finding.high > one.value]
        kept = "yes" if decisive and not over else f"no: {over[0]}" if over else NOT_MEASURED
        rows.append((exact(one.value), one.classes, one.use, kept, one.source))
    columns = ("threshold", "class size", "usual use", "kept", "source")
    return Section("Profile: health data", (), (Table("Usual thresholds", columns, rows),))


PROFILES = {"wp29": wp29, "japan": japan, "health": health}
"""Profiles by name."""


def unmeasured_goals(measured: Measured) -> list[str]:
    """Criteria of WP29 and further goals that were not measured, as readers know them, with what stands in for them."""
    classes = any(one.how.startswith(COUNTED) and one.status != LITTLE for one in measured.findings)
    instead = "needs --truth; the smallest class bounds it" if classes else "rows of a synthetic table stem from nobody"
    tried = any(one.goal == "singling_out" and one.score is not None for one in measured.evaluation.outcomes)
    names = {
        "singling_out": "singling out",
        "linkability": "linkability",
        "attribute": "inference",
        "membership": "membership",
        "reidentification": f"linkage of rows ({instead})",
    }
    found = {outcome.goal for outcome, _ in measured.evaluation.advantages}
    few = {goal for goal in found if not measured.evaluation.judged(goal)}
    names |= {goal: f"{names[goal]} (too few trials to judge)" for goal in few & names.keys()}
    rows = goal_title("reidentification")
    if measured.evaluation.origin == UNRELIABLE and (rows, LITTLE) in (
        (one.title, one.status) for one in measured.findings
    ):
        few.add("reidentification")
        names["reidentification"] = "linkage of rows (many given records fit no better than random ones)"
    if tried and "singling_out" not in found:
        names["singling_out"] = "singling out (no released row stands out)"
    return [words for goal, words in names.items() if goal not in found - few]


def _of_goal(measured: Measured, goal: str) -> tuple[Value, Value, Value]:
    evaluation = measured.evaluation
    worst = evaluation.worst(goal)
    if worst is None:
        reasons = (outcome.reason for outcome in evaluation.outcomes if outcome.goal == goal and outcome.reason)
        few = next((one.how for one in measured.findings if one.title == goal_title(goal) and one.status == FEW), None)
        return NOT_MEASURED, "–", few or next(reasons, "needs control people (--control)")
    outcome, _ = worst
    controls = outcome.score.control_trials if outcome.score is not None else None
    compared = "the most that a predicate isolates without the release"
    if outcome.nothing_told:
        compared = "the release tells nobody apart"
    elif controls:
        outside = measured.setting.control is not None
        compared = f"{controls} control trials" if outside else "what the other records predict"
    found = next((one for one in measured.findings if one.title == goal_title(goal)), None)
    # The finding's interval, whose upper end is the largest of all attacks of the goal.
    if found is None or found.status == LITTLE:
        return measured.interval(outcome), outcome.title, compared
    return f"{number(found.value)} {interval_words(found.low, found.high)}", outcome.title, compared


# The verdict of a report, with what the attackers know whose success it states.

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
    if len(one.by_knowledge) > 1 or one.value == one.high or one.attacked:
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
