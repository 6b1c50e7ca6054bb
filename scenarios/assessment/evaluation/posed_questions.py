"""Questions about a finished release, posed about people of the given tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd
from numpy.random import Generator

import attacks as a
from attacks import Attack, BayesInference, ClassifierInference, MajorityInClass, NotApplicable
from attacks.base import Decisions, Predicates, RankedAnswers
from attacks.criteria.singling_out import Conjunction
from defenses import Identity, Microdata, MicrodataRelease, released_frame
from leaderboard.pages.number_text import number
from leaderboard.statistics.pairs import FEWEST_TRIALS
from metrics import Estimate, Score, Scores, l_diversity, normalized_certainty_penalty
from metrics.columns import Booleans, Floats
from metrics.table_utility import headline_utility
from scenarios.assessment.evaluation.control_people import records_among
from scenarios.assessment.evaluation.evaluation_setting import (
    AUXILIARY,
    FEWEST,
    PAIRS,
    EvaluationSetting,
    MeasuredAttack,
    affordable,
    joint_confidence,
    most_targets,
    upper_confidence,
)
from scenarios.assessment.evaluation.finished_classes import released_classes
from scenarios.assessment.evaluation.row_origin import (
    CopiedRecords,
    RowOrigin,
    copied_records,
    held_people,
    kinds_of_rows,
    people_notes,
    recognized_origin,
)
from scenarios.games import (
    SIDES,
    AttributeQuestion,
    FinishedRelease,
    GivenPeople,
    LinkQuestion,
    MemberQuestion,
    Question,
    Randomness,
    RowQuestion,
    SinglingOutQuestion,
    claims_of,
    membership_scores,
    person_score,
    row_scores,
    scores_of,
    successes,
    two_halves,
    with_sensitive,
)
from scenarios.games.people import Drawn, by_person
from scenarios.tables import FinishedTable, ReleasedFile, generator
from scenarios.tables.review.households import risk_note
from scenarios.tables.review.rows_of_people import number_of_people, person_numbers

# Questions about people of given tables, who may have several rows each: a person is one trial.

LEARNED = 20_000
"""Largest number of records that the baseline of inferred values learns from."""
BASELINES: tuple[Attack, ...] = (BayesInference(), ClassifierInference(), MajorityInClass())


class GivenRows(RowQuestion):
    """Whose row a released row is; any record of the person is right."""

    def score(self, people: Drawn, published: MicrodataRelease, claims: RankedAnswers, rng: Generator) -> Scores:
        """Score links of rows alone, since everybody is a candidate and nobody else."""
        if people.repeats:
            return Scores.of(person_score(claims, published.origin, people, rng))
        return row_scores(claims, published.origin, people.answers, len(people.order), rng)


class GivenMembers(MemberQuestion):
    """Who is in the table; a person's score is the mean over the person's rows."""

    def score(self, people: Drawn, published: MicrodataRelease, claims: Decisions, rng: Generator) -> Scores:
        """Score the people; the measure ``alike`` says whether all of them have the same score."""
        decisions, member = people.decided(claims)
        alike = float((decisions.scores == decisions.scores[0]).all())
        return membership_scores(decisions, member, rng).with_measures(alike=alike)


class LearnedBaseline(AttributeQuestion):
    """Which sensitive value a person has, compared with what a baseline infers of the same person without the release.

    The baseline learns from the other records in the clear, which say nothing about the targets themselves. Whatever it
    infers follows from statistics of the population. Of `BASELINES` and the most frequent value, the one that infers
    most targets' values counts. An advantage over it is therefore rather too small than too large. `setting` keeps what
    the baseline infers for the next release.
    """

    def __init__(self, *, setting: EvaluationSetting, column: str, targets: int) -> None:
        super().__init__()
        self.setting = setting
        self.column = column
        self.targets = targets

    def control(self, people: Drawn, correct: Floats, has_value: Booleans) -> tuple[float, int]:
        """Successes and trials of the baseline about the same people."""
        inferred = self.setting.kept(f"baseline of {self.column}", self.targets, self.baseline)
        return by_person(inferred, has_value, people.whose)

    def baseline(self) -> Floats:
        """Probability that the baseline infers each target's value, shape (targets,)."""
        setting, column = self.setting, self.column
        members = with_sensitive(setting.members(self.targets), column)
        rest = with_sensitive(setting.rest(self.targets), column)
        rest = rest.take(np.arange(min(LEARNED, len(rest))))
        truth, codes = (people.domains[column].codes(people.frame[column]) for people in (members, rest))
        size = members.domains[column].size
        if not (codes < size).any():
            return np.zeros(len(members))
        best: Floats = (truth == np.bincount(codes[codes < size]).argmax()).astype(float)
        release = MicrodataRelease(released_frame(rest), np.full(len(rest), -1))
        own = rest.take(np.arange(min(AUXILIARY, len(rest))))
        people = GivenPeople(members, members.take([]), own, np.arange(len(members)), generator(setting.seed))
        game = FinishedRelease(people=people, question=AttributeQuestion())
        for attack in BASELINES:
            rng = generator(setting.seed, "rank", "baseline", column, type(attack).__name__)
            try:
                claims = claims_of(Identity(), attack, game, people, release, Randomness.in_turn(rng))
            except NotApplicable:
                continue
            found = successes(game.taken(claims), column, members.domains[column], truth)[0]
            correct = np.where(truth < size, found, 0.0)
            best = max(best, correct, key=lambda values: float(values.sum()))
        return best


