"""A function over many tasks in worker processes, with the outcomes in the order of the tasks."""

from __future__ import annotations

import pickle
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from scenarios.running.workers.isolation import Death, IsolatedWorker, Limits

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")

NO_LIMITS = Limits(time=1e9, memory=1 << 50)
"""The limits of work that would have none in this process."""
_AHEAD = 2
"""Tasks for each process that are begun before their turn."""


@dataclass(frozen=True)
class _Done:
    """Pickled outcome of a task, and the warnings that it gave: text, category, file and line."""

    outcome: bytes
    warned: list[tuple[str, type[Warning], str, int]]


@dataclass
class _Work:
    """A function as a worker process gets it, which first needs the folder of a user's code."""

    packed: bytes
    folder: str
    function: Callable[[Any], Any] = field(init=False, repr=False)

    def load(self) -> None:
        """Load the function."""
        if self.folder not in sys.path:
            sys.path.append(self.folder)
        self.function = pickle.loads(self.packed)  # noqa: S301 (the bytes come from the owner)

    def do(self, task: Any) -> Iterator[_Done]:
        """Do a task; one that fails yields nothing."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            try:
                outcome = pickle.dumps(self.function(task))
            except Exception:
                return
        yield _Done(outcome, [(str(one.message), one.category, one.filename, one.lineno) for one in caught])


def in_order(function: Callable[[Task], Outcome], tasks: Iterable[Task], *, processes: int) -> Iterator[Outcome]:
    """Outcome of each task in the order of the tasks, like `map`; a few tasks are taken before their turn.

    A task that fails in a worker process is done again in this one, which raises its error as `map` would.

    - function: ``function(task)`` depends on the task alone; function, tasks and outcomes can be pickled.
    - processes: Number of worker processes.
    """
    work = _Work(pickle.dumps(function), str(Path.cwd()))
    workers = [IsolatedWorker[Task, Any](work.do, NO_LIMITS, work.load) for _ in range(processes)]
    idle = SimpleQueue[IsolatedWorker[Task, Any]]()
    for worker in workers:
        idle.put(worker)

    def done(task: Task) -> _Done | None:
        worker = idle.get()
        try:
            return next((item for item in list(worker.results(task)) if not isinstance(item, Death)), None)
        finally:
            idle.put(worker)

    threads = ThreadPoolExecutor(processes)
    waiting: deque[tuple[Task, Future[_Done | None]]] = deque()
    try:
        for task in tasks:
            waiting.append((task, threads.submit(done, task)))
            if len(waiting) > _AHEAD * processes:
                yield _outcome(function, *waiting.popleft())
        while waiting:
            yield _outcome(function, *waiting.popleft())
    finally:
        for worker in workers:
            worker.stop()
        threads.shutdown(cancel_futures=True)
        for worker in workers:
            worker.close()


def _outcome(function: Callable[[Task], Outcome], task: Task, future: Future[_Done | None]) -> Outcome:
    """Outcome of a task, with its warnings; if it failed elsewhere, what happens in this process."""
    done = future.result()
    if done is None:
        return function(task)
    for text, category, file, line in done.warned:
        warnings.warn_explicit(text, category, file, line)
    outcome: Outcome = pickle.loads(done.outcome)  # noqa: S301 (from a process that this one started)
    return outcome
