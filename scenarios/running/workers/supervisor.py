"""Supervisor of one worker process, which kills it at a limit and replaces it when it is lost."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import pickle
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import takewhile
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from leaderboard.results.result import Result
from scenarios.running.methods.loaded_code import check_unchanged
from scenarios.running.units import Unit
from scenarios.running.workers import worker
from scenarios.running.workers.fork_server import worker_context
from scenarios.running.workers.limits import Limits, written_size
from scenarios.running.workers.worker import Ending, Worker

# Entry point of a worker process, which plays units within limits and ends with its owner.

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


# Seconds between checks of a worker's memory.
PAUSE = 0.1
# Seconds that a worker has to get ready, and to write its traceback before it is killed.
START, LAST_WORDS = 120.0, 0.2
# Workers lost in a row before their first step; after that many, the unit fails.
ATTEMPTS = 3
# Maximum number of traceback lines kept.
LINES = 12
_starting = threading.Lock()


class Stopped(Exception):  # noqa: N818 (a requested stop, not an error)
    """Raised in the thread that plays a unit when the supervisor is closed."""


class Lost(Exception):  # noqa: N818 (an event: the rest of the unit is still played)
    """A worker process ended or was killed before its unit was done.

    Parameters
    ----------
    status, reason : str
        Status and reason of the results that the process was working on.
    """

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class Supervisor:
    """Plays units of one plan, one at a time, in a separate process that can be killed.

    Parameters
    ----------
    plan : bytes
        The pickled plan.
    limits : Limits
        Time and memory limits of a trial.
    folders : sequence of str
        Folders that the process searches last for the modules of methods.
    code : mapping of str to str
        Code hash of the files of a user's own code, which every process must load (`loaded_code.foreign_code`).
    """

    def __init__(
        self, plan: bytes, limits: Limits, folders: tuple[str, ...] = (), code: Mapping[str, str] | None = None
    ) -> None:
        self.plan, self.limits, self.folders, self.code = plan, limits, folders, code or {}
        self._closed, self._playing = threading.Event(), threading.Lock()
        self._child: _Child | None = None

    def play(self, unit: Unit) -> Iterator[list[Result]]:
        """Yield each result of a unit exactly once, when its trial ends.

        A step fails if it exceeds the time or memory limit or ends the process; the status and reason say which. The
        rest of the unit continues in a new process, which makes the release again.

        Raises
        ------
        Stopped
            If the supervisor is closed while the unit is played.
        ValueError
            If a file of a user's own code has changed when a process loads it.
        """
        with self._playing:
            yield from self._played(unit)

    def _played(self, unit: Unit) -> Iterator[list[Result]]:
        missing, lost = dict(enumerate(unit.results)), 0
        while missing:
            step, began, order = Message(), time.monotonic(), list(missing)
            try:
                child = self._ready()
                child.send(unit.only(missing))
                step = self._message(child, step, began)
                while step.step:
                    began = time.monotonic()
                    yield _ended(missing, order, step)
                    step = self._message(child, step, began)
                yield _ended(missing, order, step)
                if missing:
                    raise Lost("error", "the worker process did not report this result")
            except Lost as loss:
                self._drop()
                lost = 0 if step.charged else lost + 1
                charged = [order[position] for position in step.charged] or (order if lost >= ATTEMPTS else [])
                yield _failed(missing, charged, loss, time.monotonic() - began)

    def stop(self) -> None:
        """Make a running `play` raise `Stopped` soon."""
        self._closed.set()

    def close(self) -> None:
        """End the process; a running `play` raises `Stopped`."""
        self.stop()
        with self._playing:
            self._drop()

    def _ready(self) -> _Child:
        if self._closed.is_set():
            raise Stopped
        if self._child is None:
            self._child = _Child(self.plan, self.limits, self.folders)
            self._message(self._child, Message(), time.monotonic())
            check_unchanged(self.code)
        return self._child

    def _message(self, child: _Child, step: Message, began: float) -> Message:
        """Next message of the process, which is killed if its current step exceeds a limit."""
        limit, what = (self.limits.time, step.step) if step.step else (START, "the start of a worker process")
        while True:
            remaining = began + limit - time.monotonic()
            ready = wait([child.connection, child.sentinel], timeout=max(0.0, min(PAUSE, remaining)))
            if child.connection in ready:
                with suppress(EOFError, OSError):
                    message: Message = child.connection.recv()
                    return message
            if self._closed.is_set():
                raise Stopped
            if ready:
                raise Lost(*child.ended(what))
            if remaining <= 0:
                raise Lost("timeout", f"{what} took longer than {limit:g} s{child.kill()}")
            used = resident(child.pid) - step.resident
            if step.resident and used > self.limits.memory:
                memory = written_size(self.limits.memory)
                raise Lost("oom", f"{what} used more than {memory} of memory{child.kill()}")

    def _drop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()


def _ended(missing: dict[int, Result], order: list[int], message: Message) -> list[Result]:
    """Remove the results of a message from the missing ones and return them, filled in."""
    results = []
    for ending in message.ended:
        changes = {name: value for name, value in vars(ending).items() if name != "result"}
        results.append(replace(missing.pop(order[ending.result]), **changes))
    return results


def _failed(missing: dict[int, Result], charged: list[int], loss: Lost, seconds: float) -> list[Result]:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return [
        replace(missing.pop(number), status=loss.status, reason=loss.reason, seconds=seconds, created=now)
        for number in charged
        if number in missing
    ]


class _Child:
    """Worker process and its connections."""

    def __init__(self, plan: bytes, limits: Limits, folders: tuple[str, ...]) -> None:
        context = worker_context()
        self.connection, theirs = context.Pipe()
        self._crashes, crashes = context.Pipe(duplex=False)
        self._kills = _kernel_kills()
        arguments = (theirs, crashes, plan, folders, limits.memory)
        self._process: Any = context.Process(target=serve, args=arguments, daemon=True)
        with _starting, _as_parent():
            self._process.start()
        theirs.close()
        crashes.close()
        self.pid: int = self._process.pid
        self.sentinel: int = self._process.sentinel
        self._closed = False

    def send(self, unit: Unit) -> None:
        """Send a unit to the process."""
        try:
            self.connection.send(unit)
        except OSError:
            raise Lost(*self.ended("the wait for a unit")) from None

    def ended(self, what: str) -> tuple[str, str]:
        """Status and reason for a process that was not killed by its supervisor."""
        self._process.join(LAST_WORDS)
        code, frames = self._process.exitcode, self._traceback()
        if code is None:
            return "error", f"{what} closed the connection of its worker process{frames}"
        if code == -signal.SIGKILL and _kernel_kills() > self._kills:
            return "oom", f"{what} was killed by the system, which was out of memory{frames}"
        how = f"exit code {code}" if code >= 0 else f"signal {-code} ({signal.strsignal(-code)})"
        return "error", f"{what} ended its worker process: {how}{frames}"

    def kill(self) -> str:
        """Request a traceback from the process, then kill it and its children; return the traceback."""
        if WHERE is not None:
            with suppress(OSError):
                os.kill(self.pid, WHERE)
            self._crashes.poll(LAST_WORDS)
            time.sleep(LAST_WORDS / 4)
        frames = self._traceback()
        self.close()
        return frames

    def close(self) -> None:
        """Kill the process and its children, if they are still running; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if hasattr(os, "killpg"):
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        with suppress(OSError):
            self._process.kill()
        self._process.join(START)
        if self._process.exitcode is not None:
            # Garbage collection would close the handles, too, but Python drops an interrupt that comes just then.
            self._process.close()
        with suppress(OSError):
            self.connection.close()
            self._crashes.close()

    def _traceback(self) -> str:
        """Traceback written by the process: innermost frame first, up to the worker's loop over trials."""
        text = ""
        with suppress(OSError):
            while self._crashes.poll():
                part = os.read(self._crashes.fileno(), 65536)
                if not part:
                    break
                text += part.decode("utf-8", "replace")
        frames = (line for line in text.splitlines() if re.match(r"\s+File ", line))
        lines = list(takewhile(lambda frame: worker.__file__ not in frame, frames))
        return "\n" + "\n".join(lines[:LINES]) if lines else ""


def _kernel_kills() -> int:
    """Number of processes that the kernel has killed for lack of memory, or 0 if it does not report it."""
    with suppress(OSError):
        match = re.search(r"^oom_kill (\d+)", Path("/proc/vmstat").read_text(encoding="ascii"), re.MULTILINE)
        return int(match[1]) if match else 0
    return 0


@contextmanager
def _as_parent() -> Iterator[None]:
    """Let a daemonic process, such as a Dask worker, start a child; ours ends with its owner anyway."""
    settings: dict[str, Any] = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    before = settings.get("daemon")
    settings["daemon"] = False
    try:
        yield
    finally:
        settings["daemon"] = before
