"""Dask clusters: their workers play the units of a run, and read the parts of a table."""

from __future__ import annotations

import hashlib
import importlib
import pickle
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from leaderboard.results.result import Result
from metrics.columns import refuse
from scenarios.running.methods.fingerprint import closure, look_again, modules, versions
from scenarios.running.plan import Plan
from scenarios.running.units import Unit
from scenarios.running.workers.isolation import Limits, Stopped
from scenarios.running.workers.local_processes import Supervisor
from scenarios.tables import Result as PartResult
from scenarios.tables import TableFiles

# Units submitted per thread of the cluster, so that no thread waits for work.
AHEAD = 4
# Submissions of a unit before the run gives up, when its Dask workers are lost.
ATTEMPTS = 5
# Seconds to wait for the scheduler, and again for its first worker.
PATIENCE = 30


@dataclass(frozen=True)
class DaskCluster:
    """Backend that plays units on a Dask cluster, with the same results as on one machine.

    A Dask worker plays one trial per thread at a time. Each thread has its worker process, so time and memory limits
    hold as they do locally. If a Dask worker is lost, other workers play its units. All workers need the same version
    of the project and of the numeric packages. They must also be able to import the user's methods. Without
    dask.distributed, a ValueError is raised.

    - scheduler: Address of the scheduler, such as ``tcp://host:8786``.
    """

    scheduler: str

    def __post_init__(self) -> None:
        distributed()

    def played(self, plan: Plan, units: Sequence[Unit]) -> Generator[list[Result], None, None]:
        """Yield the results of each unit when the unit ends; closing the generator stops the run.

        Raises ValueError if the scheduler cannot be reached or has no worker, or if a worker's versions differ from
        this machine's.
        """
        dask = distributed()
        packed = pickle.dumps(plan)
        name = hashlib.sha256(packed).hexdigest()
        names = tuple(sorted({"scenarios.running.workers.worker", *modules(plan.methods)}))
        share = _Share(name, packed, plan.limits, (str(Path.cwd()),), names, environment(names))
        waiting = [(unit, 1) for unit in reversed(units)]
        with connected(self.scheduler) as client:
            client.register_plugin(_plugin(share), name=name)
            try:
                sent: dict[Any, tuple[Unit, int]] = {}
                running = dask.as_completed(loop=client.loop)
                while waiting or sent:
                    ahead = AHEAD * max(1, sum(client.nthreads().values()))
                    while waiting and len(sent) < ahead:
                        unit, attempt = waiting.pop()
                        future = client.submit(play_unit, name, unit, pure=False)
                        sent[future] = (unit, attempt)
                        running.add(future)
                    future = next(running)
                    unit, attempt = sent.pop(future)
                    error = future.exception() if future.status == "error" else None
                    if future.status == "finished":
                        yield future.result()
                    elif error is None or isinstance(error, dask.KilledWorker | Stopped):
                        refuse(
                            attempt >= ATTEMPTS, f"{self.scheduler}: {ATTEMPTS} workers in a row were lost on one unit"
                        )
                        waiting.append((unit, attempt + 1))
                    else:
                        raise error
            finally:
                with suppress(OSError):
                    client.unregister_worker_plugin(name)


def connected(scheduler: str) -> Any:
    """Client of a Dask cluster, which has at least one worker.

    Raises ValueError if the scheduler cannot be reached or has no worker.
    """
    try:
        client = distributed().Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"--scheduler {scheduler}: {' '.join(str(error).split())}") from None
    try:
        check_worker(client, scheduler)
    except ValueError:
        client.close()
        raise
    return client


