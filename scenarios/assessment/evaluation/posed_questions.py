"""Questions about a finished release, posed about people of the given tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator

import attacks as a
from attacks import BayesInference, ClassifierInference, MajorityInClass, NotApplicable
from attacks.base.attack import Attack, Knowledge
from attacks.base.claims import Decisions, Predicates, RankedAnswers, ValueClaims
from attacks.criteria.atomic_predicates import records_met
from defenses.base.defense import released_frame
from defenses.base.microdata import Microdata
from defenses.base.release import MicrodataRelease
from leaderboard.pages.number_text import number
from metrics.columns.arrays import Booleans, Floats, Integers
from metrics.score import Score
from scenarios.assessment.evaluation.control_people import records_among
from scenarios.assessment.evaluation.evaluation_setting import AUXILIARY, EvaluationSetting
from scenarios.assessment.evaluation.finished_table import FinishedTable
from scenarios.assessment.evaluation.measured_attack import MeasuredAttack
from scenarios.assessment.evaluation.row_origin import RowOrigin, held_people, kinds_of_rows
from scenarios.games.people import People
from scenarios.games.questions.attribute_question import AttributeQuestion, successes
from scenarios.games.questions.controlled import controlled
from scenarios.games.questions.link_question import LinkQuestion
from scenarios.games.questions.member_question import membership_scores
from scenarios.games.questions.question import Question
from scenarios.games.questions.row_answers import row_scores
from scenarios.games.questions.singling_out_question import SinglingOutQuestion
from scenarios.tables.review.rows_of_people import person_numbers
from scenarios.tables.seeds import generator

# Scores of attacks on people who may have several rows: a person is one trial.


def candidate_numbers(people: People) -> Integers:
    """Number of the person of each candidate, from 0 in their order, shape (candidates,)."""
    members, others = person_numbers(people.records), person_numbers(people.others)
    whose: Integers = pd.factorize(np.concatenate([members, members.max(initial=-1) + 1 + others])[people.order])[0]
    return whose


def by_person(correct: Floats, known: Booleans, whose: Integers) -> tuple[float, int]:
    """Successes of all people, and their number; a person's success is the mean over those rows that count.

    Parameters
    ----------
    correct : ndarray of float, shape (rows,)
        Probability that the attack is right about each row.
    known : ndarray of bool, shape (rows,)
        Whether the row counts.
    whose : ndarray of int, shape (rows,)
        Number of the person of each row.

    Examples
    --------
    >>> by_person(np.array([1.0, 0.0, 1.0]), np.array([True, True, True]), np.array([0, 0, 1]))
    (1.5, 2)
    """
    rows, hits = np.bincount(whose[known]), np.bincount(whose[known], weights=correct[known])
    some = rows > 0
    return float((hits[some] / rows[some]).sum()), int(some.sum())


def person_score(best: Integers, origin: Integers, order: Integers, people: Integers) -> Score:
    """Score of links of released rows with records of people who have several; any record of the person is right.

    Parameters
    ----------
    best : ndarray of int, shape (rows,)
        Candidate that is named for each row, -1 for none.
    origin : ndarray of int, shape (rows,)
        Record that the row stems from.
    order : ndarray of int, shape (records,)
        Record of each candidate.
    people : ndarray of int, shape (records,)
        Person of each record.
    """
    whose = people[origin]
    right = (best >= 0) & (people[order[best]] == whose)
    everybody = np.ones(whose.size, dtype=bool)
    hits, trials = by_person(right.astype(float), everybody, whose)
    # A guess is any record, so that a person of many records is named more often.
    chance, _ = by_person(np.bincount(people)[whose] / people.size, everybody, whose)
    return Score("reidentification", hits / trials if trials else None, chance / max(1, trials), trials)


def people_isolated(predicates: Sequence[Callable[[pd.DataFrame], Booleans]], records: Microdata) -> int:
    """Number of predicates that hold for rows of exactly one person."""
    numbers = person_numbers(records)
    if numbers.max(initial=-1) + 1 == len(records):
        return records_met(predicates, records.frame).count(1)
    met = (numbers[predicate(records.frame)] for predicate in predicates)
    return sum(bool(rows.size) and bool((rows == rows[0]).all()) for rows in met)


def one_row(people: Microdata) -> Microdata:
    """The first row of each person."""
    return people.take(np.unique(person_numbers(people), return_index=True)[1])


# Baseline of attribute inference without control people: the values that other records predict.

LEARNED = 20_000
"""Largest number of records that the baseline learns from."""
BASELINES: tuple[Attack, ...] = (BayesInference(), ClassifierInference(), MajorityInClass())


def baseline_successes(setting: EvaluationSetting, column: str, targets: int) -> Floats:
    """Probability that the baseline infers each target's value, shape (targets,).

    The baseline learns from the other records in the clear, which say nothing about the targets themselves. Whatever it
    infers follows from statistics of the population. Of `BASELINES` and the most frequent value, the one that infers
    most targets' values counts. An advantage over it is therefore rather too small than too large.

    Parameters
    ----------
    setting : EvaluationSetting
        The original records.
    column : str
        The column whose values are inferred.
    targets : int
        Number of targets.
    """
    return setting.kept(f"baseline of {column}", targets, lambda: _learned(setting, column, targets))


def _learned(setting: EvaluationSetting, column: str, targets: int) -> Floats:
    people = setting.members(targets)
    rest = with_first_sensitive(setting.rest(targets), column)
    rest = rest.take(np.arange(min(LEARNED, len(rest))))
    truth = true_codes(people, column)
    codes = true_codes(rest, column)
    size = people.domains[column].size
    if not (codes < size).any():
        return np.zeros(len(people))
    best: Floats = (truth == np.bincount(codes[codes < size]).argmax()).astype(float)
    release = MicrodataRelease(released_frame(rest), np.full(len(rest), -1))
    knowledge = Knowledge(people.frame[list(people.quasi_identifiers)], rest.take(np.arange(min(AUXILIARY, len(rest)))))
    for attack in BASELINES:
        rng = generator(setting.seed, "rank", "baseline", column, type(attack).__name__)
        try:
            claims = attack.run(release.view(rng), knowledge, rng)
        except NotApplicable:
            continue
        correct = inferred(claims, people, column, truth)
        best = max(best, correct, key=lambda values: float(values.sum()))
    return best


def inferred(claims: object, people: Microdata, column: str, truth: Integers) -> Floats:
    """Probability that each person's value is inferred, shape (people,); 0 where the true value is missing."""
    if not isinstance(claims, ValueClaims):
        raise TypeError(f"attribute inference makes claimed values, got {type(claims).__name__}")
    domain = people.domains[column]
    return np.where(truth < domain.size, successes(claims, column, domain, truth)[0], 0.0)


