"""Whatever goes wrong in a command is told in one line, without a traceback and without control characters."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner
from run_tools import COMMAND, ROOT, environment, run_forked

from leaderboard.results.result import Result
from leaderboard.results.store import Store
from metrics.columns.printable import one_line, printable
from metrics.score import Score
from scenarios.commands.cli import cli
from scenarios.commands.common import FORMATS

pytestmark = pytest.mark.waits

METHODS = """
from attacks import NearestNeighbour
from defenses import Identity
from leaderboard import Section, Table
from scenarios.studies.experiment import Experiment

class Raising(Identity):
    def apply(self, records, rng):
        raise LookupError("no\\x1b[31m red\\nline")

class Small(Experiment):
    def run(self, plays, seed, say, measured=None):
        return (Section("Small", tables=(Table("Plays", ("plays",), [(plays,)]),)),)

class RaisingExperiment(Experiment):
    def run(self, plays, seed, say, measured=None):
        raise LookupError("no\\x1b[31m red\\nline")

class RaisingAttack(NearestNeighbour):
    def run(self, release, knowledge, rng):
        raise LookupError("no\\x1b[31m red\\nline")
"""
SCENARIO = """
[scenario]
name = "small"
dataset = "bank"
game = { use = "CandidateFile", originals = 10, candidates = 20 }
plays = 1
[[defense]]
use = "Identity"
[[attack]]
use = "NearestNeighbour"
"""
EXPERIMENT = """
[scenario]
name = "experiment"
plays = 1
[experiment]
use = "own:Small"
"""
TABLE = "age,job\n" + "".join(f"{20 + row % 30},{'cook' if row % 3 else 'clerk'}\n" for row in range(60))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a table, a scenario, results, methods and a tournament."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "own.py").write_text(METHODS)
    (folder / "small.toml").write_text(SCENARIO)
    (folder / "experiment.toml").write_text(EXPERIMENT)
    (folder / "raising.toml").write_text(EXPERIMENT.replace("Small", "RaisingExperiment"))
    (folder / "people.csv").write_text(TABLE)
    (folder / "teams.txt").write_text("kyoto\nosaka\n")
    with Store(folder / "tokumei.db") as store:
        store.add(results())
    for name, marginals in (("before", 1.0), ("after", 0.5)):
        plays = (f"{number}" for number in range(8))
        with Store(folder / f"{name}.db") as store:
            store.add(
                [
                    replace(results()[0], key=play * 64, play=int(play), values={"marginals": marginals})
                    for play in plays
                ]
            )
    init = "tournament init cup --dataset bank --teams teams.txt --originals 5 --candidates 10"
    run(folder, *init.split(), "--anonymize-until", "2090-01-01T12:00", "--attack-until", "2091-01-01T12:00")
    return folder


def results():
    release = Result(key="1" * 64, scenario="small", defense="Identity", play=0, values={"marginals": 1.0})
    scores = {"reidentification": Score("reidentification", 0.5, 0.05, 10)}
    trial = Result(key="2" * 64, scenario="small", defense="Identity", attack="Own", play=0, scores=scores)
    return [release, trial]


def run(folder, *arguments, stdout=subprocess.PIPE, **options):
    env = environment(**options.pop("environment", {}))
    return run_forked([*COMMAND, *arguments], cwd=folder, stdout=stdout, env=env, **options)


def check_one_line(done):
    errors = [line for line in done.stderr.splitlines() if "Error" in line]
    assert len(errors) == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert "\x1b" not in done.stderr
    assert done.returncode == 2


PRINTING = [
    ["--help"],
    ["list"],
    ["info", "Mondrian"],
    ["validate", "people.csv"],
    ["board"],
    ["board", "--format", "csv"],
    ["check", "Identity"],
    ["risk", "people.csv"],
    ["utility", "people.csv", "people.csv"],
    ["defend", "Identity", "people.csv"],
    ["attack", "NearestNeighbour", "-r", "people.csv", "-c", "people.csv"],
    pytest.param(["run", "small.toml"], marks=pytest.mark.long),
    ["run", "experiment.toml", "--quiet"],
    ["compare", "before.db", "after.db"],
    ["compare", "before.db", "after.db", "--format", "json"],
    ["tournament", "guide", "team"],
    ["tournament", "verify", "cup"],
]


@pytest.mark.thorough_beyond(1)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")
@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_full_disk_is_told_in_one_line(place, arguments):
    with open("/dev/full", "w") as full:
        check_one_line(run(place, *arguments, stdout=full))


WRITING = [
    ["list"],
    ["board"],
    ["run", "experiment.toml", "--quiet"],
    ["compare", "before.db", "after.db"],
    ["tournament", "guide", "host"],
]


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize("arguments", WRITING, ids=" ".join)
def test_a_closed_output_is_told_in_one_line(place, arguments):
    done = run(place, *arguments, stdout=None, preexec_fn=lambda: os.close(1))
    check_one_line(done)
    assert "standard output is closed" in done.stderr


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("arguments", [["info", "Mondrian"], *WRITING], ids=" ".join)
def test_a_reader_that_leaves_is_no_failure(place, arguments):
    read, write = os.pipe()
    os.close(read)
    done = run(place, *arguments, stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_comparison_is_of_something(place):
    done = run(place, "compare", "before.db", "after.db")
    assert (done.returncode, "1 worse" in done.stdout) == (1, True), done.stderr


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    "arguments",
    [
        ["defend", "own:Raising", "people.csv"],
        ["attack", "own:RaisingAttack", "-r", "people.csv", "-c", "people.csv"],
        ["audit", "own:Raising"],
        ["run", "raising.toml"],
    ],
    ids=" ".join,
)
def test_a_method_that_raises_is_told_in_one_line(place, arguments):
    done = run(place, *arguments)
    check_one_line(done)
    assert "\\x1b[31m red line" in done.stderr or arguments[0] == "audit"


@pytest.mark.thorough
def test_a_comparison_that_raises_is_told_in_one_line(place):
    command = (
        "import runpy, sys, leaderboard\n"
        "def compare(*sides, **options): raise LookupError('no\\x1b[31m red\\nline')\n"
        "leaderboard.compare = compare\n"
        "sys.argv = ['tokumei', 'compare', 'before.db', 'after.db']\n"
        "runpy.run_module('tokumei', run_name='__main__')"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=place, capture_output=True, text=True, env=environment, check=False
    )
    check_one_line(done)
    assert "\\x1b[31m red line" in done.stderr


def test_the_traceback_is_there_for_who_asks(place):
    done = run(place, "defend", "own:Raising", "people.csv", environment={"TOKUMEI_TRACEBACK": "1"})
    assert "Traceback" in done.stderr
    assert done.returncode == 2


@pytest.mark.thorough
def test_a_failed_check_shows_no_control_characters(place):
    done = run(place, "check", "own:Raising")
    assert done.returncode == 1
    assert "FAILED" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A database of two results."""
    path = tmp_path_factory.mktemp("stored") / "results.db"
    with Store(path) as store:
        store.add(results())
    return path


