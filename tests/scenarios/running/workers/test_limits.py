"""Limits of trials: whatever a method does, it ends as a result of its own, and every other trial is whole."""

import csv
import io
import sqlite3

import pytest
from click.testing import CliRunner
from run_tools import processes_of, tokumei

from metrics import Scores
from scenarios.commands.cli import cli
from scenarios.running.plan import read_plan
from scenarios.running.workers.isolation import Limits, read_size, written_size
from scenarios.running.workers.worker import checked_game_scores, checked_measures

pytestmark = pytest.mark.waits

LIMIT = 1
SCENARIO = f"""
[scenario]
name = "small"
dataset = "bank"
columns = ["age", "marital", "housing", "y"]
game = {{ use = "CandidateFile", originals = 20, candidates = 40, held_out = 0, auxiliary = 100 }}
plays = 2
time_limit = {LIMIT}
memory_limit = "1G"

[[defense]]
use = "Mondrian"
k = 2

[[attack]]
use = "NearestNeighbour"
"""
HOSTILE = '''
import ctypes, mmap, os, signal, sys, time
import numpy as np
from attacks import Attack, RankedAnswers
from defenses import Identity

class Sleeps(Attack):
    def run(self, release, knowledge, rng):
        time.sleep(1000)

class HoldsTheInterpreter(Attack):
    """Never lets another thread of its process run, and ignores polite requests to end."""
    def run(self, release, knowledge, rng):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return 7 ** (10**8)

class Allocates(Attack):
    def run(self, release, knowledge, rng):
        return np.ones(100 * 2**27)

class Exits(Attack):
    def run(self, release, knowledge, rng):
        os._exit(7)

class Leaves(Attack):
    def run(self, release, knowledge, rng):
        sys.exit(0)

class Segfaults(Attack):
    def run(self, release, knowledge, rng):
        ctypes.string_at(0)

class IsKilled(Attack):
    """Leaves a process behind that holds on to its connections."""
    def run(self, release, knowledge, rng):
        if os.fork() == 0:
            time.sleep(1000)
        os.kill(os.getpid(), signal.SIGKILL)

class Raises(Attack):
    def run(self, release, knowledge, rng):
        print("said by a method")
        raise RuntimeError("boom \\0 \\ud800")

class WrongShape(Attack):
    def run(self, release, knowledge, rng):
        return RankedAnswers(1, 1, [0], [0], [1.0])

class NotANumber(Attack):
    def run(self, release, knowledge, rng):
        return RankedAnswers.from_scores(np.full((20, 40), np.nan), rng)

class OutOfRange(Attack):
    def run(self, release, knowledge, rng):
        return RankedAnswers(20, 40, [0], [40], [1.0])

class Nothing(Attack):
    def run(self, release, knowledge, rng):
        return None

class NeverReleases(Identity):
    def apply(self, records, rng):
        time.sleep(1000)

class ReleasesNothing(Identity):
    def apply(self, records, rng):
        return None

class DiesReleasing(Identity):
    def apply(self, records, rng):
        os._exit(3)

class SharesMemory(Attack):
    """Memory that no limit of the system counts."""
    def run(self, release, knowledge, rng):
        held = []
        while True:
            held.append(mmap.mmap(-1, 2**24))
            held[-1].write(b"x" * 2**24)
            time.sleep(0.001)
'''
EXPECTED = {
    "Sleeps": ("timeout", "the trial took longer than 1 s"),
    "HoldsTheInterpreter": ("timeout", "the trial took longer than 1 s"),
    "Allocates": ("oom", "MemoryError: Unable to allocate 100. GiB"),
    "Exits": ("error", "exit code 7"),
    "Leaves": ("error", "SystemExit: 0"),
    "Segfaults": ("error", "signal 11"),
    "IsKilled": ("error", "signal 9"),
    "Raises": ("error", "RuntimeError: boom"),
    "WrongShape": ("error", "the answers are about 1 rows"),
    "NotANumber": ("error", "scores must not be NaN"),
    "OutOfRange": ("error", "answer must lie in 0..39"),
    "Nothing": ("error", "got NoneType"),
}


FILES = {"small.toml": SCENARIO, "hostile.py": HOSTILE}


def run(folder, *arguments, check):
    return tokumei("run", "small.toml", *arguments, cwd=folder, check=check)


def stored(folder):
    query = "SELECT defense, attack, play, status, reason FROM tokumei_results"
    with sqlite3.connect(folder / "tokumei.db") as connection:
        return connection.execute(query).fetchall()


