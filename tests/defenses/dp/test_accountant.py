"""Accounts and composition: what answers cost together, refused beyond the budget, remembered across a crash."""

import json
import math
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from run_tools import ROOT
from scipy import stats

from defenses.base.queries import BudgetSpent
from defenses.dp import (
    Account,
    Accountant,
    AdvancedAccountant,
    ConcentratedAccountant,
    LossDistributionAccountant,
    RenyiAccountant,
    advanced,
    group_privacy,
    parallel,
    pointwise,
    serial,
    weak_secrecy,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_rho,
)

ACCOUNTS = [Accountant, AdvancedAccountant, ConcentratedAccountant, RenyiAccountant, LossDistributionAccountant]
WITH_DELTA = [AdvancedAccountant, ConcentratedAccountant, RenyiAccountant, LossDistributionAccountant]
BAD = [-1.0, math.nan, math.inf, "1", True, None]


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


# Parallel composition and groups


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


def test_parallel_composition_depends_on_the_neighbours():
    parts = [(0.5, 0.0), (0.25, 1e-7), (0.125, 0.0)]
    assert parallel(parts, "add or remove") == (0.5, 1e-7)
    assert parallel(parts, "replace") == (0.75, 1e-7)
    assert parallel(parts, "replace in place") == (0.5, 1e-7)
    assert serial(parts) == (0.875, 1e-7)
    with pytest.raises(ValueError, match="neighbours"):
        parallel(parts, "bounded")


def test_replacing_costs_the_two_largest_in_a_parallel_histogram():
    # Two exact-to-epsilon counts of two disjoint parts: the record that moves changes both probabilities.
    q = math.exp(-0.5)
    table = np.outer(q ** np.abs(np.arange(-30, 31) - 1), q ** np.abs(np.arange(-30, 31)))
    moved = np.outer(q ** np.abs(np.arange(-30, 31)), q ** np.abs(np.arange(-30, 31) - 1))
    assert np.abs(np.log(table / moved)).max() == pytest.approx(parallel([(0.5, 0), (0.5, 0)], "replace")[0])


def test_groups_and_weak_secrecy():
    assert group_privacy(0.1, 0.0, 5) == (pytest.approx(0.5), 0.0)
    epsilon, delta = group_privacy(0.5, 1e-6, 3)
    assert epsilon == 1.5
    assert delta == pytest.approx(1e-6 * (1 + math.exp(0.5) + math.exp(1.0)))
    assert weak_secrecy(0.1, 10) == pytest.approx(math.e)
    assert group_privacy(5.0, 1e-3, 1000)[1] == 1.0
    budget = Accountant(epsilon=1.0)
    budget.spend(0.25)
    assert budget.group(4) == (1.0, 0.0)


def test_a_group_loses_what_group_privacy_says_and_no_more():
    # Discrete Laplace noise on a count, and a group of three: the largest loss is three epsilon, exactly.
    q = math.exp(-0.4)
    at = np.arange(-50, 51)
    assert np.abs(np.log(q ** np.abs(at) / q ** np.abs(at - 3))).max() == pytest.approx(group_privacy(0.4, 0.0, 3)[0])


@pytest.mark.parametrize("bad", [0, -1, 1.5, True])
def test_bad_groups_are_refused(bad):
    with pytest.raises(ValueError, match="m must"):
        group_privacy(0.1, 0.0, bad)


# (epsilon, delta), read point by point


def binary(epsilon, delta):
    """An (epsilon, delta) mechanism of three answers with as much probability as possible at a loss above 2 epsilon.

    Answer 0 has probability a under P and b = a e^(-2 epsilon) (a little less) under P', so that its excess
    a - e^epsilon b = a (1 - e^-epsilon) is all of delta.
    """
    a = delta / -math.expm1(-epsilon) * (1 - 1e-9)
    b = a * math.exp(-2 * epsilon) * (1 - 1e-9)
    # Of the rest, P' has a little more than P everywhere: loss within [-epsilon, 0].
    return np.array([a, 1 - a]), np.array([b, 1 - b])


@pytest.mark.parametrize("epsilon", [0.1, 0.46, 0.48, 0.853, 2.0])
@pytest.mark.parametrize("delta", [1e-6, 0.05])
def test_pointwise_reading_is_tight_and_the_lectures_is_false_beyond_0_468(epsilon, delta):
    p, other = binary(epsilon, delta)
    for first, second in ((p, other), (other, p)):
        assert np.maximum(first - math.exp(epsilon) * second, 0).sum() <= delta * (1 + 1e-6)
    twice, rate = pointwise(epsilon, delta)
    assert twice == 2 * epsilon
    beyond = p[p > math.exp(2 * epsilon) * other].sum()
    assert beyond == pytest.approx(rate, rel=1e-6)
    assert beyond <= rate
    lecture = 2 * delta / (epsilon * math.exp(epsilon))
    assert (beyond > lecture) == (epsilon > 0.46818)


