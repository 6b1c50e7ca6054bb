"""The file of an account under crashes, disk errors, concurrent processes and broken contents."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from run_tools import ROOT

from defenses.base.queries import BudgetSpent
from defenses.dp import (
    Account,
    Accountant,
    AdvancedAccountant,
    ConcentratedAccountant,
    LossDistributionAccountant,
    RenyiAccountant,
)

pytestmark = pytest.mark.usefixtures("single_answers_are_computed_once")

ACCOUNTS = [Accountant, AdvancedAccountant, ConcentratedAccountant, RenyiAccountant, LossDistributionAccountant]
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


@pytest.mark.thorough_beyond(3)
@pytest.mark.usefixtures("rough_remaining")
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


def test_an_account_behind_a_link_is_one_account(tmp_path):
    (tmp_path / "shared").mkdir()
    path, link = tmp_path / "shared" / "account.toml", tmp_path / "account.toml"
    link.symlink_to(path)
    Accountant(epsilon=1.0, path=link).spend(0.4)
    assert link.is_symlink()
    Account.restore(link).spend(0.5)
    assert Account.restore(path).spent[0] == 0.9
    with pytest.raises(BudgetSpent):
        Account.restore(path).spend(0.2)
    assert link.is_symlink()


def test_an_account_with_a_second_name_is_refused(tmp_path):
    """A write replaces one name; the other one would keep the old costs."""
    path = tmp_path / "account.json"
    account = Accountant(epsilon=1.0, path=path)
    (tmp_path / "second.json").hardlink_to(path)
    for refused in (lambda: account.spend(0.1), lambda: Account.restore(tmp_path / "second.json")):
        with pytest.raises(ValueError, match="has 2 names"):
            refused()
    (tmp_path / "second.json").unlink()
    account.spend(0.1)


def test_a_spend_is_on_the_disk_before_it_returns(tmp_path, monkeypatch):
    path = tmp_path / "account.json"
    budget = Accountant(epsilon=1.0, path=path)
    seen = []
    real = os.replace

    def replacing(source, target):
        seen.append(json.loads(Path(source).read_text())["costs"])
        real(source, target)

    monkeypatch.setattr("metrics.columns.files.os.replace", replacing)
    budget.spend(0.3)
    assert seen == [[[0.3, 0.0, None, 1]]]


def test_where_the_disk_fails_nothing_is_answered_or_lost(tmp_path, monkeypatch):
    path = tmp_path / "account.json"
    budget = Accountant(epsilon=1.0, path=path)
    budget.spend(0.3)

    def failing(source, target):
        raise OSError("no space")

    monkeypatch.setattr("metrics.columns.files.os.replace", failing)
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


@pytest.mark.thorough
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


@pytest.mark.parametrize("account", [Accountant, AdvancedAccountant, ConcentratedAccountant])
def test_an_account_may_be_toml_and_say_what_it_is_about(account, tmp_path):
    path = tmp_path / "account.toml"
    about = {"table": "abc", "neighbours": "add or remove"}
    budget = account(epsilon=1.0, delta=1e-6, path=path, about=about)
    budget.spend(0.1)
    budget.spend(0.1)
    budget.spend(1 / 3, 0.0, 0.05)
    again = Account.restore(path)
    assert (again.about, again.spent, again.remaining) == (about, budget.spent, budget.remaining)
    assert "answers = 2" in path.read_text()
    # What it is about is part of the account: a file about something else is another account's.
    path.write_text(path.read_text().replace("abc", "abd"))
    with pytest.raises(ValueError, match="now holds another account"):
        again.spend(0.1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "account",
        'account = "Accountant"',
        'account = "Accountant"\nepsilon = 1.0\ndelta = 0.0\nabout = 3',
        'account = "Accountant"\nepsilon = 1.0\ndelta = 0.0\nabout = { table = 3 }',
        'account = "Accountant"\nepsilon = 1.0\ndelta = 0.0\ncosts = [ { epsilon = 0.5 } ]',
        'account = "Accountant"\nepsilon = 1.0\ndelta = 0.0\ncosts = [ { epsilon = -1, delta = 0.0, answers = 1 } ]',
        'account = "Accountant"\nepsilon = 1.0\ndelta = 0.0\ncosts = [ { epsilon = 0.5, delta = 0.0, answers = 0 } ]',
        'account = "Accountant"\nepsilon = nan\ndelta = 0.0',
    ],
)
def test_broken_toml_files_are_refused(text, tmp_path):
    path = tmp_path / "account.toml"
    path.write_text(text)
    with pytest.raises(ValueError):  # noqa: PT011 (each names another part)
        Accountant.restore(path)


def test_asking_whether_a_cost_is_affordable_spends_nothing(tmp_path):
    path = tmp_path / "account.toml"
    first, second = Accountant(epsilon=1.0, path=path), Account.restore(path)
    assert first.affords(0.6)
    second.spend(0.5)
    assert not first.affords(0.6)
    assert first.affords(0.5)
    assert (first.refused, Account.restore(path).spent) == (0, (0.5, 0.0))
    with pytest.raises(ValueError, match="epsilon"):
        first.affords(-1.0)
