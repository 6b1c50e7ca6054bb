"""Disclosure of persons' values through the answers of a curator."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import ValueClaims
from attacks.statistics.statistics_knowledge import StatisticsKnowledge
from defenses.base.queries import QuerySession
from metrics.arrays import Floats


class StatisticalDisclosure(Attack):
    """Claims each target's secret by what a curator answers."""

    kind: ClassVar[str] = "statistics"
    goal: ClassVar[str] = "disclosure"

    @abstractmethod
    def secrets(self, session: QuerySession, known: StatisticsKnowledge, rng: Generator) -> Sequence[Floats | None]:
        """Ask, and estimate each target's secret; None where nothing is known of it."""

    def run(self, release: QuerySession, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Claim the estimated secrets.

        Raises
        ------
        NotApplicable
            If the knowledge is not of statistics, or has not what the attack asks for.
        """
        if not isinstance(knowledge, StatisticsKnowledge):
            raise NotApplicable("the game does not say which statistics hold the secret")
        return knowledge.claims(self.secrets(release, knowledge, rng))
