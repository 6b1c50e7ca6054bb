"""``tokumei ask``: answers under a budget, refusals that cost nothing, accounts that processes share."""

import json
import os
import subprocess
import sys
import tomllib
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from run_tools import ROOT

from defenses.base.queries import BudgetSpent
from defenses.dp import Account, Accountant
from defenses.dp.exact import SystemGenerator
from scenarios.assessment.asking import paid_query
from scenarios.commands.cli import cli

ROLES = """
separator = ","
quasi_identifiers = ["age", "job"]
identifiers = ["name"]

[columns.age]
type = "number"
integer = true
low = 18
high = 95
cuts = [30, 60]

[columns.income]
type = "number"
low = 0
high = 100_000

[columns.job]
type = "category"
categories = ["clerk", "cook", "nurse"]

[columns.city]
type = "category"

[columns.code]
type = "category"
categories = [{codes}]

[columns.wide]
type = "number"
low = -1e300
high = 1e300
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(4)
    n = 2000
    frame = pd.DataFrame(
        {
            "name": [f"p{i}" for i in range(n)],
            "age": rng.integers(18, 96, n),
            "income": rng.normal(40_000, 9_000, n).round(2),
            "job": rng.choice(["clerk", "cook", "nurse"], n, p=[0.5, 0.3, 0.2]),
            "city": "Uji",
            "code": rng.integers(0, 4000, n),
            "wide": 0.0,
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "roles.toml").write_text(ROLES.replace("{codes}", ", ".join(f'"{i}"' for i in range(4000))))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_says_how_the_file_was_read(folder):
    (folder / "roles.toml").write_text((folder / "roles.toml").read_text().replace('separator = ","\n', ""))
    arguments = ["ask", "people.csv", "count", "--roles", "roles.toml", "--epsilon", "1", "--dry-run"]
    done = CliRunner().invoke(cli, arguments)
    assert "note: fields are separated by a comma, inferred from the first lines\n" in done.stderr


@pytest.mark.parametrize("epsilon", ["-1", "0", "nan"])
def test_a_wrong_epsilon_is_named_by_its_option(folder, epsilon):
    arguments = ["ask", "people.csv", "count", "--roles", "roles.toml", "--epsilon", epsilon, "--dry-run"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: --epsilon must be a finite number in (0, inf), got ")
    assert "--budget" not in done.stderr


@pytest.fixture(autouse=True)
def same_noise(monkeypatch):
    """The command draws its noise from the operating system; here it follows from the number of the answer."""
    numbers = count()
    monkeypatch.setattr(paid_query, "SystemGenerator", lambda: np.random.default_rng(next(numbers)))


def ask(query, *options, table="people.csv", epsilon=0.5, roles="roles.toml"):
    given = ["ask", table, "--roles", roles, query, "--epsilon", str(epsilon), *options]
    return CliRunner().invoke(cli, given)


ACCOUNT = ("--account", "account.toml")


def opened(epsilon=2.0, *options):
    result = ask("count", *ACCOUNT, "--budget", epsilon, *options, epsilon=epsilon / 100)
    assert result.exit_code == 0, result.output


def spent(path="account.toml"):
    return Account.restore(path).spent[0]


@pytest.mark.thorough
def test_a_dry_run_states_the_noise_and_spends_nothing(folder):
    result = ask("mean income where job=clerk", "--dry-run")
    assert result.exit_code == 0
    assert "cost: epsilon 0.5; nothing is spent" in result.output
    assert "noise on the number of selected records: at most 15, with 95 % jointly" in result.output
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "roles.toml"]
    opened()
    before = (folder / "account.toml").read_bytes()
    again = ask("mean income where job=clerk", "--dry-run", *ACCOUNT, epsilon=5)
    assert "epsilon 0.02 spent of 2" in again.output
    assert "would exceed the budget" in again.output
    assert (folder / "account.toml").read_bytes() == before


def test_an_answer_has_its_interval_and_is_paid(folder):
    result = ask("mean income where job=clerk", *ACCOUNT, "--budget", "1", epsilon=0.75)
    assert result.exit_code == 0, result.output
    answer, interval, account = result.output.splitlines()
    truth = pd.read_csv("people.csv").query("job == 'clerk'")["income"].mean()
    assert abs(float(answer.replace(",", "")) - truth) < 1500
    assert interval.startswith("95 % interval: ")
    assert account == "account account.toml: epsilon 0.75 spent of 1; 0.25 left for one more answer"
    content = tomllib.loads((folder / "account.toml").read_text())
    assert content["costs"] == [{"epsilon": 0.75, "delta": 0.0, "answers": 1}]
    assert content["about"]["neighbours"] == "replace"
    assert (folder / "account.toml").stat().st_mode & 0o777 == 0o600
    # The same again is more than what is left, and a smaller question is not.
    refused = ask("mean income where job=clerk", *ACCOUNT, epsilon=0.5)
    assert refused.exit_code == 2
    assert len(refused.output.strip().splitlines()) == 1
    assert "the budget is spent" in refused.output
    assert spent() == 0.75
    assert ask("count", *ACCOUNT, epsilon=0.25).exit_code == 0
    assert spent() == 1.0


def test_the_noise_of_an_answer_does_not_come_again(folder):
    first, second = (ask("sum of income", *ACCOUNT, "--budget", "10").output.splitlines()[0] for _ in range(2))
    assert first != second


@pytest.mark.thorough
@pytest.mark.parametrize("query", ["count", "mean income", "median of income", "mode of job", "table of job and age"])
def test_all_noise_comes_from_the_source_of_the_operating_system(folder, monkeypatch, query):
    asked, drawn = [], os.urandom
    monkeypatch.setattr(paid_query, "SystemGenerator", SystemGenerator)
    monkeypatch.setattr(os, "urandom", lambda size: asked.append(size) or drawn(size))
    monkeypatch.setattr(np.random, "default_rng", lambda *_: pytest.fail("a generator that can be predicted"))
    for options in (("--delta", "1e-6"), ("--mechanism", "gaussian")):
        before = len(asked)
        result = ask(query, *ACCOUNT, "--budget", "10", *options)
        assert result.exit_code == 0, result.output
        assert sum(asked[before:]) >= 8


@pytest.mark.parametrize("late", [False, True])
def test_a_refusal_says_what_is_left_now(folder, monkeypatch, late):
    """Another process spends after this one read the account, or even after this one found that the rest suffices."""
    opened(1.0)
    terms = paid_query.AccountTerms()
    one, other = (
        paid_query.PaidQuery(
            Path("people.csv"), Path("roles.toml"), "count", epsilon=0.6, account=Path("account.toml"), terms=terms
        )
        for _ in range(2)
    )
    one.answer(0.95)
    if late:
        monkeypatch.setattr(type(other.account), "affords", lambda *_: True)
    with pytest.raises(BudgetSpent, match=r"more would exceed epsilon 1 of account\.toml; 0\.39 is left; nothing is"):
        other.answer(0.95)
    assert spent() == pytest.approx(0.61)


@pytest.mark.thorough
def test_a_quantile_far_below_a_wide_bound_is_near_and_states_its_step(folder):
    """A grid of even steps of such bounds would have one point in all the data."""
    roles = (folder / "roles.toml").read_text()
    cents = roles.replace("high = 100_000\n", "high = 1_000_000_000\ndecimals = 2\n")
    (folder / "roles.toml").write_text(cents.replace("high = 95", "high = 1_000_000_000"))
    frame = pd.read_csv(folder / "people.csv")
    for name, step in (("age", 1), ("income", 0.01)):
        result = ask(f"median of {name}", *ACCOUNT, "--budget", "20", epsilon=2.0)
        first, words = result.output.splitlines()[:2]
        answer = float(first.replace(",", ""))
        # The stated bound is 25 ranks of 2,000 at most for integers, 30 for cents: less than a share of .02.
        low, high = frame[name].quantile([0.48, 0.52])
        assert low <= answer <= high
        assert answer == round(answer, 2 if step < 1 else 0)
        assert f"rounded to steps of {step:g} first" in words
        quoted = ask(f"median of {name}", "--dry-run", epsilon=2.0).output
        assert f"rounded to steps of {step:g} first" in quoted
        plain = json.loads(ask(f"median of {name}", *ACCOUNT, "--format", "json", epsilon=2.0).output)
        assert plain["noise"][0]["step"] == step


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("count where age between 30 and 39", "95 % interval"),
        ("sum of income", "95 % interval"),
        ("median of age", "the rank: off by at most"),
        ("quantile 0.9 of income", "of 2,000 records"),
        ("variance of income", "95 % interval"),
        ("covariance of age and income", "95 % interval"),
        ("correlation of age and income", "95 % interval"),
        ("mode of job", "the count, below the largest"),
        ("histogram of age", "[18,30)"),
        ("table of job and age", "nurse"),
    ],
)
def test_every_statistic_is_answered(folder, query, words):
    result = ask(query, *ACCOUNT, "--budget", "10")
    assert result.exit_code == 0, result.output
    assert words in result.output
    plain = ask(query, *ACCOUNT, "--format", "json")
    content = json.loads(plain.output)
    assert content["spent"]["epsilon"] == 1.0
    assert content["left"] == 9.0
    if "cells" in content:
        assert len(content["cells"]) == len(content["answer"]) == len(content["interval"][0])
    quote = json.loads(ask(query, *ACCOUNT, "--format", "json", "--dry-run").output)
    assert quote["affordable"] is True
    assert quote["noise"] == content["noise"]


def test_a_rank_is_off_by_at_most_all_records(folder):
    opened(10.0)
    # The noise on the rank may reach 2,940 with 95 %.
    words = ask("median of age", *ACCOUNT, epsilon=0.005).output
    assert "off by at most 2,000 of 2,000 records, with 95 %" in words


@pytest.mark.thorough
def test_answers_lie_in_their_intervals(folder):
    opened(1000.0)
    # Nobody has these values, and everybody these: half of the noisy counts lie outside of the public range.
    nobody, everybody = "age=19.5", "age between 18 and 95"
    for query in (f"count where {nobody}", f"count where {everybody}", f"mean income where {nobody}", "table of job"):
        for _ in range(8):
            content = json.loads(ask(query, *ACCOUNT, "--format", "json", epsilon=0.3).stdout)
            low, high = content["interval"]
            assert (np.asarray(low) <= np.asarray(content["answer"])).all()
            assert (np.asarray(content["answer"]) <= np.asarray(high)).all()


@pytest.mark.thorough
def test_a_mean_of_nobody_is_noted(folder):
    # A noisy count of nobody exceeds its bound in at most 1 of 10^6 answers.
    opened(1000.0)
    for query, noted in (("mean income where age=19.5", True), ("mean income where age>20", False)):
        result = ask(query, *ACCOUNT, "--confidence", "0.999999", epsilon=20)
        assert result.exit_code == 0
        assert ("note: the noisy number of selected records is" in result.stderr) == noted
        assert ("there may be none, and then the mean means nothing" in result.stderr) == noted
        content = json.loads(ask(query, *ACCOUNT, "--confidence", "0.999999", "--format", "json", epsilon=20).stdout)
        assert ("note" in content) == noted


@pytest.mark.thorough
def test_gaussian_noise_and_other_accounts(folder):
    gaussian = ("--budget", "2", "--delta", "1e-6", "--mechanism", "gaussian")
    result = ask("mean income", *ACCOUNT, *gaussian)
    assert result.exit_code == 0, result.output
    assert "delta 1e-06" in result.output
    assert type(Account.restore("account.toml")).__name__ == "ConcentratedAccountant"
    # Laplace noise may be paid from it, too; an epsilon without delta costs a rho of epsilon^2 / 2.
    assert ask("mean income", *ACCOUNT, epsilon=0.2).exit_code == 0
    assert ask("mean income", *ACCOUNT, epsilon=0.5).exit_code == 2
    other = ("--account", "other.toml", "--budget", "2", "--delta", "1e-6", "--composition", "advanced")
    assert ask("mean income", *other).exit_code == 0
    wrong = ask("mean income", "--account", "other.toml", "--mechanism", "gaussian")
    assert wrong.exit_code == 2
    assert "needs an account with --composition concentrated, and that of other.toml is advanced" in wrong.output
    unbounded = ("--account", "third.toml", "--budget", "2", "--neighbours", "add or remove")
    assert ask("mean income", *unbounded).exit_code == 0
    refused = ask("variance of income", "--account", "third.toml")
    assert refused.exit_code == 2
    assert "neighbours: Variance needs a public number of records, which 'replace' alone gives" in refused.output
    assert spent("third.toml") == 0.5


@pytest.mark.thorough
def test_what_is_left_is_stated_for_the_noise_that_was_asked_for(folder):
    """A concentrated account prices both kinds of noise differently; each `left` is accepted, and 1 % more is not."""
    first = ask("count", *ACCOUNT, "--budget", "2", "--delta", "1e-6", "--mechanism", "gaussian", epsilon=0.1)
    assert first.exit_code == 0
    left = {}
    for mechanism in ("laplace", "gaussian"):
        quoted = ask("mean income", *ACCOUNT, "--mechanism", mechanism, "--dry-run", "--format", "json")
        left[mechanism] = json.loads(quoted.output)["left"]
        for share, affordable in ((0.9999, True), (1.01, False)):
            options = (*ACCOUNT, "--mechanism", mechanism, "--dry-run", "--format", "json")
            again = json.loads(ask("mean income", *options, epsilon=left[mechanism] * share).output)
            assert again["affordable"] is affordable
        refused = ask("mean income", *ACCOUNT, "--mechanism", mechanism, epsilon=5)
        assert f"{left[mechanism]:.6g} is left" in refused.output
        printed = ask("count", *ACCOUNT, "--mechanism", mechanism, "--dry-run").output
        assert f"left for one more answer with {mechanism} noise" in printed
    assert left["gaussian"] > 4 * left["laplace"]


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--budget", "nan"), "--budget must be a finite number in (0, inf), got nan"),
        (("--budget", "-1"), "--budget must be a finite number in (0, inf), got -1.0"),
        (("--budget", "2", "--delta", "1"), "--delta must be a finite number in [0, 1), got 1.0"),
        (("--budget", "2", "--delta", "nan"), "--delta must be a finite number in [0, 1), got nan"),
        (
            ("--budget", "2", "--delta", "1e-6", "--composition", "advanced", "--mechanism", "gaussian"),
            "--mechanism gaussian: needs an account with --composition concentrated",
        ),
        (("--budget", "2", "--account", "nowhere/account.toml"), "--account: there is no folder nowhere"),
    ],
)
def test_refused_terms_of_an_account_name_the_option(folder, options, message):
    refused = ask("count", *ACCOUNT, *options)
    assert refused.exit_code == 2
    assert message in refused.output
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "roles.toml"]


REFUSED = [
    (("mean incme",), {}, "character 6, 'incme': is no column; did you mean 'income'?"),
    (("average income",), {}, "character 1, 'average': is no statistic"),
    (("mode of city",), {}, "character 9, 'city': has no public domain"),
    (("mode of name",), {}, "is an identifier"),
    (("mean income where job=clrk",), {}, "did you mean 'clerk'"),
    (("mean wide",), {}, "bounds of column 'wide' must lie within"),
    (
        ("variance of income where job=clerk",),
        {},
        "query, character 20, 'where': the variance needs a public number of records, so it takes no condition",
    ),
    (("correlation of age and income where age<9",), {}, "character 31, 'where': the correlation needs a public"),
    (("mean income", "--budget", "3"), {}, "--budget: account.toml was opened with 2.0, which stays; got 3.0"),
    (("mean income", "--neighbours", "add or remove"), {}, "--neighbours: account.toml was opened with replace"),
    (("mean income", "--composition", "advanced"), {}, "--composition: account.toml was opened with sequential"),
    (("mean income", "--mechanism", "gaussian"), {}, "needs an account with a --delta"),
    (("mean income",), {"epsilon": 0}, "epsilon"),
    (("mean income",), {"epsilon": "nan"}, "epsilon"),
    (("mean income",), {"epsilon": 1e-9}, "epsilon"),
    (("mean income",), {"table": "no.csv"}, "there is no such file"),
    (("mean income",), {"roles": "no.toml"}, "there is no such file"),
    (("mean income", "--confidence", "1"), {}, "confidence"),
]


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize(("arguments", "changes", "message"), REFUSED)
def test_refusals_take_one_line_and_cost_nothing(folder, arguments, changes, message):
    opened()
    before = (folder / "account.toml").read_bytes()
    result = ask(*arguments, *ACCOUNT, **changes)
    assert result.exit_code == 2, result.output
    assert message in result.output
    if "Usage" not in result.output:
        assert len(result.output.strip().splitlines()) == 1
    assert (folder / "account.toml").read_bytes() == before


def test_a_domain_too_large_for_a_table_is_refused(folder):
    opened()
    roles = (folder / "roles.toml").read_text().replace("cuts = [30, 60]", f"cuts = {list(range(19, 96))}")
    fine = f"high = 100_000\ncuts = {list(range(1, 60))}"
    (folder / "roles.toml").write_text(roles.replace("high = 100_000", fine))
    result = ask("table of code and age and job and income", *ACCOUNT)
    assert result.exit_code == 2
    assert "at most 10,000,000 are answered" in result.output
    assert spent() == 0.02


def test_an_account_is_for_one_table(folder):
    opened()
    changed = (folder / "people.csv").read_text().replace("p7,", "p8,", 1)
    (folder / "other.csv").write_text(changed)
    result = ask("count", *ACCOUNT, table="other.csv")
    assert result.exit_code == 2
    assert "is the account of another table than other.csv" in result.output
    assert spent() == 0.02
    # A copy of the file is the same table.
    (folder / "copy.csv").write_bytes((folder / "people.csv").read_bytes())
    assert ask("count", *ACCOUNT, table="copy.csv").exit_code == 0
    # Two accounts of one table have nothing in common: the key is another.
    assert ask("count", "--account", "second.toml", "--budget", "2").exit_code == 0
    first, second = (tomllib.loads((folder / name).read_text())["about"] for name in ("account.toml", "second.toml"))
    assert first["table"] != second["table"]
    Accountant(epsilon=1.0, path="bare.toml")
    bare = ask("count", "--account", "bare.toml")
    assert bare.exit_code == 2
    assert "bound to no table" in bare.output


def test_no_account_is_opened_by_a_refusal(folder):
    for arguments in (["mean incme"], ["mean income", "--confidence", "1"], ["mean wide"]):
        assert ask(*arguments, *ACCOUNT, "--budget", "2").exit_code == 2
    assert ask("count", *ACCOUNT, "--budget", "0.1", epsilon=0.5).exit_code == 2
    assert ask("count").exit_code == 2
    missing = ask("count", *ACCOUNT)
    assert "there is no account account.toml; --budget EPSILON opens it" in missing.output
    (folder / "broken.toml").write_text("account = ")
    assert ask("count", "--account", "broken.toml").exit_code == 2
    assert sorted(path.name for path in folder.iterdir()) == ["broken.toml", "people.csv", "roles.toml"]


@pytest.mark.thorough
def test_values_that_do_not_fit_are_never_told(folder):
    """Odd values change neither whether nor how a question is answered; only its noise is seen."""
    frame = pd.read_csv("people.csv").astype({"age": object, "job": object})
    frame.loc[:4, "age"] = ["old", "", "inf", "1e400", "200"]
    frame.loc[:2, "job"] = ["pilot", "", "Clerk"]
    frame.to_csv("odd.csv", index=False)
    questions = ("mean age", "median age", "variance of age", "count where age>30", "histogram of age", "mode of job")
    for number, query in enumerate((*questions, "histogram of job", "count where job=clerk")):
        plain, odd = (
            ask(query, "--account", f"{table}{number}.toml", "--budget", "2", table=f"{table}.csv")
            for table in ("people", "odd")
        )
        assert plain.exit_code == odd.exit_code == 0, odd.output
        assert len(plain.output.splitlines()) == len(odd.output.splitlines())


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("query", ["count", "mean age", "median of age", "mode of job", "table of job and age"])
def test_a_table_without_records_is_answered_where_people_may_be_added(folder, query):
    (folder / "nobody.csv").write_text(",".join(pd.read_csv("people.csv").columns) + "\n")
    for table in ("nobody.csv", "people.csv"):
        options = ("--account", f"{table}.toml", "--budget", "2", "--neighbours", "add or remove")
        assert ask(query, *options, table=table).exit_code == 0
    assert Account.restore("nobody.csv.toml").spent == (0.5, 0)
    # Where one record is replaced by another, the number of records is public.
    refused = ask(query, *ACCOUNT, "--budget", "2", table="nobody.csv")
    assert refused.exit_code == 2
    assert refused.output == "Error: nobody.csv: names columns but holds no record\n"


SPENDER = """
import sys
from click.testing import CliRunner
from scenarios.commands.cli import cli
answered = 0
for _ in range(20):
    arguments = ["ask", "people.csv", "--roles", "roles.toml", "count", "--epsilon", "0.1", "--account", "account.toml"]
    answered += CliRunner().invoke(cli, arguments).exit_code == 0
