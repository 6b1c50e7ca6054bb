"""The server from which worker processes are forked, with the numeric packages loaded once."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from typing import Any


def worker_context() -> Any:
    """Context that forks a running server with the numeric packages loaded, or spawns processes if it cannot fork."""
    if "forkserver" not in multiprocessing.get_all_start_methods() or sys.platform == "darwin":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["scenarios.running.workers.preload"])
    _ensure_running()
    return context


def start_server() -> None:
    """Begin to load the numeric packages for workers, while this process reads its data."""
    worker_context()


def _ensure_running() -> None:
    """Start the server, unless it runs, such that a Ctrl-C while it loads its packages does not end it."""
    from multiprocessing import forkserver, resource_tracker

    # The server would start the tracker, which unblocks the signal.
    resource_tracker.ensure_running()
    # The server inherits the mask. Here, a Ctrl-C that comes meanwhile is only late.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
