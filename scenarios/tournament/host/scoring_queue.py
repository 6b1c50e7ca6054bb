"""Scoring that runs by itself: whatever the log asks for is scored in worker processes, and boards follow.

The queue has no state of its own: what is to do follows from the log and the stored results. It therefore survives
restarts, and commands may submit, score and advance at the same time.

Plans and boards take seconds of a processor, so they are made in a process of their own, too. In a thread they would
hold the interpreter's lock, for which a server waits at almost every step of a request.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from leaderboard import Result, Store
from metrics.columns import one_line
from scenarios.running.workers import LIMITS, IsolatedWorker, Limits, SeparateProcess, cores, yield_processor
from scenarios.tournament.host.boards import scored_phase, shares_in, update_boards
from scenarios.tournament.rules import (
    Phase,
    Target,
    Tournament,
    opened_tournament,
    results_of,
    score_target,
    scoring_plan,
)

POLL = 1.0
"""Seconds between two looks at the log, which other processes may append to."""
PAUSE = 0.2
"""Least seconds between two looks, however many files are submitted meanwhile."""
REFRESH = 5.0
"""Least seconds between two updates of the boards while tables are waiting."""
_PLANNING = Limits(time=1800.0, memory=4 << 30)
"""Limits of one plan or one update of the boards."""


@dataclass(frozen=True)
class ScoringProgress:
    """State of the scoring.

    Attributes
    ----------
    waiting : int
        Number of tables with results to compute, those in work included.
    running : tuple of str
        Teams whose tables are in work.
    failed : tuple of Result
        Results of submissions whose scoring failed.
    error : str
        Why boards could not be written or the log not be read; empty if all is well.
    updated : str
        When boards were last written, ISO 8601; empty if they never were.
    """

    waiting: int = 0
    running: tuple[str, ...] = ()
    failed: tuple[Result, ...] = ()
    error: str = ""
    updated: str = ""


class ScoringQueue:
    """Scores a tournament in the background, and keeps its boards up to date.

    Parameters
    ----------
    folder : Path
        The tournament's folder.
    jobs : int, optional
        Number of worker processes; by default one less than the number of cores, at least one.
    share : float
        Share of the rows that counts in public until the tournament closes, in (0, 1].
    limits : Limits
        Limits of time and memory for one step of scoring.
    on_update : callable, optional
        Called without arguments after boards were written, by a thread of the queue.
    """

    def __init__(
        self,
        folder: Path,
        *,
        jobs: int | None = None,
        share: float = 0.5,
        limits: Limits = LIMITS,
        on_update: Callable[[], None] | None = None,
    ) -> None:
        self._folder, self._share, self._limits, self._on_update = folder, share, limits, on_update
        self._workers: list[IsolatedWorker[tuple[Path, Target], list[Result]]] = [
            IsolatedWorker(score_target, limits, yield_processor) for _ in range(jobs or max(1, cores() - 1))
        ]
        self._planner = SeparateProcess(_PLANNING, yield_processor)
        self._threads: list[threading.Thread] = []
        # All below is guarded by this lock. `_asked` counts calls that ask for a look at the log, and `_settled` is the
        # number of those after which everything was scored.
        self._lock = threading.Condition()
        self._waiting: list[Target] = []
        self._running: dict[str, Target] = {}
        self._progress = ScoringProgress()
        self._asked, self._settled = 1, 0
        self._retry = self._stopping = False
        self._again: frozenset[str] = frozenset()

    def start(self) -> None:
        """Start the threads; returns at once."""
        self._threads = [threading.Thread(target=self._watch, name="scoring", daemon=True)]
        self._threads += [threading.Thread(target=self._work, args=[one], daemon=True) for one in self._workers]
        for thread in self._threads:
            thread.start()

    def wake(self, *, retry: bool = False) -> None:
        """Look at the log now; score again what failed before if `retry`."""
        with self._lock:
            self._asked, self._retry = self._asked + 1, self._retry or retry
            self._lock.notify_all()

    def wait(self, timeout: float) -> bool:
        """Wait until the log as it is now is scored and on the boards; False if that takes longer, in seconds."""
        self.wake()
        with self._lock:
            asked = self._asked
            return self._lock.wait_for(lambda: self._stopping or self._settled >= asked, timeout) and not self._stopping

    def progress(self) -> ScoringProgress:
        """State of the scoring."""
        with self._lock:
            teams = {one.team for one in self._waiting} | set(self._running)
            return replace(self._progress, waiting=len(teams), running=tuple(self._running))

    def stop(self) -> None:
        """End threads and processes; what they were scoring is scored after the next start."""
        with self._lock:
            self._stopping = True
            self._lock.notify_all()
        self._planner.close()
        for worker in self._workers:
            worker.close()
        for thread in self._threads:
            thread.join()

    def _watch(self) -> None:
        """Plan whenever the log has changed or a table is scored, and write boards."""
        stamp, written, looked, handled, idle = None, 0.0, 0.0, 0, False
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._stopping, looked + PAUSE - monotonic())
                while not self._stopping and self._asked <= handled:
                    if not self._lock.wait(POLL):
                        break
                if self._stopping:
                    return
                asked, retry, self._retry = self._asked, self._retry, False
            looked = monotonic()
            try:
                tournament = opened_tournament(self._folder)
                if asked == handled and tournament.log.stamp() == stamp and not (idle and _due(tournament)):
                    continue
                stamp = tournament.log.stamp()
                published = tournament.state().phase.published
                idle, begun = self._plan(retry=retry) if published else (True, False)
                # A board of no result would only take the place of an older one that has some.
                if idle or (begun and monotonic() - written > REFRESH):
                    failed = self._planner.call(_updated, self._folder, self._share) if published else []
                    written = monotonic()
                    self._show(failed=tuple(failed), error="", updated=datetime.now(UTC).isoformat(timespec="seconds"))
                    if self._on_update:
                        self._on_update()
                handled = asked
                if idle:
                    with self._lock:
                        self._settled = asked
                        self._lock.notify_all()
            except Exception as error:  # shown, and tried again
                self._show(error=one_line(error))
                with self._lock:
                    self._retry = self._retry or retry
                    self._lock.wait_for(lambda: self._stopping, POLL)

    def _plan(self, *, retry: bool) -> tuple[bool, bool]:
        """Queue all tables with missing results that are not in work."""
        with self._lock:
            in_work = set(self._running)
        if retry:
            _, failed, _ = self._planner.call(_planned, self._folder, self._share, frozenset())
            with self._lock:
                self._again = failed
        targets, _, begun = self._planner.call(_planned, self._folder, self._share, self._again)
        with self._lock:
            # A table that was in work when the plan was made may have results that the plan does not know.
            self._waiting = [one for one in targets if one.team not in in_work | set(self._running)]
            self._lock.notify_all()
            return not self._waiting and not in_work and not self._running, begun

    def _work(self, worker: IsolatedWorker[tuple[Path, Target], list[Result]]) -> None:
        """Score one waiting table after another in a worker process, and store each result as it comes."""
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._stopping or bool(self._waiting))
                if self._stopping:
                    return
                target = self._waiting.pop(0)
                self._running[target.team] = target
            try:
                with Store(self._folder / "host" / "results.db") as store:
                    for item in worker.results((self._folder, target)):
                        results = results_of(target, [item])
                        store.add(results)
                        with self._lock:
                            self._again = self._again - {one.key for one in results}
            except Exception as error:  # shown, and tried again
                self._show(error=one_line(error))
                with self._lock:
                    self._lock.wait_for(lambda: self._stopping, POLL)
            with self._lock:
                del self._running[target.team]
                self._asked += 1
                self._lock.notify_all()

    def _show(self, **changes: object) -> None:
        with self._lock:
            self._progress = replace(self._progress, **changes)  # type: ignore[arg-type]


def _planned(folder: Path, share: float, again: frozenset[str]) -> tuple[list[Target], frozenset[str], bool]:
    """Tables with missing results, keys of the results that failed, and whether any result is stored."""
    tournament = Tournament(folder)
    plan = scoring_plan(tournament, shares_in(scored_phase(tournament), share), retry=again)
    missing, wanted = sum(len(one.missing) for one in plan.waiting), sum(map(len, plan.wanted.values()))
    return plan.waiting, plan.failed, missing < wanted


def _due(tournament: Tournament) -> bool:
    """Whether a time has come at which standings are published."""
    timed, state = tournament.settings.publish_every is not None, tournament.state()
    waits = timed and not state.hidden and state.phase is Phase.ATTACK and bool(state.tables)
    return waits and state.publishes(tournament.published_standings, datetime.now(UTC))


def _updated(folder: Path, share: float) -> list[Result]:
    """Results of failed scorings, after the boards were written."""
    return update_boards(Tournament(folder), share)
