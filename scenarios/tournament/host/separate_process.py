"""Functions that run in a process of their own, so that they do not hold up the threads of this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from metrics.printable import one_line
from scenarios.running.workers.limits import Limits
from scenarios.tournament.rules.isolation import Death, IsolatedWorker

Arguments = ParamSpec("Arguments")
Outcome = TypeVar("Outcome")


class SeparateProcess:
    """Runs one function after another in a process that lasts, and that is replaced when it dies.

    Parameters
    ----------
    limits : Limits
        Limits of one call.
    """

    def __init__(self, limits: Limits) -> None:
        self._worker: IsolatedWorker[Any, _Done] = IsolatedWorker(_called, limits)

    def call(
        self, function: Callable[Arguments, Outcome], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Outcome:
        """Outcome of a function of a module; arguments and outcome are pickled. Call it from one thread.

        Raises
        ------
        RuntimeError
            If the function raised an error, which the message gives, or the process ended.
        """
        items = list(self._worker.results((function, args, kwargs)))
        if not items:
            raise RuntimeError("the process was stopped")
        (done,) = items
        if isinstance(done, Death):
            raise RuntimeError(done.reason)
        if done.error:
            raise RuntimeError(done.error)
        outcome: Outcome = done.outcome
        return outcome

    def close(self) -> None:
        """End the process."""
        self._worker.close()


@dataclass(frozen=True)
class _Done:
    """Outcome of a call, or what it raised, in one line."""

    outcome: Any = None
    error: str = ""


def _called(task: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]) -> Iterator[_Done]:
    function, args, kwargs = task
    try:
        done = _Done(function(*args, **kwargs))
    except Exception as error:
        done = _Done(error=one_line(error))
    yield done