def test_pointwise_holds_for_normal_noise():
    from scipy import stats

    from defenses.dp.continuous_gaussian import gaussian_delta

    for sigma in (0.5, 1.0, 3.0):
        for epsilon in (0.2, 1.0):
            _, rate = pointwise(epsilon, gaussian_delta(sigma, epsilon))
            # The loss of Gaussian noise at distance 1 is normal with mean 1/(2 sigma^2), deviation 1/sigma.
            assert stats.norm.sf(2 * epsilon, 1 / (2 * sigma**2), 1 / sigma) <= rate
    with pytest.raises(ValueError, match="epsilon"):
        pointwise(0.0, 0.1)


# Bounds on composition


def test_advanced_composition():
    epsilon, delta = advanced(0.01, 0.0, 10_000, 1e-6)
    assert epsilon < 100 * 0.06
    assert delta == 1e-6
    assert advanced(1.0, 0.0, 2, 1e-9)[0] == 2.0
    with pytest.raises(ValueError, match="slack"):
        advanced(0.1, 0.0, 3, 0.0)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_zero_concentrated_privacy_there_and_back(epsilon, delta):
    rho = zcdp_rho(epsilon, delta)
    assert zcdp_delta(rho, epsilon) <= delta
    assert zcdp_epsilon(rho, delta) == pytest.approx(epsilon, rel=1e-6)
    # Never better than the truth for Gaussian noise of that rho, and within a quarter of its epsilon.
    from defenses.dp.continuous_gaussian import gaussian_delta

    sigma = 1 / math.sqrt(2 * rho)
    assert gaussian_delta(sigma, epsilon) <= delta
    assert gaussian_delta(sigma, 0.75 * epsilon) > delta
    # Better than Bun and Steinke's first conversion.
    assert zcdp_epsilon(rho, delta) < rho + 2 * math.sqrt(rho * math.log(1 / delta))


# Kept on the disk


@pytest.mark.parametrize("account", ACCOUNTS)
def test_what_was_spent_survives(account, tmp_path):
    path = tmp_path / "account.json"
    budget = account(epsilon=1.0, delta=1e-6, path=path)
    for _ in range(3):
        budget.spend(0.2)
    again = account.restore(path)
    assert again.spent == budget.spent
    assert again.remaining == budget.remaining
    again.spend(0.2)
    assert Account.restore(path).spent == again.spent


def test_a_spend_is_on_the_disk_before_it_returns(tmp_path, monkeypatch):
    path = tmp_path / "account.json"
    budget = Accountant(epsilon=1.0, path=path)
    seen = []
    real = os.replace

    def replacing(source, target):
        seen.append(json.loads(Path(source).read_text())["costs"])
        real(source, target)

    monkeypatch.setattr("defenses.dp.account_file.os.replace", replacing)
    budget.spend(0.3)
    assert seen == [[[0.3, 0.0, None, 1]]]


def test_where_the_disk_fails_nothing_is_answered_or_lost(tmp_path, monkeypatch):
    path = tmp_path / "account.json"
    budget = Accountant(epsilon=1.0, path=path)
    budget.spend(0.3)

    def failing(source, target):
        raise OSError("no space")

    monkeypatch.setattr("defenses.dp.account_file.os.replace", failing)
    with pytest.raises(OSError, match="no space"):
        budget.spend(0.3)
    monkeypatch.undo()
    assert Accountant.restore(path).spent == (0.3, 0)
    assert [file.name for file in tmp_path.iterdir()] == ["account.json"]


