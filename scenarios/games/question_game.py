"""Base of games that ask one question about the people of a play."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from attacks import Claims, Knowledge
from defenses import Defense, MicrodataRelease
from metrics.score import Scores
from scenarios.games.people import People
from scenarios.games.questions.question import Question
from scenarios.games.table_game import TableGame, table_worth


class QuestionGame(TableGame):
    """Abstract game on a released table that asks one question about people; a subclass draws them.

    Attributes
    ----------
    question : Question
        Says what attacks know, and scores their claims.
    """

    question: Question

    def knowledge(self, secret: Any, defense: Defense) -> Knowledge:
        """Give what the question gives, and the mechanism if the game discloses it."""
        return self.question.knowledge(secret, self.simulation(defense))

    def score(self, secret: Any, published: MicrodataRelease, claims: Claims, rng: Generator) -> Scores:
        """Score the claims as the question does.

        Raises
        ------
        TypeError
            If the claims are of another kind.
        ValueError
            If the claims do not match the rows, people or values.
        """
        return self.question.score(secret, published, self.taken(claims), rng)

    def utility(self, secret: People, release: MicrodataRelease) -> dict[str, float | None]:
        """Anchored utility of the table (`metrics.table_utility.TableUtility`), and its measured k and l."""
        return table_worth(secret.utility, secret.records, release)
