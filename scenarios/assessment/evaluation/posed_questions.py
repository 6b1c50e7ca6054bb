"""Questions about a finished release, posed about people of the given tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd
from numpy.random import Generator

import attacks as a
from attacks import Attack
from defenses import Microdata, MicrodataRelease
from leaderboard.pages.number_text import number
from metrics.score import Score, Scores
from scenarios.assessment.evaluation.control_people import records_among
from scenarios.assessment.evaluation.evaluation_setting import AUXILIARY, EvaluationSetting
from scenarios.assessment.evaluation.finished_table import FinishedTable
from scenarios.assessment.evaluation.given_people import (
    GivenMembers,
    GivenRows,
    GivenSinglingOut,
    LearnedBaseline,
    bound,
)
from scenarios.assessment.evaluation.measured_attack import MeasuredAttack
from scenarios.assessment.evaluation.row_origin import RowOrigin, held_people, kinds_of_rows
from scenarios.games.control_group import with_sensitive
from scenarios.games.finished_release import FinishedRelease, GivenPeople
from scenarios.games.playing import Randomness, scores_of
from scenarios.games.questions.attribute_question import AttributeQuestion
from scenarios.games.questions.link_question import SIDES, LinkQuestion, two_halves
from scenarios.games.questions.question import Question
from scenarios.tables.file_methods import ReleasedFile
from scenarios.tables.review.rows_of_people import person_numbers
from scenarios.tables.seeds import generator


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
    a.DensityRatioMembership(rounds=1),
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
QUASI_ROWS: tuple[Attack, ...] = (a.NearestNeighbour(), a.SweeneyJoin())


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


PAIRS = 30_000_000
"""Largest number of pairs of a row and a person that an attack compares."""
FEWEST = 100
"""Number of people down to which they are reduced for large tables."""
COSTLY = 100
"""Number of rows about which the costly linkage attack is asked."""


@dataclass(frozen=True)
class PosedQuestions:
    """The questions of the game `scenarios.SharedPeople`, about people of the given tables and one finished release.

    No attack can repeat the mechanism, since only its result is known.

    Parameters
    ----------
    setting : EvaluationSetting
        Original table and control people.
    table : FinishedTable
        The release.
    origin : RowOrigin
        What is known about the origin of its rows.
    """

    setting: EvaluationSetting
    table: FinishedTable
    origin: RowOrigin

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
                    f"singling out is compared with {number(bound(setting.size))}, the most that a predicate isolates "
                    f"without the release: {setting.size} control people would be needed to measure the chance level"
                )
        if not records.sensitive:
            notes.append("no column is sensitive, so that no values are inferred")
        return notes

    def _rng(self, *names: str) -> Generator:
        return generator(self.setting.seed, "rank", self.table.sha256, *names)

    def _public(self, people: Microdata) -> Microdata:
        return replace(people, domains={**people.domains, **self.table.domains})

    @cached_property
    def _own_people(self) -> Microdata:
        """The attacker's own people."""
        return self._public(self.setting.auxiliary(self.targets, self._affordable(AUXILIARY)))

    def _affordable(self, people: int) -> int:
        """Number of people who are compared with all rows, fewer than wanted for large tables."""
        return _affordable(people, len(self.table.frame))

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

        Parameters
        ----------
        question, people : Question, GivenPeople
            What is asked, and about whom.
        knows : str
            What the attacker knows of its targets.
        names : tuple of str
            Names of the random generator, which the attack's name follows.
        attacks : sequence of Attack
            The attacks.
        column : str
            Column whose values are inferred; empty for other questions.
        nothing_told : bool
            Whether the release tells nobody apart.
        """
        game = FinishedRelease(people=people, question=question)
        for attack in pursuing(question.takes, attacks):
            rngs = Randomness.in_turn(self._rng(*names, type(attack).__name__))
            play = partial(scores_of, self.file, attack, game, people, self.release, rngs)
            yield attempted(attack, knows, play, column, nothing_told=nothing_told)

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
        everything = list(self.table.frame.columns)
        quasi = [name for name in everything if name in records.quasi_identifiers]
        affordable = max(FEWEST, min(self.targets, PAIRS // len(records) * setting.size // len(records)))
        linkage = [(ATTACKS, EVERYTHING, everything, affordable)]
        linkage += [(COSTLY_ROWS, EVERYTHING, everything, min(COSTLY, affordable))]
        if quasi and quasi != everything:
            linkage += [(QUASI_ROWS, QUASI, quasi, affordable)]
        people = GivenPeople(records, records.take([]), self._own_people, order, rng)
        for attacks, knows, columns, count in linkage:
            nothing = self._tells_nothing(columns, stem, records.frame)
            question = GivenRows(known=columns, asked=known[whose < count])
            yield from self._asked(question, people, knows, ("rows",), attacks, nothing_told=nothing)

    def _members(self) -> Iterator[MeasuredAttack]:
        # As many people who were not in the table, so that half of all guesses are right.
        count = self.setting.asked(self.targets)
        members, others = (self._public(side(count)) for side in (self.setting.members, self.setting.others))
        people = self._people(members, others, self._own_people)
        quasi = [name for name in people.records.quasi_identifiers if name in self.table.frame]
        levels = [(EVERYTHING, list(people.candidates.columns))]
        levels += [(QUASI, quasi)] if set(quasi) < set(self.table.frame.columns) and quasi else []
        for knows, columns in levels:
            nothing = self._tells_nothing(columns, self.setting.records.frame, others.frame)
            question = GivenMembers(known=columns)
            yield from self._asked(question, people, knows, ("membership", ""), ATTACKS, nothing_told=nothing)

    def _attributes(self, column: str) -> Iterator[MeasuredAttack]:
        setting, count = self.setting, self.targets
        if setting.control is None:
            # The other half, or more, is what the baseline learns from.
            count = min(count, setting.size // 2)
        members = with_sensitive(self._public(setting.members(count)), column)
        if setting.control is None:
            others = members.take([])
            rest = with_sensitive(self._public(setting.rest(count)), column)
            own = rest.take(np.arange(min(self._affordable(AUXILIARY), len(rest))))
            people = GivenPeople(members, others, own, np.arange(len(members)), self._rng("attributes"))
            question: AttributeQuestion = LearnedBaseline(setting=setting, column=column, targets=count)
            strangers, name = setting.records, "attributes"
        else:
            others = strangers = with_sensitive(self._public(setting.others(self.targets)), column)
            people = self._people(members, others, with_sensitive(self._own_people, column))
            question, name = AttributeQuestion(), "attribute"
        nothing = self._tells_nothing([column], setting.records.frame, strangers.frame)
        yield from self._asked(question, people, QUASI, (name, column), ATTACKS, column, nothing_told=nothing)

    def _singling_out(self) -> Iterator[MeasuredAttack]:
        setting, count = self.setting, self.setting.size
        nobody = setting.records.take([])
        people = self._people(setting.records, nobody, self._public(nobody))
        if setting.control_size >= count:
            people = replace(people, others=setting.strangers(count))
        # With a control group, the same generator as in other questions with one.
        names = ("singling_out", "") if len(people.others) else ("singling_out",)
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
        """The released row, if all are equal."""
        kinds, _ = kinds_of_rows(self.table.frame)
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


def most_targets(targets: int, records: int, rows: int) -> int:
    """Number of people about whom attacks are asked: at most `targets`, all records, and what released rows allow."""
    return min(targets, records, _affordable(2 * targets, rows) // 2)


def _affordable(people: int, rows: int) -> int:
    """Number of people who are compared with all rows, fewer than wanted for many rows."""
    return min(people, max(FEWEST, PAIRS // rows))
