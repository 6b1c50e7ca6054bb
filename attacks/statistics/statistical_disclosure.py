"""Disclosure of persons' values through the answers of a curator."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from numpy.random import Generator

from attacks.base.attack import Attack, Knowledge, NotApplicable
from attacks.base.claims import ValueClaims
from attacks.statistics.statistics_knowledge import StatisticsKnowledge
from defenses.base.queries import QuerySession
from metrics.columns.arrays import Floats


class StatisticalDisclosure(Attack):
    """Base class of attacks that infer each target's secret from the answers of a curator."""

    kind = "statistics"
    goal = "disclosure"

    @abstractmethod
    def secrets(self, session: QuerySession, knowledge: StatisticsKnowledge, rng: Generator) -> Sequence[Floats | None]:
        """Query the session and estimate each target's secret; None where there is no estimate."""

    def run(self, release: QuerySession, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Claim the estimated secrets.

        Raises
        ------
        NotApplicable
            If the knowledge is not a `StatisticsKnowledge`, or lacks the queries that the attack needs.
        """
        if not isinstance(knowledge, StatisticsKnowledge):
            raise NotApplicable("the game does not say which statistics hold the secret")
        return knowledge.claims(self.secrets(release, knowledge, rng))
