"""Privacy accounts: total costs, refusals beyond the budget, and hostile callers."""

import math
from contextlib import suppress

import numpy as np
import pytest
from scipy import stats

from defenses.base.queries import BudgetSpent
from defenses.dp import (
    Accountant,
    AdvancedAccountant,
    ConcentratedAccountant,
    LossDistributionAccountant,
    RenyiAccountant,
    zcdp_rho,
)

ACCOUNTS = [Accountant, AdvancedAccountant, ConcentratedAccountant, RenyiAccountant, LossDistributionAccountant]
BAD = [-1.0, math.nan, math.inf, "1", True, None]


def randomized_response_delta(epsilon, times, at):
    """Exact delta of several answers by randomized response: their losses sum to (2 k - n) epsilon."""
    truthful = 1 / (1 + math.exp(-epsilon))
    losses = (2 * np.arange(times + 1) - times) * epsilon
    return float(np.sum(stats.binom.pmf(np.arange(times + 1), times, truthful) * np.maximum(0, -np.expm1(at - losses))))


@pytest.mark.parametrize("account", ACCOUNTS)
def test_spends_to_the_last_share_and_refuses_the_next(account):
    budget = account(epsilon=1.0, delta=1e-6)
    answers = 0
    while budget.refused == 0:
        try:
            budget.spend(0.1)
        except BudgetSpent:
            break
        answers += 1
    before = budget.spent
    with pytest.raises(BudgetSpent, match="nothing is answered"):
        budget.spend(0.1)
    assert budget.spent == before
    assert budget.refused == 2
    assert before[0] <= 1 + 1e-9
    assert answers >= 10
    assert 0 <= budget.remaining < 0.1


def test_ten_tenths_are_one_and_three_thirds_too():
    for parts in (10, 3, 7, 49):
        budget = Accountant(epsilon=1.0)
        for _ in range(parts):
            budget.spend(1 / parts)
        assert budget.remaining == 0
        with pytest.raises(BudgetSpent):
            budget.spend(1e-6)


def test_tighter_accounts_give_more_answers():
    def answers(account):
        budget = account(epsilon=1.0, delta=1e-6)
        for number in range(200):
            try:
                budget.spend(0.02)
            except BudgetSpent:
                return number
        raise AssertionError("it never refuses")

    serially, by_advanced, by_zcdp, by_renyi, by_loss = map(answers, ACCOUNTS)
    assert serially == 50
    assert serially < by_advanced <= by_zcdp <= by_renyi <= by_loss


def test_normal_noise_is_accounted_by_its_own_curve():
    # Rényi orders lie on a grid, which costs about a hundredth.
    rho = zcdp_rho(1.0, 1e-6) / 4.1
    for account in (ConcentratedAccountant, RenyiAccountant, LossDistributionAccountant):
        budget = account(epsilon=1.0, delta=1e-6)
        for _ in range(4):
            budget.spend(1.0, 1e-6, rho)
        assert budget.spent[0] <= 1 + 1e-6
    with pytest.raises(ValueError, match="rho"):
        ConcentratedAccountant(epsilon=1.0, delta=1e-6).spend(0.1, 1e-7)


def test_delta_is_accounted():
    budget = Accountant(epsilon=10.0, delta=1e-6)
    budget.spend(1.0, 6e-7)
    with pytest.raises(BudgetSpent):
        budget.spend(1.0, 6e-7)
    with pytest.raises(BudgetSpent):
        Accountant(epsilon=10.0).spend(1.0, 1e-12)


@pytest.mark.parametrize("account", ACCOUNTS)
@pytest.mark.parametrize("bad", [0, *BAD])
def test_bad_budgets_are_refused(account, bad):
    with pytest.raises(ValueError, match="epsilon"):
        account(epsilon=bad)


@pytest.mark.parametrize("account", ACCOUNTS)
@pytest.mark.parametrize("bad", [1.0, 2.0, *BAD])
def test_bad_deltas_are_refused(account, bad):
    with pytest.raises(ValueError, match="delta"):
        account(epsilon=1.0, delta=bad)


@pytest.mark.parametrize("bad", BAD)
def test_bad_costs_are_refused_and_cost_nothing(bad):
    budget = Accountant(epsilon=1.0)
    for cost in ((bad,), (0.1, bad), *([(0.1, 0.0, bad)] if bad is not None else [])):
        with pytest.raises(ValueError, match=r"epsilon|delta|rho"):
            budget.spend(*cost)
    assert budget.spent == (0, 0)


def test_disjoint_parts_cost_the_largest():
    budget = Accountant(epsilon=1.0, delta=1e-6)
    rows = np.arange(9)
    budget.spend_parallel([(0.3, 1e-7), (0.5, 0.0), (0.1, 0.0)], [rows % 3 == part for part in range(3)])
    assert budget.spent == (0.5, 1e-7)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([[True, True], [False, True]], "row 1"),
        ([[True, False]], "one mask a cost"),
        ([[True, False], [1, 0]], "boolean"),
        ([[True, False], [True]], "one length"),
    ],
)
def test_parts_that_are_not_disjoint_are_refused(members, message):
    budget = Accountant(epsilon=1.0)
    with pytest.raises(ValueError, match=message):
        budget.spend_parallel([(0.1, 0.0), (0.1, 0.0)], members)
    assert budget.spent == (0, 0)


@pytest.mark.parametrize("parts", [3, 7, 10, 11, 49, 1000])
def test_equal_shares_fit_and_not_even_a_little_more(parts):
    account = Accountant(epsilon=1.0)
    for _ in range(parts):
        account.spend(1.0 / parts)
    for more in (1e-14, 1.0 / parts):
        with pytest.raises(BudgetSpent):
            account.spend(more)


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


@pytest.mark.parametrize("part", [(math.nan, 0.0), (-3.0, 0.0), (0.1, math.nan), ("a", 0.0), (0.1, 1.0)])
def test_no_part_of_a_parallel_cost_is_overlooked(part):
    account = Accountant(epsilon=1.0)
    with pytest.raises(ValueError, match=r"epsilon|delta"):
        account.spend_parallel([(0.1, 0.0), part], [[True, False], [False, True]])
    assert account.spent == (0, 0)
