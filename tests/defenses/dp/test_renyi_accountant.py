"""Rényi and loss-distribution accounts: exact totals, few large costs, and refusals."""

import math
from collections import Counter
from contextlib import suppress

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from defenses.base.queries import BudgetSpent
from defenses.dp import DiscreteGaussian, LossDistributionAccountant, RenyiAccountant
from defenses.dp.gaussian import discrete_gaussian_delta

pytestmark = pytest.mark.usefixtures("single_answers_are_computed_once")


def randomized_response_delta(epsilon, times, at):
    """Exact delta of several answers by randomized response: their losses sum to (2 k - n) epsilon."""
    truthful = 1 / (1 + math.exp(-epsilon))
    losses = (2 * np.arange(times + 1) - times) * epsilon
    return float(np.sum(stats.binom.pmf(np.arange(times + 1), times, truthful) * np.maximum(0, -np.expm1(at - losses))))


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("account", [RenyiAccountant, LossDistributionAccountant])
@pytest.mark.parametrize(("epsilon", "budget", "delta"), [(0.1, 1.0, 0.01), (0.5, 5.0, 1e-3), (0.5, 4.0, 1e-6)])
def test_answers_that_lose_the_most_are_accounted_for(account, epsilon, budget, delta):
    ledger = account(epsilon=budget, delta=delta)
    while not ledger.refused:
        with suppress(BudgetSpent):
            ledger.spend(epsilon)
    times = sum(ledger._costs.values())
    assert randomized_response_delta(epsilon, times, budget) <= delta
    # Where delta is tiny the serial sum is nearly as good.
    assert times > 0.6 * budget / epsilon


def gaussian_epsilon(rho, delta):
    """Exact epsilon of Gaussian noise of this rho (Balle and Wang 2018, theorem 8)."""
    mu = math.sqrt(2 * rho)

    def excess(epsilon):
        above = stats.norm.cdf(mu / 2 - epsilon / mu)
        return above - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu) - delta

    return brentq(excess, 0, 100)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("rho", "times"), [(0.01, 1), (0.001, 40), (0.02, 25)])
def test_gaussian_answers_have_their_exact_epsilon(rho, times):
    exact = gaussian_epsilon(rho * times, 1e-6)
    for account in (LossDistributionAccountant, RenyiAccountant):
        budget = account(epsilon=50.0, delta=1e-6)
        epsilon, delta = budget.total(Counter({(9.0, 1e-7, rho): times}))
        assert exact * (1 - 1e-9) <= epsilon <= exact * 1.1
        assert delta == 1e-6


@pytest.mark.parametrize(
    ("epsilon", "delta", "budget_delta"), [(3, 0.05, 1e-3), (1, 0.01, 1e-3), (1, 1e-6, 1e-6), (1, 1e-6, 1e-9)]
)
@pytest.mark.parametrize("account", [RenyiAccountant, LossDistributionAccountant])
def test_discrete_gaussian_noise_is_accounted_for(account, epsilon, delta, budget_delta):
    """Its delta exceeds that of normal noise of its rho, twice in the first case."""
    noise = DiscreteGaussian(epsilon=epsilon, delta=delta)
    budget = account(epsilon=1000.0, delta=budget_delta)
    budget.spend(epsilon, delta, noise.rho)
    spent, at = budget.spent
    assert discrete_gaussian_delta(noise.sigma, spent) <= at


def test_the_loss_distribution_of_many_small_answers_is_tight():
    budget = LossDistributionAccountant(epsilon=50.0, delta=1e-3)
    epsilon, _ = budget.total(Counter({(0.1, 0.0, None): 100}))
    assert randomized_response_delta(0.1, 100, epsilon) <= 1e-3 < randomized_response_delta(0.1, 100, 0.99 * epsilon)


@pytest.mark.parametrize("account", [RenyiAccountant, LossDistributionAccountant])
def test_bad_and_extreme_costs(account):
    budget = account(epsilon=1000.0, delta=1e-6)
    with pytest.raises(ValueError, match="rho must be given for an answer with a delta"):
        budget.spend(0.1, 1e-7)
    with pytest.raises(ValueError, match="delta"):
        account(epsilon=1.0, delta=0.0)
    # Few large costs add up, and free answers are free.
    budget.spend(0.0)
    assert budget.spent == (0, 0)
    budget.spend(2.0, 1e-8, 2.0)
    assert budget.spent[0] == pytest.approx(2.0, rel=1e-6)
    assert budget.spent[1] in (1e-8, 1e-6)