def test_an_account_is_not_begun_anew(tmp_path):
    path = tmp_path / "account.json"
    Accountant(epsilon=1.0, path=path).spend(1.0)
    with pytest.raises(ValueError, match="restore"):
        Accountant(epsilon=1.0, path=path)
    with pytest.raises(BudgetSpent):
        Accountant.restore(path).spend(0.1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"account": "Accountant", "epsilon": 1.0, "delta": 0.0, "costs": [[-5.0, 0.0, null, 1]]}',
        '{"account": "Accountant", "epsilon": 1.0, "delta": 0.0, "costs": [[0.5, 0.0, null, -1]]}',
        '{"account": "Accountant", "epsilon": NaN, "delta": 0.0, "costs": []}',
        '{"account": "AdvancedAccountant", "epsilon": 1.0, "delta": 0.0, "costs": []}',
        '{"account": "Purse", "epsilon": 1.0, "delta": 0.0, "costs": []}',
        '{"account": ["Accountant"], "epsilon": 1.0, "delta": 0.0, "costs": []}',
    ],
)
def test_broken_files_are_refused(text, tmp_path):
    path = tmp_path / "account.json"
    path.write_text(text)
    with pytest.raises(ValueError):  # noqa: PT011 (each names another part)
        Accountant.restore(path)


def test_threads_together_do_not_overspend(tmp_path):
    budget = Accountant(epsilon=1.0, path=tmp_path / "account.json")
    answered = []

    def ask():
        for _ in range(20):
            try:
                budget.spend(0.02)
            except BudgetSpent:
                return
            answered.append(1)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answered) == 50
    assert budget.spent[0] == pytest.approx(1.0)
    assert Accountant.restore(tmp_path / "account.json").spent == budget.spent


@pytest.mark.parametrize("parts", [3, 7, 10, 11, 49, 1000])
def test_equal_shares_fit_and_not_even_a_little_more(parts):
    account = Accountant(epsilon=1.0)
    for _ in range(parts):
        account.spend(1.0 / parts)
    for more in (1e-14, 1.0 / parts):
        with pytest.raises(BudgetSpent):
            account.spend(more)


SPENDER = """
import sys
from defenses.dp import Accountant
from defenses.base.queries import BudgetSpent
account, answered = Accountant.restore(sys.argv[1]), 0
try:
    while True:
        account.spend(0.02)
        answered += 1
except BudgetSpent:
    print(answered)
"""


def test_processes_together_do_not_overspend(tmp_path):
    path = tmp_path / "account.json"
    Accountant(epsilon=1.0, path=path)
    command = [sys.executable, "-c", SPENDER, str(path)]
    root = {**os.environ, "PYTHONPATH": str(ROOT)}
    spenders = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=root) for _ in range(4)]
    assert sum(int(spender.communicate()[0]) for spender in spenders) == 50
    assert Accountant.restore(path).spent[0] == pytest.approx(1.0)


def test_two_accounts_of_one_file_know_of_each_other(tmp_path):
    path = tmp_path / "account.json"
    first = Accountant(epsilon=1.0, path=path)
    second = Accountant.restore(path)
    first.spend(0.7)
    with pytest.raises(BudgetSpent):
        second.spend(0.7)
    second.spend(0.3)
    assert Accountant.restore(path).spent[0] == pytest.approx(1.0)


def test_nothing_is_spent_from_a_file_that_is_gone(tmp_path):
    path = tmp_path / "account.json"
    budget = Accountant(epsilon=1.0, path=path)
    path.unlink()
    with pytest.raises(ValueError, match=r"account\.json cannot be read"):
        budget.spend(0.1)
    with pytest.raises(ValueError, match="cannot be read"):
        Accountant.restore(path)


# What hostile callers tried


def randomized_response_delta(epsilon, times, at):
    """Delta at an epsilon of so many answers by randomized response, exactly: losses add up to (2 k - n) epsilon."""
    kept = 1 / (1 + math.exp(-epsilon))
    losses = (2 * np.arange(times + 1) - times) * epsilon
    return float(np.sum(stats.binom.pmf(np.arange(times + 1), times, kept) * np.maximum(0, -np.expm1(at - losses))))


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


def test_a_cost_that_a_file_names_twice_counts_twice(tmp_path):
    path = tmp_path / "account.json"
    cost = "[0.1, 0.0, null, 3]"
    path.write_text(f'{{"account": "Accountant", "epsilon": 1.0, "delta": 0.0, "costs": [{cost}, {cost}]}}')
    assert Accountant.restore(path).spent[0] == pytest.approx(0.6)


def test_an_account_does_not_spend_from_another_ones_file(tmp_path):
    path = tmp_path / "account.json"
    budget = Accountant(epsilon=10.0, path=path)
    path.unlink()
    Accountant(epsilon=0.5, path=path)
    with pytest.raises(ValueError, match="another account"):
        budget.spend(3.0)
    assert Accountant.restore(path).spent == (0, 0)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        Accountant(epsilon=1.0, path=tmp_path / "nowhere" / "account.json")


def test_weak_secrecy_has_no_largest_number():
    assert weak_secrecy(100.0, 1000) == math.inf
