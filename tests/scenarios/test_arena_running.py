"""The arena resumes after a kill, gives the same bytes on a cluster, and plays only what a new defense needs."""

import sqlite3
import time

import pytest
from dask_tools import ONE_THREAD, dask
from run_tools import ended, start

pytestmark = pytest.mark.long


def start_in(folder, *arguments, defenses=("Mondrian",)):
    chosen = [part for name in defenses for part in ("-d", name)]
    command = ["run", "arena", *chosen, "--plays", "1", "--matrix", "--format", "csv", "--db", "arena.db"]
    return start(*command, *arguments, cwd=folder, **ONE_THREAD)


def keys(folder):
    """Keys of the stored results."""
    if not (folder / "arena.db").exists():
        return set()
    with sqlite3.connect(folder / "arena.db") as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'tokumei_results'").fetchone():
            return set()
        return {row[0] for row in connection.execute("SELECT key FROM tokumei_results")}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uninterrupted")
    return ended(start_in(folder, "-j", "2"))


def test_the_arena_resumes_after_a_kill(tmp_path, uninterrupted):
    killed = start_in(tmp_path, "-j", "2")
    while len(keys(tmp_path)) < 30:
        assert killed.poll() is None
        time.sleep(0.1)
    killed.kill()
    killed.communicate(timeout=60)
    before = keys(tmp_path)
    resumed = start_in(tmp_path, "-j", "2")
    assert ended(resumed) == uninterrupted
    assert before < keys(tmp_path)


def test_two_workers_of_a_cluster_give_the_same_bytes(tmp_path, uninterrupted):
    with dask(tmp_path, 2) as (address, _):
        assert ended(start_in(tmp_path, "--backend", "dask", "--scheduler", address)) == uninterrupted


def test_a_new_defense_plays_only_its_own_cells(tmp_path):
    ended(start_in(tmp_path, "-j", "2"))
    before = keys(tmp_path)
    process = start_in(tmp_path, "-j", "2", defenses=("Mondrian", "GaussianCopula"))
    _, errors = process.communicate(timeout=300)
    # One setting on two data sets: a release and 25 attacks, of which none is stored.
    assert len(keys(tmp_path) - before) == 2 * 26
    assert errors.count("results done after") == 2
