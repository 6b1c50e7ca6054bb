"""Where the parts of a table are read: on this machine, or by an engine that the caller passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from scenarios.tables.parts.files.table_files import TableFiles

Result = TypeVar("Result")


class Engine(Protocol):
    """Where the parts of a table are read."""

    def over_parts(self, files: TableFiles, function: Callable[[TableFiles, int], Result]) -> Iterator[Result]:
        """Apply a function to the parts of a table.

        Parameters
        ----------
        files : TableFiles
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

    def over_parts(self, files: TableFiles, function: Callable[[TableFiles, int], Result]) -> Iterator[Result]:
        """Apply a function to the whole table."""
        yield function(files, 0)