class GivenSinglingOut(SinglingOutQuestion):
    """Whether a predicate holds for rows of one person alone.

    The chance level is that of the control people. If they are fewer than the people of the table, it is their rate
    times n / m at most. Without control people, or where that is larger, it is `bound`.

    A predicate that holds for a share w of the population isolates one of n people with probability n w (1 - w)^(n -
    1). That is n / m times (1 - w)^(n - m) times its probability for m people. A control trial counts as m / n of a
    trial, so that the interval allows for the factor. Predicates that isolate a person of a random part of the table
    give the same difference, times m / n: they would understate the risk by this factor.
    """

    def score(self, people: Drawn, published: MicrodataRelease, claims: Predicates, rng: Generator) -> Scores:
        """Count the predicates that isolate a person."""
        trials, size = len(claims.predicates), number_of_people(people.records)
        rate = self.isolated(claims.predicates, people.records) / trials if trials else None
        chance, control_trials = bound(size), None
        others = min(size, number_of_people(people.others))
        counted = trials * others // size
        if counted:
            measured = self.isolated(claims.predicates, people.others) / counted
            # A table of as many other people is compared with, whatever it shows.
            if others == size or measured < chance:
                chance, control_trials = measured, counted
        return Scores.of(Score("singling_out", rate, chance, trials, control_trials))


def bound(records: int) -> float:
    """Largest probability that a predicate chosen without the release holds for one of so many records alone.

    A predicate that holds for a share w of the population isolates one of n records with probability n w (1 - w)^(n -
    1). This is largest for w = 1 / n (Cohen and Nissim 2020).
    """
    return (1 - 1 / records) ** (records - 1)


def one_row(people: Microdata) -> Microdata:
    """The first row of each person."""
    return people.take(np.unique(person_numbers(people), return_index=True)[1])


# Attacks on finished releases, none of which needs to repeat the mechanism or to compare all rows with all people.

