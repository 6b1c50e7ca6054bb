"""Tasks in worker processes within limits: a task that crashes, hangs or takes too much memory stops no other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from scenarios.running.fork_server import worker_context
from scenarios.running.limits import Limits
from scenarios.running.process import leave_terminal, limit_memory

Task = TypeVar("Task")
Item = TypeVar("Item")
LIMITS = Limits(time=120.0, memory=2 << 30)
"""Limits of one step of a task."""


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
            connection.send(item)
        connection.send(None)


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
        self._process: Any = None
        self._connection: Connection | None = None
        self._closed = False

    def results(self, task: Task) -> Iterator[Item | Death]:
        """Items of a task as they come; the last one is a `Death` if the process did not finish it."""
        connection, step = self._started(), ""
        if self._closed:
            self.close()
            return
        try:
            connection.send(task)
            while True:
                if not connection.poll(self._limits.time):
                    self.close(final=False)
                    yield Death(step, "timeout", f"took longer than {self._limits.time:g} s")
                    return
                item = connection.recv()
                if item is None:
                    return
                if isinstance(item, TaskStep):
                    step = item.name
                else:
                    yield item
        except (EOFError, OSError):
            code = self._exit_code()
            self.close(final=False)
            if not self._closed:
                yield Death(step, "error", f"its process ended with exit code {code}")

    def close(self, *, final: bool = True) -> None:
        """End the process; a closed worker yields no more items."""
        self._closed = self._closed or final
        process, connection, self._process, self._connection = self._process, self._connection, None, None
        if process is not None:
            process.kill()
            process.join()
        if connection is not None and not final:
            connection.close()

    def _started(self) -> Connection:
        if self._process is not None and not self._process.is_alive():
            # It died between two tasks, which is no task's fault.
            self.close(final=False)
        if self._connection is None or self._process is None:
            context = worker_context()
            self._connection, theirs = context.Pipe()
            self._process = context.Process(
                target=serve, args=(theirs, self._function, self._limits.memory), daemon=True
            )
            self._process.start()
            theirs.close()
        return self._connection

    def _exit_code(self) -> int | None:
        process = self._process
        if process is None:
            return None
        process.join(5)
        return int(process.exitcode) if process.exitcode is not None else None


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
    ended = SimpleQueue[tuple[Task, list[Item | Death]] | BaseException | None]()
    workers = [IsolatedWorker[Task, Item](function, limits) for _ in range(min(jobs, len(tasks)))]

    def work(worker: IsolatedWorker[Task, Item]) -> None:
        try:
            while (task := _next(waiting)) is not None:
                ended.put((task, list(worker.results(task))))
        except BaseException as error:  # raised again in the thread that waits
            ended.put(error)
        ended.put(None)

    threads = [threading.Thread(target=work, args=[worker], daemon=True) for worker in workers]
    try:
        for thread in threads:
            thread.start()
        running = len(threads)
        while running:
            item = ended.get()
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
