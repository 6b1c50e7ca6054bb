"""A Ctrl-C, which a terminal sends to every process of a command, ends the command in one line at any moment."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from multiprocessing import forkserver, resource_tracker

import pytest
from run_tools import COMMAND, environment, hear_interrupts, processes_of, wait_until

import tokumei
from scenarios.commands import cli
from scenarios.running.workers.fork_server import start_server
from scenarios.running.workers.isolation import send_or_end


@pytest.fixture
def hears_interrupts():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform == "darwin", reason="on macOS, workers start without such a server")
def test_the_server_of_workers_begins_with_ctrl_c_blocked_and_none_is_lost(monkeypatch, hears_interrupts):
    masks, tracked = [], []

    def start_tracker():
        if not tracked:
            tracked.append(True)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

    def start_forking():
        resource_tracker.ensure_running()
        signal.raise_signal(signal.SIGINT)
        masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, []))

    monkeypatch.setattr(resource_tracker, "ensure_running", start_tracker)
    monkeypatch.setattr(forkserver, "ensure_running", start_forking)
    with pytest.raises(KeyboardInterrupt):
        start_server()
    assert signal.SIGINT in masks[0]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_worker_whose_owner_is_gone_ends_without_a_traceback():
    ours, theirs = multiprocessing.Pipe()
    ours.close()
    with pytest.raises(SystemExit):
        send_or_end(theirs, "result")


def test_an_interrupt_that_python_wraps_is_one(monkeypatch, capsys):
    def wrapped():
        raise RuntimeError("Error calling __set_name__ on 'cached_property'") from KeyboardInterrupt()

    monkeypatch.setattr(cli, "main", wrapped)
    assert tokumei._code() == 130
    assert capsys.readouterr().err == "Interrupted.\n"


def test_a_second_interrupt_ends_the_command_too(monkeypatch, hears_interrupts):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(tokumei, "_code", interrupt)
    with pytest.raises(SystemExit) as end:
        tokumei.main()
    assert end.value.code == 130
    # A third one meets no code of Python that it could break into.
    assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL


@pytest.mark.long
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_at_many_moments_prints_no_traceback(tmp_path, times):
    """Twice: as `timeout` sends it, to the command and to all processes."""
    rng = random.Random(times)
    for _ in range(20):
        moment = rng.uniform(0.2, 8)
        process = subprocess.Popen(
            [*COMMAND, "run", "bank", "--db", "run.db", "--fresh"],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
            preexec_fn=hear_interrupts,
        )
        time.sleep(moment)
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert "Traceback" not in errors, (moment, errors)
        # Shells show 130 for both. Python ends by the signal if it came in code that `exec` runs, as of a dataclass.
        assert process.returncode in {130, -signal.SIGINT}, moment
        wait_until(lambda: not processes_of(tmp_path))
