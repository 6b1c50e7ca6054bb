"""Units of a plan in a worker process: what is lost with the process fails, and the rest is played in a new one."""

from __future__ import annotations

import pickle
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

from leaderboard.results.result import Result, grouped_by
from scenarios.running.methods.module_changes import check_unchanged, user_module_hashes
from scenarios.running.plan import Plan
from scenarios.running.units import Unit
from scenarios.running.workers import worker
from scenarios.running.workers.isolation import Death, IsolatedWorker, Limits, Stopped, TaskStep, in_threads
from scenarios.running.workers.worker import Ending, Worker, current_moment
from scenarios.tables import cores as cores

# Workers lost in a row before their first step; after that many, the unit fails.
ATTEMPTS = 3
# Maximum number of traceback lines kept.
LINES = 12


@dataclass
class _Player:
    """A plan as a worker process gets it, and there the worker that plays its units."""

    plan: bytes
    folders: tuple[str, ...]
    code: Mapping[str, str]
    worker: Worker = field(init=False, repr=False)

    def load(self) -> str | None:
        """Load the plan; return what is wrong if a user's code is no longer that of the results' keys."""
        sys.path += [folder for folder in self.folders if folder not in sys.path]
        self.worker = Worker(pickle.loads(self.plan), self.plan)  # noqa: S301 (the bytes come from the owner)
        try:
            check_unchanged(self.code)
        except ValueError as error:
            return str(error)
        return None

    def play(self, unit: Unit) -> Iterator[TaskStep | Ending]:
        """Play a unit; see `Worker.play`."""
        return self.worker.play(unit)


class Supervisor(IsolatedWorker[Unit, Ending]):
    """Plays units of one plan, one at a time, in a separate process that can be killed.

    - plan: The pickled plan.
    - limits: Time and memory limits of a trial.
    - folders: Folders that the process searches last for the modules of methods.
    - code: Hashes of the files of the user's code, which every process must load (`module_changes.user_module_hashes`).
    """

    def __init__(
        self, plan: bytes, limits: Limits, folders: tuple[str, ...] = (), code: Mapping[str, str] | None = None
    ) -> None:
        player = _Player(plan, folders, code or {})
        super().__init__(player.play, limits, player.load)

    def play(self, unit: Unit) -> Iterator[Result]:
        """Yield each result of a unit exactly once, when its trial ends.

        A step fails if it exceeds the time or memory limit or ends the process; the status and reason say which. The
        rest of the unit continues in a new process, which makes the release again. `Stopped` is raised if the
        supervisor is closed meanwhile, and a ValueError if a process loads a file of the user's code that has changed.
        """
        missing, lost = dict(enumerate(unit.results)), 0
        while missing:
            order = list(missing)
            death = Death("the worker process", "error", "did not report this result")
            for item in self.results(unit.only(missing)):
                if isinstance(item, Death):
                    death = item
                else:
                    outcome = {name: value for name, value in vars(item).items() if name != "result"}
                    yield replace(missing.pop(order[item.result]), **outcome)
            if self.closed:
                raise Stopped
            charged = [order[position] for position in death.charged if order[position] in missing]
            lost = 0 if charged else lost + 1
            for number in charged or ([*missing] if lost >= ATTEMPTS else ()):
                yield _failed(missing.pop(number), death)


def _failed(result: Result, death: Death) -> Result:
    """A result that was lost with its process; of the traceback, what lies below the worker's loop over trials."""
    how = f"ended its worker process: {death.how}" if death.how else death.reason
    frames = list(takewhile(lambda frame: worker.__file__ not in frame, death.frames))[:LINES]
    reason = "\n".join([f"{death.step or 'the start of a worker process'} {how}", *frames])
    return replace(result, status=death.status, reason=reason, seconds=death.seconds, created=current_moment())


# Local backend: plays the units of a run in worker processes on this machine.


@dataclass(frozen=True)
class LocalProcesses:
    """Backend that plays units in `jobs` worker processes on this machine."""

    jobs: int

    def played(self, plan: Plan, units: Sequence[Unit]) -> Generator[list[Result], None, None]:
        """Yield results in batches as trials end; closing the generator ends the processes."""
        waiting, packed, code = Waiting(units), pickle.dumps(plan), user_module_hashes(plan)
        supervisors = [
            Supervisor(packed, plan.limits, (str(Path.cwd()),), code) for _ in range(min(self.jobs, len(units)))
        ]

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
        self._plays = {play: deque(some) for play, some in grouped_by(units, lambda unit: unit.play).items()}
        self._first = min(self._plays, default=0)
        self._pending = deque(sorted(self._plays))
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
        while self._pending:
            play = self._pending.popleft()
            if play in self._plays:
                return play
        return max(self._plays, key=lambda play: len(self._plays[play]))
