"""A board that several hosts share in a PostgreSQL database."""

import getpass
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import uuid
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from run_tools import start

from leaderboard import Result, Store
from leaderboard.results.setting_names import reword

pytestmark = pytest.mark.waits

ADDRESS = "TOKUMEI_TEST_POSTGRESQL"
SCENARIO = """
[scenario]
name = "small"
dataset = "city"
game = { use = "CandidateFile", originals = 20, candidates = 40 }
plays = 4

[[defense]]
use = "Mondrian"
k = [2, 5]

[[attack]]
use = "NearestNeighbour"
"""


@pytest.fixture(scope="module")
def server():
    """URL of a server: the one that the environment names, or one of our own on loopback."""
    if os.environ.get(ADDRESS):
        yield os.environ[ADDRESS]
        return
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = str(found[-1]) if found else shutil.which("initdb")
    if initdb is None:
        pytest.skip(f"runs where a PostgreSQL server is installed, or {ADDRESS} names one")
    # PostgreSQL does not run as root.
    user, become = getpass.getuser(), []
    if os.geteuid() == 0:
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip(f"runs with a user postgres, or as another user than root, or where {ADDRESS} names a server")
        if shutil.which("runuser") is None:
            pytest.skip(f"runs with a runuser, or as another user than root, or where {ADDRESS} names a server")
        user, become = "postgres", ["runuser", "-u", "postgres", "--"]
    folder = tempfile.mkdtemp(prefix="tokumei-postgresql-")
    if become:
        shutil.chown(folder, user)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data, options = f"{folder}/data", f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off"
    control = [*become, str(Path(initdb).parent / "pg_ctl"), "-D", data, "-w", "-l", f"{folder}/log"]
    quiet = {"cwd": folder, "check": True, "stdout": subprocess.DEVNULL}
    try:
        subprocess.run([*become, initdb, "-D", data, "-A", "trust", "-U", "tokumei", "--no-sync"], **quiet)
        subprocess.run([*control, "-o", options, "start"], **quiet)
        try:
            yield f"postgresql+psycopg://tokumei@127.0.0.1:{port}/postgres"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def url(server):
    """An empty database of its own."""
    name = f"test_{uuid.uuid4().hex}"
    place = server.replace("+psycopg", "", 1)
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield f"{server.rpartition('/')[0]}/{name}"
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def trial(play, **changes):
    known = {"key": f"{play:064d}", "scenario": "bank", "defense": "Mondrian", "parameters": {"k": 5}, "play": play}
    return replace(Result(**known, attack="NearestNeighbour", values={"top3": 0.1 + 0.2}), **changes)


@pytest.mark.thorough
def test_results_come_back_as_they_were_added(url):
    rows = [trial(0), trial(1, status="error", reason="naïve ☃"), trial(2, attack=None, values={"marginals": None})]
    with Store(url) as store:
        store.add(rows[:2], {"hash": "{}"})
        store.add(rows[2:], {"hash": "{}", "other": "[]"})
    with Store(url) as store:
        assert store.results("bank") == rows
        assert store.documents() == {"hash": "{}", "other": "[]"}
        assert store.statuses("bank") == {row.key: row.status for row in rows}


def test_one_of_the_same_key_is_replaced_and_the_newest_counts(url):
    with Store(url) as store:
        store.add([trial(0, status="oom"), trial(1)])
        store.add([trial(0)])
        assert store.results() == [trial(1), trial(0)]
        newer = trial(1, key="f" * 64, values={"top3": 0.5})
        store.add([newer])
        assert store.results() == [trial(0), newer]


def test_a_setting_gets_the_words_of_the_run(url):
    document = {"a" * 64: '{"defense": {"name": "Mondrian", "parameters": {"k": 5}}}'}
    with Store(url) as store:
        store.add([trial(0, parts="a" * 64), trial(1, attack=None), trial(2, defense="Other")], document)
        reword(store, "bank", [trial(0, parts="a" * 64, parameters={})], document)
        assert [row.parameters for row in store.results()] == [{}, {"k": 5}, {"k": 5}]


def test_what_an_error_says_may_hold_anything(url):
    with Store(url) as store:
        store.add([trial(0, status="error", reason="\0 \ud800")])
        assert store.results()[0].reason == "\ufffd ?"


@pytest.mark.thorough
def test_two_runs_at_the_same_time_share_one_board(url, tmp_path):
    (tmp_path / "small.toml").write_text(SCENARIO)
    places = [url, url, "alone.db"]
    command = ["run", "small.toml", "-j", "1", "--format", "csv", "--db"]
    runs = [start(*command, place, cwd=tmp_path) for place in places]
    boards = [process.communicate(timeout=300) for process in runs]
    assert [process.returncode for process in runs] == [0, 0, 0], boards
    assert len({output for output, _ in boards}) == 1
    with Store(url) as store:
        assert len(store.results()) == len(store.statuses("small")) == 4 * 2 * 2


def test_a_server_that_is_not_there_is_told_in_one_line_without_the_password():
    with pytest.raises(ValueError, match=r"127\.0\.0\.1") as raised:
        Store("postgresql+psycopg://somebody:secret@127.0.0.1:1/board")
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)
