"""Every privacy account: refusals beyond the budget, costs of disjoint parts, and hostile callers."""

import math

import numpy as np
import pytest

from defenses.base.queries import BudgetSpent
from defenses.dp import (
    Account,
    Accountant,
    AdvancedAccountant,
    ConcentratedAccountant,
    LossDistributionAccountant,
    RenyiAccountant,
    zcdp_rho,
)

pytestmark = pytest.mark.usefixtures("single_answers_are_computed_once")

ACCOUNTS = [Accountant, AdvancedAccountant, ConcentratedAccountant, RenyiAccountant, LossDistributionAccountant]


BAD = [-1.0, math.nan, math.inf, "1", True, None]


@pytest.mark.thorough_beyond(1)
@pytest.mark.usefixtures("rough_remaining")
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


@pytest.mark.long
def test_tighter_accounts_give_more_answers():
    def answers(account):
        budget = account(epsilon=1.0, delta=1e-6)
        for number in range(200):
            try:
                budget.spend(0.03)
            except BudgetSpent:
                return number
        raise AssertionError("it never refuses")

    serially, by_advanced, by_zcdp, by_renyi, by_loss = map(answers, ACCOUNTS)
    assert serially == 33
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


@pytest.mark.parametrize("part", [(math.nan, 0.0), (-3.0, 0.0), (0.1, math.nan), ("a", 0.0), (0.1, 1.0)])
def test_no_part_of_a_parallel_cost_is_overlooked(part):
    account = Accountant(epsilon=1.0)
    with pytest.raises(ValueError, match=r"epsilon|delta"):
        account.spend_parallel([(0.1, 0.0), part], [[True, False], [False, True]])
    assert account.spent == (0, 0)


def test_the_contract_itself_composes_nothing():
    with pytest.raises(TypeError, match="abstract"):
        Account(epsilon=1.0)


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize("account", ACCOUNTS)
def test_an_account_that_is_new_has_spent_nothing(account):
    budget = account(epsilon=1.5, delta=1e-6)
    assert budget.spent == (0, 0)
    assert budget.group(3) == (0, 0)
    assert budget.remaining == pytest.approx(1.5, rel=1e-6)
    assert budget.affords(1.5)
    assert not budget.affords(1.51)
    assert budget.refused == 0


def test_groups_of_records_cost_more_than_one():
    budget = Accountant(epsilon=2.0, delta=1e-5)
    budget.spend(0.5, 1e-6)
    epsilon, delta = budget.group(2)
    # Two records: a neighbour of a neighbour, with delta + e^epsilon delta.
    assert (epsilon, delta) == pytest.approx((1.0, 1e-6 * (1 + math.exp(0.5))))
    assert budget.group(1) == pytest.approx((0.5, 1e-6))
    for bad in (0, -1, 1.5, math.nan, True):
        with pytest.raises(ValueError, match="m must"):
            budget.group(bad)


def test_accounts_are_restored_by_their_own_class_alone(tmp_path):
    path = tmp_path / "account.json"
    Accountant(epsilon=1.0, path=path).spend(0.25)
    assert isinstance(Account.restore(path), Accountant)
    with pytest.raises(ValueError, match="holds an account of Accountant, not of ConcentratedAccountant"):
        ConcentratedAccountant.restore(path)
