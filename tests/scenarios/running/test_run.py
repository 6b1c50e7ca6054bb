"""A run plays what is missing, survives what fails, and comes out the same whoever plays it."""

import csv
import io
import re
import signal
import time

import pytest
from bank_tools import few_customers
from click.testing import CliRunner
from run_tools import read_until, start, tokumei_here

from scenarios.commands.cli import cli
from scenarios.running.units import Unit
from scenarios.running.workers.local_processes import Waiting

pytestmark = pytest.mark.waits

SCENARIO = """
[scenario]
name = "small"
dataset = "bank"
columns = ["age", "marital", "housing", "y"]
game = { use = "CandidateFile", originals = 20, candidates = 40, held_out = 50, auxiliary = 100, decoys = "random" }
plays = 3
seed = 5

[[defense]]
use = "Mondrian"
k = [2, 5]

[[defense]]
use = "RetentionReplacement"
retention = 0.7

[[attack]]
use = "NearestNeighbour"

[[attack]]
use = "LikelihoodAssignment"
"""
MINE = """
import os
from attacks import Attack, NotApplicable, RankedAnswers
from defenses import Identity


class Raises(Attack):
    def run(self, release, knowledge, rng):
        raise RuntimeError("boom")


class Exits(Attack):
    def run(self, release, knowledge, rng):
        os._exit(7)


class Declines(Attack):
    def run(self, release, knowledge, rng):
        raise NotApplicable("not for me")


class Nonsense(Attack):
    def run(self, release, knowledge, rng):
        return RankedAnswers(1, 1, [0], [0], [1.0])


class Broken(Identity):
    def apply(self, records, rng):
        raise RuntimeError("no release")
"""
BOTH_DECOYS = SCENARIO.replace('"random"', '["random", "hard"]')
FILES = {"small.toml": SCENARIO, "mine.py": MINE}


def refused(folder, monkeypatch, *arguments):
    """What the command says, in this process, of input that it must refuse."""
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(cli, list(arguments))
    assert (done.exit_code, done.stdout) == (2, "")
    assert not (folder / "tokumei.db").exists()
    return done.stderr.strip().splitlines()


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The board of one worker, as CSV."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "small.toml").write_text(SCENARIO)
    return tokumei_here("run", "small.toml", "-j", 1, "--format", "csv", cwd=folder, check=0).stdout


@pytest.mark.thorough
def test_one_worker_two_workers_one_board(folder, monkeypatch):
    few_customers(monkeypatch)
    (folder / "small.toml").write_text(BOTH_DECOYS)
    one, two = (
        tokumei_here("run", "small.toml", "-j", jobs, "--db", f"{jobs}.db", "--format", "csv", cwd=folder, check=0)
        for jobs in (1, 2)
    )
    assert one.stdout == two.stdout
    rows = table(one.stdout)
    assert {(row["variant"], row["defense"], row["parameters"]) for row in rows} == {
        (f"decoys={decoys}", defense, parameters)
        for decoys in ("random", "hard")
        for defense, parameters in (
            ("Mondrian", '{"k":2}'),
            ("Mondrian", '{"k":5}'),
            ("RetentionReplacement", '{"retention":0.7}'),
        )
    }
    assert {row["plays"] for row in rows} == {"3"}


@pytest.mark.thorough
def test_a_second_run_plays_only_what_is_missing(folder, whole):
    few = tokumei_here("run", "small.toml", "--plays", 1, "-d", "Mondrian", "-j", 1, cwd=folder, check=0)
    assert "0 of 6 results done" in few.stderr
    again = tokumei_here(
        "run", "small.toml", "--plays", 1, "-d", "Mondrian", "--html", "page.html", cwd=folder, check=0
    )
    assert "6 of 6 results done" in again.stderr
    assert again.stdout == few.stdout
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "Mondrian" in page
    assert not re.search(r"(src|href)=[\"']?https?:", page)
    more = tokumei_here("run", "small.toml", "--format", "csv", cwd=folder, check=0)
    assert "; 6 of 27 results done" in more.stderr
    assert more.stdout == whole
    fresh = tokumei_here("run", "small.toml", "--format", "csv", "--fresh", "-j", 1, cwd=folder, check=0)
    assert "; 0 of 27 results done" in fresh.stderr
    assert fresh.stdout == whole
    assert tokumei_here("board", "--format", "csv", cwd=folder, check=0).stdout == whole


@pytest.mark.thorough
def test_other_seeds_other_results(folder, whole):
    assert tokumei_here("run", "small.toml", "--format", "csv", "--seed", 6, cwd=folder, check=0).stdout != whole


@pytest.mark.long
def test_what_fails_stops_nothing_else(folder):
    arguments = ["run", "small.toml", "--plays", 2, "-d", "Mondrian", "-d", "mine:Broken", "-a", "NearestNeighbour"]
    arguments += [part for name in ("Raises", "Exits", "Declines", "Nonsense") for part in ("-a", f"mine:{name}")]
    run = tokumei_here(*arguments, "--matrix", "--format", "csv", cwd=folder, check=3)
    found = {(row["defense"], row["attack"]): row["status"] for row in table(run.stdout)}
    assert found["mine:Broken", "NearestNeighbour"] == "error"
    assert [found["Mondrian", name] for name in ("NearestNeighbour", "mine:Declines")] == ["ok", "skipped"]
    assert {found["Mondrian", f"mine:{name}"] for name in ("Raises", "Exits", "Nonsense")} == {"error"}
    assert "boom" in run.stderr
    assert "no release" in run.stderr


