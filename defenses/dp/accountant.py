"""Accounts by sequential and by advanced composition."""

from __future__ import annotations

import math
from fractions import Fraction

from defenses.dp.account import TOLERANCE, Account
from defenses.dp.account_file import Costs


class Accountant(Account):
    """Serial composition: epsilons add up, and deltas; also where queries are chosen by earlier answers."""

    def total(self, costs: Costs) -> tuple[float, float]:
        """Sums, without rounding errors."""
        epsilon = sum((Fraction(e) * number for (e, _, _), number in costs.items()), Fraction(0))
        delta = sum((Fraction(d) * number for (_, d, _), number in costs.items()), Fraction(0))
        return float(epsilon), float(delta)

    @property
    def remaining(self) -> float:
        """What is left of epsilon."""
        left = float(self.epsilon) - self.spent[0]
        return left if left > TOLERANCE * self.epsilon else 0.0


class AdvancedAccountant(Account):
    """Advanced composition, also where the costs themselves are chosen by earlier answers.

    Epsilon is the smaller of the sum and sqrt(2 ln(1 / slack) E) + E / 2, E the sum of squared epsilons; the slack is
    what the budget's delta has beyond the sum of deltas.

    References
    ----------
    Whitehouse, Ramdas, Rogers and Wu (2023), Fully-adaptive composition in differential privacy, theorem 1.
    """

    def total(self, costs: Costs) -> tuple[float, float]:
        """The better of both, epsilon with its delta."""
        plain = math.fsum(e * number for (e, _, _), number in costs.items())
        delta = math.fsum(d * number for (_, d, _), number in costs.items())
        squares = math.fsum(e * e * number for (e, _, _), number in costs.items())
        slack = self.delta - delta
        if slack <= 0:
            return plain, delta
        advanced = math.sqrt(2 * -math.log(slack) * squares) + squares / 2
        return (plain, delta) if plain <= advanced else (advanced, float(self.delta))

    @property
    def remaining(self) -> float:
        """Epsilon of one more answer, by bisection of the total."""
        return self._one_more(float(self.epsilon), 60)