print(answered)
"""


@pytest.mark.thorough
def test_processes_share_an_account(folder):
    opened(1.0)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SPENDER]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) for _ in range(2)]
    answered = sum(int(process.communicate()[0]) for process in processes)
    assert answered == 9
    assert spent() == pytest.approx(0.91)


def test_a_crash_after_the_spend_costs_and_before_it_does_not(folder, monkeypatch):
    from defenses.curators import answer_plan

    opened()

    def crash(*arguments):
        raise SystemExit("power failure")

    monkeypatch.setattr(answer_plan.AnswerPlan, "_released", crash)
    ask("mean income", *ACCOUNT)
    assert spent() == 0.52
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    monkeypatch.setattr("defenses.curators.curator.CuratorSession._paid", crash)
    ask("mean income", *ACCOUNT)
    assert spent() == 0.52


@pytest.mark.thorough
def test_it_starts_without_pandas(folder):
    code = (
        "import sys, scenarios.commands.cli\n"
        "sys.argv = ['tokumei', 'ask', 'people.csv', '--roles', 'roles.toml', 'mean income where job=clerk',"
        " '--epsilon', '0.5', '--account', 'account.toml', '--budget', '1']\n"
        "assert scenarios.commands.cli.main() == 0\n"
        "print(sorted(set(sys.modules) & {'pandas', 'scipy', 'sklearn', 'pyarrow.compute', 'sqlalchemy'}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert result.stdout.splitlines()[-1] == "[]"


def of_people(folder, rows=(1, 9, 3, 2)):
    """A table in which person i has `rows[i]` rows, beside its roles file with the person."""
    person = np.repeat(np.arange(len(rows)), rows)
    pd.DataFrame({"name": person, "age": 20 + 10 * person, "job": "cook"}).to_csv(folder / "visits.csv", index=False)
    roles = (
        (folder / "roles.toml")
        .read_text()
        .split("[columns.income]")[0]
        .replace('["name"]', '["name"]\nperson = "name"')
    )
    (folder / "person.toml").write_text(roles)
    return {"table": "visits.csv", "roles": "person.toml"}


def test_where_a_person_is_declared_answers_and_guarantee_are_about_people(folder):
    files = of_people(folder)
    result = ask("count", *ACCOUNT, "--budget", "5000", epsilon=1000, **files)
    assert (
        "note: the guarantee is about people (name): the answer is about 1 row of each, drawn at random"
        in result.output
    )
    assert result.stdout.splitlines()[0] == "4"
    assert ask("mean age", *ACCOUNT, epsilon=1000, **files).stdout.splitlines()[0].startswith("35")


@pytest.mark.parametrize(("most", "drawn"), [(1, 4), (2, 7), (3, 9), (100, 15)])
def test_a_person_gives_at_most_so_many_rows(folder, most, drawn):
    options = ("--rows-per-person", most, "--neighbours", "add or remove", *ACCOUNT, "--budget", "1e5")
    result = ask("count", *map(str, options), epsilon=1e5, **of_people(folder))
    assert result.stdout.splitlines()[0] == str(drawn)


def test_several_rows_of_a_person_cost_noise(folder):
    files, add = of_people(folder), ("--dry-run", "--neighbours", "add or remove")
    of_three = ask("count", *add, "--rows-per-person", "3", epsilon=3, **files).stdout.splitlines()
    of_one = ask("count", *add, epsilon=1, **files).stdout.splitlines()
    assert of_three[0] == "cost: epsilon 3; nothing is spent"
    assert of_three[1:] == of_one[1:]


def test_gaussian_noise_grows_as_the_rows_of_a_person(folder):
    """Three rows cost nine times the rho, so the standard deviation is three times that of one row."""
    options = ("--dry-run", "--format", "json", "--neighbours", "add or remove", "--delta", "1e-6")
    bounds = [
        json.loads(
            ask("count", *options, "--mechanism", "gaussian", "--rows-per-person", most, **of_people(folder)).stdout
        )
        for most in ("1", "3")
    ]
    one, three = (bound["noise"][0]["at_most"] for bound in bounds)
    assert three == pytest.approx(3 * one, abs=2)


def test_rows_that_name_nobody_are_people_of_their_own(folder):
    files = of_people(folder)
    with (folder / "visits.csv").open("a") as table:
        table.write(",30,cook\n,40,cook\n 1 ,40,cook\n")
    result = ask("count", *ACCOUNT, "--budget", "1000", epsilon=1000, **files)
    assert result.stdout.splitlines()[0] == "6"


def test_several_rows_of_a_replaced_person_are_refused(folder):
    result = ask("count", "--dry-run", "--rows-per-person", "2", **of_people(folder))
    assert result.exit_code == 2
    assert "whoever replaces a person changes the number of rows" in result.output
    result = ask("count", "--dry-run", "--rows-per-person", "2")
    assert (result.exit_code, "name the column of the person as `person`" in result.output) == (2, True)


def test_an_account_of_people_pays_for_no_answer_about_rows(folder):
    files = of_people(folder)
    assert ask("count", *ACCOUNT, "--budget", "2", **files).exit_code == 0
    roles = (folder / "person.toml").read_text().replace('person = "name"\n', "")
    (folder / "rows.toml").write_text(roles)
    result = ask("count", *ACCOUNT, table="visits.csv", roles="rows.toml")
    assert result.exit_code == 2
    assert "account.toml protects the people of column 'name'" in result.output
    assert spent() == 0.5


def test_an_account_that_was_opened_for_rows_says_so(folder):
    files = of_people(folder)
    roles = (folder / "person.toml").read_text().replace('person = "name"\n', "")
    (folder / "rows.toml").write_text(roles)
    assert ask("count", *ACCOUNT, "--budget", "2", table="visits.csv", roles="rows.toml").exit_code == 0
    assert "was opened for rows: what it paid for before protects one row" in ask("count", *ACCOUNT, **files).output


def test_defend_curator_names_the_command(folder):
    result = CliRunner().invoke(cli, ["defend", "Curator", "people.csv", "--roles", "roles.toml"])
    assert result.exit_code == 2
    assert "`tokumei ask`" in result.output


@pytest.mark.parametrize("name", ["Correlation", "Mode", "Quantile"])
def test_queries_are_listed_and_described(name):
    assert name in CliRunner().invoke(cli, ["list", "queries"]).output
    output = CliRunner().invoke(cli, ["info", name]).output
    assert "In `tokumei ask`: " in output
    assert "How a curator answers it" in output
