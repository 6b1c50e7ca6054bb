"""Plays units in a worker process of its own, which it kills when a limit is passed and replaces when it is lost."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import takewhile
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from leaderboard.result import Result
from scenarios.running import worker
from scenarios.running.limits import Limits, written_size
from scenarios.running.process import WHERE, Message, resident, serve
from scenarios.running.units import Unit

# Seconds between looks at a worker's memory.
PAUSE = 0.1
# Seconds in which a worker must be ready, and within which it tells where it is before it is killed.
START, LAST_WORDS = 120.0, 0.2
# Workers lost in a row before they began a unit, after which the unit is given up.
ATTEMPTS = 3
# Lines kept of where a worker was.
LINES = 12
_starting = threading.Lock()


class Stopped(Exception):  # noqa: N818 (no error: somebody wanted it)
    """Raised in whoever plays through a supervisor that was closed."""


class Lost(Exception):  # noqa: N818 (an event: its unit goes on without what it was doing)
    """A worker process ended, or was ended, before its unit was done.

    Parameters
    ----------
    status, reason : str
        What becomes of the result that it was working on.
    """

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class Supervisor:
    """Plays units of one plan, one at a time, in a process that can be killed.

    Parameters
    ----------
    plan : bytes
        The pickled plan.
    limits : Limits
        What a trial may take.
    folders : sequence of str
        Where the process looks last for modules of methods.
    """

    def __init__(self, plan: bytes, limits: Limits, folders: tuple[str, ...] = ()) -> None:
        self.plan, self.limits, self.folders = plan, limits, folders
        self._closed, self._playing = threading.Event(), threading.Lock()
        self._child: _Child | None = None

    def play(self, unit: Unit) -> Iterator[list[Result]]:
        """Results of a unit, as they end; each of them exactly once.

        What takes too long, needs too much memory or ends the process fails with that status and reason; the rest of
        the unit goes on in another process, for which its release is made again.

        Raises
        ------
        Stopped
            If the supervisor was closed meanwhile.
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
                    raise Lost("error", "the worker process left this out")
            except Lost as loss:
                self._drop()
                lost = 0 if step.charged else lost + 1
                charged = [order[position] for position in step.charged] or (order if lost >= ATTEMPTS else [])
                yield _failed(missing, charged, loss, time.monotonic() - began)

    def stop(self) -> None:
        """Have whoever plays stop within moments."""
        self._closed.set()

    def close(self) -> None:
        """End the process; whoever plays meanwhile is told."""
        self.stop()
        with self._playing:
            self._drop()

    def _ready(self) -> _Child:
        if self._closed.is_set():
            raise Stopped
        if self._child is None:
            self._child = _Child(self.plan, self.limits, self.folders)
            self._message(self._child, Message(), time.monotonic())
        return self._child

    def _message(self, child: _Child, step: Message, began: float) -> Message:
        """The next message of the process, which is killed where the step that it takes passes a limit."""
        limit, what = (self.limits.time, step.step) if step.step else (START, "the start of a worker process")
        while True:
            left = began + limit - time.monotonic()
            ready = wait([child.connection, child.sentinel], timeout=max(0.0, min(PAUSE, left)))
            if child.connection in ready:
                with suppress(EOFError, OSError):
                    message: Message = child.connection.recv()
                    return message
            if self._closed.is_set():
                raise Stopped
            if ready:
                raise Lost(*child.ended(what))
            if left <= 0:
                raise Lost("timeout", f"{what} took longer than {limit:g} s{child.kill()}")
            held = resident(child.pid) - step.resident
            if step.resident and held > self.limits.memory:
                memory = written_size(self.limits.memory)
                raise Lost("oom", f"{what} used more than {memory} of memory{child.kill()}")

    def _drop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()


def _ended(missing: dict[int, Result], order: list[int], message: Message) -> list[Result]:
    """Take what a message reports out of what is missing."""
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
    """One worker process."""

    def __init__(self, plan: bytes, limits: Limits, folders: tuple[str, ...]) -> None:
        context = _context()
        self.connection, theirs = context.Pipe()
        self._crashes, last_words = context.Pipe(duplex=False)
        self._kills = _kernel_kills()
        arguments = (theirs, last_words, plan, folders, limits.memory)
        self._process: Any = context.Process(target=serve, args=arguments, daemon=True)
        with _starting, _as_parent():
            self._process.start()
        theirs.close()
        last_words.close()
        self.pid: int = self._process.pid
        self.sentinel: int = self._process.sentinel

    def send(self, unit: Unit) -> None:
        """Hand over a unit."""
        try:
            self.connection.send(unit)
        except OSError:
            raise Lost(*self.ended("the wait for a unit")) from None

    def ended(self, what: str) -> tuple[str, str]:
        """Status and reason of a process that ended by itself."""
        self._process.join(LAST_WORDS)
        code, words = self._process.exitcode, self._words()
        if code is None:
            return "error", f"{what} closed the connection of its worker process{words}"
        if code == -signal.SIGKILL and _kernel_kills() > self._kills:
            return "oom", f"{what} was ended by the system, which was out of memory{words}"
        how = f"exit code {code}" if code >= 0 else f"signal {-code} ({signal.strsignal(-code)})"
        return "error", f"{what} ended its worker process: {how}{words}"

    def kill(self) -> str:
        """Ask the process where it is, then kill it and whatever it started."""
        if WHERE is not None:
            with suppress(OSError):
                os.kill(self.pid, WHERE)
            self._crashes.poll(LAST_WORDS)
            time.sleep(LAST_WORDS / 4)
        words = self._words()
        self.close()
        return words

    def close(self) -> None:
        """Kill the process and whatever it started, if they still are there."""
        if hasattr(os, "killpg"):
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        with suppress(OSError):
            self._process.kill()
        self._process.join(START)
        with suppress(OSError):
            self.connection.close()
            self._crashes.close()

    def _words(self) -> str:
        """Where the process was, as it wrote itself, the innermost frame first, down to the loop over trials."""
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
    """How many processes the kernel has ended for lack of memory; 0 where it does not tell."""
    with suppress(OSError):
        found = re.search(r"^oom_kill (\d+)", Path("/proc/vmstat").read_text(encoding="ascii"), re.MULTILINE)
        return int(found[1]) if found else 0
    return 0


@contextmanager
def _as_parent() -> Iterator[None]:
    """Let a daemonic process (a Dask worker is one) have a child: ours dies with its owner by itself."""
    settings: dict[str, Any] = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    before = settings.get("daemon")
    settings["daemon"] = False
    try:
        yield
    finally:
        settings["daemon"] = before


def _context() -> Any:
    """Processes forked from a server that has loaded the numeric packages once; fresh ones where there is no fork."""
    if "forkserver" not in multiprocessing.get_all_start_methods() or sys.platform == "darwin":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["scenarios.running.preload"])
    return context
