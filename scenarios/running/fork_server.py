"""The server from which worker processes are forked, with the numeric packages loaded once."""

from __future__ import annotations

import multiprocessing
import sys
from typing import Any


def worker_context() -> Any:
    """Context that forks a server with the numeric packages loaded, or spawns processes if it cannot fork."""
    if "forkserver" not in multiprocessing.get_all_start_methods() or sys.platform == "darwin":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["scenarios.running.preload"])
    return context


def start_server() -> None:
    """Begin to load the numeric packages for workers, while this process reads its data."""
    if worker_context().get_start_method() == "forkserver":
        from multiprocessing.forkserver import ensure_running

        ensure_running()
