"""Worker processes on this machine."""

from __future__ import annotations

import os
import pickle
import queue
import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from leaderboard.result import Result
from scenarios.plan import Plan
from scenarios.supervisor import Stopped, Supervisor
from scenarios.units import Unit

# Results that are handed on at once where they come faster than they are stored.
BATCH = 500


@dataclass(frozen=True)
class LocalProcesses:
    """Plays units on processes of this machine.

    Parameters
    ----------
    jobs : int
        How many processes.
    """

    jobs: int

    def played(self, plan: Plan, units: Sequence[Unit]) -> Generator[list[Result], None, None]:
        """Results as they end; closing the iterator ends the processes."""
        waiting, ended = iter(units), queue.SimpleQueue[list[Result] | BaseException | None]()
        taking = threading.Lock()
        packed, folders = pickle.dumps(plan), (str(Path.cwd()),)

        def take() -> Unit | None:
            with taking:
                return next(waiting, None)

        def play(supervisor: Supervisor) -> None:
            try:
                while (unit := take()) is not None:
                    for results in supervisor.play(unit):
                        if results:
                            ended.put(results)
                ended.put(None)
            except Stopped:
                pass
            except BaseException as error:  # handed to whoever waits for results
                ended.put(error)

        supervisors = [Supervisor(packed, plan.limits, folders) for _ in range(min(self.jobs, len(units)))]
        threads = [threading.Thread(target=play, args=[supervisor], daemon=True) for supervisor in supervisors]
        try:
            for thread in threads:
                thread.start()
            yield from _gathered(ended, len(threads))
        finally:
            for supervisor in supervisors:
                supervisor.stop()
            for supervisor in supervisors:
                supervisor.close()


def _gathered(ended: queue.SimpleQueue[list[Result] | BaseException | None], running: int) -> Iterator[list[Result]]:
    """What is in the queue, in batches, until all who fill it are through."""
    while running:
        batch: list[Result] = []
        while not batch or (len(batch) < BATCH and not ended.empty()):
            item = ended.get()
            if isinstance(item, BaseException):
                raise item
            if item is not None:
                batch += item
                continue
            running -= 1
            if not running:
                break
        if batch:
            yield batch


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
