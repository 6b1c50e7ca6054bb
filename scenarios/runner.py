"""The runner: plays what a plan lacks on local worker processes and stores results as they come."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from defenses.guarantee import Guarantee
from leaderboard.result import Result
from leaderboard.store import Store
from scenarios.plan import Plan
from scenarios.seeds import generator
from scenarios.units import Catalogue, Unit

# Units handed to the workers ahead of time, for each of them.
AHEAD = 4


class Listener(Protocol):
    """Told how a run goes."""

    def started(self, total: int, known: int) -> None:
        """Say how many results the plan has, and how many of them are known."""

    def ended(self, results: list[Result]) -> None:
        """Take results that were just stored."""

    def first_board(self, plays: int) -> None:
        """Say that every pair has been played `plays` times."""


@dataclass(frozen=True)
class Summary:
    """How a run ended.

    Attributes
    ----------
    played, failed : int
        Results that were added, and how many of them are failures.
    interrupted : bool
        Whether it was stopped before its end.
    """

    played: int
    failed: int
    interrupted: bool


def guarantees(plan: Plan) -> tuple[Guarantee, ...]:
    """What each defense promises of a first draw.

    Raises
    ------
    ValueError
        If a defense's parameters do not fit the records; names the defense.
    """
    secret = plan.games[0].draw(generator(plan.seed, plan.name, "draw", 0))
    promised = []
    for entry in plan.defenses:
        try:
            entry.method.check(secret.records)
            promised.append(entry.method.guarantee(secret.records))
        except ValueError as error:
            raise ValueError(f"{entry.name}: {error}") from None
    return tuple(promised)


def run(plan: Plan, catalogue: Catalogue, store: Store, listener: Listener, *, jobs: int, fresh: bool) -> Summary:
    """Play what is missing.

    Parameters
    ----------
    plan : Plan
        What is to be played.
    catalogue : Catalogue
        Its results with their keys.
    store : Store
        Where results are known from, and go to as they come.
    listener : Listener
        Told how it goes.
    jobs : int
        Number of worker processes.
    fresh : bool
        Play everything, known or not.
    """
    units = catalogue.missing(store, fresh=fresh)
    total = sum(len(unit.results) for unit in catalogue.units)
    left = sum(len(unit.results) for unit in units)
    listener.started(total, total - left)
    played = failed = 0
    first = {result.key for unit in units if unit.play == 0 for result in unit.results} if total == left else set()
    try:
        for results in _played(plan, units, jobs):
            store.add(results)
            played += len(results)
            failed += sum(result.status not in ("ok", "skipped") for result in results)
            listener.ended(results)
            if first:
                first -= {result.key for result in results}
                if not first and plan.plays > 1:
                    listener.first_board(1)
    except KeyboardInterrupt:
        return Summary(played, failed, interrupted=True)
    return Summary(played, failed, interrupted=False)


def _played(plan: Plan, units: list[Unit], jobs: int) -> Iterator[list[Result]]:
    """Results of units, as workers finish them."""
    if not units:
        return
    from pebble import ProcessPool

    from scenarios.worker import start, work

    pool: Any = ProcessPool(max_workers=min(jobs, len(units)), initializer=start, initargs=[plan], context=_context())
    queue, waiting = deque(units), dict[Future[Any], Unit]()
    try:
        while queue or waiting:
            while queue and len(waiting) < AHEAD * jobs:
                unit = queue.popleft()
                waiting[pool.schedule(work, args=[unit])] = unit
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                unit = waiting.pop(future)
                error = future.exception()
                if error and len(unit.results) > 1:
                    # Played one by one, only the trial that ends its process is lost.
                    queue.extendleft(reversed(unit.split()))
                else:
                    yield _lost(unit, error) if error else future.result()
    finally:
        pool.stop()
        pool.join()


def _lost(unit: Unit, error: BaseException) -> list[Result]:
    """Results of a unit whose worker process died."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    code = getattr(error, "exitcode", None)
    ended = type(error).__name__ if code is None else f"exit code {code}"
    reason = f"the worker process ended: {ended}: {error}"
    return [replace(result, status="error", reason=reason, created=now) for result in unit.results]


def _context() -> Any:
    """Processes forked from a server that has loaded the numeric packages once; fresh ones where there is no fork."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["scenarios.preload"])
    return context
