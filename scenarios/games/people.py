"""The people of one play."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.random import Generator

from attacks.base import Decisions
from defenses.base import Microdata
from metrics.columns import Booleans, Floats, Integers, refuse
from metrics.table_utility import TableUtility
from scenarios.games.game import Secret
from scenarios.tables.review.rows_of_people import person_numbers


@dataclass(frozen=True)
class Drawn(Secret):
    """People of one play: those in the released table, others, and those whom the adversary has.

    - records: The originals: people in the released table.
    - others: People who are not in the table: decoys, non-members, or the control group, as the question has it.
    - auxiliary: The adversary's people, who are neither originals nor others, with the public domains of all columns.
    - order, shape (candidates,): Order of the candidates: positions in the originals followed by the others.
    - rng: Randomness for questions. It is only copied, never drawn from.
    - counted, shape (candidates,), optional: Candidates about whom claims are scored; by default all.
    """

    others: Microdata = field(repr=False)
    auxiliary: Microdata = field(repr=False)
    order: Integers = field(repr=False)
    rng: Generator = field(repr=False)
    counted: Booleans | None = field(default=None, repr=False, kw_only=True)

    @property
    def member(self) -> Booleans:
        """Whether each candidate is in the table, shape (candidates,)."""
        return self.order < len(self.records)

    @cached_property
    def whose(self) -> Integers:
        """Number of the person of each candidate, from 0 in their order, shape (candidates,)."""
        members, others = person_numbers(self.records), person_numbers(self.others)
        numbers = np.concatenate([members, members.max(initial=-1) + 1 + others])[self.order]
        return np.asarray(pd.factorize(numbers)[0])

    @property
    def repeats(self) -> bool:
        """Whether some person is several candidates."""
        return int(self.whose.max(initial=-1)) + 1 < self.order.size

    def decided(self, decisions: Decisions) -> tuple[Decisions, Booleans]:
        """Decisions about people, whose score is the mean over their candidates, and who of them is in the table.

        Raises ValueError if the number of decisions is not the number of candidates.
        """
        whose = self.whose
        refuse(
            decisions.scores.shape != whose.shape,
            f"the decisions are about {decisions.scores.size} candidates, there are {whose.size}",
        )
        if self.counted is not None:
            return Decisions(decisions.scores[self.counted]), self.member[self.counted]
        if not self.repeats:
            return decisions, self.member
        # One candidate about whom nothing is claimed does not hide what is claimed about the others.
        scores = decisions.scores
        scores = np.maximum(scores, np.min(scores, where=np.isfinite(scores), initial=np.inf))
        member = np.zeros(int(whose.max(initial=-1)) + 1, dtype=bool)
        member[whose] = self.member
        return Decisions(np.bincount(whose, weights=scores) / np.bincount(whose)), member

    @property
    def answers(self) -> Integers:
        """Position of each original among the candidates, shape (originals,); every original is one."""
        return np.argsort(self.order)[: len(self.records)]

    @property
    def candidates(self) -> pd.DataFrame:
        """Copy of the released columns of all candidates, in the order of `order`, shape (candidates, columns)."""
        return self._candidates.copy()

    @cached_property
    def _candidates(self) -> pd.DataFrame:
        columns = list(self.records.released_columns)
        everybody = pd.concat([self.records.frame[columns], self.others.frame[columns]], ignore_index=True)
        return everybody.iloc[self.order].reset_index(drop=True)


@dataclass(frozen=True)
class People(Drawn):
    """People of one play, and the utility of releases of the originals.

    - utility: Measures the utility of releases of the originals.
    """

    utility: TableUtility = field(repr=False)


def by_person(correct: Floats, known: Booleans, whose: Integers) -> tuple[float, int]:
    """Successes of all people, and their number; a person's success is the mean over those rows that count.

    - correct, shape (rows,): Probability that the attack is right about each row.
    - known, shape (rows,): Whether the row counts.
    - whose, shape (rows,): Number of the person of each row.

    Examples
    --------
    >>> by_person(np.array([1.0, 0.0, 1.0]), np.array([True, True, True]), np.array([0, 0, 1]))
    (1.5, 2)
    """
    rows, hits = np.bincount(whose[known]), np.bincount(whose[known], weights=correct[known])
    some = rows > 0
    return float((hits[some] / rows[some]).sum()), int(some.sum())
