"""Averaging: the same question until the noise is gone."""

from __future__ import annotations

from numpy.random import Generator

from attacks.statistics.differencing import estimates
from attacks.statistics.statistical_disclosure import StatisticalDisclosure
from attacks.statistics.statistics_knowledge import StatisticsKnowledge
from defenses.base.parameters import check_integer
from defenses.base.queries import QuerySession
from metrics.arrays import Floats


class Averaging(StatisticalDisclosure):
    """Differencing with every question repeated and its answers averaged.

    Fresh noise of standard deviation s on each answer leaves s / sqrt(repeats) on their mean: a curator who gives every
    answer a budget but keeps no account of them is as good as exact after enough questions. One who keeps account
    refuses at some point; the attack then uses what it got, which is no better than `Differencing`, since one answer at
    epsilon tells more than r answers at epsilon / r.

    Parameters
    ----------
    repeats : int
        How often each question is asked.

    Raises
    ------
    ValueError
        If `repeats` is not an integer of at least 1.

    References
    ----------
    Dwork and Roth (2014), The algorithmic foundations of differential privacy, section 1.1.
    """

    def __init__(self, *, repeats: int = 1000) -> None:
        self.repeats = repeats
        check_integer("repeats", repeats, low=1)

    def secrets(self, session: QuerySession, known: StatisticsKnowledge, rng: Generator) -> list[Floats | None]:
        """Ask for each target's answers many times."""
        return estimates(session, known, rng, repeats=self.repeats, epsilon=None)
