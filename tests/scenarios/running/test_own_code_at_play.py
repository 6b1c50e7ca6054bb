"""What a user's own methods may not do in a run: end the program, remember, draw unseeded, or play no game."""

import os
import re
import sys
from types import SimpleNamespace

import pytest
from run_tools import tokumei, tokumei_here

import tokumei as program
from scenarios.running.methods.fingerprint import code_hash, is_user_defined
from scenarios.running.methods.module_changes import check_unchanged

SCENARIO = """
[scenario]
name = "small"
dataset = "bank"
columns = ["age", "job", "balance", "y"]
game = { use = "CandidateFile", originals = 20, candidates = 40, held_out = 0, auxiliary = 30, decoys = "random" }
plays = 3
seed = 5

[[defense]]
use = "Identity"

[[attack]]
use = "NearestNeighbour"
"""
MINE = """
import sys

import numpy as np

from attacks import Attack, NearestNeighbour, RankedAnswers
from defenses import Identity
from defenses.base.defense import released_frame, rowwise_release


class Counts(NearestNeighbour):
    def __init__(self):
        super().__init__()
        self.runs = 0

    def run(self, release, knowledge, rng):
        self.runs += 1
        if self.runs > 1:
            raise RuntimeError("this instance has run before")
        return super().run(release, knowledge, rng)


class CountingDefense(Identity):
    def apply(self, records, rng):
        self.runs = getattr(self, "runs", 0) + 1
        if self.runs > 1:
            raise RuntimeError("this instance has run before")
        return super().apply(records, rng)


class Unseeded(Attack):
    def run(self, release, knowledge, rng):
        shape = len(release.frame), len(knowledge.candidates)
        return RankedAnswers.from_scores(np.random.default_rng().normal(size=shape), rng)


class UnseededDefense(Identity):
    def apply(self, records, rng):
        frame = released_frame(records)
        frame["age"] += np.random.default_rng().integers(0, 20, len(frame))
        return rowwise_release(frame, channel=None)


class Short(Attack):
    def run(self, release, knowledge, rng):
        return RankedAnswers.from_scores(np.zeros((5, len(knowledge.candidates))), rng)


class Values(Attack):
    goal = "attribute"

    def run(self, release, knowledge, rng):
        raise AssertionError


class Ends(Identity):
    def apply(self, records, rng):
        sys.exit(0)


class ReturnsNothing(Identity):
    def apply(self, records, rng):
        super().apply(records, rng)


class EndsEarly(Identity):
    def guarantee(self, records):
        sys.exit(0)


class Simulates(NearestNeighbour):
    def run(self, release, knowledge, rng):
        knowledge.simulate(knowledge.auxiliary, rng)
        return super().run(release, knowledge, rng)


class ChangesSomeRecords(Identity):
    def apply(self, records, rng):
        if len(records) == 30:
            records.frame["age"] = 40
        return super().apply(records, rng)
"""
# To group similar people takes each process longer than all plays of these tests.
BOTH_DECOYS = SCENARIO.replace('"random"', '["random", "hard"]')
ENDS = "import sys\n\nsys.exit(0)\n"
FILES = {"small.toml": SCENARIO, "variants.toml": BOTH_DECOYS, "mine.py": MINE, "ends.py": ENDS}


def line_of(code):
    """Number of the line of MINE that holds this code."""
    return MINE[: MINE.index(code)].count("\n") + 1


def errors(done):
    """Failures that a run reported on standard error."""
    return [line for line in done.stderr.splitlines() if line.startswith("error: ")]


@pytest.mark.thorough
def test_a_file_that_ends_the_program_is_an_error_and_no_gate_passes(folder):
    for command in (["check"], ["run", "small.toml", "--max-advantage", "0.0001", "-a"]):
        done = tokumei(*command, "ends:A", cwd=folder, check=2)
        assert "importing 'ends' ends the program (SystemExit: 0)" in done.stderr
        assert "(ends.py, line 3)" in done.stderr


@pytest.mark.thorough
def test_a_method_that_ends_the_program_is_an_error_in_every_command(folder):
    done = tokumei_here("run", "small.toml", "-d", "mine:EndsEarly", cwd=folder, check=2)
    assert f"mine:EndsEarly: SystemExit: 0 (mine.py, line {line_of('class EndsEarly') + 2})" in done.stderr
    (folder / "people.csv").write_text("age,job\n34,nurse\n35,cook\n36,cook\n")
    done = tokumei("defend", "mine:Ends", "people.csv", "-o", "released.csv", cwd=folder, check=2)
    assert f"Error: SystemExit: 0 (mine.py, line {line_of('class Ends(') + 2})" in done.stderr


