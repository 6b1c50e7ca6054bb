"""Averaging: the same question until the noise is gone."""

from __future__ import annotations

from typing import ClassVar

from numpy.random import Generator

from attacks.attack import Attack, Knowledge
from attacks.claims import ValueClaims
from attacks.differencing import estimates, of_statistics
from defenses.parameters import check_whole
from defenses.queries import QuerySession


class Averaging(Attack):
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
        If `repeats` is no whole number of at least 1.

    References
    ----------
    Dwork and Roth (2014), The algorithmic foundations of differential privacy, section 1.1.
    """

    kind: ClassVar[str] = "statistics"
    goal: ClassVar[str] = "disclosure"

    def __init__(self, *, repeats: int = 1000) -> None:
        self.repeats = repeats
        check_whole("repeats", repeats, low=1)

    def run(self, release: QuerySession, knowledge: Knowledge, rng: Generator) -> ValueClaims:
        """Ask for each target's answers many times.

        Raises
        ------
        NotApplicable
            If the knowledge is not of statistics.
        """
        known = of_statistics(knowledge)
        return known.claims(estimates(release, known, rng, repeats=self.repeats, epsilon=None))