@pytest.mark.thorough
def test_an_attack_that_raises_leaves_the_others_whole(folder):
    arguments = [
        "run",
        "small.toml",
        "--plays",
        2,
        "-a",
        "NearestNeighbour",
        "-a",
        "mine:Raises",
        "-a",
        "mine:Declines",
    ]
    run = tokumei_here(*arguments, "--matrix", "--format", "csv", cwd=folder, check=3)
    rows = table(run.stdout)
    assert {row["status"] for row in rows if row["attack"] == "NearestNeighbour"} == {"ok"}
    assert {row["plays"] for row in rows if row["attack"] == "NearestNeighbour"} == {"2"}
    assert {row["status"] for row in rows if row["attack"] == "mine:Raises"} == {"error"}
    assert {row["status"] for row in rows if row["attack"] == "mine:Declines"} == {"skipped"}
    again = tokumei_here(*arguments, cwd=folder, check=3)
    # Failures are played again, nothing else: 3 defenses x 2 plays.
    assert "18 of 24 results done" in again.stderr


@pytest.mark.long
def test_an_interrupted_run_leaves_a_board(folder):
    with start("run", "small.toml", "--plays", 400, "-j", 2, cwd=folder) as process:
        read_until(process, "first board")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Mondrian k=2" in output
    assert "Traceback" not in errors
    board = tokumei_here("board", cwd=folder, check=0)
    assert "Mondrian k=2" in board.stdout


@pytest.mark.thorough_beyond(3)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("plays = 3", "playz = 3"), "did you mean 'plays'"),
        (('"Mondrian"', '"Mondrain"'), "did you mean 'Mondrian'"),
        (("k = [2, 5]", "k = 21"), "k must not exceed"),
        (("k = [2, 5]", 'k = 2\ncolumns = [["agee"]]'), "agee"),
        (("k = [2, 5]", "kay = 2"), "kay"),
        (('dataset = "bank"', 'dataset = "banc"'), "did you mean 'bank'"),
        (("candidates = 40", "candidates = 99999"), "candidates"),
        (("decoys =", "decoy ="), "did you mean 'decoys'"),
        (("seed = 5", "seed = -5"), "seed"),
        (("[scenario]", "[scenario"), "small.toml"),
        (('use = "NearestNeighbour"', 'name = "NearestNeighbour"'), "table [attack.1], key 'use': is missing"),
    ],
)
def test_bad_scenarios_are_refused_in_one_line(folder, monkeypatch, change, says):
    (folder / "small.toml").write_text(SCENARIO.replace(*change, 1))
    (line,) = refused(folder, monkeypatch, "run", "small.toml")
    assert says in line


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"a,b\n", "no record"),
        (b"a,b\n1,2\n3\n", "line 3"),
        (b"a,b\n\xff,2\n", "UTF-8"),
        (b"a,a\n1,2\n", "'a' stands twice"),
        (b"a,b\n1,2\n", "candidates"),
        (b"a,b\n1,inf\n2,3\n", "b"),
    ],
)
def test_bad_tables_are_refused(folder, monkeypatch, content, says):
    (folder / "people.csv").write_bytes(content)
    (folder / "roles.toml").write_text('separator = ","\nquasi_identifiers = ["a"]\n[columns.b]\ntype = "number"\n')
    error = refused(folder, monkeypatch, "run", "--data", "people.csv", "--roles", "roles.toml")[-1]
    assert error.startswith("Error: ")
    assert says in error


@pytest.mark.thorough
def test_a_table_of_ones_own_plays_every_defense(folder):
    lines = ["age;city;ill"] + [
        f"{20 + number % 60};{'ab'[number % 2]};{'yn'[number % 3 == 0]}" for number in range(300)
    ]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    (folder / "roles.toml").write_text('separator = ";"\nquasi_identifiers = ["age", "city"]\nsensitive = ["ill"]\n')
    run = tokumei_here(
        "run", "--data", "people.csv", "--roles", "roles.toml", "--plays", 1, "--format", "csv", cwd=folder, check=0
    )  # fmt: skip
    assert "inferred" in run.stderr
    assert {row["scenario"] for row in table(run.stdout)} == {"table on people"}
    assert {row["defense"] for row in table(run.stdout)} >= {"Identity", "Microaggregation", "RetentionReplacement"}


def test_every_unit_is_taken_once_and_plays_are_shared_out():
    units = [Unit(defense, play, None, ()) for play in range(5) for defense in range(3)]
    waiting = Waiting(units)
    # Both share the first play, then each keeps to its own until none is left that nobody began.
    taken = {"one": [], "two": []}
    for who in ("one", "two") * 7 + ("one",):
        taken[who].append(waiting.next_after(taken[who][-1] if taken[who] else None))
    assert waiting.next_after(taken["one"][-1]) is None
    plays = {who: [unit.play for unit in its] for who, its in taken.items()}
    assert plays == {"one": [0, 0, 2, 2, 2, 4, 4, 4], "two": [0, 1, 1, 1, 3, 3, 3]}
    assert sorted((unit.play, unit.defense) for its in taken.values() for unit in its) == [
        (unit.play, unit.defense) for unit in units
    ]
    # Whoever has nothing left helps.
    waiting = Waiting(units[:6])
    first = [waiting.next_after(None) for _ in range(3)]
    assert [waiting.next_after(unit).play for unit in first] == [1, 1, 1]
