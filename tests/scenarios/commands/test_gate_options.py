"""Gates on the command line: the documented example passes on a good defense and fails on a bad one."""

import re
import shlex
from xml.etree import ElementTree

import pytest
from bank_tools import few_customers
from comparison_tools import played
from run_tools import ROOT, invoke

import leaderboard as lb
from leaderboard.results.goals import goal_named
from scenarios.commands.common import check_goals
from scenarios.running.runner import Played

pytestmark = pytest.mark.waits

# Attacks on rows and on members; the whole example plays them all.
FAST = ("-a", "FellegiSunter", "-a", "AssignmentLinkage", "-j", "1")
GOOD, BAD = "GaussianCopula", "Rounding"
# The utility of the good one differs by .12 between plays, and is .12 above its bound. With three plays, other seeds
# would fail once in fifteen. The advantage against the bad one is .98 or more, and the bound is .25.
FEW_PLAYS = {GOOD: ("--plays", "6"), BAD: ("--plays", "3")}


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes the module of the example, whose defense is that of another name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)

    def written(name, defense):
        text = f'from defenses import {defense}\n\n\nclass MyDefense({defense}):\n    """My defense."""\n'
        (tmp_path / f"{name}.py").write_text(text)

    return written


def example(name):
    """Words of the documented command, with another module."""
    text = (ROOT / "docs" / "site" / "en" / "operate" / "gates.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"- run: tokumei (run bank -d mymodule:MyDefense --min.*)", text)
    return shlex.split(command.replace("mymodule", name))


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.long)], ids=["fast", "whole"])
@pytest.mark.parametrize(("defense", "code"), [(GOOD, 0), (BAD, 1)])
def test_the_example_passes_on_a_good_defense_and_fails_on_a_bad_one(module, tmp_path, defense, code, whole):
    name = f"my_{defense.lower()}"
    module(name, defense)
    done = invoke(*example(name), *(() if whole else (*FAST, *FEW_PLAYS[defense])))
    assert done.exit_code == code, done.stderr
    assert ("is above .250" in done.stderr) == (code == 1)
    root = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert (int(root.get("failures")) > 0) == (code == 1)
    # Two bounds in each of two variants of the game, and one check of the plays.
    assert (root.get("tests"), root.get("errors")) == ("5", "0")


def play(*arguments, defense="Identity"):
    return invoke("run", "bank", "-d", defense, "-a", "NearestNeighbour", "--plays", 1, "-j", 1, *arguments)


@pytest.mark.thorough
def test_failed_checks_are_annotated_in_github_actions_only(module, monkeypatch):
    few_customers(monkeypatch)
    assert "::error" not in play("--max-advantage", 0.5).stderr
    assert "::error title=bank%2C decoys=hard%3A Identity%3A" in play("--max-advantage", 0.5, "--annotate").stderr
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert play("--max-advantage", 0.5).stderr.count("::error title=bank") == 2
    assert "::error" not in play("--max-advantage", 0.5, "--no-annotate").stderr
    assert "::error" not in play().stderr


@pytest.mark.parametrize(("plays", "missed"), [(1, ".80"), (4, ".41"), (5, None)])
def test_a_gate_says_what_few_plays_do_not_show(monkeypatch, plays, missed):
    # All four plays of a release that goes wrong in a fifth of them are right with probability .8⁴ = .41.
    from scenarios.commands.run import _exit_code

    played_here = Played(played(0, plays=plays, defenses=("Alpha",)), [], 0)
    for bound, code in (({None: 0.9}, 0), ({None: 0.1}, 1), ({}, 0)):
        said = []
        monkeypatch.setattr("scenarios.commands.common.echo", lambda text, err, said=said: said.append(text))
        assert _exit_code(played_here, lb.GateBounds(max_advantage=bound), list) == code
        warned = [line for line in said if "warning" in line]
        assert len(warned) == (missed is not None and bool(bound))
        assert all(f"with probability {missed}: give more --plays" in line for line in warned)


@pytest.mark.thorough
def test_the_gate_on_the_command_line_warns_of_one_play(module, monkeypatch):
    few_customers(monkeypatch)
    assert "gate: warning: 1 play misses a defense" in play("--max-advantage", 1).stderr
    assert "warning" not in play().stderr


def test_documented_probabilities_of_seeing_a_rare_failure():
    text = (ROOT / "docs" / "site" / "en" / "operate" / "gates.md").read_text(encoding="utf-8")
    plays = next(line for line in text.splitlines() if line.startswith("| plays |"))
    for line in (line for line in text.splitlines() if line.startswith("| p = ")):
        p = float(re.search(r"\.\d+", line)[0])
        for n, percent in zip(plays.split("|")[2:-1], line.split("|")[2:-1], strict=True):
            assert percent.strip() == f"{100 * (1 - (1 - p) ** int(n)):.0f} %"


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (("valeus=0.5",), "there is no goal 'valeus'; did you mean 'values'?"),
        (("rows=much",), "must be a number or GOAL=NUMBER, got 'rows=much'"),
        (("0.1", "0.2"), "bounds all goals twice"),
        (("rows=0.1", "reidentification=0.2"), "bounds reidentification twice"),
    ],
)
def test_a_wrong_bound_is_refused_before_anything_plays(module, tmp_path, bounds, message):
    options = [word for bound in bounds for word in ("--max-advantage", bound)]
    refused = play(*options)
    assert refused.exit_code == 2
    assert message in refused.stderr
    assert not (tmp_path / "tokumei.db").exists()


def test_every_goal_that_a_refusal_lists_is_accepted():
    with pytest.raises(ValueError, match="there is no goal 'foo'") as refused:
        check_goals({"foo": 0.1}, ())
    listed = str(refused.value).partition("known are ")[2].split(", ")
    assert "singling-out" in listed
    check_goals({goal_named(goal): 0.1 for goal in listed}, ())


def test_a_file_of_checks_that_cannot_be_written_is_refused_before_anything_plays(module, tmp_path):
    refused = play("--junit", tmp_path / "none" / "gate.xml")
    assert refused.exit_code == 2
    assert "--junit: " in refused.stderr
    assert not (tmp_path / "tokumei.db").exists()


@pytest.mark.thorough
def test_failed_trials_are_errors_in_the_file(module, tmp_path):
    text = "from defenses import Identity\n\n\nclass MyDefense(Identity):\n    def apply(self, records, rng):\n"
    (tmp_path / "my_broken.py").write_text(text + '        raise ValueError("broken")\n')
    done = play("--junit", "gate.xml", "--max-advantage", 0.5, defense="my_broken:MyDefense")
    assert done.exit_code == 3, done.stderr
    (error,) = ElementTree.parse(tmp_path / "gate.xml").getroot().findall("./testsuite/testcase/error")
    assert "broken" in error.get("message")