EVERYTHING, QUASI, NOTHING, HALVES = "everything", "quasi-identifiers", "nothing", "two halves"
"""What the attacker knows of its targets."""
ATTACKS: tuple[Attack, ...] = (
    a.NearestNeighbour(),
    a.AssignmentLinkage(),
    a.SweeneyJoin(),
    a.DistanceToClosestRecord(rounds=1),
    a.EuclideanClosestRecord(rounds=1),
    a.DensityRatioMembership(rounds=1),
    a.LocalLikelihoodMembership(),
    a.MarginalMembership(rounds=1),
    a.LinkageMembership(),
    a.Homer(rounds=1),
    a.MarginalLikelihoodRatio(rounds=1),
    a.MajorityInClass(),
    a.Homogeneity(),
    a.DeFinetti(),
    a.BayesInference(),
    a.ClassifierInference(),
    a.UnivariateSinglingOut(),
    a.MultivariateSinglingOut(),
    a.NearestRowLinkability(),
)
"""Attacks on every question of their goal."""
COSTLY_ROWS: tuple[Attack, ...] = (a.ExpectationMaximizationLinkage(),)
"""Attacks on rows that are asked about few rows."""
KNOWN = f"{EVERYTHING}: all released columns, sensitive ones included; {QUASI}: these columns alone"
"""What the attacker's knowledge means."""


def pursuing(goals: Collection[str], attacks: Sequence[Attack]) -> list[Attack]:
    """Those of some attacks that pursue one of the goals."""
    return [attack for attack in attacks if attack.goal in goals]


def attempted(
    attack: Attack, knows: str, play: Callable[[], Scores], column: str = "", *, nothing_told: bool = False
) -> MeasuredAttack:
    """Outcome of one attack; an attack that does not fit is skipped with its reason.

    Where the release tells nobody apart, what the attack hits is luck: it is right as often as guessing. So it is where
    the claims are alike about everybody, as the measure ``alike`` of the scores says.
    """
    blank = MeasuredAttack(attack=type(attack).__name__, goal=attack.goal, knows=knows, column=column)
    try:
        scores = play()
    except (a.NotApplicable, ValueError) as reason:
        return replace(blank, reason=" ".join(str(reason).split()))
    except MemoryError:
        return replace(blank, reason="too many pairs of rows and people for this machine's memory")
    score, alike = scores[attack.goal], bool(scores.measures.get("alike"))
    if nothing_told and not alike and score.rate is None:
        # Nothing was claimed, as where no row stands out.
        score = replace(score, rate=score.chance)
    if score.advantage is None:
        return replace(blank, reason="nothing to be right or wrong about")
    if nothing_told or alike:
        score = replace(score, rate=score.chance)
    return replace(blank, score=score, nothing_told=nothing_told or alike)


COSTLY = 100
"""Number of rows about which the costly linkage attack is asked."""