def check_worker(client: Any, scheduler: str) -> None:
    """Wait for a worker of a cluster, or raise ValueError if none comes."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise ValueError(f"--scheduler {scheduler}: the scheduler has no worker") from None


def distributed() -> Any:
    """The package dask.distributed.

    Raises ValueError if it is not installed.
    """
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise ValueError(
            "--backend dask needs dask.distributed; install it with: pip install 'tokumei[cluster]'"
        ) from None


def environment(names: tuple[str, ...]) -> dict[str, str]:
    """Versions of numeric packages and source hashes of modules, which must agree on all machines of a run."""
    return {**versions(), **closure(names)}


def check_environment(expected: dict[str, str], names: tuple[str, ...]) -> None:
    """Raise ValueError if packages or modules of this process differ from those of the machine that gave the work."""
    local = environment(names)
    differing = sorted(part for part in expected if expected[part] != local.get(part))
    refuse(differing, f"a cluster worker and this machine have different versions of {', '.join(differing)}")


@dataclass(frozen=True)
class _Share:
    """Data that every Dask worker receives once per plan."""

    name: str
    plan: bytes
    limits: Limits
    folders: tuple[str, ...]
    modules: tuple[str, ...]
    environment: dict[str, str]


_shares: dict[str, _Share] = {}
_supervisors: dict[tuple[str, int], Supervisor] = {}
_lock = threading.Lock()


def _plugin(share: _Share) -> Any:
    """Plugin that gives the plan to every Dask worker, including later ones, and cleans up afterwards."""

    class PlanPlugin(distributed().WorkerPlugin):  # type: ignore[misc]
        """Gives a plan to a Dask worker."""

        def setup(self, worker: Any) -> None:
            """Store the plan in the worker."""
            keep(share)

        def teardown(self, worker: Any) -> None:
            """End the worker processes of the plan."""
            forget(share.name)

    return PlanPlugin()


def keep(share: _Share) -> None:
    """Store the plan in this process, so that it can play the plan's units."""
    sys.path += [folder for folder in share.folders if folder not in sys.path]
    look_again()
    _shares[share.name] = share


def forget(name: str) -> None:
    """Remove a plan from this process and end its worker processes."""
    _shares.pop(name, None)
    with _lock:
        supervisors = [_supervisors.pop(key) for key in list(_supervisors) if key[0] == name]
    for supervisor in supervisors:
        supervisor.stop()
    for supervisor in supervisors:
        supervisor.close()


def play_unit(name: str, unit: Unit) -> list[Result]:
    """Play a unit of a plan stored in this process, in the worker process of the current thread.

    Raises ValueError if the versions here differ from those of the machine that made the plan.
    """
    share = _shares.get(name)
    if share is None:
        raise Stopped
    check_environment(share.environment, share.modules)
    with _lock:
        supervisor = _supervisors.setdefault(
            (name, threading.get_ident()), Supervisor(share.plan, share.limits, share.folders)
        )
    return list(supervisor.play(unit))


# Parts of a table that the workers of a cluster read.


@dataclass
class DaskEngine:
    """Each part is read by a worker of a Dask cluster, with the same results as on one machine.

    Workers read the files under the same path, so that they need a file system that all of them share. They need the
    same version of the project and of the numeric packages. The first reading connects to the cluster, and `close` ends
    the connection. Without dask.distributed, a ValueError is raised.

    - scheduler: Address of the scheduler, such as ``tcp://host:8786``.
    """

    scheduler: str
    _stack: ExitStack = field(default_factory=ExitStack, init=False, repr=False)

    def __post_init__(self) -> None:
        distributed()

    @cached_property
    def _client(self) -> Any:
        return self._stack.enter_context(connected(self.scheduler))

    def close(self) -> None:
        """End the connection to the cluster."""
        self._stack.close()

    def over_parts(self, files: TableFiles, function: Callable[[TableFiles], PartResult]) -> Iterator[PartResult]:
        """Apply a function to each part on a worker; a few parts at a time wait for their turn.

        Raises ValueError if the cluster cannot be reached, a worker's versions differ, or the function raises it.
        """
        versions = environment(MODULES)
        # Workers may have left since the last reading.
        check_worker(self._client, self.scheduler)
        ahead = AHEAD * max(1, sum(self._client.nthreads().values()))
        waiting: list[Any] = []
        for number in range(len(files.parts)):
            # A table that is read again may be another one, so that no result is used twice.
            waiting.append(self._client.submit(_on_part, function, files.part(number), versions, pure=False))
            if len(waiting) >= ahead:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()


MODULES = ("scenarios.tables.parts.records", "scenarios.tables.parts.released", "scenarios.tables.parts.large_release")
"""Modules whose code must agree on all machines."""


def _on_part(function: Callable[[TableFiles], PartResult], files: TableFiles, versions: dict[str, str]) -> PartResult:
    """Open a part on a worker, and apply a function to it."""
    check_environment(versions, MODULES)
    with files:
        return function(files)