def true_codes(people: Microdata, column: str) -> Integers:
    """Category or bin of each person's value, shape (people,); the domain's size where it is missing."""
    return people.domains[column].codes(people.frame[column])


def with_first_sensitive(people: Microdata, column: str) -> Microdata:
    """The same people with a sensitive column as the first one, which attacks infer."""
    return replace(people, sensitive=(column, *(name for name in people.sensitive if name != column)))


# Attacks on finished releases, none of which needs to repeat the mechanism or to compare all rows with all people.

EVERYTHING, QUASI, NOTHING, HALVES = "everything", "quasi-identifiers", "nothing", "two halves"
"""What the attacker knows of its targets."""
ROWS: tuple[Attack, ...] = (a.NearestNeighbour(), a.AssignmentLinkage(), a.SweeneyJoin())
COSTLY_ROWS: tuple[Attack, ...] = (a.ExpectationMaximizationLinkage(),)
QUASI_ROWS: tuple[Attack, ...] = (a.NearestNeighbour(), a.SweeneyJoin())
MEMBERS: tuple[Attack, ...] = (
    a.DistanceToClosestRecord(rounds=1),
    a.DensityRatioMembership(rounds=1),
    a.Homer(rounds=1),
    a.MarginalLikelihoodRatio(rounds=1),
)
ATTRIBUTES: tuple[Attack, ...] = (
    a.MajorityInClass(),
    a.Homogeneity(),
    a.DeFinetti(),
    a.BayesInference(),
    a.ClassifierInference(),
)
SINGLING_OUT: tuple[Attack, ...] = (a.UnivariateSinglingOut(), a.MultivariateSinglingOut())
LINKS: tuple[Attack, ...] = (a.NearestRowLinkability(),)


class Tied(NamedTuple):
    """Score of an attack whose claims are the same about everybody, so that what it hits is luck.

    Parameters
    ----------
    score : Score
        The score.
    """

    score: Score


