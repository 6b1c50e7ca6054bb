"""A budget of zero-concentrated privacy that is spent in rounds of growing cost."""

from __future__ import annotations

import math
from fractions import Fraction

COUNTS = Fraction(9, 10)
"""Share of a round's cost that goes to counts; the rest goes to the selection."""


class AnnealedBudget:
    """A budget that is spent in rounds of one selection and one measurement each.

    Parameters
    ----------
    total : Fraction
        The whole budget rho.
    rounds : int
        Number of rounds if their cost stayed the same.

    Notes
    -----
    All costs are exact. Counts with noise of variance v cost 1 / v (one record is replaced, which changes two counts by
    one), and a selection by the exponential mechanism costs epsilon^2 / 8.

    References
    ----------
    McKenna, Mullins, Sheldon and Miklau (2022), AIM, algorithm 4.
    """

    def __init__(self, total: Fraction, rounds: int) -> None:
        self.total = total
        self.remaining = total
        self._cost = total / rounds

    @property
    def variance(self) -> Fraction:
        """Variance of the noise on counts in this round."""
        return 1 / (COUNTS * self._cost)

    @property
    def epsilon(self) -> float:
        """Epsilon of this round's selection."""
        return math.sqrt(8 * (1 - COUNTS) * self._cost)

    @property
    def share_after_round(self) -> Fraction:
        """Share of the budget that is spent after this round."""
        return 1 - (self.remaining - self._cost) / self.total

    def spend_counts(self, times: int) -> None:
        """Spend what `times` measurements cost, without a selection."""
        self.remaining -= times * COUNTS * self._cost

    def start_round(self) -> None:
        """Let the round spend all that is left if that is at most two rounds' cost."""
        if self.remaining <= 2 * self._cost:
            self._cost = self.remaining

    def spend_round(self) -> None:
        """Spend what a selection and a measurement cost."""
        self.remaining -= self._cost

    def anneal(self) -> None:
        """Let all later rounds cost four times as much, so that their noise is half as large."""
        self._cost *= 4