@pytest.mark.thorough_beyond(5)
@pytest.mark.parametrize("column", ["game", "parameters", "scores", "values", "play", "seconds", "created", "reason"])
@pytest.mark.parametrize(
    "content", ["{", "[]", "[1]", "7", '{"a": NaN}', '{"a": {"b": 1e999}}', b"\xff\xfe", 3.5, "\x1b"]
)
def test_a_tampered_row_is_told_in_one_line(stored, tmp_path, column, content):
    path = shutil.copy(stored, tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute(f'UPDATE tokumei_results SET "{column}" = ?', [content])
    for arguments in (["board"], ["board", "--matrix"], ["board", "--format", "json"]):
        done = CliRunner().invoke(cli, [*arguments, "--db", str(path)])
        if done.exit_code == 0:
            # Text that is any text, or a number that is one.
            assert column in ("seconds", "created", "reason", "play")
            continue
        assert done.exit_code == 2, done.exception
        assert len(done.output.strip().splitlines()) == 1
        assert "\x1b" not in done.output


def test_damaged_facts_about_a_run_are_told_in_one_line(tmp_path):
    from leaderboard.results.runs import record_run

    path = tmp_path / "results.db"
    with Store(path) as store:
        store.add(results())
        record_run(store, "2030-01-01", {"revision": "abcd"}, ["1" * 64, "2" * 64])
    for content in ("{", "[]", "7"):
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE tokumei_runs SET about = ?", [content])
        done = CliRunner().invoke(cli, ["compare", "1", "1", "--db", str(path)])
        assert done.exit_code == 2, done.exception
        assert "is damaged" in done.output


def test_stored_numbers_are_unchanged_by_the_checks(tmp_path):
    with Store(tmp_path / "results.db") as store:
        store.add(results())
        assert store.results() == results()
        assert json.dumps(dict(store.results()[0].values)) == '{"marginals": 1.0}'


def test_cores_are_counted_where_affinity_is_unknown(monkeypatch):
    from scenarios.running.workers.local_processes import cores

    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert cores() == os.cpu_count()


def test_control_characters_are_escaped():
    assert printable("a\x1b[2J\r\x07b\tc\nd\u202eé漢") == "a\\x1b[2J\\r\\x07b\tc\nd\\u202eé漢"

    class SilentError(Exception):
        def __str__(self):
            raise RuntimeError

    assert [one_line(ValueError("a\n b")), one_line(ValueError()), one_line(SilentError())] == [
        "a b",
        "ValueError",
        "SilentError",
    ]


def test_no_command_writes_past_the_escaping():
    for path in (ROOT / "scenarios").rglob("*.py"):
        if path.name not in ("common.py", "cli.py"):
            text = path.read_text(encoding="utf-8")
            assert "click.echo(" not in text, path
            assert "click.secho(" not in text, path


@pytest.mark.thorough_beyond(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "small.toml", "--plays", "0"], "'--plays': 0 is not in the range"),
        (["list", "games"], "'games' is not one of"),
        (["info"], "Missing argument 'NAME'. See `tokumei info --help`."),
        (["compares"], "No such command 'compares'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_usage_error_is_one_line(place, arguments, message):
    done = run(place, *arguments)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert done.stderr.startswith("Error: ")
    assert message in done.stderr


def test_a_command_alone_shows_its_help(place):
    assert "Measure anonymization by attacking it." in run(place).stderr


@pytest.mark.thorough_beyond(2)
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="the system has no folder that takes no file")
@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "small.toml", "--db", "fresh.db", "--html"],
        ["board", "--html"],
        ["risk", "people.csv", "--html"],
        ["defend", "Identity", "people.csv", "-o"],
        ["attack", "NearestNeighbour", "-r", "people.csv", "-c", "people.csv", "-o"],
    ],
    ids=" ".join,
)
def test_an_output_that_cannot_be_written_is_refused_before_any_work(place, arguments):
    done = run(place, *arguments, "/proc/written")
    check_one_line(done)
    assert "/proc/written cannot be written" in done.stderr
    assert done.stdout == ""
    assert not (place / "fresh.db").exists()


