"""Worker processes for work that would block the server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

from scenarios.running.workers.isolation import (
    Limits,
    LostProcessError,
    SeparateProcess,
    Stopped,
    unprepared,
    yield_processor,
)
from scenarios.tournament.site.refusal_error import RefusalError, refuse_if

Arguments = ParamSpec("Arguments")
Outcome = TypeVar("Outcome")
LIMITS = Limits(time=600.0, memory=4 << 30)
"""Limits of one job; an export of a large tournament takes longest."""
LIMITS_APART = Limits(time=60.0, memory=2 << 30)
"""Limits of one job that runs apart."""
_STOPS = "the server stops; what has arrived is checked once it runs again"
_THREADS = 4
"""Threads where there are no processes."""


def apart(job: Callable[Arguments, Outcome]) -> Callable[Arguments, Outcome]:
    """Mark a job that has a worker process of its own, since others must not wait for it; see `Workers`."""
    job.__dict__["apart"] = True
    return job


class Workers:
    """Runs functions in worker processes, which end with this process however it ends, or in threads.

    Functions that are marked by `apart` run in one more process, one after another, with a lower priority.

    Parameters
    ----------
    processes : int
        Number of worker processes for other functions; 0 runs all functions in threads of this process.
    module : str
        Name of the module of the functions. The processes begin at once to load it, which takes seconds.
    """

    def __init__(self, processes: int, module: str) -> None:
        self.stopped = False
        self._lane = _Lane(processes, LIMITS, module)
        self._apart = _Lane(min(processes, 1), LIMITS_APART, module, background=True)

    async def outcome(
        self, function: Callable[Arguments, Outcome], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Outcome:
        """Outcome of a function of a module, whose arguments and outcome can be pickled."""
        lane = self._apart if getattr(function, "apart", False) else self._lane
        outcome: Outcome = await lane.outcome(function, args, kwargs)
        return outcome

    def stop(self) -> None:
        """End the workers; what waits is dropped."""
        self.stopped = True
        for lane in (self._lane, self._apart):
            lane.stop()


class _Lane:
    """Worker processes that share what waits for them."""

    def __init__(self, processes: int, limits: Limits, module: str, *, background: bool = False) -> None:
        self._limits, self._stopped = limits, False
        self._threads = ThreadPoolExecutor(processes or _THREADS, "site")
        prepare = yield_processor if background else unprepared
        self._workers = [SeparateProcess(limits, prepare) for _ in range(processes)]
        self._idle = SimpleQueue[SeparateProcess]()
        for worker in self._workers:
            self._idle.put(worker)
            self._threads.submit(self._call, _load, (module,), {})

    async def outcome(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._call, function, args, kwargs)
        except asyncio.CancelledError:
            if not self._stopped:
                raise
            # It waited for its turn.
            raise RefusalError(503, _STOPS) from None

    def stop(self) -> None:
        self._stopped = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.close()

    def _call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self._workers:
            return function(*args, **kwargs)
        worker = self._idle.get()
        try:
            return worker.call(function, *args, **kwargs)
        except Stopped:
            raise RefusalError(503, _STOPS) from None
        except LostProcessError as lost:
            refuse_if(
                lost.death.status == "timeout",
                504,
                f"this took longer than {self._limits.time:g} seconds and was stopped",
            )
            raise RefusalError(503, "the server could not finish this; try again") from None
        finally:
            self._idle.put(worker)


def _load(module: str) -> None:
    import_module(module)
