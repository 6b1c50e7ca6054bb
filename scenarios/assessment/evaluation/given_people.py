"""Questions about people of given tables, who may have several rows each: a person is one trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Decisions, Predicates, RankedAnswers
from attacks.criteria.atomic_predicates import records_met
from defenses import Microdata, MicrodataRelease
from metrics.columns import Booleans, Floats, Integers, refuse
from metrics.score import Score, Scores
from scenarios.games.people import Drawn, by_person
from scenarios.games.questions.attribute_question import AttributeQuestion
from scenarios.games.questions.member_question import MemberQuestion, membership_scores
from scenarios.games.questions.row_question import RowQuestion, row_scores
from scenarios.games.questions.singling_out_question import SinglingOutQuestion
from scenarios.tables.review.rows_of_people import number_of_people, person_numbers


@dataclass(frozen=True)
class GivenPeople(Drawn):
    """People of given tables; nothing but their order is drawn.

    Attributes
    ----------
    columns : list of str, optional
        Columns of the candidates that the attacker knows; by default what the question gives.
    """

    columns: Sequence[str] | None = field(default=None, repr=False)

    @cached_property
    def whose(self) -> Integers:
        """Number of the person of each candidate, from 0 in their order, shape (candidates,)."""
        members, others = person_numbers(self.records), person_numbers(self.others)
        numbers = np.concatenate([members, members.max(initial=-1) + 1 + others])[self.order]
        whose: Integers = pd.factorize(numbers)[0]
        return whose


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
    """Which sensitive value a person has, compared with what other records in the clear predict.

    Parameters
    ----------
    baseline : callable
        Returns the probability that the baseline infers each candidate's value, shape (candidates,).
    """

    def __init__(self, *, baseline: Callable[[], Floats]) -> None:
        self.baseline = baseline

    def control(self, people: Drawn, correct: Floats, has_value: Booleans) -> tuple[float, int]:
        """Successes and trials of the baseline about the same people."""
        return by_person(self.baseline(), has_value, people.whose)


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
