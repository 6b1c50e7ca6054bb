"""Tasks in worker processes within limits: a task that crashes, hangs or takes too much memory stops no other."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from leaderboard.results.store import interrupts_wait
from scenarios.running.workers.fork_server import worker_context
from scenarios.running.workers.limits import Limits
from scenarios.running.workers.supervisor import ended, leave_terminal, limit_memory, send_or_end

Task = TypeVar("Task")
Item = TypeVar("Item")
LIMITS = Limits(time=120.0, memory=2 << 30)
"""Limits of one step of a task."""
_NICE = 10
"""By how much work in the background yields to others that need a processor, such as the server of the site."""
LAST_WORDS = 5.0
"""Seconds that a process has to end after it closed its connection."""


@dataclass(frozen=True)
class TaskStep:
    """Announcement of a task's next step.

    Attributes
    ----------
    name : str
        Name of the step.
    """

    name: str


@dataclass(frozen=True)
class Death:
    """End of a worker process in the middle of a task.

    Attributes
    ----------
    step : str
        Name of the step in which it ended; empty before the first one.
    status : str
        ``timeout``, or ``error`` for a crash.
    reason : str
        Why, in one line.
    """

    step: str
    status: str
    reason: str


def serve(connection: Connection, function: Callable[[Any], Iterable[Any]], memory: int) -> None:
    """Do tasks until the connection closes; every item is sent as soon as it exists, and None ends a task."""
    leave_terminal()
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        limit_memory(memory)
        for item in function(task):
            send_or_end(connection, item)
        send_or_end(connection, None)


class IsolatedWorker(Generic[Task, Item]):
    """A worker process that does one task after another, and is replaced when it dies.

    Parameters
    ----------
    function : callable
        A function of a module: ``function(task)`` yields a `TaskStep` before each step, and items.
    limits : Limits
        Limits of one step.
    """

    def __init__(self, function: Callable[[Task], Iterable[TaskStep | Item]], limits: Limits = LIMITS) -> None:
        self._function, self._limits = function, limits
        # Guards what follows. The connection is absent while a task is done, whose thread closes it.
        self._lock = threading.Lock()
        self._process: Any = None
        self._idle: Connection | None = None
        self._closed = False

    def results(self, task: Task) -> Iterator[Item | Death]:
        """Items of a task as they come; the last one is a `Death` if the process did not finish it."""
        connection = self._begun()
        if connection is None:
            return
        step, finished = "", False
        try:
            connection.send(task)
            while connection.poll(self._limits.time):
                item = connection.recv()
                if item is None:
                    finished = True
                    return
                if isinstance(item, TaskStep):
                    step = item.name
                else:
                    yield item
            self._end()
            yield Death(step, "timeout", f"took longer than {self._limits.time:g} s")
        except (EOFError, OSError):
            code = self._end(LAST_WORDS)
            if not self._closed:
                yield Death(step, "error", f"its process ended with exit code {code}")
        finally:
            # Whoever asked may have stopped early. The rest of this task must not be taken for the next one's.
            self._release(connection, usable=finished)

    def close(self) -> None:
        """End the process; a closed worker yields no more items."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, None
        self._end()
        if idle is not None:
            idle.close()

    def _begun(self) -> Connection | None:
        """Connection of a running process for a task; None if the worker is closed."""
        with self._lock:
            if self._closed:
                return None
            idle, self._idle = self._idle, None
            if idle is not None and self._process is not None and self._process.is_alive():
                return idle
        # It died between two tasks, which is no task's fault.
        self._end()
        if idle is not None:
            idle.close()
        return self._started()

    def _started(self) -> Connection | None:
        """Connection of a new process; None if the worker was closed meanwhile."""
        context = worker_context()
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, self._function, self._limits.memory), daemon=True)
        started = False
        try:
            # A process that is left half started complains of what it did not receive.
            with interrupts_wait(), self._lock:
                if not self._closed:
                    process.start()
                    self._process, started = process, True
        finally:
            theirs.close()
            if not started:
                ours.close()
        return ours if started else None

    def _release(self, connection: Connection, *, usable: bool) -> None:
        """Keep a connection for the next task, or close it and end the process."""
        with self._lock:
            if usable and not self._closed:
                self._idle = connection
                return
        self._end()
        connection.close()

    def _end(self, patience: float = 0.0) -> int | None:
        """End the process, by force after some seconds, and return its exit code; None if it has ended already."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return None
        process.join(patience)
        process.kill()
        return ended(process)


@cache
def yield_processor() -> None:
    """Lower the priority of this process, once, so that pages do not wait for it."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    # Linux may divide processors among sessions first; then the priority of the session counts.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(_NICE), encoding="ascii")


def isolated(
    function: Callable[[Task], Iterable[TaskStep | Item]],
    tasks: Sequence[Task],
    jobs: int,
    limits: Limits = LIMITS,
) -> Iterator[tuple[Task, list[Item | Death]]]:
    """Do tasks in worker processes, and yield each with its items as it ends, in any order.

    Parameters
    ----------
    function, limits
        See `IsolatedWorker`.
    tasks : sequence
        The tasks; they are begun in this order.
    jobs : int
        Number of processes.
    """
    waiting = SimpleQueue[Task]()
    for task in tasks:
        waiting.put(task)
    done = SimpleQueue[tuple[Task, list[Item | Death]] | BaseException | None]()
    workers = [IsolatedWorker[Task, Item](function, limits) for _ in range(min(jobs, len(tasks)))]

    def work(worker: IsolatedWorker[Task, Item]) -> None:
        try:
            while (task := _next(waiting)) is not None:
                done.put((task, list(worker.results(task))))
        except BaseException as error:  # raised again in the thread that waits
            done.put(error)
        done.put(None)

    threads = [threading.Thread(target=work, args=[worker], daemon=True) for worker in workers]
    try:
        for thread in threads:
            thread.start()
        running = len(threads)
        while running:
            item = done.get()
            if isinstance(item, BaseException):
                raise item
            if item is None:
                running -= 1
            else:
                yield item
    finally:
        while _next(waiting) is not None:
            pass
        for worker in workers:
            worker.close()


def _next(waiting: SimpleQueue[Task]) -> Task | None:
    """The next task; None if there is none."""
    try:
        return waiting.get_nowait()
    except Empty:
        return None
