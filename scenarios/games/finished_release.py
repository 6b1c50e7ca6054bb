"""Questions about a finished release and given people: one play, in which nobody is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from defenses import Defense, Microdata, Release
from metrics.columns import Integers
from scenarios.games.people import Drawn
from scenarios.games.questions.question import Question
from scenarios.games.table_game import QuestionGame, table


@dataclass(frozen=True)
class GivenPeople(Drawn):
    """People of given tables; nothing but their order is drawn."""

    @classmethod
    def listed(cls, candidates: Microdata, auxiliary: Microdata, answers: Integers | None = None) -> GivenPeople:
        """People of a list of candidates, in its order.

        Parameters
        ----------
        candidates, auxiliary : Microdata
            The candidates, and the adversary's own people.
        answers : ndarray of int, shape (originals,), optional
            Position of each original among the candidates; nobody is known to be one by default.
        """
        own = np.zeros(0, dtype=np.intp) if answers is None else answers
        others = np.setdiff1d(np.arange(len(candidates)), own)
        order = np.argsort(np.concatenate([own, others]))
        # Questions about such people draw nothing.
        return cls(candidates.take(own), candidates.take(others), auxiliary, order, np.random.default_rng(0))


class FinishedRelease(QuestionGame):
    """A question about given people and a release that is published as it is, its rows in their order.

    Nobody can repeat the mechanism, since only its result is known. What is public about it, the channel, is known.

    Parameters
    ----------
    people : Drawn
        The people.
    question : Question
        Says what the adversary sees and knows, and scores its claims.
    """

    def __init__(self, *, people: Drawn, question: Question) -> None:
        super().__init__(records=people.records, attacker_knows="mechanism")
        self.people = people
        self.question = question

    def draw(self, rng: Generator, choice: Any = None) -> Drawn:
        """Give the people."""
        return self.people

    def utility(self, secret: Any, release: Any) -> dict[str, float | None]:
        """Nothing: utility is measured apart, on the whole table."""
        return {}

    def publish(self, release: Release, rng: Generator) -> Release:
        """Publish the table as it is."""
        return table(release)

    def simulation(self, defense: Defense) -> None:
        """Nobody can repeat what made the release."""
