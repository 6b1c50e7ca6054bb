"""Entry point of a worker process, which plays units within limits and ends with its owner."""

from __future__ import annotations

import faulthandler
import os
import pickle
import re
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from scenarios.running.workers.worker import Ending, Worker

# The end of a worker process.


def ended(process: Any) -> int | None:
    """Wait until a process has ended, close its handles, and return its exit code.

    Garbage collection would close the handles, too, but Python drops an interrupt that comes just then.

    Parameters
    ----------
    process : multiprocessing.Process
        The process, which is about to end or was killed.
    """
    process.join()
    code: int | None = process.exitcode
    process.close()
    return code


# Signal from the supervisor: faulthandler then writes a traceback in C, whatever the process is doing.
WHERE = getattr(signal, "SIGUSR1", None)


@dataclass(frozen=True)
class Message:
    """Report of a worker process between two steps.

    Parameters
    ----------
    ended : sequence of Ending
        Results since the last message.
    step : str
        Name of the next step; empty if the unit is done.
    charged : tuple of int
        Positions of the unit's results that fail if the process does not finish that step.
    resident : int
        Resident memory in bytes when the process began the unit.
    """

    ended: Sequence[Ending] = ()
    step: str = ""
    charged: tuple[int, ...] = ()
    resident: int = 0


@dataclass
class _Reporter:
    """Sends one message per step, with the results since the last step and the name of the next."""

    connection: Connection
    resident: int
    ended: list[Ending] = field(default_factory=list)

    def begin(self, step: str, charged: Sequence[int]) -> None:
        send_or_end(self.connection, Message(self.ended, step, tuple(charged), self.resident))
        self.ended = []

    def end(self, ending: Ending) -> None:
        self.ended.append(ending)

    def close(self) -> None:
        self.begin("", ())


def serve(connection: Connection, crashes: Connection, plan: bytes, folders: Sequence[str], memory: int) -> None:
    """Play units until the connection closes.

    Parameters
    ----------
    connection : Connection
        Receives units and sends messages. The first message is empty and says that the process is ready.
    crashes : Connection
        Receives the tracebacks of faulthandler.
    plan : bytes
        The pickled plan.
    folders : sequence of str
        Folders to search last for the modules of the user's own methods.
    memory : int
        Number of bytes that a unit may allocate.
    """
    _become_worker(crashes)
    sys.path += [folder for folder in folders if folder not in sys.path]
    worker = Worker(pickle.loads(plan), plan)  # noqa: S301 (the bytes come from the process that started this one)
    send_or_end(connection, Message())
    while True:
        try:
            unit = connection.recv()
        except EOFError:
            return
        limit_memory(memory)
        reporter = _Reporter(connection, resident())
        worker.play(unit, reporter.begin, reporter.end)
        reporter.close()


def send_or_end(connection: Connection, item: Any) -> None:
    """Send an item to the owner, or end this process without a traceback if the owner is gone."""
    try:
        connection.send(item)
    except ConnectionError:
        raise SystemExit(1) from None


def _become_worker(crashes: Connection) -> None:
    """Become a process of its own (`leave_terminal`) whose tracebacks go to the supervisor."""
    leave_terminal()
    faulthandler.enable(file=crashes.fileno())
    if WHERE is not None:
        faulthandler.register(WHERE, file=crashes.fileno())


def leave_terminal() -> None:
    """Ignore Ctrl-C, redirect standard output, use one thread for linear algebra, and end with the owner."""
    import threadpoolctl

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        # Blocked since the server began; programs that a method starts would inherit that.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(os, "setsid"):
        os.setsid()
    _die_with_owner()
    # Redirected to standard error, so that output of methods does not mix with the board.
    os.dup2(2, 1)
    threadpoolctl.threadpool_limits(1)


def _die_with_owner() -> None:
    """Have this process and its children killed when the owner process ends for any reason."""
    owner = parent_process()
    if owner is None:
        return
    try:
        # The kernel sends SIGKILL to the process group when the owner's end of the pipe closes, without any code here.
        import fcntl

        fcntl.fcntl(owner.sentinel, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(owner.sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        flags = fcntl.fcntl(owner.sentinel, fcntl.F_GETFL)
        fcntl.fcntl(owner.sentinel, fcntl.F_SETFL, flags | os.O_ASYNC)
    except (ImportError, AttributeError, OSError):
        threading.Thread(target=_wait_for, args=[owner.sentinel], daemon=True).start()
    else:
        if wait([owner.sentinel], timeout=0):
            os._exit(1)


def _wait_for(sentinel: Any) -> None:
    wait([sentinel])
    os._exit(1)


def limit_memory(memory: int) -> None:
    """Limit further allocations to this many bytes; beyond them `MemoryError` is raised, if the system supports it."""
    try:
        import resource
    except ImportError:
        return
    current = _status("VmData")
    if current is not None:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        allowed = current + memory
        resource.setrlimit(resource.RLIMIT_DATA, (allowed if hard < 0 else min(allowed, hard), hard))


def resident(process: int | str = "self") -> int:
    """Resident memory of a process in bytes, or 0 if the system does not report it."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _status(name: str) -> int | None:
    """An entry of /proc/self/status in bytes, or None if the system does not report it."""
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    match = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else None
