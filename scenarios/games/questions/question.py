"""The contract of a question about the people of one play."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.random import Generator

from attacks import Claims, Knowledge
from defenses import Microdata, MicrodataRelease
from defenses.base import Parametrized
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

    Parameters
    ----------
    goal : str
        The attack's goal.
    successes, trials : float, int
        Successes and trials of the attack on people in the table.
    control_successes, control_trials : float, int
        Successes and trials of the same attack on the control group.
    **measures : float or None
        Further measures to report.

    Returns
    -------
    Scores
        The goal's rate; its chance is the rate on the control group. Measures: ``risk``, ``risk_low`` and
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

    Examples
    --------
    >>> from scenarios import RowQuestion
    >>> list(RowQuestion().takes)
    ['reidentification']
    """

    takes: ClassVar[Mapping[str, type[Claims]]]

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

    def knowledge(self, people: Drawn, simulate: Any) -> Knowledge:
        """What the adversary knows besides the release; `simulate` repeats the defense, None if it is secret."""
        columns = self.knows(people.records) if people.columns is None else people.columns
        return Knowledge(people.candidates[columns], people.auxiliary, simulate)

    @abstractmethod
    def score(self, people: Drawn, published: MicrodataRelease, claims: Any, rng: Generator) -> Scores:
        """Score claims of a kind that the question takes.

        Raises
        ------
        ValueError
            If the claims do not match the rows, people or values.
        """