def test_a_defense_that_returns_nothing_is_told_what_to_return(folder):
    right = "ReturnsNothing: apply must return a MicrodataRelease, got NoneType"
    done = tokumei_here("run", "small.toml", "-d", "mine:ReturnsNothing", "-j", 1, cwd=folder, check=3)
    assert {right in line for line in errors(done)} == {True}
    assert f"(mine.py, line {line_of('class ReturnsNothing') + 1})" in done.stderr
    (folder / "people.csv").write_text("age,job\n34,nurse\n35,cook\n36,cook\n")
    done = tokumei_here("defend", "mine:ReturnsNothing", "people.csv", "-o", "released.csv", cwd=folder, check=2)
    assert right in done.stderr
    assert "AttributeError" not in done.stderr


@pytest.mark.thorough
def test_every_trial_and_release_has_a_new_instance(folder):
    done = tokumei_here("run", "small.toml", "-a", "mine:Counts", "-d", "mine:CountingDefense", "-j", 1, cwd=folder)
    assert (done.exit_code, errors(done)) == (0, [])


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("option", "name", "what", "method"),
    [("-a", "Unseeded", "claims differ", "run"), ("-d", "UnseededDefense", "release differs", "apply")],
)
def test_a_generator_of_its_own_fails_the_run(folder, option, name, what, method):
    done = tokumei_here("run", "small.toml", option, f"mine:{name}", "-j", 1, cwd=folder, check=3)
    line = line_of(f"class {name}(") + 1
    assert f"{name}: its {what} with the same seed (mine.py, line {line}); `tokumei check mine:{name}` says why" in (
        done.stderr
    )


@pytest.mark.thorough
def test_only_the_first_trial_of_a_method_of_ones_own_is_played_twice(folder):
    (folder / "mine.py").write_text(
        MINE + "\n\nclass Tells(NearestNeighbour):\n    def run(self, release, knowledge, rng):\n"
        "        open('runs', 'a').write('x')\n        return super().run(release, knowledge, rng)\n"
    )
    tokumei_here("run", "variants.toml", "-a", "mine:Tells", "-j", 1, cwd=folder, check=0)
    # Three plays of two variants, and one repetition.
    assert (folder / "runs").read_text() == "x" * 7
    assert not is_user_defined(program.__dict__.get("nothing", SimpleNamespace()))


@pytest.mark.thorough
def test_failures_name_variant_and_line(folder):
    done = tokumei_here("run", "variants.toml", "-a", "mine:Short", "--plays", 1, "-j", 1, cwd=folder, check=3)
    place = f"(mine.py, line {line_of('class Short') + 1})"
    names = {line.partition(", play")[0] for line in errors(done)}
    assert names == {f"error: Identity against mine:Short, decoys={decoys}" for decoys in ("random", "hard")}
    assert all("the answers are about 5 rows" in line and place in line for line in errors(done))
    assert "1 of 1 defenses; 1 release or trial failed" in done.stdout


def test_an_attack_whose_goal_the_scenario_does_not_play_is_refused(folder):
    done = tokumei_here("run", "small.toml", "-a", "mine:Values", cwd=folder, check=2)
    words = "mine:Values plays no game of 'small': CandidateFile is about reidentification, Values about attribute"
    assert f"{words} (mine.py, line {line_of('class Values')})" in done.stderr
    done = tokumei_here("run", "small.toml", "-a", "MajorityInClass column=y", cwd=folder)
    assert done.exit_code == 2


@pytest.mark.thorough
def test_a_defense_that_changes_the_attackers_records_is_named(folder):
    methods = ("-d", "mine:ChangesSomeRecords", "-a", "mine:Simulates")
    done = tokumei_here("run", "small.toml", *methods, "--plays", 1, "-j", 1, cwd=folder, check=3)
    assert "ChangesSomeRecords changes the records it was given (column 'age')" in done.stderr
    assert "changes what other attacks use" not in done.stderr


@pytest.mark.thorough
def test_python_warns_of_failures_and_lists_them_in_a_line_each(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    with pytest.warns(UserWarning, match=r"2 of 3 results failed; .* The first: error: small: Identity against mine"):
        board = program.run("variants.toml", attacks=["mine:Short"], plays=1, jobs=1)
    lines = repr(board.failures).splitlines()
    assert len(lines) == len(board.failures) == 2
    assert all(
        re.fullmatch(r"error: small: Identity against mine:Short, decoys=\w+, play 0: .*\)", line) for line in lines
    )
    assert "Traceback" not in repr(board.failures)
    assert "line" in board.failures[0].reason
    sys.modules.pop("mine", None)


def test_a_process_that_would_load_other_code_is_refused(tmp_path):
    file = tmp_path / "own.py"
    file.write_text("SIGN = 1\n")
    code = {str(file): code_hash(file.read_text())}
    check_unchanged(code)
    file.write_text('"""New words."""\n\nSIGN = 1\n')
    check_unchanged(code)
    file.write_text("SIGN = -1\n")
    with pytest.raises(ValueError, match=r"own\.py changed during the run"):
        check_unchanged(code)
    os.remove(file)
    with pytest.raises(ValueError, match=r"own\.py changed during the run"):
        check_unchanged(code)
