"""A run that is ended from outside leaves a whole database and no process, and the next run completes it."""

import random
import signal
import sqlite3
import subprocess
import time
from contextlib import closing

import pytest
from run_tools import ended, processes_of, read_until, start, wait_until

pytestmark = pytest.mark.waits

SCENARIO = """
[scenario]
name = "small"
dataset = "bank"
columns = ["age", "marital", "housing", "y"]
game = { use = "CandidateFile", originals = 20, candidates = 40, held_out = 0, auxiliary = 100 }
plays = 6
seed = 5

[[defense]]
use = "Mondrian"
k = [2, 5]

[[attack]]
use = "NearestNeighbour"

[[attack]]
use = "mine:Forks"
"""
MINE = """
import os, time
from attacks import NearestNeighbour

class Forks(NearestNeighbour):
    # Whatever a method starts must be gone with it too.
    def run(self, release, knowledge, rng):
        if os.fork() == 0:
            time.sleep(0.3)
            os._exit(0)
        return super().run(release, knowledge, rng)
"""
TOTAL = 6 * 2 * 3


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The board of a run that nobody disturbs, and how long it takes before and while it plays."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    _prepare(folder)
    started = time.monotonic()
    process = start_in(folder)
    read_until(process, "results done")
    playing = time.monotonic()
    output = ended(process)
    return output, playing - started, time.monotonic() - playing


def _prepare(folder):
    (folder / "small.toml").write_text(SCENARIO)
    (folder / "mine.py").write_text(MINE)


def start_in(folder):
    return start("run", "small.toml", "-j", "2", "--format", "csv", cwd=folder)


def complete(folder):
    return ended(start_in(folder))


def rows(folder):
    """How many results there are; the file must open and be whole."""
    if not (folder / "tokumei.db").exists():
        return 0
    with closing(sqlite3.connect(folder / "tokumei.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'tokumei_results'").fetchone():
            return 0
        return connection.execute("SELECT count(*) FROM tokumei_results").fetchone()[0]


def wait_until_gone(folder):
    wait_until(lambda: not processes_of(folder))


def killed(folder, seconds, *, playing):
    """Start a run and kill it so many seconds after its start, or after it began to play; how many results are there.

    Two clocks, since a busy machine may take any time to start.
    """
    process = start_in(folder)
    if playing:
        read_until(process, "results done")
    try:
        process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    wait_until_gone(folder)
    return rows(folder)


def check_moments(tmp_path, uninterrupted, count, seed):
    """Kill at random moments, every other one of them while it plays; how many runs had played a part by then."""
    board, starting, duration = uninterrupted
    moments = random.Random(seed)
    partial = 0
    for number in range(count):
        folder = tmp_path / str(number)
        folder.mkdir()
        _prepare(folder)
        playing = bool(number % 2)
        moment = moments.uniform(0, duration if playing else starting + duration)
        partial += 0 < killed(folder, moment, playing=playing) < TOTAL
        assert complete(folder) == board
        assert rows(folder) == TOTAL
    return partial


@pytest.mark.thorough
def test_killed_at_moments_in_the_middle_the_rerun_completes(tmp_path, uninterrupted):
    board, _, duration = uninterrupted
    _prepare(tmp_path)
    before = 0
    for share in (0.3, 0.5):
        left = killed(tmp_path, share * duration, playing=True)
        assert left >= before
        before = left
    assert complete(tmp_path) == board
    assert rows(tmp_path) == TOTAL


@pytest.mark.long
def test_killed_at_fifty_random_moments(tmp_path, uninterrupted):
    # Some of them must have met the run at work, or this shows nothing.
    assert check_moments(tmp_path, uninterrupted, count=50, seed=8) >= 10


# `choose` and `rank` are interrupted by SIGINT in tests of theirs.
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_a_run_that_is_asked_to_end_says_what_it_has(tmp_path, number):
    _prepare(tmp_path)
    (tmp_path / "small.toml").write_text(SCENARIO.replace("plays = 6", "plays = 4000"))
    process = start_in(tmp_path)
    read_until(process, "first board")
    # The first board may come after half a play.
    wait_until(lambda: rows(tmp_path) >= 6)
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "Mondrian" in output
    assert "interrupted; the same command plays what is missing" in errors
    assert "Traceback" not in errors
    assert rows(tmp_path) >= 6
    # The file is left in one piece.
    assert not (tmp_path / "tokumei.db-wal").exists()
    wait_until_gone(tmp_path)
