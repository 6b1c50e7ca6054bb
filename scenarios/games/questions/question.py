"""The contract of a question about the people of one play."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from attacks import Claims, Knowledge
from defenses import Microdata, MicrodataRelease
from defenses.base import Parametrized
from metrics.columns import require
from metrics.score import Score, Scores, risk_after_control
from scenarios.games.people import Drawn

# Scores of goals with a control group.


def controlled(
    goal: str,
    successes: float,
    trials: int,
    control_successes: float,
    control_trials: int,
    **measures: float | None,
) -> Scores:
    """Scores of one goal with a control group; rate and chance are None if either group is empty.

    - successes, trials: Successes and trials of the attack on people in the table.
    - control_successes, control_trials: Successes and trials of the same attack on the control group.
    - returns: The goal's rate; its chance is the rate on the control group. Measures: ``risk``, ``risk_low`` and
      ``risk_high``, the rate after control (`metrics.score.risk_after_control`), and the given ones.
    """
    if not trials or not control_trials:
        empty = Score(goal, None, None, trials, control_trials)
        return Scores.of(empty, risk=None, risk_low=None, risk_high=None, **measures)
    risk = risk_after_control(successes, trials, control_successes, control_trials)
    score = Score(goal, successes / trials, control_successes / control_trials, trials, control_trials)
    return Scores.of(score, risk=risk.value, risk_low=risk.low, risk_high=risk.high, **measures)


class Question(Parametrized, ABC):
    """A question about the people of one play that attacks answer from a released table.

    Several questions may be about the same people and the same release (`scenarios.SharedPeople`).

    Attributes
    ----------
    takes : mapping of str to type of Claims
        The claims that answer the question, by the goal of the attack that makes them.
    names_people : bool
        Whether the adversary knows candidates in clear, or nobody.
    asked : sequence of int, optional
        Positions of the released rows that the adversary sees; None for all.

    Examples
    --------
    >>> from scenarios import RowQuestion
    >>> list(RowQuestion().takes)
    ['reidentification']
    """

    takes: ClassVar[Mapping[str, type[Claims]]]
    names_people: ClassVar[bool] = True
    asked: Sequence[int] | None = None

    def check(self, records: Microdata, originals: int, others: int) -> None:
        """Check that the question can be asked about people of a population.

        Parameters
        ----------
        records : Microdata
            The population.
        originals, others : int
            Number of people in the table, and of those who are not.

        Raises
        ------
        ValueError
            If it cannot; names the parameter or the column that is missing.
        """

    def knows(self, records: Microdata) -> list[str]:
        """Columns of the candidates that the adversary knows; by default all that are released."""
        return list(records.released_columns)

    def view(self, published: Any) -> Any:
        """What the adversary sees of a published release, and is scored on: all rows, or those asked about.

        Raises
        ------
        ValueError
            If it is asked about a row that the release does not have.
        """
        if self.asked is None:
            return published
        rows = len(published.frame)
        require(np.max(self.asked, initial=0) < rows, f"asked: the release has the rows 0 to {rows - 1}")
        return published.take(np.asarray(self.asked, dtype=np.intp))

    def knowledge(self, people: Drawn, simulate: Any) -> Knowledge:
        """What the adversary knows besides the release; `simulate` repeats the defense, None if it is secret."""
        candidates, known = people.candidates, self.knows(people.records)
        if list(candidates.columns) != known:
            candidates = candidates[known]
        return Knowledge(candidates if self.names_people else candidates.iloc[:0], people.auxiliary, simulate)

    @abstractmethod
    def score(self, people: Drawn, published: MicrodataRelease, claims: Any, rng: Generator) -> Scores:
        """Score claims of a kind that the question takes.

        Raises
        ------
        ValueError
            If the claims do not match the rows, people or values.
        """


class CandidateQuestion(Question):
    """Abstract question about candidates of whom the adversary knows several columns in clear.

    A ValueError is raised if a row is asked about twice, or has a negative position.

    - known: Columns of the candidates that it knows, such as the quasi-identifiers; by default all that are released.
    - asked: Positions of the released rows that it sees and is asked about; by default all.
    """

    def __init__(self, *, known: Sequence[str] | None = None, asked: Sequence[int] | None = None) -> None:
        self.known = known
        self.asked = asked
        if asked is not None:
            require(np.min(asked, initial=0) >= 0, "asked must hold positions of rows from 0")
            require(np.unique(asked).size == len(asked), "asked must name each row once")

    def get_params(self) -> dict[str, Any]:
        """Return what differs from knowing and seeing everything, so that the names of other questions stay."""
        return {name: value for name, value in super().get_params().items() if value is not None and value is not False}

    def check(self, records: Microdata, originals: int, others: int) -> None:
        """Refuse columns that are not released."""
        for name in self.known or ():
            records.check_released("known", name)

    def knows(self, records: Microdata) -> list[str]:
        """The known columns."""
        return super().knows(records) if self.known is None else list(self.known)
