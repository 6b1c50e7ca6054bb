"""Parts of a table that the workers of a Dask cluster read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from scenarios.running.workers.cluster import (
    AHEAD,
    check_environment,
    check_worker,
    connected,
    distributed,
    environment,
)
from scenarios.tables.parts.files.table_files import Result, TableFiles


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
        distributed()

    @cached_property
    def _client(self) -> Any:
        return self._stack.enter_context(connected(self.scheduler))

    def close(self) -> None:
        """End the connection to the cluster."""
        self._stack.close()

    def over_parts(self, files: TableFiles, function: Callable[[TableFiles], Result]) -> Iterator[Result]:
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


def _on_part(function: Callable[[TableFiles], Result], files: TableFiles, versions: dict[str, str]) -> Result:
    """Open a part on a worker, and apply a function to it."""
    check_environment(versions, MODULES)
    with files:
        return function(files)