@pytest.mark.thorough
def test_every_hostile_attack_ends_as_its_own_result_and_the_others_are_whole(folder):
    attacks = [part for name in EXPECTED for part in ("-a", f"hostile:{name}")]
    done = run(folder, "--plays", 1, "-a", "NearestNeighbour", *attacks, "--matrix", "--format", "csv", check=3)
    rows = {row["attack"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert rows["NearestNeighbour"]["status"] == "ok"
    # What a method prints does not get into the board.
    assert done.stdout.startswith("scenario,")
    assert "said by a method" not in done.stdout
    results = {attack: (status, reason) for _, attack, _, status, reason in stored(folder)}
    assert results[None][0] == "ok"
    for name, (status, says) in EXPECTED.items():
        found, reason = results[f"hostile:{name}"]
        assert (found, says in reason) == (status, True), f"{name}: {found}: {reason}"
        assert rows[f"hostile:{name}"]["status"] == status
    for name in ("Sleeps", "HoldsTheInterpreter", "Segfaults", "Raises", "Allocates"):
        assert "hostile.py" in results[f"hostile:{name}"][1], f"{name} does not say where"
    assert processes_of(folder) == []


@pytest.mark.thorough
def test_a_release_that_fails_fails_its_trials_with_its_status_and_reason(folder):
    names = ("NeverReleases", "ReleasesNothing", "DiesReleasing")
    defenses = [part for name in names for part in ("-d", f"hostile:{name}")]
    run(folder, "--plays", 1, "-d", "Mondrian", *defenses, check=3)
    results = {(defense, attack): (status, reason) for defense, attack, _, status, reason in stored(folder)}
    assert len(results) == 8
    expected = (("timeout", "the defense took longer"), ("error", "the defense failed"), ("error", "exit code 3"))
    for name, (status, says) in zip(names, expected, strict=True):
        for attack in (None, "NearestNeighbour"):
            found, reason = results[f"hostile:{name}", attack]
            assert (found, says in reason) == (status, True), reason
    assert {results["Mondrian", attack][0] for attack in (None, "NearestNeighbour")} == {"ok"}


@pytest.mark.long
def test_memory_that_the_system_does_not_count_is_watched(folder):
    run(folder, "--plays", 1, "-a", "hostile:SharesMemory", "--time-limit", 60, check=3)
    assert [(status, reason.partition("\n")[0]) for _, attack, _, status, reason in stored(folder) if attack] == [
        ("oom", "the trial used more than 1G of memory")
    ]


@pytest.mark.thorough
def test_the_command_line_has_the_last_word(folder):
    done = run(folder, "--plays", 1, "-a", "hostile:Sleeps", "--time-limit", 0.5, check=3)
    assert "the trial took longer than 0.5 s" in done.stderr


@pytest.mark.parametrize(
    ("option", "value"), [("--memory-limit", "4X"), ("--memory-limit", "1K"), ("--time-limit", "0")]
)
def test_limits_on_the_command_line_are_checked(folder, option, value):
    refused = CliRunner().invoke(cli, ["run", str(folder / "small.toml"), option, value])
    assert refused.exit_code == 2
    assert "Error: " in refused.stderr


@pytest.mark.parametrize(
    ("text", "size"),
    [("4G", 4 * 2**30), ("500M", 500 * 2**20), ("1.5 GiB", 3 * 2**29), ("7", 7), ("2kb", 2048), ("1T", 2**40)],
)
def test_sizes(text, size):
    assert read_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "4X", "nan", "1e9", "4 4"])
def test_what_is_no_size(text):
    with pytest.raises(ValueError, match="is no size"):
        read_size(text)


def test_sizes_for_people():
    assert [written_size(size) for size in (7, 2048, 3 * 2**29)] == ["7", "2K", "1.5G"]


@pytest.mark.parametrize("limits", [{"time": 0}, {"time": float("nan")}, {"time": float("inf")}, {"memory": 2**20}])
def test_limits_that_make_no_sense(limits):
    with pytest.raises(ValueError, match="limit: must be"):
        Limits(**limits)


@pytest.mark.parametrize(
    ("old", "new"), [('"1G"', '"1H"'), (f"time_limit = {LIMIT}", "time_limit = -1"), ('"1G"', "5")]
)
def test_limits_in_a_scenario_are_checked(folder, old, new):
    (folder / "small.toml").write_text(SCENARIO.replace(old, new, 1))
    with pytest.raises(ValueError, match=r"small\.toml: table \[scenario\]"):
        read_plan(str(folder / "small.toml"))


def test_limits_in_a_scenario(folder):
    assert read_plan(str(folder / "small.toml")).limits == Limits(LIMIT, 2**30)


def test_scores_are_floats():
    import numpy as np

    values = {"hits": np.float32(0.5), "rows": np.int64(3), "top3": None, "k": True}
    assert checked_measures(values) == {"hits": 0.5, "rows": 3.0, "top3": None, "k": 1.0}
    assert {type(value) for value in checked_measures(values).values()} == {float, type(None)}


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (None, "must be a mapping"),
        ([1.0], "must be a mapping"),
        ({1: 1.0}, "must have names"),
        ({"hits": "many"}, "hits must be a number"),
        ({"hits": [0.1, 0.2]}, "hits must be a number"),
        ({"hits": float("nan")}, "hits must be finite"),
        ({"hits": float("inf")}, "hits must be finite"),
        ({"utility_queries": 1.1}, "utility_queries must lie between"),
    ],
)
def test_measures_that_are_nonsense(values, says):
    with pytest.raises((TypeError, ValueError), match=says):
        checked_measures(values)


def test_scores_must_be_typed():
    with pytest.raises(TypeError, match="a game's score must be Scores, got dict"):
        checked_game_scores({"membership": 0.5})
    with pytest.raises(ValueError, match="hits must be finite"):
        checked_game_scores(Scores({}, {"hits": float("nan")}))
