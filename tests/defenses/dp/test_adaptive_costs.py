"""Accounts against adversaries who choose costs by earlier answers: the largest exact delta over all strategies."""

import math
from collections import Counter
from functools import cache

import pytest

from defenses import Curator
from defenses.dp import (
    Account,
    Accountant,
    AdvancedAccountant,
    ConcentratedAccountant,
    LossDistributionAccountant,
    RenyiAccountant,
)

pytestmark = pytest.mark.usefixtures("single_answers_are_computed_once")

REST = 0.4831
"""Epsilon that a slack of 0.1 leaves after nine answers at 1/3 from a budget of (3, 0.1)."""


def largest_delta(account, choices, depth):
    """Exact delta at the budget's epsilon of the best adaptive strategy, by dynamic programming.

    Every answer is the most informative one of its cost (Kairouz, Oh and Viswanath 2015): with probability delta it
    discloses the secret bit, otherwise it is randomized response. A play ends with a privacy loss L and contributes
    max(0, 1 - e^(epsilon - L)). At every node the adversary stops, or buys any answer that the account still allows.
    """

    @cache
    def allowed(numbers):
        return not account._exceeds(Counter({(*cost, None): n for cost, n in zip(choices, numbers, strict=True) if n}))

    @cache
    def value(numbers, balance):
        loss = math.fsum(cost[0] * net for cost, net in zip(choices, balance, strict=True))
        best = max(0.0, -math.expm1(account.epsilon - loss))
        if sum(numbers) == depth:
            return best
        for place, (epsilon, delta) in enumerate(choices):
            more = tuple(n + (place == at) for at, n in enumerate(numbers))
            if not allowed(more):
                continue
            truthful = 1 / (1 + math.exp(-epsilon))
            up, down = (tuple(n + step * (place == at) for at, n in enumerate(balance)) for step in (1, -1))
            pure = truthful * value(more, up) + (1 - truthful) * value(more, down)
            best = max(best, delta + (1 - delta) * pure)
        return best

    return value((0,) * len(choices), (0,) * len(choices))


class SpentSlack(AdvancedAccountant):
    """Broken: the slack is whatever the deltas leave, so that it depends on the answers."""

    def total(self, costs):
        plain = math.fsum(e * number for (e, _, _), number in costs.items())
        delta = math.fsum(d * number for (_, d, _), number in costs.items())
        squares = math.fsum(e * e * number for (e, _, _), number in costs.items())
        if self.delta <= delta:
            return plain, delta
        advanced = math.sqrt(2 * -math.log(self.delta - delta) * squares) + squares / 2
        return (plain, delta) if plain <= advanced else (advanced, self.delta)

    def _exceeds(self, costs):
        return Account._exceeds(self, costs)


Account.kinds.pop("SpentSlack")

BUDGETS = [
    # The counterexample: nine answers at 1/3, then REST more only if all were "true", else the whole delta.
    (3.0, 0.1, ((1 / 3, 0.0), (REST, 0.0), (0.0, 0.1), (0.0, 0.05)), 11),
    (3.0, 0.1, ((0.3, 0.0), (1.0, 0.02), (0.0, 0.025)), 12),
    (1.0, 0.2, ((0.25, 0.0), (0.5, 0.1), (1.0, 0.0), (0.1, 0.0)), 12),
    (2.0, 0.01, ((0.1, 0.0), (0.4, 0.0), (1.5, 0.0), (0.0, 0.005)), 10),
]


@pytest.mark.thorough_beyond(7)
@pytest.mark.parametrize("kind", [Accountant, AdvancedAccountant, ConcentratedAccountant])
@pytest.mark.parametrize(("epsilon", "delta", "choices", "depth"), BUDGETS)
def test_no_strategy_exceeds_the_budget(kind, epsilon, delta, choices, depth):
    assert kind.adaptive
    if kind is ConcentratedAccountant:
        # An answer with a delta and without rho is refused there.
        choices = tuple(cost for cost in choices if not cost[1])
    assert largest_delta(kind(epsilon=epsilon, delta=delta), choices, depth) <= delta * (1 + 1e-9)


def test_a_slack_that_depends_on_answers_is_caught():
    epsilon, delta, choices, depth = BUDGETS[0]
    assert largest_delta(SpentSlack(epsilon=epsilon, delta=delta), choices, depth) > 0.101


@pytest.mark.parametrize("kind", [RenyiAccountant, LossDistributionAccountant])
def test_accounts_of_costs_fixed_in_advance_serve_no_curator(kind):
    assert not kind.adaptive
    with pytest.raises(ValueError, match="in advance"):
        Curator(epsilon=1.0).session(None, None, kind(epsilon=1.0, delta=1e-6))


@pytest.mark.long_for("0.1-40-LossDistributionAccountant", "0.1-40-RenyiAccountant")
@pytest.mark.parametrize(
    "kind", [AdvancedAccountant, ConcentratedAccountant, RenyiAccountant, LossDistributionAccountant]
)
@pytest.mark.parametrize(
    ("epsilon", "times"),
    [(2.0, 5), (0.5, 1), (5.0, 2), (0.01, 3), (0.1, 40), pytest.param(0.1, 200, marks=pytest.mark.long)],
)
def test_no_account_costs_more_than_plain_sums(kind, epsilon, times):
    account = kind(epsilon=1000.0, delta=1e-6)
    for _ in range(times):
        account.spend(epsilon)
    assert account.spent[0] <= epsilon * times * (1 + 1e-12)
    assert account.spent[1] <= 1e-6
