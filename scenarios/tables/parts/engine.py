"""Where the parts of a table are read: on this machine, or on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar


class FileParts(Protocol):
    """Files that can be opened part by part; see `scenarios.tables.parts.files.table_files.TableFiles`."""

    @property
    def parts(self) -> tuple[Path, ...]:
        """The files."""

    def part(self, number: int) -> Self:
        """One of them, to be opened elsewhere."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


Files = TypeVar("Files", bound=FileParts)
Result = TypeVar("Result")


class Engine(Protocol):
    """Where the parts of a table are read."""

    def over_parts(self, files: Files, function: Callable[[Files, int], Result]) -> Iterator[Result]:
        """Apply a function to the parts of a table.

        Parameters
        ----------
        files : FileParts
            The table, opened.
        function : callable
            ``function(files, number)`` gets some files of the table, opened, and the number of the first one.

        Yields
        ------
        object
            Results in the order of the parts.
        """


@dataclass(frozen=True)
class OneMachine:
    """All parts are read together, on this machine."""

    def over_parts(self, files: Files, function: Callable[[Files, int], Result]) -> Iterator[Result]:
        """Apply a function to the whole table."""
        yield function(files, 0)


@dataclass
class DaskEngine:
    """Each part is read by a worker of a Dask cluster, with the same results as on one machine.

    Workers read the files under the same path, so that they need a file system that all of them share. They need the
    same version of the project and of the numeric packages. The first reading connects to the cluster, and `close` ends
    the connection.

    Parameters
    ----------
    scheduler : str
        Address of the scheduler, such as ``tcp://host:8786``.

    Raises
    ------
    ValueError
        If dask.distributed is not installed.
    """

    scheduler: str
    _stack: ExitStack = field(default_factory=ExitStack, init=False, repr=False)

    def __post_init__(self) -> None:
        from scenarios.running.workers.cluster import distributed

        distributed()

    @cached_property
    def _client(self) -> Any:
        from scenarios.running.workers.cluster import connected

        return self._stack.enter_context(connected(self.scheduler))

    def close(self) -> None:
        """End the connection to the cluster."""
        self._stack.close()

    def over_parts(self, files: Files, function: Callable[[Files, int], Result]) -> Iterator[Result]:
        """Apply a function to each part on a worker; a few parts at a time wait for their turn.

        Raises
        ------
        ValueError
            If the cluster cannot be reached, a worker's versions differ, or the function raises it.
        """
        from scenarios.running.workers.cluster import AHEAD, check_worker, environment

        versions = environment(MODULES)
        # Workers may have left since the last reading.
        check_worker(self._client, self.scheduler)
        ahead = AHEAD * max(1, sum(self._client.nthreads().values()))
        waiting: list[Any] = []
        for number in range(len(files.parts)):
            # A table that is read again may be another one, so that no result is used twice.
            waiting.append(self._client.submit(_on_part, function, files.part(number), number, versions, pure=False))
            if len(waiting) >= ahead:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()


@contextmanager
def engine_of(scheduler: str | None) -> Iterator[Engine]:
    """The cluster of a scheduler, to which a command connects once, or this machine without one."""
    if scheduler is None:
        yield OneMachine()
        return
    with closing(DaskEngine(scheduler)) as engine:
        yield engine


MODULES = ("scenarios.tables.parts.records", "scenarios.tables.parts.released", "scenarios.tables.parts.large_release")
"""Modules whose code must agree on all machines."""


def _on_part(function: Callable[[Files, int], Result], files: Files, number: int, versions: dict[str, str]) -> Result:
    """Open a part on a worker, and apply a function to it."""
    from scenarios.running.workers.cluster import check_environment

    check_environment(versions, MODULES)
    with files:
        return function(files, number)
