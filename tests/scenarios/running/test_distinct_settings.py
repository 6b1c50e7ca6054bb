"""A setting that is written more than once is one setting: a run plays it once, and counts it once."""

import re

import pytest
from run_tools import tokumei_here

from defenses import Guarantee
from leaderboard.results.result import label
from scenarios.running.plan import read_plan
from scenarios.running.units import Catalogue

FILES = {
    "twice.toml": """
[scenario]
name = "twice"
dataset = "bank"
columns = ["age", "marital", "housing", "y"]
plays = 1

[scenario.game]
use = "CandidateFile"
originals = 20
candidates = 40
held_out = 0
auxiliary = 30
decoys = ["random", "random"]

[[defense]]
use = "Mondrian"

[[defense]]
use = "Mondrian"
k = [2, 5]

[[defense]]
use = "RetentionReplacement"
retention = [0.5, 1, 5e-1, 1.0]

[[attack]]
use = "NearestNeighbour"

[[attack]]
use = "NearestNeighbour"
"""
}


def labels(entries):
    return [label(entry.name, entry.parameters) for entry in entries]


def test_a_scenario_plays_each_setting_once_as_it_is_first_written(folder):
    plan = read_plan(str(folder / "twice.toml"))
    defenses = ["Mondrian", "Mondrian k=2", "RetentionReplacement retention=0.5", "RetentionReplacement retention=1"]
    assert labels(plan.defenses) == defenses
    assert type(plan.defenses[-1].parameters["retention"]) is int
    assert labels(plan.attacks) == ["NearestNeighbour"]
    assert len(plan.games) == 1


@pytest.mark.parametrize(
    "defenses",
    [
        ["Mondrian k=5", "Mondrian", "Mondrian k=2"],
        ["Mondrian k=2 strict=true", "Mondrian k=2", "Mondrian strict=true k=5"],
    ],
)
def test_a_setting_that_is_named_twice_is_kept_once(defenses, folder):
    plan = read_plan(str(folder / "twice.toml")).filtered(defenses, ["NearestNeighbour", "NearestNeighbour  "])
    assert sorted(labels(plan.defenses)) == ["Mondrian", "Mondrian k=2"]
    assert len(plan.attacks) == 1
    # The runner counts one result for each unit's.
    catalogue = Catalogue(plan, (Guarantee(),) * len(plan.defenses))
    assert sum(len(unit.results) for unit in catalogue.units) == len(catalogue.keys) == 4


@pytest.mark.thorough
@pytest.mark.waits
def test_a_run_counts_each_setting_once(folder):
    options = ("-d", "Mondrian", "-d", "Mondrian k=5", "-d", "Mondrian k=2", "-j", 1)
    done = tokumei_here("run", "twice.toml", *options, cwd=folder, check=0)
    assert re.search(r"(?<!\S)0 of 4 results done", done.stderr)
