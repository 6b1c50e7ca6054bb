"""Rules of roles files that no released row may break: defend, run and validate with them, and bad rules."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from defenses import GlobalRecoding, Identity, MaximumSpanningTree, Pipeline, Sampling
from scenarios.commands.cli import cli
from scenarios.running.plan import read_plan
from scenarios.tables.dataset import load_table, with_columns
from scenarios.tables.impossible_rows import with_rules

ROLES = """
identifiers = ["name"]
quasi_identifiers = ["age", "job"]
sensitive = ["income"]
unprotected = ["since"]
{rules}
[columns.age]
type = "number"
integer = true
low = 0
high = 99
cuts = [18, 40, 65]
[columns.income]
type = "number"
integer = true
low = 0
high = 99999
cuts = [1, 1000, 5000]
[columns.job]
type = "category"
categories = ["none", "cook", "clerk"]
[columns.since]
type = "date"
low = 1900-01-01
high = 2026-12-31
"""
RULES = """
[[impossible]]
age = "[0,15)"
income = "[1,99999]"
[[impossible]]
age = "[0,15)"
job = "{cook|clerk}"
[[impossible]]
age = "[0,15)"
since = "[1900-01-01,2010-12-31]"
"""
SCENARIO = """
[scenario]
name = "rules"
game = { use = "CandidateFile", originals = 50, candidates = 100 }
plays = 1
[[defense]]
use = "MaximumSpanningTree"
[[defense]]
use = "Identity"
[[attack]]
use = "NearestNeighbour"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    age = np.where(rng.random(300) < 0.25, rng.integers(0, 15, 300), rng.integers(15, 100, 300))
    adult = age >= 15
    frame = {
        "name": [f"p{number}" for number in range(300)],
        "age": age,
        "income": np.where(adult, rng.integers(0, 9000, 300), 0),
        "job": np.where(adult, rng.choice(["cook", "clerk"], 300), "none"),
        "since": [f"{2026 - years}-01-01" for years in age],
    }
    pd.DataFrame(frame).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "roles.toml").write_text(ROLES.format(rules=RULES))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments, code=0):
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


def forbidden(frame):
    child = frame["age"] < 15
    return [int((child & wrong).sum()) for wrong in (frame["income"] > 0, frame["job"] != "none")] + [
        int((child & (frame["since"].astype(str) <= "2010-12-31")).sum())
    ]


@pytest.mark.thorough
def test_defend_releases_no_impossible_row(folder):
    command = "defend", "MaximumSpanningTree", "people.csv", "-o", "released.csv", "--force", "--seed", 1
    call(*command, "--roles", "roles.toml")
    released = pd.read_csv("released.csv")
    assert forbidden(released) == [0, 0, 0]
    assert len(released) == 300
    (folder / "plain.toml").write_text(ROLES.format(rules=""))
    call(*command, "--roles", "plain.toml")
    assert min(forbidden(pd.read_csv("released.csv"))) > 0


def test_defend_says_which_methods_ignore_rules(folder):
    output = call("defend", "IndependentMarginals", "people.csv", "--roles", "roles.toml", "-o", "released.csv")
    assert "IndependentMarginals may release rows that roles.toml declares impossible" in output
    output = call("defend", "GaussianCopula", "people.csv", "--roles", "roles.toml", "-o", "released.csv", "--force")
    assert "declares impossible" not in output
    assert forbidden(pd.read_csv("released.csv")) == [0, 0, 0]


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("large", [[], ["--memory", "1GB"]])
def test_validate_shows_rules_and_records_that_break_them(folder, large):
    text = (folder / "people.csv").read_text().splitlines()
    (folder / "people.csv").write_text("\n".join([*text, "q,3,500,none,2023-01-01"]) + "\n")
    output = call("validate", "people.csv", "--roles", "roles.toml", *large)
    assert "impossible: age = [0,15), income = [1,99999]; 1 record holds it" in output
    assert "impossible: age = [0,15), since = [1900-01-01,2010-12-31]; no record holds it" in output


def test_a_described_table_keeps_its_rules(folder):
    call("describe", "people.csv", "--roles", "roles.toml", "-o", "described.toml")
    first, second = (load_table("people.csv", name) for name in ("roles.toml", "described.toml"))
    assert first.impossible == second.impossible
    assert len(first.impossible) == 3
    assert len(with_columns(first, ["age", "job"]).impossible) == 1


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ('town = "Ulm"', "table [[impossible]]: there is no column 'town' in people.csv"),
        ('name = "p1"', "table [[impossible]] 1: no release holds column 'name'"),
        ('job = "pilot"', "'pilot' holds an unknown category; known are none, cook, clerk"),
        ('age = "130"', "table [[impossible]] 1: column 'age': 130 covers no number of the domain, which is 0 to 99"),
        ('since = "yesterday"', "table [[impossible]] 1: column 'since'"),
        ('age = "*"', "the combination age = * forbids every row"),
        ("age = 3", "impossible"),
        ("", "impossible"),
    ],
)
def test_bad_rules_are_named_at_once(folder, rule, message):
    (folder / "roles.toml").write_text(ROLES.format(rules=f"[[impossible]]\n{rule}"))
    for command in (["validate", "people.csv"], ["defend", "Identity", "people.csv", "-o", "released.csv"]):
        output = call(*command, "--roles", "roles.toml", code=2)
        assert message in output
        assert "roles.toml" in output
        assert output.count("\n") == 1


def test_rules_that_forbid_everything_together_are_refused(folder):
    both = '[[impossible]]\njob = "none"\n[[impossible]]\njob = "{cook|clerk}"\n'
    (folder / "roles.toml").write_text(ROLES.format(rules=both))
    output = call("defend", "GaussianCopula", "people.csv", "--roles", "roles.toml", "-o", "released.csv", code=2)
    assert "structural_zeros: 100 draws did not avoid the combination job" in output


@pytest.mark.thorough
def test_scenarios_on_the_table_use_the_rules(folder):
    (folder / "rules.toml").write_text(SCENARIO)
    dataset = load_table("people.csv", "roles.toml")
    plan = read_plan("rules.toml", dataset=dataset)
    bound, other = (entry.method for entry in plan.defenses)
    assert list(bound.structural_zeros) == list(dataset.impossible)
    assert isinstance(other, Identity)
    again = plan.filtered(["MaximumSpanningTree"], []).defenses[0].method
    assert list(again.structural_zeros) == list(dataset.impossible)
    call("run", "rules.toml", "--data", "people.csv", "--roles", "roles.toml", "--explain")


def test_rules_join_those_of_the_method_and_reach_steps_of_pipelines():
    own, rule = {"age": "3"}, {"age": "4"}
    method = MaximumSpanningTree(structural_zeros=[own])
    assert with_rules(method, [rule, own]).structural_zeros == [own, rule]
    assert method.structural_zeros == [own]
    steps = with_rules(Pipeline(steps=[Sampling(rate=0.5), method]), [rule]).steps
    assert steps[1].structural_zeros == [own, rule]
    plain = GlobalRecoding(levels={"age": 1})
    assert with_rules(plain, [rule]) is plain
