"""Privacy accounts by sequential and by advanced composition."""

from __future__ import annotations

import math
from fractions import Fraction

from defenses.dp.account import TOLERANCE, Account
from defenses.dp.account_file import Costs


class Accountant(Account):
    """Sequential composition: epsilons add up, and so do deltas, also where queries depend on earlier answers.

    Parameters
    ----------
    epsilon : float
        The budget, positive.
    delta : float
        In [0, 1).
    path : str or Path, optional
        File of the account; it must not exist yet.

    Examples
    --------
    >>> from defenses.dp import Accountant
    >>> account = Accountant(epsilon=1.0)
    >>> account.spend(0.5)
    >>> account.spend(0.25)
    >>> account.spent
    (0.75, 0.0)
    >>> account.remaining
    0.25
    >>> account.spend(0.5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    defenses.base.queries.session.BudgetSpent: epsilon 0.5, delta 0 more would exceed the budget of epsilon 1, ...
    """

    def total(self, costs: Costs) -> tuple[float, float]:
        """Sum of the epsilons and of the deltas, without rounding errors."""
        epsilon = sum((Fraction(e) * number for (e, _, _), number in costs.items()), Fraction(0))
        delta = sum((Fraction(d) * number for (_, d, _), number in costs.items()), Fraction(0))
        return float(epsilon), float(delta)

    @property
    def remaining(self) -> float:
        """Epsilon not yet spent."""
        left = float(self.epsilon) - self.spent[0]
        return left if left > TOLERANCE * self.epsilon else 0.0


class AdvancedAccountant(Account):
    """Advanced composition, also where the costs themselves depend on earlier answers.

    Epsilon is the smaller of the sum of epsilons and sqrt(2 ln(1 / slack) E) + E / 2. Here E is the sum of squared
    epsilons, and the slack is the budget's delta less the sum of deltas.

    References
    ----------
    Whitehouse, Ramdas, Rogers and Wu (2023), Fully-adaptive composition in differential privacy, theorem 1.
    """

    def total(self, costs: Costs) -> tuple[float, float]:
        """The smaller of both epsilons, with its delta."""
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
        """Largest epsilon of one more answer, by bisection of the total."""
        return self._one_more(float(self.epsilon), 60)
