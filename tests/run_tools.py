"""The program in this process, and as a process of its own for tests of whole runs."""

import os
import signal
import subprocess
import sys
import time
from contextlib import chdir, suppress
from pathlib import Path

import psutil
from click.testing import CliRunner
from forked_process import ForkedProcess

ROOT = Path(__file__).parents[1]
COMMAND = (sys.executable, "-m", "tokumei")
PEAK_MEMORY = 'next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:"))'
"""Expression for a started process: kilobytes that it held at most; getrusage would count what its parent held."""


def invoke(*arguments):
    """Run the program in this process; returns its exit code and output."""
    from scenarios.commands.cli import cli

    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def tokumei_here(*arguments, cwd, check=None):
    """Run the program in this process and this folder; its workers are processes, forked from one server for all runs.

    A start of the program takes a second of processor time, which tests of what it does can spare.
    """
    paths, modules = list(sys.path), set(sys.modules)
    with chdir(cwd):
        done = invoke(*arguments)
    # Methods of a user's own folder must not be found in the next test's.
    sys.path[:] = paths
    for name in set(sys.modules) - modules:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(cwd):
            del sys.modules[name]
    if check is not None:
        assert done.exit_code == check, done.output
    return done


def environment(**changes):
    """What a process needs to find the program from any folder."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **changes}


def tokumei(*arguments, cwd, check=None):
    """Run the program to its end; `check` is the exit code that it must have, if any."""
    command = [*COMMAND, *map(str, arguments)]
    done = run_forked(command, cwd=cwd, env=environment(COLUMNS="120"), timeout=300)
    if check is not None:
        assert done.returncode == check, done.stdout + done.stderr
    return done


def hear_interrupts():
    """Tests that run in the background of a shell ignore Ctrl-C, and what they start would inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def fork_or_start(command, *, modules=(), **options):
    """Start ``python -m``: as a fork that has the packages loaded where the system can, or as a new interpreter."""
    if hasattr(os, "pidfd_open") and "preexec_fn" not in options:
        return ForkedProcess(command, modules=modules, **options)
    return subprocess.Popen(command, **{"preexec_fn": hear_interrupts} | options)


def run_forked(command, *, timeout=300, **options):
    """Run ``python -m`` to its end as `subprocess.run` does, and capture what it puts out unless options say where."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with fork_or_start(command, **streams | options) as process:
        try:
            output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def start(*arguments, cwd, **changes):
    """Start the program; `changes` are of its environment."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return fork_or_start([*COMMAND, *map(str, arguments)], cwd=cwd, env=environment(**changes), **options)


def ended(process, code=0):
    """What a started process put out when it ended, with this exit code."""
    output, errors = process.communicate(timeout=300)
    assert process.returncode == code, errors
    return output


def read_until(process, words):
    """Read what a started process says until it says these words."""
    for line in process.stderr:
        if words in line:
            return


PATIENCE = 300
"""Seconds after which a wait is given up: far more than anything takes that a test waits for on a busy machine."""


def wait_until(condition):
    """What a function returns, as soon as that is true."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError("what a test waits for has not happened")
        time.sleep(0.01)
    return value


def processes_of(folder):
    """Processes that work in a folder."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if Path(process.cwd()) == folder.resolve():
                found.append(process)
    return found
