"""A trial is played again only when something that it depends on changed, and a run can say what."""

import csv
import io
import json
import sqlite3
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner

from defenses import Guarantee
from leaderboard import Result, Store
from scenarios.commands.cli import cli
from scenarios.running import units
from scenarios.running.explanation import explain
from scenarios.running.methods import fingerprint
from scenarios.running.methods.fingerprint import closure, sources
from scenarios.running.methods.methods import build
from scenarios.running.plan import read_plan
from scenarios.running.units import Catalogue

SCENARIO = """
[scenario]
name = "small"
dataset = "bank"
game = { use = "CandidateFile", originals = 20, candidates = 40, decoys = ["random", "hard"] }
plays = 3

[[defense]]
use = "Mondrian"
k = 2

[[defense]]
use = "Pipeline"
steps = [{ use = "explained_mine:Rounded", unit = 10 }]

[[attack]]
use = "NearestNeighbour"
"""
MINE = """
from defenses import Identity
from explained_helper import UNIT

class Rounded(Identity):
    def __init__(self, *, unit=UNIT):
        self.unit = unit
"""
FILES = {"small.toml": SCENARIO, "explained_mine.py": MINE, "explained_helper.py": "UNIT = 5\n"}
RESULTS = 2 * 3 * 3


@pytest.fixture
def folder(folder, monkeypatch):
    """The shared folder as current and import folder."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in ("explained_mine", "explained_helper"):
        sys.modules.pop(name, None)


def catalogue():
    fingerprint.look_again()
    plan = read_plan("small.toml")
    return Catalogue(plan, (Guarantee(),) * len(plan.defenses))


def played(store, status="ok"):
    """Store the scenario's results as if they had been played."""
    known = catalogue()
    results = [result for unit in known.units for result in unit.results]
    store.add([replace(result, status=status) for result in results], known.documents)
    return results


def reasons(store, *, fresh=False):
    return {(one.defense, one.attack): one.reason for one in explain(catalogue(), store, fresh=fresh)}


@pytest.mark.thorough
def test_what_is_known_is_not_played_and_what_is_not_is_new(folder):
    with Store("sqlite://") as store:
        found = explain(catalogue(), store, fresh=False)
        assert {(one.reason, one.plays) for one in found} == {("new", (0, 1, 2))}
        assert sum(len(one.plays) for one in found) == RESULTS
        played(store)
        assert reasons(store) == {}
        assert set(reasons(store, fresh=True).values()) == {"--fresh"}


@pytest.mark.thorough
def test_a_changed_module_that_a_method_imports_is_named(folder):
    with Store("sqlite://") as store:
        played(store)
        (folder / "explained_helper.py").write_text("UNIT = 6\n")
        # Only the pipeline has a step whose module imports the helper.
        expected = "source of explained_helper changed"
        assert reasons(store) == {("Pipeline", None): expected, ("Pipeline", "NearestNeighbour"): expected}
        (folder / "explained_helper.py").write_text("UNIT = 5\n")
        assert reasons(store) == {}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    "written",
    [
        "def late():\n    from explained_helper import UNIT\n",
        "import importlib\ndef late():\n    return importlib.import_module('explained_helper').UNIT\n",
        "from importlib import import_module\nUNITS = [import_module('explained_helper').UNIT]\n",
    ],
)
def test_imports_at_run_time_by_a_plain_name_are_followed(folder, written):
    (folder / "explained_mine.py").write_text(MINE.replace("from explained_helper import UNIT", "UNIT = 5") + written)
    with Store("sqlite://") as store:
        played(store)
        (folder / "explained_helper.py").write_text("UNIT = 6\n")
        assert set(reasons(store).values()) == {"source of explained_helper changed"}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("old", "new", "says", "count"),
    [
        ("k = 2", "k = 3", "parameters of Mondrian: k 2 -> 3", 9),
        ("unit = 10", "unit = 20", "parameters of Pipeline: steps", 9),
        ("originals = 20", "originals = 10", "parameters of CandidateFile: originals 20 -> 10", RESULTS),
        ("plays = 3", "plays = 3\nseed = 7", "seed 1 -> 7", RESULTS),
        ('"bank"', '"adult"', "data changed", RESULTS),
        ("plays = 3", "plays = 4", "new", 6),
        ("k = 2", "k = [2, 4]", "new", 9),
    ],
)
def test_what_changed_in_the_scenario_is_said(folder, old, new, says, count):
    with Store("sqlite://") as store:
        played(store)
        (folder / "small.toml").write_text(SCENARIO.replace(old, new, 1))
        found = explain(catalogue(), store, fresh=False)
        assert all(says in one.reason for one in found), found
        assert sum(len(one.plays) for one in found) == count


