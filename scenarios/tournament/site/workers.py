"""Worker processes for work that would block the server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from importlib import import_module
from typing import ParamSpec, TypeVar

from scenarios.running.fork_server import worker_context
from scenarios.running.process import leave_terminal
from scenarios.tournament.site.refusal_error import RefusalError

Arguments = ParamSpec("Arguments")
Outcome = TypeVar("Outcome")


class Workers:
    """Runs functions in worker processes, which end with this process however it ends, or in threads.

    Parameters
    ----------
    processes : int
        Number of worker processes; 0 runs functions in threads of this process.
    module : str
        Name of the module of the functions. The processes begin at once to load it, which takes seconds.
    """

    def __init__(self, processes: int, module: str) -> None:
        self._processes = processes
        self._pool = self._new_pool()
        if processes:
            threading.Thread(target=self._begin, args=[module], daemon=True).start()

    async def run(
        self, function: Callable[Arguments, Outcome], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Outcome:
        """Outcome of a function of a module, whose arguments and outcome can be pickled.

        Raises
        ------
        RefusalError
            If the worker process died, for example because memory ran out.
        """
        pool = self._pool
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, _call, function, args, kwargs)
        except BrokenProcessPool:
            if self._pool is pool:
                self._pool = self._new_pool()
            raise RefusalError(503, "the server could not finish this; try again") from None

    def stop(self) -> None:
        """End the workers; what waits is dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _begin(self, module: str) -> None:
        """Start the processes."""
        # The server may have stopped already.
        with suppress(RuntimeError):
            for _ in range(self._processes):
                self._pool.submit(_load, module)

    def _new_pool(self) -> Executor:
        if self._processes == 0:
            return ThreadPoolExecutor(4, "site")
        return ProcessPoolExecutor(self._processes, mp_context=worker_context(), initializer=leave_terminal)


def _call(function, args, kwargs):  # type: ignore[no-untyped-def]
    return function(*args, **kwargs)


def _load(module: str) -> None:
    import_module(module)
