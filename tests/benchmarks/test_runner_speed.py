"""What the runner itself takes: 20,000 trials of nothing, a run that finds all done, and two processes beside one.

Times are of the whole command, the start of Python and the reading of data included. On a machine that does other
things at the same time they say little.
"""

import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLAYS, DEFENSES, ATTACKS = 1000, 4, 5
TRIALS = PLAYS * DEFENSES * ATTACKS
TINY = '''
"""The smallest game that there can be: what a trial takes is the runner's own."""
from dataclasses import dataclass

from attacks import Attack
from attacks.base.attack import Knowledge
from attacks.base.attack import Decisions
from defenses import Identity
from defenses.base.microdata import Microdata
from metrics import Score, Scores
from scenarios.games.game import Game, Secret


@dataclass(frozen=True)
class TinySecret(Secret):
    records: Microdata


class Tiny(Game):
    takes = {"membership": Decisions}
    attacker_knows = "mechanism"

    def __init__(self, *, records):
        self.records = records

    def draw(self, rng, choice=None):
        return TinySecret(self.records.take([0, 1]))

    def knowledge(self, secret, defense):
        return Knowledge(secret.records.frame, secret.records)

    def score(self, secret, published, claims, rng):
        return Scores.of(Score("membership", float(rng.random() < 0.75), 0.5, 1))

    def utility(self, secret, release):
        return {"utility_tiny": 1.0}


class Guess(Attack):
    goal = "membership"

    def __init__(self, *, number=0):
        self.number = number

    def run(self, release, knowledge, rng):
        return Decisions([0.0])


class Open(Identity):
    def __init__(self, *, number=0):
        self.number = number
'''
SCENARIO = f"""
[scenario]
name = "tiny"
dataset = "bank"
game = {{ use = "tiny:Tiny" }}
plays = {PLAYS}

[[defense]]
use = "tiny:Open"
number = {list(range(DEFENSES))}

[[attack]]
use = "tiny:Guess"
number = {list(range(ATTACKS))}
"""


class Run:
    """A run of the command; every fifth of a second how many results there are, and MB of memory of its process."""

    def __init__(self, folder, *arguments):
        command = [sys.executable, "-m", "tokumei", "run", *map(str, arguments), "--format", "csv"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        started = time.perf_counter()
        self.process = subprocess.Popen(command, cwd=folder, env=environment, **options)
        self.memory, self.folder = [], folder
        watch = threading.Thread(target=self._watch, daemon=True)
        watch.start()
        self.board, _ = self.process.communicate(timeout=1200)
        self.seconds = time.perf_counter() - started
        watch.join()
        assert self.process.returncode == 0

    def _watch(self):
        while self.process.poll() is None:
            try:
                status = Path(f"/proc/{self.process.pid}/status").read_text()
            except OSError:
                return
            found = re.search(r"VmRSS:\s+(\d+)", status)
            self.memory += [(self._results(), int(found[1]) / 1024)] if found else []
            time.sleep(0.2)

    def _results(self):
        try:
            with closing(sqlite3.connect(f"file:{self.folder / 'tokumei.db'}?mode=ro", uri=True)) as connection:
                return connection.execute("SELECT count(*) FROM tokumei_results").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tiny.py").write_text(TINY)
    (tmp_path / "tiny.toml").write_text(SCENARIO)
    return tmp_path


@pytest.mark.long
def test_twenty_thousand_small_trials(benchmark, folder):
    first = benchmark.pedantic(Run, args=[folder, "tiny.toml", "-j", 2], rounds=1)
    second = Run(folder, "tiny.toml", "-j", 2)
    benchmark.extra_info["milliseconds a trial"] = 1000 * first.seconds / TRIALS
    benchmark.extra_info["seconds of a second run"] = second.seconds
    # While it plays: the board at the end needs all results at once.
    playing = [memory for results, memory in first.memory if 0.05 < results / TRIALS < 1]
    early, late = playing[0], playing[-1]
    benchmark.extra_info["MB at a twentieth of the trials, at the end"] = [early, late]
    assert second.board == first.board
    assert first.seconds / TRIALS <= 0.003
    assert second.seconds <= 2
    assert late - early <= 10


@pytest.mark.long
def test_two_processes_beside_one(benchmark, folder):
    # Long enough that the start of the command, which no process can share, does not count.
    plays = 20
    benchmark.group = "default scenario"
    two = benchmark.pedantic(Run, args=[folder, "bank", "--plays", plays, "-j", 2, "--db", "two.db"], rounds=1)
    one = Run(folder, "bank", "--plays", plays, "-j", 1, "--db", "one.db")
    benchmark.extra_info["throughput of two beside one"] = one.seconds / two.seconds
    assert one.board == two.board
    assert one.seconds / two.seconds >= 1.7
