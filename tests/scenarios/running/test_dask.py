"""A Dask cluster gives the same board as this machine, byte for byte, whatever becomes of its workers."""

import signal
import sys
from contextlib import suppress

import psutil
import pytest
from click.testing import CliRunner
from dask_tools import ONE_THREAD, dask
from run_tools import ended, processes_of, read_until, start, wait_until

from scenarios.commands.cli import cli
from scenarios.running.workers import cluster

pytestmark = pytest.mark.waits

SCENARIO = """
[scenario]
name = "small"
dataset = "bank"
columns = ["age", "marital", "housing", "y"]
game = { use = "CandidateFile", originals = 20, candidates = 40, held_out = 0, auxiliary = 100 }
plays = 3
time_limit = 1
seed = 5

[[defense]]
use = "Mondrian"
k = [2, 5]

[[attack]]
use = "NearestNeighbour"

[[attack]]
use = "mine:Slow"

[[attack]]
use = "mine:Exits"
"""
# Half a second of the limit goes to grouping similar people, once in each process.
BOTH_DECOYS = SCENARIO.replace("candidates = 40", 'candidates = 40, decoys = ["random", "hard"]').replace(
    "time_limit = 1", "time_limit = 2"
)
MINE = """
import os, time
from attacks import NearestNeighbour

class Slow(NearestNeighbour):
    def run(self, release, knowledge, rng):
        time.sleep(1000 if rng.integers(2) == 0 else 0.02)
        return super().run(release, knowledge, rng)

class Exits(NearestNeighbour):
    def run(self, release, knowledge, rng):
        os._exit(7)
"""


@pytest.fixture(
    scope="module", params=[SCENARIO, pytest.param(BOTH_DECOYS, marks=pytest.mark.long)], ids=["random", "both"]
)
def folder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "small.toml").write_text(request.param)
    (folder / "mine.py").write_text(MINE)
    return folder


@pytest.fixture(scope="module")
def local(folder):
    """What this machine alone makes of the scenario."""
    return run(folder, "local.db", "-j", "2")


def start_in(folder, db, *arguments):
    command = ["run", "small.toml", "--db", db, "--matrix", "--format", "csv"]
    return start(*command, *arguments, cwd=folder, **ONE_THREAD)


def run(folder, db, *arguments):
    return ended(start_in(folder, db, *arguments), 3)


def playing(folder):
    """How many processes play trials for the cluster: children of the servers that its workers fork them from."""
    servers, parents = set(), []
    for process in processes_of(folder / "cluster"):
        with suppress(psutil.Error):
            parents.append(process.ppid())
            if any("multiprocessing.forkserver" in part for part in process.cmdline()):
                servers.add(process.pid)
    return sum(parent in servers for parent in parents)


@pytest.mark.thorough
def test_a_worker_is_killed_in_the_middle(folder, local):
    with dask(folder, 2, "--no-nanny") as (address, workers):
        process = start_in(folder, "killed.db", "--backend", "dask", "--scheduler", address)
        read_until(process, "mine:Exits")
        workers[0].send_signal(signal.SIGKILL)
        output = ended(process, 3)
    assert output == local
    assert "timeout" in output
    assert "error" in output


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_any_number_of_workers(folder, local, workers):
    with dask(folder, workers) as (address, _):
        assert run(folder, f"{workers}.db", "--backend", "dask", "--scheduler", address) == local


@pytest.mark.long
def test_an_interrupted_run_leaves_no_process_on_the_cluster(folder):
    with dask(folder, 1) as (address, _):
        process = start_in(folder, "interrupted.db", "--backend", "dask", "--scheduler", address, "--plays", "4000")
        read_until(process, "first board")
        assert playing(folder) == 1
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 130, errors
        assert "Mondrian" in output
        assert "Traceback" not in errors
        wait_until(lambda: playing(folder) == 0)


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--backend", "dask"], "name its scheduler"),
        (["--scheduler", "tcp://127.0.0.1:1"], "goes with --backend dask"),
        (["--backend", "dask", "--scheduler", "tcp://127.0.0.1:1", "-j", "2"], "--jobs"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments, says):
    refused = CliRunner().invoke(cli, ["run", "bank", "--db", "sqlite://", *arguments])
    assert refused.exit_code == 2
    assert says in refused.stderr


@pytest.mark.thorough
def test_a_scheduler_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.2)
    refused = CliRunner().invoke(
        cli,
        ["run", "bank", "--plays", "1", "--db", "sqlite://", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:1"],
    )
    assert refused.exit_code == 2
    assert "tcp://127.0.0.1:1" in refused.stderr.splitlines()[-1]


def test_the_extra_is_named_where_it_is_absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"pip install 'tokumei\[cluster\]'"):
        cluster.DaskCluster("tcp://127.0.0.1:1")


def test_a_worker_of_another_version_is_refused():
    share = cluster._Share("plan", b"", None, (), ("scenarios.running.workers.worker",), {"numpy": "0.1"})
    cluster.keep(share)
    try:
        with pytest.raises(ValueError, match="a cluster worker and this machine have different versions of numpy"):
            cluster.play_unit("plan", None)
    finally:
        cluster.forget("plan")