@pytest.mark.thorough
def test_versions_and_the_scorer_count(folder, monkeypatch):
    with Store("sqlite://") as store:
        played(store)
        now = fingerprint.versions()
        monkeypatch.setattr(units, "versions", lambda: {**now, "numpy": "99.0"})
        assert set(reasons(store).values()) == {f"numpy {now['numpy']} -> 99.0"}
        monkeypatch.setattr(units, "versions", lambda: now)
        monkeypatch.setattr(units, "SCORER", 99)
        assert set(reasons(store).values()) == {"scorer changed"}


def test_failures_are_played_again(folder):
    with Store("sqlite://") as store:
        results = played(store)
        store.add([Result(**{**vars(results[0]), "status": "timeout", "reason": "too slow\nhere"})])
        assert reasons(store) == {("Mondrian", None): "failed before (timeout): too slow"}


@pytest.mark.thorough
def test_results_of_an_earlier_schema_are_kept_and_told(folder):
    with Store("old.db") as store:
        played(store)
    with sqlite3.connect("old.db") as connection:
        connection.execute("ALTER TABLE tokumei_results DROP COLUMN parts")
        connection.execute("DROP TABLE tokumei_documents")
        connection.execute("UPDATE tokumei_results SET key = 'x' || key")
    connection.close()
    with Store("old.db") as store:
        assert len(store.results()) == RESULTS
        assert set(reasons(store).values()) == {"played by an earlier version of tokumei"}
        played(store)
        assert reasons(store) == {}


@pytest.mark.thorough
def test_the_command_says_it_and_plays_nothing(folder):
    arguments = ["run", "small.toml", "--explain", "--plays", "2"]
    shown = CliRunner().invoke(cli, arguments)
    assert shown.exit_code == 0
    assert [line.split()[-1] for line in shown.stdout.splitlines()[2:]] == ["new"] * 6
    assert "0-1" in shown.stdout
    assert not (folder / "tokumei.db").exists()
    listed = json.loads(CliRunner().invoke(cli, [*arguments, "--format", "json"]).stdout)
    assert {(one["reason"], tuple(one["plays"])) for one in listed} == {("new", (0, 1))}
    rows = list(csv.DictReader(io.StringIO(CliRunner().invoke(cli, [*arguments, "--format", "csv"]).stdout)))
    assert [row["plays"] for row in rows] == ["0-1"] * 6
    with Store("tokumei.db") as store:
        played(store)
    assert CliRunner().invoke(cli, ["run", "small.toml", "--explain"]).stdout == "nothing is to be played\n"


def test_lazy_exports_lead_to_the_module_that_defines_them(folder):
    (folder / "explained_helper.py").write_text("from defenses import Mondrian\nUNIT = 5\n")
    fingerprint.look_again()
    found = closure(["explained_mine"])
    assert {
        "explained_mine",
        "explained_helper",
        "defenses",
        "defenses.perturbation.reference_releases",
        "defenses.grouping.mondrian.mondrian",
    } <= set(found)
    # The rest of the package is no part of it.
    assert "defenses.grouping.microaggregation.microaggregation" not in found
    assert not {"pandas", "json", "numpy"} & set(found)
    (folder / "explained_helper.py").write_text("from defenses import pram\nUNIT = pram\n")
    fingerprint.look_again()
    assert {"defenses.pram.matrix", "defenses.pram.optimal"} <= set(closure(["explained_helper"]))
    (folder / "explained_helper.py").write_text("from defenses.pram import pk\nUNIT = pk\n")
    fingerprint.look_again()
    found = closure(["explained_helper"])
    assert "defenses.pram.matrix" in found
    assert "defenses.pram.histogram_estimate" not in found


def test_relative_imports_and_packages_of_ones_own(folder):
    (folder / "explained_package").mkdir()
    (folder / "explained_package" / "__init__.py").write_text("")
    (folder / "explained_package" / "method.py").write_text("from .parts import one\nfrom . import other\n")
    (folder / "explained_package" / "parts.py").write_text("one = 1\n")
    (folder / "explained_package" / "other.py").write_text("import numpy\n")
    names = ("explained_package", "explained_package.method", "explained_package.other", "explained_package.parts")
    assert tuple(closure(["explained_package.method"])) == names


def test_methods_among_parameters_count():
    pipeline = build({"use": "Pipeline", "steps": [{"use": "Mondrian", "k": 2}]}, "defenses")
    assert {"defenses.base.pipeline", "defenses.grouping.mondrian.mondrian"} <= set(sources(pipeline))
