"""Privacy account by zero-concentrated differential privacy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from defenses.dp.account import TOLERANCE, Account, Costs
from defenses.dp.composition import zcdp_epsilon, zcdp_rho
from defenses.dp.mechanism import check_delta
from metrics.columns import refuse


class ConcentratedAccountant(Account):
    """Zero-concentrated differential privacy: rhos add up, also where the costs depend on earlier answers.

    An answer without delta has a rho of at most epsilon^2 / 2. Where no answer has a delta, the account takes the sum
    of epsilons if it is smaller, as it is for a few large costs. In that case no privacy loss can exceed the budget.
    So the budget holds, whichever of the two rules ends a run. The budget must have a delta.

    References
    ----------
    Bun and Steinke (2016), Concentrated differential privacy, proposition 1.4 and lemma 1.7; for chosen costs:
    Feldman and Zrnic (2021), Individual privacy accounting via a Rényi filter, theorem 4.5.
    """

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float = 1e-6,
        path: str | Path | None = None,
        about: Mapping[str, str] | None = None,
    ) -> None:
        check_delta(delta)
        super().__init__(epsilon=epsilon, delta=delta, path=path, about=about)
        self.rho = zcdp_rho(float(epsilon), float(delta))

    @property
    def remaining_rho(self) -> float:
        """Rho not yet spent."""
        left = self.rho - self._spent_rho(self._costs)
        return left if left > TOLERANCE * self.rho else 0.0

    @property
    def remaining(self) -> float:
        """Largest epsilon of one more answer without delta: sqrt(2 rho), or the budget less the sum of epsilons."""
        left = float(self.epsilon) - self._plain(self._costs)
        return max(math.sqrt(2 * self.remaining_rho), left if left > TOLERANCE * self.epsilon else 0.0)

    def total(self, costs: Costs) -> tuple[float, float]:
        """Epsilon at the budget's delta."""
        rho = self._spent_rho(costs)
        if not rho:
            return 0.0, 0.0
        concentrated = zcdp_epsilon(rho, float(self.delta))
        plain = self._plain(costs)
        return (plain, 0.0) if plain <= concentrated else (concentrated, float(self.delta))

    def _exceeds(self, costs: Costs) -> bool:
        within = self._spent_rho(costs) <= self.rho * (1 + TOLERANCE)
        return not within and not self._plain(costs) <= self.epsilon * (1 + TOLERANCE)

    @staticmethod
    def _plain(costs: Costs) -> float:
        """Sum of epsilons, infinite where one comes with a delta."""
        if any(delta for _, delta, _ in costs):
            return math.inf
        return math.fsum(epsilon * number for (epsilon, _, _), number in costs.items())

    def _spent_rho(self, costs: Costs) -> float:
        def of(epsilon: float, delta: float, rho: float | None) -> float:
            if rho is not None:
                return rho
            refuse(delta, "rho must be given for an answer with a delta")
            return epsilon**2 / 2

        return float(sum((Fraction(of(*cost)) * number for cost, number in costs.items()), Fraction(0)))