def attempted(
    attack: Attack, knows: str, play: Callable[[], Score | Tied], column: str = "", *, nothing_told: bool = False
) -> MeasuredAttack:
    """Outcome of one attack; an attack that does not fit is skipped with its reason.

    Where the release tells nobody apart, what the attack hits is luck: it is right as often as guessing.
    """
    blank = MeasuredAttack(attack=type(attack).__name__, goal=attack.goal, knows=knows, column=column)
    try:
        score = play()
        if isinstance(score, Tied):
            score, nothing_told = score.score, True
        elif nothing_told and score.rate is None:
            # Nothing was claimed, as where no row stands out.
            score = replace(score, rate=score.chance)
    except (a.NotApplicable, ValueError) as reason:
        return replace(blank, reason=" ".join(str(reason).split()))
    except MemoryError:
        return replace(blank, reason="too many pairs of rows and people for this machine's memory")
    if score.advantage is None:
        return replace(blank, reason="nothing to be right or wrong about")
    if nothing_told:
        score = replace(score, rate=score.chance)
    return replace(blank, score=score, nothing_told=nothing_told)


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
    def release(self) -> MicrodataRelease:
        """The release, with the origins that were recognized."""
        return MicrodataRelease(self.table.frame, self.origin.origin)

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

    def _people(self, members: Microdata, others: Microdata, own: Microdata) -> People:
        rng = generator(self.setting.seed, "rank", "order", len(members), len(others))
        order = rng.permutation(len(members) + len(others))
        return People(members, others, own, order, rng, self.setting.utility(self.table.domains))

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
        linkage = [(attack, EVERYTHING, everything, affordable) for attack in ROWS]
        linkage += [(attack, EVERYTHING, everything, min(COSTLY, affordable)) for attack in COSTLY_ROWS]
        if quasi and quasi != everything:
            linkage += [(attack, QUASI, quasi, affordable) for attack in QUASI_ROWS]
        for attack, knows, columns, count in linkage:
            release = self.release.take(known[whose < count])
            candidates = records.frame[columns].iloc[order].reset_index(drop=True)
            yield attempted(
                attack,
                knows,
                partial(self._linked, attack, release, candidates, order),
                nothing_told=self._tells_nothing(columns, stem, records.frame),
            )

    def _linked(self, attack: Attack, release: MicrodataRelease, candidates: pd.DataFrame, order: Integers) -> Score:
        rng = self._rng("rows", type(attack).__name__)
        claims = RankedAnswers.of(attack.run(release.view(rng), Knowledge(candidates, self._own_people), rng))
        if not self.setting.repeats:
            return row_scores(claims, release.origin, np.argsort(order), len(order), rng)["reidentification"]
        return person_score(claims.best(rng), release.origin, order, self.setting.people)

    def _members(self) -> Iterator[MeasuredAttack]:
        setting = self.setting
        # As many people who were not in the table, so that half of all guesses are right.
        asked = setting.asked(self.targets)
        members, others = (self._public(side(asked)) for side in (setting.members, setting.others))
        people = self._people(members, others, self._own_people)
        quasi = [name for name in people.records.quasi_identifiers if name in self.table.frame]
        levels = [(EVERYTHING, list(people.candidates.columns))]
        levels += [(QUASI, quasi)] if set(quasi) < set(self.table.frame.columns) and quasi else []
        for knows, columns in levels:
            told = not self._tells_nothing(columns, setting.records.frame, others.frame)
            for attack in MEMBERS:
                play = partial(self._decided, attack, people, columns)
                yield attempted(attack, knows, play, nothing_told=not told)

    def _decided(self, attack: Attack, people: People, columns: list[str]) -> Score | Tied:
        """Score of an attack on membership that knows some columns of the candidates, by people."""
        rng = self._rng(attack.goal, "", type(attack).__name__)
        knowledge = Knowledge(people.candidates[columns], people.auxiliary, None)
        decisions = Decisions.of(attack.run(self.release.view(rng), knowledge, rng))
        whose = candidate_numbers(people)
        member = np.zeros(int(whose.max(initial=-1)) + 1, dtype=bool)
        member[whose] = people.member
        if decisions.scores.shape != whose.shape:
            raise ValueError(f"the decisions are about {decisions.scores.size} candidates, there are {whose.size}")
        means = np.bincount(whose, weights=decisions.scores) / np.bincount(whose)
        score = membership_scores(Decisions(means), member, rng)["membership"]
        return Tied(score) if (means == means[0]).all() else score

    def _attributes(self, column: str) -> Iterator[MeasuredAttack]:
        count, setting = self.targets, self.setting
        if setting.control is None:
            # The other half, or more, is what the baseline learns from.
            count = min(count, setting.size // 2)
        members = with_first_sensitive(self._public(setting.members(count)), column)
        if setting.control is None:
            yield from self._attributes_without_control(column, members, count)
            return
        others = with_first_sensitive(self._public(setting.others(self.targets)), column)
        own = with_first_sensitive(self._own_people, column)
        people = self._people(members, others, own)
        domain, whose = own.domain(column), candidate_numbers(people)
        truth = domain.codes(people.candidates[column])

        def compared(attack: Attack) -> Score:
            rng = self._rng("attribute", column, type(attack).__name__)
            claims = attack.run(self.release.view(rng), AttributeQuestion().knowledge(people, None), rng)
            correct, known = successes(ValueClaims.of(claims), column, domain, truth)[0], truth < domain.size
            hits, targets = by_person(correct, known & people.member, whose)
            control_hits, controls = by_person(correct, known & ~people.member, whose)
            return controlled("attribute", hits, targets, control_hits, controls)["attribute"]

        nothing = self._tells_nothing([column], setting.records.frame, others.frame)
        for attack in ATTRIBUTES:
            yield attempted(attack, QUASI, partial(compared, attack), column, nothing_told=nothing)

    def _attributes_without_control(self, column: str, members: Microdata, count: int) -> Iterator[MeasuredAttack]:
        """Attribute inference compared with what the other records predict (`baseline_successes`)."""
        rest = with_first_sensitive(self._public(self.setting.rest(count)), column)
        own = rest.take(np.arange(min(self._affordable(AUXILIARY), len(rest))))
        truth, whose = true_codes(members, column), person_numbers(members)
        known = truth < members.domains[column].size

        def compared(attack: Attack) -> Score:
            rng = self._rng("attributes", column, type(attack).__name__)
            knowledge = Knowledge(members.frame[list(members.quasi_identifiers)], own)
            claims = attack.run(self.release.view(rng), knowledge, rng)
            hits, people = by_person(inferred(claims, members, column, truth), known, whose)
            baseline, _ = by_person(baseline_successes(self.setting, column, count), known, whose)
            return controlled("attribute", hits, people, baseline, people)["attribute"]

        nothing = self._tells_nothing([column], self.setting.records.frame, self.setting.records.frame)
        for attack in ATTRIBUTES:
            yield attempted(attack, QUASI, partial(compared, attack), column, nothing_told=nothing)

    def _singling_out(self) -> Iterator[MeasuredAttack]:
        setting, count = self.setting, self.setting.size
        people = self._people(setting.records, setting.records.take([]), self._public(setting.records.take([])))
        if setting.control_size >= count:
            people = replace(people, others=setting.strangers(count))
        nothing = self._row is not None and self._held(list(self.table.frame.columns), setting.records.frame)

        def isolated(attack: Attack) -> Score:
            if nothing:
                return Score("singling_out", None, bound(count), 0)
            # With a control group, the same generator as in other questions with one.
            names = ("singling_out", "") if len(people.others) else ("singling_out",)
            rng = self._rng(*names, type(attack).__name__)
            claims = attack.run(self.release.view(rng), SinglingOutQuestion().knowledge(people, None), rng)
            if not isinstance(claims, Predicates) or not claims.predicates:
                return Score("singling_out", None, bound(count), 0)
            trials, hits = len(claims.predicates), people_isolated(claims.predicates, setting.records)
            if not len(people.others):
                return Score("singling_out", hits / trials, bound(count), trials)
            strangers = people_isolated(claims.predicates, people.others)
            return controlled("singling_out", hits, trials, strangers, trials)["singling_out"]

        for attack in SINGLING_OUT:
            yield attempted(attack, NOTHING, partial(isolated, attack), nothing_told=nothing)

    def _links(self) -> Iterator[MeasuredAttack]:
        columns, (attack,) = list(self.table.frame.columns), LINKS
        if len(columns) < 2:
            yield MeasuredAttack(
                attack=type(attack).__name__, goal=attack.goal, knows=HALVES, reason="there is one shared column"
            )
            return
        question = LinkQuestion(parts=dict(zip(("first", "second"), two_halves(columns), strict=True)))
        members, others = (self._public(side(self.targets)) for side in (self.setting.members, self.setting.others))
        people = self._people(one_row(members), one_row(others), self._own_people)
        nothing = self._tells_nothing(columns, self.setting.records.frame, others.frame)
        yield attempted(attack, HALVES, partial(self._asked, question, attack, people), nothing_told=nothing)

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

    def _asked(self, question: Question, attack: Attack, people: People, column: str = "") -> Score:
        """Score of one attack on one question of the game."""
        rng = self._rng(attack.goal, column, type(attack).__name__)
        claims = attack.run(self.release.view(rng), question.knowledge(people, None), rng)
        return question.score(people, self.release, claims, rng)[attack.goal]


def two_halves(columns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Columns of the two files that an attacker joins."""
    half = (len(columns) + 1) // 2
    return list(columns[:half]), list(columns[half:])


def most_targets(targets: int, records: int, rows: int) -> int:
    """Number of people about whom attacks are asked: at most `targets`, all records, and what released rows allow."""
    return min(targets, records, _affordable(2 * targets, rows) // 2)


def _affordable(people: int, rows: int) -> int:
    """Number of people who are compared with all rows, fewer than wanted for many rows."""
    return min(people, max(FEWEST, PAIRS // rows))


def bound(records: int) -> float:
    """Largest probability that a predicate chosen without the release holds for one of so many records alone.

    A predicate that holds for a share w of the population isolates one of n records with probability n w (1 - w)^(n -
    1), which is largest for w = 1 / n (Cohen and Nissim 2020).
    """
    return (1 - 1 / records) ** (records - 1)
