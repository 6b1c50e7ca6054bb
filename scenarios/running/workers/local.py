"""Local backend: plays the units of a run in worker processes on this machine."""

from __future__ import annotations

import os
import pickle
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from leaderboard.results.result import Result
from scenarios.running.methods.loaded_code import foreign_code
from scenarios.running.plan import Plan
from scenarios.running.units import Unit
from scenarios.running.workers.isolation import in_threads
from scenarios.running.workers.supervisor import Supervisor


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
        waiting, packed, code = Waiting(units), pickle.dumps(plan), foreign_code(plan)
        folders = (str(Path.cwd()),)
        supervisors = [Supervisor(packed, plan.limits, folders, code) for _ in range(min(self.jobs, len(units)))]

        def work(supervisor: Supervisor) -> Iterator[Result]:
            unit = None
            while (unit := waiting.next_after(unit)) is not None:
                yield from supervisor.play(unit)

        yield from in_threads(supervisors, work)


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


def cores() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