@dataclass(frozen=True)
class PosedQuestions:
    """The questions of the game `scenarios.SharedPeople`, about people of the given tables and one finished release.

    No attack can repeat the mechanism, since only its result is known.

    - origin: What is known about the origin of the release's rows.
    - only: The outcome of the only attack that is played again; by default, every attack is played.
    """

    setting: EvaluationSetting
    table: FinishedTable
    origin: RowOrigin
    only: MeasuredAttack | None = None

    @cached_property
    def file(self) -> ReleasedFile:
        """The release as a defense, with the origins that were recognized."""
        release = MicrodataRelease(self.table.frame, self.origin.origin)
        return ReleasedFile.of(release, self.setting.records, self.table.sha256)

    @cached_property
    def release(self) -> MicrodataRelease:
        """The release that all questions are about."""
        return self.file.apply(self.setting.records, self._rng())

    @property
    def targets(self) -> int:
        """Number of people in the table whom attacks are about."""
        setting = self.setting
        # Each person is compared by all rows of the person.
        rows = -(-len(self.table.frame) * len(setting.records) // setting.size)
        return most_targets(setting.targets, setting.size, rows)

    def outcomes(self) -> Iterator[MeasuredAttack]:
        """Outcome of every attack on every question that can be asked."""
        if self.origin.kind != "unknown":
            yield from self._rows()
        if self.setting.control is not None:
            yield from self._members()
        for column in self.setting.records.sensitive:
            yield from self._attributes(column)
        yield from self._singling_out()
        if self.setting.control is not None:
            yield from self._links()

    def notes(self) -> list[str]:
        """What was asked about whom, and what cannot be measured, one sentence each."""
        setting, records = self.setting, self.setting.records
        notes = [self.origin.note, f"attacks are about {self.targets} of {setting.size} people in the table"]
        if setting.control is None:
            notes += [
                "without control people (--control), membership and linkability are not measured",
                f"without control people, singling out is compared with {number(bound(setting.size))}, the most that a "
                "predicate isolates without the release, and is rather understated",
            ]
            if records.sensitive:
                notes.append(
                    "without control people, inferred values are compared with those that the other records in the "
                    "clear predict"
                )
        else:
            notes.append(f"control people: {setting.control_size}, of whom {setting.asked(self.targets)} are asked")
            equal = records_among(setting.control, records)
            if equal:
                what = "control people" if setting.control_size == len(setting.control) else "rows of control people"
                notes.append(
                    f"{equal} of {len(setting.control)} {what} equal a record in every column; if they were in "
                    "the table, advantages are understated"
                )
            if setting.control_size < setting.size:
                notes.append(
                    f"singling out is compared with {setting.control_size} control people, scaled to {setting.size}, "
                    f"and with {number(bound(setting.size))} at most, the most that a predicate isolates without the "
                    "release; it is rather understated"
                )
        if not records.sensitive:
            notes.append("no column is sensitive, so that no values are inferred")
        return notes

    def _rng(self, *names: str) -> Generator:
        return generator(self.setting.seed, "rank", self.table.content, *names)

    def _public(self, people: Microdata) -> Microdata:
        return replace(people, domains={**people.domains, **self.table.domains})

    @cached_property
    def _own_people(self) -> Microdata:
        """The attacker's people."""
        return self._public(self.setting.auxiliary(self.targets, affordable(AUXILIARY, len(self.table.frame))))

    def _people(self, members: Microdata, others: Microdata, own: Microdata) -> GivenPeople:
        rng = generator(self.setting.seed, "rank", "order", len(members), len(others))
        return GivenPeople(members, others, own, rng.permutation(len(members) + len(others)), rng)

    def _asked(
        self,
        question: Question,
        people: GivenPeople,
        knows: str,
        names: tuple[str, ...],
        attacks: Sequence[Attack],
        column: str = "",
        *,
        nothing_told: bool = False,
    ) -> Iterator[MeasuredAttack]:
        """Outcomes of the attacks whose goal is that of a question.

        - knows: What the attacker knows of its targets.
        - names: Names of the random generator, which the attack's name follows.
        - column: Column whose values are inferred; empty for other questions.
        - nothing_told: Whether all people look alike in the release.
        """
        game = FinishedRelease(people=people, question=question)
        asked = pursuing(question.takes, attacks)
        if self.only is not None:
            same = (knows, column) == (self.only.knows, self.only.column)
            asked = [attack for attack in asked if same and type(attack).__name__ == self.only.attack]
        for attack in asked:
            rngs = Randomness.in_turn(self._rng(*names, type(attack).__name__))
            play = partial(scores_of, self.file, attack, game, people, self.release, rngs)
            yield attempted(attack, knows, play, column, nothing_told=nothing_told)

    @property
    def _known(self) -> dict[str, list[str]]:
        """Columns that an attacker of rows or members knows: all released ones, and the quasi-identifiers alone."""
        everything = list(self.table.frame.columns)
        quasi = [name for name in everything if name in self.setting.records.quasi_identifiers]
        return {EVERYTHING: everything} | ({QUASI: quasi} if quasi and quasi != everything else {})

    def _rows(self) -> Iterator[MeasuredAttack]:
        """Linkage of rows with all people in the table; a sample of people only would leave too few look-alikes."""
        records, rng = self.setting.records, self._rng("rows")
        setting = self.setting
        known = rng.permutation(np.flatnonzero(self.origin.origin >= 0))
        order = rng.permutation(len(records))
        if setting.repeats:
            # All rows of a person are asked about together.
            place = rng.permutation(setting.size)[setting.people[self.origin.origin[known]]]
            known = known[np.argsort(place, kind="stable")]
        whose = pd.factorize(setting.people[self.origin.origin[known]])[0]
        stem = records.frame.iloc[self.origin.origin[known]]
        most = max(FEWEST, min(self.targets, PAIRS // len(records) * setting.size // len(records)))
        people = GivenPeople(records, records.take([]), self._own_people, order, rng)
        for attacks, count in ((ATTACKS, most), (COSTLY_ROWS, min(COSTLY, most))):
            for attack in pursuing(GivenRows.takes, attacks):
                for knows, columns in self._known.items():
                    nothing = self._tells_nothing(columns, stem, records.frame)
                    question = GivenRows(known=columns, asked=known[whose < count])
                    yield from self._asked(question, people, knows, ("rows",), [attack], nothing_told=nothing)

    def _members(self) -> Iterator[MeasuredAttack]:
        # As many people who were not in the table, so that half of all guesses are right.
        count = self.setting.asked(self.targets)
        members, others = (self._public(side(count)) for side in (self.setting.members, self.setting.others))
        people = self._people(members, others, self._own_people)
        for attack in pursuing(GivenMembers.takes, ATTACKS):
            for knows, columns in self._known.items():
                nothing = self._tells_nothing(columns, self.setting.records.frame, others.frame)
                question = GivenMembers(known=columns)
                yield from self._asked(question, people, knows, ("membership", ""), [attack], nothing_told=nothing)

    def _attributes(self, column: str) -> Iterator[MeasuredAttack]:
        setting, count = self.setting, self.targets
        if setting.control is None:
            # The other half, or more, is what the baseline learns from.
            count = min(count, setting.size // 2)
        members = with_sensitive(self._public(setting.members(count)), column)
        if setting.control is None:
            others = members.take([])
            rest = with_sensitive(self._public(setting.rest(count)), column)
            own = rest.take(np.arange(min(affordable(AUXILIARY, len(self.table.frame)), len(rest))))
            people = GivenPeople(members, others, own, np.arange(len(members)), self._rng("attributes"))
            question: AttributeQuestion = LearnedBaseline(setting=setting, column=column, targets=count)
            strangers, name = setting.records, "attributes"
        else:
            others = strangers = with_sensitive(self._public(setting.others(self.targets)), column)
            people = self._people(members, others, with_sensitive(self._own_people, column))
            question, name = AttributeQuestion(), "attribute"
        nothing = self._tells_nothing([column], setting.records.frame, strangers.frame)
        yield from self._asked(question, people, QUASI, (name, column), ATTACKS, column, nothing_told=nothing)

    def isolating(self) -> list[Conjunction]:
        """Predicates of the attacks that hold for rows of one person, as `outcomes` scores them."""
        people, names = self._everybody()
        question = GivenSinglingOut()
        game = FinishedRelease(people=people, question=question)
        found: dict[Conjunction, None] = {}
        for attack in pursuing(question.takes, ATTACKS):
            rngs = Randomness.in_turn(self._rng(*names, type(attack).__name__))
            claims = claims_of(self.file, attack, game, people, self.release, rngs)
            found |= {one: None for one in claims.predicates if question.isolated([one], people.records)}
        return list(found)

    def _everybody(self) -> tuple[GivenPeople, tuple[str, ...]]:
        """The people who may be singled out, and names of the random generator."""
        setting, count = self.setting, self.setting.size
        nobody = setting.records.take([])
        people = self._people(setting.records, nobody, self._public(nobody))
        if setting.control is not None:
            people = replace(people, others=setting.strangers(min(count, setting.control_size)))
        # With a control group as large, the same generator as in other questions with one.
        return people, ("singling_out", "") if setting.control_size >= count else ("singling_out",)

    def _singling_out(self) -> Iterator[MeasuredAttack]:
        setting, count = self.setting, self.setting.size
        people, names = self._everybody()
        if self._row is not None and self._held(list(self.table.frame.columns), setting.records.frame):
            blank = Scores.of(Score("singling_out", None, bound(count), 0))
            for attack in pursuing(GivenSinglingOut.takes, ATTACKS):
                yield attempted(attack, NOTHING, lambda: blank, nothing_told=True)
        else:
            yield from self._asked(GivenSinglingOut(), people, NOTHING, names, ATTACKS)

    def _links(self) -> Iterator[MeasuredAttack]:
        columns = list(self.table.frame.columns)
        if len(columns) < 2:
            for attack in pursuing(LinkQuestion.takes, ATTACKS):
                blank = MeasuredAttack(attack=type(attack).__name__, goal=attack.goal, knows=HALVES)
                yield replace(blank, reason="there is one shared column")
            return
        question = LinkQuestion(parts=dict(zip(SIDES, two_halves(columns), strict=True)))
        members, others = (self._public(side(self.targets)) for side in (self.setting.members, self.setting.others))
        people = self._people(one_row(members), one_row(others), self._own_people)
        nothing = self._tells_nothing(columns, self.setting.records.frame, others.frame)
        yield from self._asked(question, people, HALVES, ("linkability", ""), ATTACKS, nothing_told=nothing)

    @cached_property
    def _row(self) -> pd.DataFrame | None:
        """The released row, if all are equal in meaning."""
        kinds, _ = kinds_of_rows(self.table.alike[list(self.table.frame.columns)])
        return kinds if len(kinds) == 1 else None

    def _held(self, columns: list[str], people: pd.DataFrame) -> bool:
        """Whether the one kind of row holds the values of everybody in some columns."""
        shared = [name for name in self.table.frame.columns if name in columns]
        return self._row is not None and bool(held_people(self._row[shared], people, self.table.domains).all())

    def _tells_nothing(self, columns: list[str], described: pd.DataFrame, others: pd.DataFrame) -> bool:
        """Whether all rows are equal, and do not hold everybody whom they describe and leave out somebody else."""
        if self._row is None:
            return False
        return self._held(columns, others) or not self._held(columns, described)


# Evaluation of one finished release: utility, risk measures, and the outcome of attacks.

RELEASED_UTILITY = "without the columns that are lacking; below 0 is worse than a release without information"
"""What `ReleaseEvaluation.released_utility` is."""
FEWEST_RIGHT = 10
"""Fewest trials of an attack that is significantly better than guessing, for it to measure a risk."""


@dataclass(frozen=True, kw_only=True)
class ReleaseEvaluation:
    """Utility and risk of one finished release.

    - name: The file, or the built-in defense.
    - sha256: Checksum of its content.
    - origin, {"copies", "aligned", "given", "unreliable", "unknown"}: How the origin of its rows was recognized
      (`scenarios.assessment.evaluation.row_origin`).
    - utility: Utility in [0, 1], as `tokumei utility` measures it; a column that is lacking counts as suppressed.
    - released_utility: Utility in [-1, 1] over the released columns alone. If no component is above that of a release
      without information, it is negative, so that such releases stay ordered.
    - partial: Whether columns with a role were not released.
    - components: Components of the utility.
    - information_loss: Normalized certainty penalty of the quasi-identifiers; None without any.
    - k: Size of the smallest equivalence class, in people if it is known whose the rows are; None without
      quasi-identifiers.
    - l: Fewest distinct values of each released sensitive column in a class.
    - risks: Risks by model and class measures, as `tokumei risk` shows them.
    - notes: What was recognized, and what cannot be seen, one sentence each.
    - k_rows: Size of the smallest class in rows, the unit of guarantees.
    - copies: Unique records that stand verbatim in the release, over all columns and over the quasi-identifiers.
    """

    name: str
    sha256: str
    rows: int
    origin: str
    utility: float
    released_utility: float
    partial: bool
    components: Mapping[str, float | None]
    information_loss: float | None
    k: int | None
    l: Mapping[str, int]  # noqa: E741 (the field's own name for it)
    risks: Mapping[str, float]
    outcomes: tuple[MeasuredAttack, ...] = field(repr=False)
    notes: tuple[str, ...]
    k_rows: int | None = None
    copies: tuple[CopiedRecords, ...] = ()

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

    def worst(self, goal: str | None = None, knows: str | None = None) -> tuple[MeasuredAttack, Estimate] | None:
        """The attack of the largest advantage, in one goal or in all; None if nothing was measured.

        Of attackers of some knowledge, if `knows` is given.

        Attacks that are not significantly better than guessing count only if no attack is. Attacks of too few trials do
        not count (`enough`).
        """
        asked = (pair for pair in self.advantages if goal in (None, pair[0].goal) and knows in (None, pair[0].knows))
        pairs = [pair for pair in asked if enough(*pair)]
        eligible = [pair for pair in pairs if pair[1].low > 0] or pairs
        return max(eligible, key=lambda pair: pair[1].value, default=None)

    def by_knowledge(self, goal: str) -> dict[str, float]:
        """Largest advantage in one goal by what the attacker knows, of attacks that measure a risk (`enough`)."""
        pairs = [(one.knows, at.value) for one, at in self.advantages if one.goal == goal and enough(one, at)]
        return {knows: max(value for other, value in pairs if other == knows) for knows, _ in pairs}

    @property
    def standing(self) -> tuple[float, float]:
        """What a ranking orders by: the score, then the utility of the released columns."""
        return self.score or 0.0, self.released_utility

    @property
    def score(self) -> float | None:
        """Utility x (1 - max(0, worst advantage)), as on boards; None if no attack was measured."""
        worst = self.worst()
        return None if worst is None else self.utility * (1 - max(0.0, worst[1].value))


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

    - setting: What one release leaves behind there serves the next.
    - origin: The record of each row; it is recognized by default.
    """
    records = setting.records
    cells = table.suppressed[list(setting.columns)]
    utility, components = headline_utility(setting.utility(table.domains).score(cells))
    released, shared = utility, {name: table.domains[name] for name in setting.columns if name in table.frame}
    if 0 < len(shared) < len(setting.columns):
        released, _ = headline_utility(setting.utility(shared).score(table.frame))
    quasi, sensitive = records.quasi_identifiers, [name for name in records.sensitive if name in table.frame]
    loss = normalized_certainty_penalty(cells, {name: table.domains[name] for name in quasi}) if quasi else None
    origin = origin or recognized_origin(table.frame, records.frame, table.domains)
    questions = PosedQuestions(setting, table, origin)
    found, risks, diversity = released_classes(setting, table, origin), {}, {}
    if found is not None:
        risks = {name: value for name, _, value in found.report.models}
        risks["records alone in their class"] = float(found.report.uniques)
        risks |= {f"{name}: {about}": value for name, about, value in found.report.measures}
        own = table.among_records[found.inside]
        diversity = {name: l_diversity(own, quasi, name, classes=found.classes) for name in sensitive}
    copies = copied_records(setting, table)
    people, groups = (None, None) if found is None else (found.people, found.groups)
    notes = [*map(str, table.notes), *questions.notes(), *people_notes(setting, people)]
    notes += [one.words for one in copies if one.unique]
    notes += [] if groups is None else [str(risk_note(str(records.group), groups))]
    if origin.kind == "unknown":
        notes.append("if rows are synthetic, classes (k, l) say little about risk")
    return ReleaseEvaluation(
        name=table.name,
        sha256=table.sha256,
        rows=len(table.frame),
        origin=origin.kind,
        utility=max(0.0, utility),
        released_utility=released,
        partial=len(shared) < len(setting.columns),
        components=components,
        information_loss=loss,
        k=None if found is None else int(found.sizes.min()),
        k_rows=None if found is None else int(np.bincount(found.classes).min()),
        l=diversity,
        risks=risks,
        outcomes=tuple(questions.outcomes()),
        notes=tuple(notes),
        copies=copies,
    )
