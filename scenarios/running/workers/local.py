"""Local backend: plays the units of a run in worker processes on this machine."""

from __future__ import annotations

import math
import os
import pickle
import queue
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from leaderboard.results.result import Result
from scenarios.running.methods.loaded_code import foreign_code
from scenarios.running.plan import Plan
from scenarios.running.units import Unit
from scenarios.running.workers.supervisor import Stopped, Supervisor

# Largest batch, and seconds for which a batch waits for more results: a transaction costs as much as ten small trials.
BATCH, LINGER = 500, 0.05


@dataclass(frozen=True)
class LocalProcesses:
    """Backend that plays units in worker processes on this machine.

    Parameters
    ----------
    jobs : int
        Number of worker processes.
    """

    jobs: int

    def played(self, plan: Plan, units: Sequence[Unit]) -> Generator[list[Result], None, None]:
        """Yield results in batches as trials end; closing the generator ends the processes."""
        waiting, ended = Waiting(units), queue.SimpleQueue[list[Result] | BaseException | None]()
        packed, folders = pickle.dumps(plan), (str(Path.cwd()),)

        def play(supervisor: Supervisor) -> None:
            unit = None
            try:
                while (unit := waiting.next_after(unit)) is not None:
                    for results in supervisor.play(unit):
                        if results:
                            ended.put(results)
                ended.put(None)
            except Stopped:
                pass
            except BaseException as error:  # raised again in the thread that waits for results
                ended.put(error)

        code = foreign_code(plan)
        supervisors = [Supervisor(packed, plan.limits, folders, code) for _ in range(min(self.jobs, len(units)))]
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


class Waiting:
    """Queue of units that no process has taken yet.

    All processes share the first play, so that a first board appears early. After it, each process takes a whole play,
    so that its data is drawn once and not in every process. If no whole play is left, it helps with the play that has
    the most units left.
    """

    def __init__(self, units: Sequence[Unit]) -> None:
        self._plays: dict[int, deque[Unit]] = {}
        for unit in units:
            self._plays.setdefault(unit.play, deque()).append(unit)
        self._first = min(self._plays, default=0)
        self._untouched = deque(sorted(self._plays))
        self._taking = threading.Lock()

    def next_after(self, last: Unit | None) -> Unit | None:
        """Next unit for the process whose last unit is given, or None if no unit is left."""
        with self._taking:
            if not self._plays:
                return None
            play = self._choice(last)
            unit = self._plays[play].popleft()
            if not self._plays[play]:
                del self._plays[play]
            return unit

    def _choice(self, last: Unit | None) -> int:
        if self._first in self._plays:
            return self._first
        if last is not None and last.play in self._plays:
            return last.play
        while self._untouched:
            play = self._untouched.popleft()
            if play in self._plays:
                return play
        return max(self._plays, key=lambda play: len(self._plays[play]))


def _gathered(ended: queue.SimpleQueue[list[Result] | BaseException | None], running: int) -> Iterator[list[Result]]:
    """Batches of the queued results, until all running threads have ended; an interrupt loses none that has ended."""
    while running:
        batch: list[Result] = []
        closes = math.inf
        stopped: BaseException | None = None
        try:
            while running and len(batch) < BATCH:
                item = ended.get(timeout=max(0.0, closes - time.monotonic()) if batch else None)
                if not batch:
                    closes = time.monotonic() + LINGER
                if isinstance(item, BaseException):
                    raise item
                if item is None:
                    running -= 1
                else:
                    batch += item
        except queue.Empty:
            pass
        except BaseException as error:  # raised again once the results are stored
            stopped = error
            while not ended.empty():
                item = ended.get()
                batch += item if isinstance(item, list) else []
        if batch:
            yield batch
        if stopped is not None:
            raise stopped


def cores() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
