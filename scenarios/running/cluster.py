"""Workers of a Dask cluster, each with worker processes of its own that can be killed."""

from __future__ import annotations

import hashlib
import importlib
import pickle
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from leaderboard.result import Result
from scenarios.running.fingerprint import closure, modules, versions
from scenarios.running.limits import Limits
from scenarios.running.plan import Plan
from scenarios.running.supervisor import Stopped, Supervisor
from scenarios.running.units import Unit

# Units sent ahead of time, for each trial that the cluster plays at a time.
AHEAD = 4
# How often a unit is sent out whose Dask workers are lost.
ATTEMPTS = 5
# Seconds to wait for a scheduler, and for a first worker.
PATIENCE = 30


@dataclass(frozen=True)
class DaskCluster:
    """Plays units on a Dask cluster, with the same results as on one machine.

    Every Dask worker plays as many trials at a time as it has threads, each in a process of its own, so that limits
    hold there as they do here. A lost Dask worker's units are played by others. Workers must have the same version of
    the project and of numeric packages, and find the modules of methods from elsewhere.

    Parameters
    ----------
    scheduler : str
        Address of the scheduler, as in ``tcp://host:8786``.

    Raises
    ------
    ValueError
        If dask.distributed is not installed.
    """

    scheduler: str

    def __post_init__(self) -> None:
        _distributed()

    def played(self, plan: Plan, units: Sequence[Unit]) -> Generator[list[Result], None, None]:
        """Results of units as they end; closing the iterator ends the playing.

        Raises
        ------
        ValueError
            If there is no such scheduler or no worker, or a worker has other versions than this machine.
        """
        dask = _distributed()
        packed = pickle.dumps(plan)
        name = hashlib.sha256(packed).hexdigest()
        share = _share(name, packed, plan)
        waiting = [(unit, 1) for unit in reversed(units)]
        with self._client() as client:
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
                        if attempt >= ATTEMPTS:
                            raise ValueError(f"{self.scheduler}: {ATTEMPTS} workers in a row were lost with one unit")
                        waiting.append((unit, attempt + 1))
                    else:
                        raise error
            finally:
                with suppress(OSError):
                    client.unregister_worker_plugin(name)

    def _client(self) -> Any:
        try:
            client = _distributed().Client(self.scheduler, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ValueError(f"--scheduler {self.scheduler}: {' '.join(str(error).split())}") from None
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            client.close()
            raise ValueError(f"--scheduler {self.scheduler}: it has no worker") from None
        return client


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise ValueError(
            "--backend dask needs dask.distributed; install it with: pip install 'tokumei[cluster]'"
        ) from None


@cache
def environment(names: tuple[str, ...]) -> dict[str, str]:
    """What must be the same on every machine of a run: numeric packages' versions, and these modules' sources."""
    return {**versions(), **closure(names)}


@dataclass(frozen=True)
class _Share:
    """What every Dask worker is given once."""

    name: str
    plan: bytes
    limits: Limits
    folders: tuple[str, ...]
    modules: tuple[str, ...]
    environment: dict[str, str]


def _share(name: str, packed: bytes, plan: Plan) -> _Share:
    methods = [*plan.games, *(entry.method for entry in (*plan.defenses, *plan.attacks))]
    names = tuple(sorted({"scenarios.running.worker", *(module for method in methods for module in modules(method))}))
    return _Share(name, packed, plan.limits, (str(Path.cwd()),), names, environment(names))


_shares: dict[str, _Share] = {}
_supervisors: dict[tuple[str, int], Supervisor] = {}
_lock = threading.Lock()


def _plugin(share: _Share) -> Any:
    """Hands a plan to every Dask worker, those too that come later, and cleans up after it."""

    class PlanPlugin(_distributed().WorkerPlugin):  # type: ignore[misc]
        """Hands over a plan."""

        def setup(self, worker: Any) -> None:
            """Keep the plan."""
            keep(share)

        def teardown(self, worker: Any) -> None:
            """End the processes that played it."""
            forget(share.name)

    return PlanPlugin()


def keep(share: _Share) -> None:
    """Keep what is needed to play a plan's units in this process."""
    sys.path += [folder for folder in share.folders if folder not in sys.path]
    _shares[share.name] = share


def forget(name: str) -> None:
    """End whatever plays a plan's units in this process."""
    _shares.pop(name, None)
    with _lock:
        ended = [_supervisors.pop(key) for key in list(_supervisors) if key[0] == name]
    for supervisor in ended:
        supervisor.stop()
    for supervisor in ended:
        supervisor.close()


def play_unit(name: str, unit: Unit) -> list[Result]:
    """Play a unit of a plan that this process keeps, in a process of this thread's own.

    Raises
    ------
    ValueError
        If this process runs other code than the one whose plan it is.
    """
    share = _shares.get(name)
    if share is None:
        raise Stopped
    here = environment(share.modules)
    other = sorted(part for part in share.environment if share.environment[part] != here.get(part))
    if other:
        raise ValueError(f"a worker of the cluster has other versions than this machine of {', '.join(other)}")
    key = (name, threading.get_ident())
    with _lock:
        supervisor = _supervisors.setdefault(key, Supervisor(share.plan, share.limits, share.folders))
    return [result for results in supervisor.play(unit) for result in results]