@pytest.mark.thorough_beyond(4)
@pytest.mark.parametrize("form", FORMATS)
def test_downtime_is_written_in_every_format(tmp_path, form):
    Store(tmp_path / "results.db").close()
    done = CliRunner().invoke(cli, ["downtime", "--db", str(tmp_path / "results.db"), "--format", form])
    assert done.exit_code == 0, done.output
    assert "downtime" in done.stdout.lower()


def test_downtime_of_a_file_is_the_published_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["incident,number,detection,repair", "failed test,50,4,9", f"reported by a user,{1000 / 15 - 50},4,9"]
    (tmp_path / "incidents.csv").write_text("\n".join(lines))
    people = ["--people", "2,4000,0.25", "--people", "10,5000,0.2", "--reduction", "0.2"]
    done = CliRunner().invoke(cli, ["downtime", "--incidents", "incidents.csv", *people, "--format", "json"])
    hours, cost = json.loads(done.stdout)
    total = dict(zip(hours["columns"], hours["rows"][-1], strict=True))
    assert total["downtime"] == pytest.approx(866.67, abs=0.01)
    assert (total["detection, least"], total["repair, most"]) == (4, 9)
    assert cost["rows"][-1] == ["all", pytest.approx(10_400_000), pytest.approx(2_080_000)]
    assert "12,000, the cost of an hour" in cost["note"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("incident,number,detection,repair\na,1,-4,9", "row 1, column 'detection': must be a number of at least 0"),
        ("incident,number,detection,repair\na,inf,4,9", "row 1, column 'number': must be a number of at least 0"),
        ("incident,number,detection,repair\n,1,4,9", "row 1, column 'incident': names nothing"),
        ("incident,number,detection,repair", "holds no record"),
        ("incident,when\na,1", "has the columns incident, when; they must be incident, began, found, repaired or"),
        ("incident,began,found,repaired\na,soon,2027-01-02,", "row 1, column 'began': must be a time such as"),
        ("incident,began,found,repaired\na,2027-01-02,2027-01-01,", "row 1: is found before it began"),
        (
            "incident,began,found,repaired\na,2027-01-01,2027-01-02,\na,2027-01-01,2027-01-03,2027-01-02",
            "row 2: is repaired before it is found",
        ),
    ],
)
def test_incidents_that_cannot_be_are_refused_by_row_and_column(tmp_path, monkeypatch, rows, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "incidents.csv").write_text(rows)
    done = CliRunner().invoke(cli, ["downtime", "--incidents", "incidents.csv"])
    assert done.exit_code == 2
    assert done.output.startswith("Error: incidents.csv")
    assert words in done.output


def test_people_and_reductions_that_cannot_be_are_refused():
    for given, words in [
        (["--people", "1,2"], "must be three numbers"),
        (["--people", "1,nan,0.5"], "must be finite"),
        (["--people", "1,2,1.5"], "the share must lie between 0 and 1"),
        (["--reduction", "0.2"], "--reduction needs the cost of an hour"),
        (["--reduction", "2", "--hourly-cost", "1"], "0<=x<=1"),
    ]:
        done = CliRunner().invoke(cli, ["downtime", *given])
        assert (done.exit_code, words in done.output) == (2, True), done.output


def test_downtime_of_nothing_is_no_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    missing = CliRunner().invoke(cli, ["downtime", "--db", "none.db"])
    assert missing.exit_code == 4
    assert "there are no results at none.db" in missing.output
    wrong = CliRunner().invoke(cli, ["downtime", "--hourly-cost", "nan"])
    assert wrong.exit_code == 2
    assert "--hourly-cost must be a finite number of at least 0, got nan" in wrong.output
    assert not list(tmp_path.iterdir())
