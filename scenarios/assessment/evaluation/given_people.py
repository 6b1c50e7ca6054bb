"""Questions about people of given tables, who may have several rows each: a person is one trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks import Attack, BayesInference, ClassifierInference, MajorityInClass, NotApplicable
from attacks.base import Decisions, Predicates, RankedAnswers
from attacks.criteria.atomic_predicates import records_met
from defenses import Identity, Microdata, MicrodataRelease, released_frame
from metrics.columns import Booleans, Floats, Integers, refuse
from metrics.score import Score, Scores
from scenarios.assessment.evaluation.evaluation_setting import AUXILIARY, EvaluationSetting
from scenarios.games.control_group import with_sensitive
from scenarios.games.finished_release import FinishedRelease, GivenPeople
from scenarios.games.people import Drawn, by_person
from scenarios.games.playing import Randomness, claims_of
from scenarios.games.questions.attribute_question import AttributeQuestion, successes
from scenarios.games.questions.member_question import MemberQuestion, membership_scores
from scenarios.games.questions.row_question import RowQuestion, row_scores
from scenarios.games.questions.singling_out_question import SinglingOutQuestion
from scenarios.tables.review.rows_of_people import number_of_people, person_numbers
from scenarios.tables.seeds import generator

LEARNED = 20_000
"""Largest number of records that the baseline of inferred values learns from."""
BASELINES: tuple[Attack, ...] = (BayesInference(), ClassifierInference(), MajorityInClass())


class GivenRows(RowQuestion):
    """Whose row a released row is; any record of the person is right."""

    def score(self, people: Drawn, published: MicrodataRelease, claims: RankedAnswers, rng: Generator) -> Scores:
        """Score links of rows alone, since everybody is a candidate and nobody else."""
        numbers = person_numbers(people.records)
        if numbers.max(initial=-1) + 1 < numbers.size:
            return Scores.of(person_score(claims.best(rng), published.origin, people.order, numbers))
        return row_scores(claims, published.origin, people.answers, len(people.order), rng)


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


class GivenMembers(MemberQuestion):
    """Who is in the table; a person's score is the mean over the person's rows."""

    def score(self, people: Drawn, published: MicrodataRelease, claims: Decisions, rng: Generator) -> Scores:
        """Score the people; the measure ``alike`` says whether all of them have the same score."""
        whose = people.whose
        refuse(
            claims.scores.shape != whose.shape,
            f"the decisions are about {claims.scores.size} candidates, there are {whose.size}",
        )
        member = np.zeros(int(whose.max(initial=-1)) + 1, dtype=bool)
        member[whose] = people.member
        means = np.bincount(whose, weights=claims.scores) / np.bincount(whose)
        alike = float((means == means[0]).all())
        return membership_scores(Decisions(means), member, rng).with_measures(alike=alike)


class LearnedBaseline(AttributeQuestion):
    """Which sensitive value a person has, compared with what a baseline infers of the same person without the release.

    The baseline learns from the other records in the clear, which say nothing about the targets themselves. Whatever it
    infers follows from statistics of the population. Of `BASELINES` and the most frequent value, the one that infers
    most targets' values counts. An advantage over it is therefore rather too small than too large.

    Parameters
    ----------
    setting : EvaluationSetting
        The original records, which keep what the baseline infers for the next release.
    column : str
        The column whose values are inferred.
    targets : int
        Number of targets.
    """

    def __init__(self, *, setting: EvaluationSetting, column: str, targets: int) -> None:
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

    Without a table of as many other people, the chance level is `bound`.
    """

    def isolated(self, predicates: Sequence[Callable[[pd.DataFrame], Booleans]], people: Microdata) -> int:
        """Number of predicates that hold for rows of exactly one person."""
        return people_isolated(predicates, people)

    def score(self, people: Drawn, published: MicrodataRelease, claims: Predicates, rng: Generator) -> Scores:
        """Count the predicates that isolate a person."""
        trials = len(claims.predicates)
        if trials and len(people.others):
            return super().score(people, published, claims, rng)
        rate = self.isolated(claims.predicates, people.records) / trials if trials else None
        return Scores.of(Score("singling_out", rate, bound(number_of_people(people.records)), trials))


def people_isolated(predicates: Sequence[Callable[[pd.DataFrame], Booleans]], records: Microdata) -> int:
    """Number of predicates that hold for rows of exactly one person."""
    numbers = person_numbers(records)
    if numbers.max(initial=-1) + 1 == len(records):
        return records_met(predicates, records.frame).count(1)
    met = (numbers[predicate(records.frame)] for predicate in predicates)
    return sum(bool(rows.size) and bool((rows == rows[0]).all()) for rows in met)


def bound(records: int) -> float:
    """Largest probability that a predicate chosen without the release holds for one of so many records alone.

    A predicate that holds for a share w of the population isolates one of n records with probability n w (1 - w)^(n -
    1), which is largest for w = 1 / n (Cohen and Nissim 2020).
    """
    return (1 - 1 / records) ** (records - 1)
