"""Accounts by sequential and by advanced composition: sums without rounding errors, deltas and the slack."""

import math

import pytest

from defenses.base.queries import BudgetSpent
from defenses.dp import Accountant, AdvancedAccountant


def test_ten_tenths_are_one_and_three_thirds_too():
    for parts in (10, 3, 7, 49):
        budget = Accountant(epsilon=1.0)
        for _ in range(parts):
            budget.spend(1 / parts)
        assert budget.remaining == 0
        with pytest.raises(BudgetSpent):
            budget.spend(1e-6)


def test_delta_is_accounted():
    budget = Accountant(epsilon=10.0, delta=1e-6)
    budget.spend(1.0, 6e-7)
    with pytest.raises(BudgetSpent):
        budget.spend(1.0, 6e-7)
    with pytest.raises(BudgetSpent):
        Accountant(epsilon=10.0).spend(1.0, 1e-12)


@pytest.mark.parametrize("parts", [3, 7, 10, 11, 49, 1000])
def test_equal_shares_fit_and_not_even_a_little_more(parts):
    account = Accountant(epsilon=1.0)
    for _ in range(parts):
        account.spend(1.0 / parts)
    for more in (1e-14, 1.0 / parts):
        with pytest.raises(BudgetSpent):
            account.spend(more)


@pytest.mark.parametrize(("epsilon", "times"), [(0.01, 400), (0.1, 30), (0.3, 2)])
def test_advanced_composition_is_its_closed_form_or_the_sum(epsilon, times):
    budget = AdvancedAccountant(epsilon=100.0, delta=1e-6)
    assert budget.slack == 5e-7
    for _ in range(times):
        budget.spend(epsilon)
    squares = times * epsilon**2
    advanced = math.sqrt(2 * math.log(1 / 5e-7) * squares) + squares / 2
    serial = times * epsilon
    expected = (serial, 0.0) if serial < advanced else (advanced, 5e-7)
    assert budget.spent == pytest.approx(expected)
    # The first case is the only one with answers enough for the slack to pay.
    assert (advanced < serial) == (times == 400)


def test_deltas_of_answers_may_take_half_of_an_advanced_budget():
    budget = AdvancedAccountant(epsilon=10.0, delta=1e-6)
    budget.spend(0.1, 5e-7)
    with pytest.raises(BudgetSpent):
        budget.spend(0.1, 1e-9)
    assert budget.spent == pytest.approx((0.1, 5e-7))


def test_without_delta_advanced_composition_is_the_sum():
    budget = AdvancedAccountant(epsilon=1.0)
    for _ in range(10):
        budget.spend(0.1)
    assert budget.spent == pytest.approx((1.0, 0.0))
    with pytest.raises(BudgetSpent):
        budget.spend(0.01)
