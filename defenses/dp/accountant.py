"""Privacy accounts by sequential and by advanced composition."""

from __future__ import annotations

import math
from fractions import Fraction

from defenses.dp.account import TOLERANCE, Account, Costs


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
    defenses.base.queries.query.BudgetSpent: epsilon 0.5, delta 0 more would exceed the budget of epsilon 1, ...
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

    Epsilon is the smaller of the sum of epsilons and sqrt(2 ln(1 / slack) E) + E / 2, where E is the sum of squared
    epsilons. The slack is fixed when the account opens: half of the budget's delta. The other half is for the deltas of
    answers.

    Notes
    -----
    The budget is a privacy filter: it holds for costs that an adversary chooses by the answers so far. Proof. An
    (epsilon, delta)-private answer discloses everything with probability delta at most, and otherwise its privacy loss
    is that of an epsilon-private answer (Kairouz, Oh and Viswanath 2015). Deltas never add up to more than the budget's
    delta less the slack, on any path. So full disclosure is at most as probable. Let E* solve
    sqrt(2 ln(1 / slack) E) + E / 2 = epsilon. By theorem 1 of Whitehouse et al., the total loss exceeds epsilon at some
    time with E <= E* with probability at most the slack. A path on which E exceeds E* has a sum of epsilons of at most
    epsilon, and the loss cannot exceed that sum. In all, the loss exceeds epsilon with probability at most delta.

    A slack that depended on the deltas already spent would depend on the answers. It would not be a filter: an
    adversary could spend the slack on some paths and delta on the others.

    References
    ----------
    Whitehouse, Ramdas, Rogers and Wu (2023), Fully-adaptive composition in differential privacy, theorem 1.
    """

    @property
    def slack(self) -> float:
        """Part of the budget's delta that pays for the smaller epsilon."""
        return float(self.delta) / 2

    def total(self, costs: Costs) -> tuple[float, float]:
        """The smaller of both epsilons, with its delta."""
        plain = math.fsum(e * number for (e, _, _), number in costs.items())
        delta = math.fsum(d * number for (_, d, _), number in costs.items())
        squares = math.fsum(e * e * number for (e, _, _), number in costs.items())
        if self.slack == 0:
            return plain, delta
        advanced = math.sqrt(2 * -math.log(self.slack) * squares) + squares / 2
        return (plain, delta) if plain <= advanced else (advanced, delta + self.slack)

    @property
    def remaining(self) -> float:
        """Largest epsilon of one more answer, by bisection of the total."""
        return self._one_more(float(self.epsilon), 60)

    def _exceeds(self, costs: Costs) -> bool:
        deltas = sum((Fraction(d) * number for (_, d, _), number in costs.items()), Fraction(0))
        left = Fraction(self.delta) - Fraction(self.slack)
        return super()._exceeds(costs) or deltas > left * (1 + Fraction(TOLERANCE))
