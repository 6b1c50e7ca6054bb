"""The account of zero-concentrated privacy: rhos add up, few large costs add up too, and deltas need a rho."""

import math

import pytest
from scipy import stats

from defenses.base.queries import BudgetSpent
from defenses.dp import ConcentratedAccountant, zcdp_rho


def gaussian_delta(rho, epsilon):
    """Exact delta of Gaussian noise of this rho (Balle and Wang 2018, theorem 8)."""
    mu = math.sqrt(2 * rho)
    return stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)


def spent(times, *cost):
    budget = ConcentratedAccountant(epsilon=50.0, delta=1e-6)
    for _ in range(times):
        budget.spend(*cost)
    return budget


@pytest.mark.parametrize(("rho", "times"), [(0.001, 1), (0.001, 40), (0.05, 3), (0.5, 2)])
def test_rhos_add_up(rho, times):
    budget = spent(times, 9.0, 1e-7, rho)
    epsilon, delta = budget.spent
    total = rho * times
    assert delta == 1e-6
    assert budget.rho - budget.remaining_rho == pytest.approx(total)
    # Between the exact epsilon of Gaussian noise and the classical bound (Bun and Steinke 2016, proposition 1.3).
    assert epsilon < total + 2 * math.sqrt(total * math.log(1e6))
    assert gaussian_delta(total, epsilon) < 1e-6


def test_an_answer_without_delta_has_half_its_squared_epsilon():
    assert spent(100, 0.1).spent == pytest.approx(spent(1, 9.0, 0.0, 0.5).spent)


def test_few_large_costs_add_up():
    assert spent(3, 0.5).spent == (1.5, 0.0)
    budget = ConcentratedAccountant(epsilon=1.0, delta=1e-6)
    assert zcdp_rho(1.0, 1e-6) < 0.5
    budget.spend(1.0)
    assert budget.spent == (1.0, 0.0)
    assert budget.remaining == 0
    with pytest.raises(BudgetSpent):
        budget.spend(1e-3)


def test_the_rest_after_many_small_costs_is_that_of_rho():
    budget = ConcentratedAccountant(epsilon=1.0, delta=1e-6)
    for _ in range(100):
        budget.spend(0.02)
    rest = math.sqrt(2 * (zcdp_rho(1.0, 1e-6) - 100 * 0.02**2 / 2))
    assert budget.remaining == pytest.approx(rest)
    assert not budget.affords(rest * 1.001)
    budget.spend(rest * 0.999)


def test_a_delta_needs_a_rho():
    budget = ConcentratedAccountant(epsilon=1.0, delta=1e-6)
    with pytest.raises(ValueError, match="rho must be given for an answer with a delta"):
        budget.spend(0.1, 1e-7)
    assert budget.spent == (0, 0)
    budget.spend(0.1, 1e-7, 0.005)
    assert budget.rho - budget.remaining_rho == pytest.approx(0.005)


def test_a_budget_without_delta_is_refused():
    with pytest.raises(ValueError, match="delta"):
        ConcentratedAccountant(epsilon=1.0, delta=0.0)
