"""A worker process: it plays units that it is sent, within limits, and dies with whoever started it."""

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

from scenarios.running.worker import Ending, Worker

# Sent by whoever watches: the process writes where it is, in C, whatever it is doing.
WHERE = getattr(signal, "SIGUSR1", None)


@dataclass(frozen=True)
class Message:
    """What a worker process reports between two steps.

    Parameters
    ----------
    ended : sequence of Ending
        Results since the last message.
    step : str
        What it does next; nothing where its unit is done.
    charged : tuple of int
        Which results of the unit are lost if it does not come through that step.
    resident : int
        Bytes of memory that it held when it began the unit.
    """

    ended: Sequence[Ending] = ()
    step: str = ""
    charged: tuple[int, ...] = ()
    resident: int = 0


@dataclass
class _Reporter:
    """Sends what ended together with what begins, one message a step."""

    connection: Connection
    resident: int
    ended: list[Ending] = field(default_factory=list)

    def begin(self, step: str, charged: Sequence[int]) -> None:
        self.connection.send(Message(self.ended, step, tuple(charged), self.resident))
        self.ended = []

    def end(self, ending: Ending) -> None:
        self.ended.append(ending)

    def close(self) -> None:
        self.begin("", ())


def serve(connection: Connection, crashes: Connection, plan: bytes, folders: Sequence[str], memory: int) -> None:
    """Play units until there are no more, or nobody is left who would want them.

    Parameters
    ----------
    connection : Connection
        Where units come from and messages go to; the first is an empty one, when the process is ready.
    crashes : Connection
        Where the interpreter writes its last words.
    plan : bytes
        The pickled plan.
    folders : sequence of str
        Where modules of methods from elsewhere may lie.
    memory : int
        Bytes that a unit may allocate.
    """
    _become_worker(crashes)
    sys.path += [folder for folder in folders if folder not in sys.path]
    worker = Worker(pickle.loads(plan))  # noqa: S301 (it comes from the process that started this one)
    connection.send(Message())
    while True:
        try:
            unit = connection.recv()
        except EOFError:
            return
        limit_memory(memory)
        reporter = _Reporter(connection, resident())
        worker.play(unit, reporter.begin, reporter.end)
        reporter.close()


def _become_worker(crashes: Connection) -> None:
    """Deaf to Ctrl-C, silent on standard output, one thread for linear algebra, and gone when its owner is."""
    import threadpoolctl

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(os, "setsid"):
        os.setsid()
    _die_with_owner()
    # What methods print must not get into the board.
    os.dup2(2, 1)
    faulthandler.enable(file=crashes.fileno())
    if WHERE is not None:
        faulthandler.register(WHERE, file=crashes.fileno())
    threadpoolctl.threadpool_limits(1)


def _die_with_owner() -> None:
    """Have this process and whatever it starts killed when the process that owns it ends, however that ends."""
    owner = parent_process()
    if owner is None:
        return
    try:
        # The kernel sends SIGKILL to the group when the other end of the pipe closes: no code here has to run for it.
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
    """Make allocations beyond this many further bytes fail with `MemoryError`, where the system can."""
    try:
        import resource
    except ImportError:
        return
    held = _status("VmData")
    if held is not None:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        allowed = held + memory
        resource.setrlimit(resource.RLIMIT_DATA, (allowed if hard < 0 else min(allowed, hard), hard))


def resident(process: int | str = "self") -> int:
    """Bytes of memory that a process holds; 0 where the system does not tell."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _status(name: str) -> int | None:
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else None
