"""Units of a plan in a worker process: what is lost with the process fails, and the rest is played in a new one."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import takewhile

from leaderboard.results.result import Result
from scenarios.running.methods.loaded_code import check_unchanged
from scenarios.running.units import Unit
from scenarios.running.workers import worker
from scenarios.running.workers.isolation import Death, IsolatedWorker, Stopped, TaskStep
from scenarios.running.workers.limits import Limits
from scenarios.running.workers.worker import Ending, Worker

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
        """Load the plan; return what is wrong if a user's own code is no longer that of the results' keys."""
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
        player = _Player(plan, folders, code or {})
        super().__init__(player.play, limits, player.load)

    def play(self, unit: Unit) -> Iterator[Result]:
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
        missing, lost = dict(enumerate(unit.results)), 0
        while missing:
            order = list(missing)
            death = Death("the worker process", "error", "did not report this result")
            for item in self.results(unit.only(missing)):
                if isinstance(item, Death):
                    death = item
                else:
                    yield _filled(missing.pop(order[item.result]), item)
            if self.closed:
                raise Stopped
            charged = [order[position] for position in death.charged if order[position] in missing]
            lost = 0 if charged else lost + 1
            for number in charged or ([*missing] if lost >= ATTEMPTS else ()):
                yield _failed(missing.pop(number), death)


def _filled(result: Result, ending: Ending) -> Result:
    """A result with its outcome."""
    return replace(result, **{name: value for name, value in vars(ending).items() if name != "result"})


def _failed(result: Result, death: Death) -> Result:
    """A result that was lost with its process; of the traceback, what lies below the worker's loop over trials."""
    how = f"ended its worker process: {death.how}" if death.how else death.reason
    frames = list(takewhile(lambda frame: worker.__file__ not in frame, death.frames))[:LINES]
    reason = "\n".join([f"{death.step or 'the start of a worker process'} {how}", *frames])
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(result, status=death.status, reason=reason, seconds=death.seconds, created=now)
