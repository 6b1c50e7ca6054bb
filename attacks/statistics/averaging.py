"""Averaging attack: repeats queries so that independent noise cancels."""

from __future__ import annotations

from numpy.random import Generator

from attacks.statistics.differencing import estimates
from attacks.statistics.statistical_disclosure import StatisticalDisclosure, StatisticsKnowledge
from defenses.base.queries import QuerySession
from metrics.columns import Floats, check_integer


class Averaging(StatisticalDisclosure):
    """Differencing with every query repeated and its answers averaged.

    Fresh noise of standard deviation s on each answer leaves s / sqrt(repeats) on their mean. The attack assumes a
    curator who spends a budget on each answer but keeps no account of the total. Such a curator becomes as good as
    exact after enough queries.

    It extends `Differencing` and beats it on such curators. A curator who keeps account refuses at some point, and the
    attack uses the answers so far. It then does not beat `Differencing`, since one answer at epsilon is more
    informative than r answers at epsilon / r.

    Parameters
    ----------
    repeats : int
        Number of times each query is asked, at least 1.

    Raises
    ------
    ValueError
        If `repeats` is not an integer of at least 1.

    References
    ----------
    Dwork and Roth (2014), The algorithmic foundations of differential privacy, section 1.1.
    """

    def __init__(self, *, repeats: int = 1000) -> None:
        self.repeats = check_integer("repeats", repeats, low=1)

    def secrets(self, session: QuerySession, knowledge: StatisticsKnowledge, rng: Generator) -> list[Floats | None]:
        """Ask each target's queries repeatedly and average the answers."""
        return estimates(session, knowledge, rng, repeats=self.repeats, epsilon=None)
