"""Privacy accounts by the library dp-accounting: Rényi differential privacy and privacy loss distributions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

from defenses.dp.account import Account, Costs
from defenses.dp.mechanism import check_delta
from metrics.columns import refuse

LARGEST_LOSS = 700.0
"""Largest epsilon whose exponential is computed: e^700 is near the largest float."""


class RenyiAccountant(Account):
    """Rényi differential privacy by the library dp-accounting, for costs fixed in advance.

    Queries may depend on earlier answers, but costs may not: the best Rényi order is chosen for all costs together.
    The total is the sum of epsilons where that is smaller, as it is for a few large costs.

    A cost with rho counts as Gaussian noise of that rho. A cost without rho counts as randomized response of its
    epsilon. It has the largest loss of all mechanisms with that guarantee (Kairouz, Oh and Viswanath 2015, theorem
    3.1). This is tighter than rho = epsilon^2/2. The budget must have a delta.

    References
    ----------
    Mironov (2017), Rényi differential privacy; dp-accounting (Google), rdp.RdpAccountant.
    """

    adaptive = False

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

    def total(self, costs: Costs) -> tuple[float, float]:
        """Epsilon at the budget's delta, or the sums where their epsilon is smaller."""
        from dp_accounting import NeighboringRelation, RandomizedResponseDpEvent, rdp

        def pure(epsilon: float) -> Any:
            # Probability that the value is replaced by one of the two at random.
            return RandomizedResponseDpEvent(2 / (1 + math.exp(min(epsilon, LARGEST_LOSS))), num_buckets=2)

        return self._composed(rdp.RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE), costs, pure)

    @property
    def remaining(self) -> float:
        """Largest epsilon of one more answer without delta, by bisection of the total."""
        return self._one_more(2 * float(self.epsilon) + 1, 40)

    def _composed(self, accountant: Any, costs: Costs, pure: Callable[[float], Any]) -> tuple[float, float]:
        from dp_accounting import GaussianDpEvent

        for (epsilon, delta, rho), number in costs.items():
            refuse(rho is None and delta, "rho must be given for an answer with a delta")
            if rho:
                accountant.compose(GaussianDpEvent(1 / math.sqrt(2 * rho)), number)
            elif rho is None and epsilon:
                accountant.compose(pure(epsilon), number)
        plain = math.fsum(epsilon * number for (epsilon, _, _), number in costs.items())
        delta = math.fsum(delta * number for (_, delta, _), number in costs.items())
        composed = float(accountant.get_epsilon(float(self.delta))) if costs else 0.0
        # Sums hold too, as long as the deltas alone do not exceed the budget's.
        return (plain, delta) if plain <= composed and delta <= self.delta else (composed, float(self.delta))


class LossDistributionAccountant(RenyiAccountant):
    """Privacy loss distributions by the library dp-accounting: the tightest account of pure costs fixed in advance.

    A cost counts as the mechanism that loses the most with its epsilon and delta (Kairouz, Oh and Viswanath 2015,
    theorem 3.1). No loss distribution follows from rho: discrete Gaussian noise has a larger delta than normal noise of
    its rho. Of costs with rho, the total by `RenyiAccountant` is therefore the smaller one in most cases; the smaller
    one counts. Costs must be fixed in advance for the same reason as there.

    References
    ----------
    Koskela, Jälkö and Honkela (2020), Computing tight differential privacy guarantees using FFT; dp-accounting
    (Google), privacy_loss_distribution.
    """

    def total(self, costs: Costs) -> tuple[float, float]:
        """Epsilon at the budget's delta, or the sums where their epsilon is smaller."""
        from dp_accounting.pld.common import DifferentialPrivacyParameters
        from dp_accounting.pld.privacy_loss_distribution import from_privacy_parameters

        by_orders = super().total(costs)
        if max((epsilon for epsilon, _, _ in costs), default=0.0) > LARGEST_LOSS:
            return by_orders
        losses = [
            from_privacy_parameters(DifferentialPrivacyParameters(epsilon, delta)).self_compose(number)
            for (epsilon, delta, _), number in costs.items()
            if epsilon or delta
        ]
        if not losses:
            return by_orders
        composed = reduce(lambda first, second: first.compose(second), losses)
        epsilon = float(composed.get_epsilon_for_delta(float(self.delta)))
        return (epsilon, float(self.delta)) if epsilon < by_orders[0] else by_orders
