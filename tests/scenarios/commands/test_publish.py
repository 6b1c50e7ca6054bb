"""A standing board is made, checked and refreshed by one command, and its results can be replayed."""

import gzip
import json
import shutil
from contextlib import chdir
from dataclasses import replace

import pytest
from click.testing import CliRunner
from playing_tools import replay

from defenses import Guarantee
from scenarios.commands.cli import cli
from scenarios.running.boards.standing_board import RECORD, RESULTS, read_results, stale, write_results
from scenarios.running.plan import read_plan
from scenarios.running.units import Catalogue

pytestmark = pytest.mark.waits

SCENARIO = """
[scenario]
name = "small"
dataset = "bank"
columns = ["age", "job", "marital", "education", "balance", "housing", "y"]
plays = 2
[scenario.game]
use = "SharedPeople"
originals = 30
others = 30
auxiliary = 60
held_out = 60
question = ["RowQuestion", "MemberQuestion", "LinkQuestion"]
[[defense]]
use = "Identity"
[[defense]]
use = "RetentionReplacement"
retention = [0.5, 0.9]
[[attack]]
use = "NearestNeighbour"
[[attack]]
use = "DistanceToClosestRecord"
[[attack]]
use = "NearestRowLinkability"
"""
FILES = {"index.html", "board.csv", "settings.csv", "matrix.csv", "summary.md", RESULTS, RECORD}


def publish(folder, *options, code=0):
    with chdir(folder):
        outcome = CliRunner().invoke(cli, ["publish", "small.toml", "board", "-j", "1", "--quiet", *options])
    assert outcome.exit_code == code, outcome.output
    return outcome


@pytest.fixture(scope="module")
def published_once(tmp_path_factory):
    """A folder whose board was published."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "small.toml").write_text(SCENARIO)
    publish(folder, "--db", "one.db")
    return folder


@pytest.fixture
def published(published_once, tmp_path, monkeypatch):
    """A copy of a folder whose board was published; it is the current folder."""
    folder = tmp_path / "published"
    shutil.copytree(published_once, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SCENARIO)
    return tmp_path


@pytest.mark.thorough
def test_a_board_is_published_checked_and_extended(published):
    folder = published
    board = folder / "board"
    assert {path.name for path in board.iterdir()} == FILES
    record = json.loads((board / RECORD).read_text())
    assert (record["seeds"], record["plays"]) == ({"small": 1}, {"small": 2})
    assert "every result is up to date" in publish(folder, "--check").output
    before = {path.name: path.read_bytes() for path in board.iterdir()}
    # From the folder alone, nothing is played again and every file but the record of the machine is the same.
    publish(folder, "--db", "two.db")
    assert all((board / name).read_bytes() == before[name] for name in FILES - {RECORD})
    (folder / "small.toml").write_text(SCENARIO.replace("[0.5, 0.9]", "[0.5, 0.9, 0.1]"))
    checked = publish(folder, "--check", code=1)
    # One release and three attacks in each of two plays.
    assert "8 results missing or stale" in checked.output
    stored = {result.key for result in read_results(board)}
    publish(folder, "--db", "three.db")
    extended = read_results(board)
    assert len(extended) == len(stored) + 8
    assert stored < {result.key for result in extended}


@pytest.mark.thorough
def test_replayed_results_are_those_published(published):
    plan = read_plan("small.toml")
    catalogue = Catalogue(plan, (Guarantee(),) * len(plan.defenses))
    trials = [result for result in read_results(published / "board") if result.attack is not None]
    replays = replay(catalogue, trials)
    assert len(replays) == len(trials) == 18
    for stored, ending in replays:
        assert dict(ending.scores) == dict(stored.scores)
        assert dict(ending.values) == dict(stored.values)


def test_a_failed_trial_is_stale(published):
    plan = read_plan("small.toml")
    results = read_results(published / "board")
    catalogue = Catalogue(
        plan, tuple(result.guarantee for result in results if result.attack is None and not result.play)
    )
    failed = [
        replace(result, status="timeout") if result.attack == "NearestNeighbour" else result for result in results
    ]
    cells = stale(catalogue, failed)
    assert {attack for _, attack in cells} >= {"NearestNeighbour"}


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no gzip", "is no gzip file"),
        (gzip.compress(b"\xff\xfe", mtime=0), "is no gzip file of UTF-8"),
        (gzip.compress(b"{}\n", mtime=0), "line 1"),
        (gzip.compress(b"[]\n", mtime=0), "line 1"),
    ],
)
def test_damaged_results_are_one_line(folder, content, message):
    (folder / "board").mkdir()
    (folder / "board" / RESULTS).write_bytes(content)
    outcome = publish(folder, "--check", code=2)
    assert message in outcome.output
    assert outcome.output.count("\n") == 1


def test_results_are_written_alike_in_any_order(tmp_path, published):
    results = read_results(published / "board")
    (tmp_path / "other").mkdir()
    write_results(tmp_path / "other", results[::-1])
    assert (tmp_path / "other" / RESULTS).read_bytes() == (published / "board" / RESULTS).read_bytes()


def test_a_board_of_another_scenario_is_not_replaced(published):
    folder = published
    before = (folder / "board" / RESULTS).read_bytes()
    (folder / "small.toml").write_text(SCENARIO.replace('"small"', '"other"'))
    assert "holds the standing board of small; name another folder" in publish(folder, code=2).output
    assert (folder / "board" / RESULTS).read_bytes() == before


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("index.html", "mine", "board holds index.html, which no standing board wrote; name an empty folder"),
        (RECORD, "{}", "is not the record of a standing board"),
        (RECORD, "[", "is not the record of a standing board"),
    ],
)
def test_files_of_others_are_not_replaced(folder, name, content, message):
    (folder / "board").mkdir()
    (folder / "board" / name).write_text(content)
    assert message in publish(folder, code=2).output
    assert (folder / "board" / name).read_text() == content


def test_stale_attacks_are_listed_once_for_all_defenses(folder):
    lines = publish(folder, "--check", code=1).output.splitlines()
    assert (
        lines[1]
        == "  Identity, RetentionReplacement: DistanceToClosestRecord, NearestNeighbour, NearestRowLinkability, release"
    )
