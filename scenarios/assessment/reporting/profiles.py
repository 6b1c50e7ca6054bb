"""Profiles: which criteria of a rule were measured, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.pages.number_text import counted, exact, number
from leaderboard.pages.report import Section, Table, Value
from leaderboard.results.goals import goal_title
from scenarios.assessment.evaluation.evaluation_setting import EvaluationSetting
from scenarios.assessment.evaluation.measured_attack import MeasuredAttack
from scenarios.assessment.evaluation.posed_questions import EVERYTHING, HALVES, NOTHING, QUASI
from scenarios.assessment.evaluation.release_evaluation import ReleaseEvaluation
from scenarios.assessment.evaluation.row_origin import DOUBTED
from scenarios.assessment.reporting.findings import (
    ABOVE,
    COUNTED,
    FEW,
    LITTLE,
    UNSURE,
    WITHIN,
    Finding,
    interval_words,
    verdict,
)
from scenarios.games.questions.row_question import two_halves

# Named thresholds of risk, with their sources.


@dataclass(frozen=True)
class Threshold:
    """A threshold in use.

    Attributes
    ----------
    value : float
        Largest acceptable risk of a person.
    classes : int
        Smallest equivalence class that it allows: 1 / value, rounded.
    use : str
        Who uses it, and for what.
    source : str
        Where it is written.
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

    Attributes
    ----------
    setting : EvaluationSetting
        The original table, control people, seed and targets.
    evaluation : ReleaseEvaluation
        The release.
    findings : tuple of Finding
        Its findings.
    pseudonyms : tuple of str
        Released columns that differ in every row, which could link this table with others.
    unknown : tuple of str
        Released columns that the original table does not have.
    alone : int
        Number of released rows in a class of one `unit`.
    unit : str
        What classes count: ``person``, or ``row`` where a person may have several rows and nobody knows whose they are.
    threshold : float
        Largest acceptable risk.
    releases : int
        Number of releases that were judged on the same people, this one included.
    columns : tuple of str
        Released columns of the original table.
    quasi_identifiers, sensitive : tuple of str
        Those of them with these roles.
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
    if measured.evaluation.origin == DOUBTED and (rows, LITTLE) in (
        (one.title, one.status) for one in measured.findings
    ):
        few.add("reidentification")
        names["reidentification"] = "linkage of rows (many told records fit no better than random ones)"
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


def chosen_profiles(names: Sequence[str], measured: Measured) -> list[Section]:
    """Sections of the named profiles."""
    return [PROFILES[name](measured) for name in dict.fromkeys(names)]


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
