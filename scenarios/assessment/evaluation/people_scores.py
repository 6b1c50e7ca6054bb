"""Scores of attacks on people who may have several rows: a person is one trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from attacks.criteria.atomic_predicates import records_met
from defenses.base.microdata import Microdata
from metrics.arrays import Booleans, Floats, Integers
from metrics.score import Score
from scenarios.games.people import People
from scenarios.tables.review.rows_of_people import person_numbers


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
