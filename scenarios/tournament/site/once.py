"""Actions that run once, however often their form is sent."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

_MOST = 5000
"""Number of outcomes that are remembered."""
Outcome = dict[str, Any]


class FormKey(NamedTuple):
    """What tells a form that is sent again from another one.

    Attributes
    ----------
    user : str
        Name of the user.
    number : str
        Random number in the form; empty if it has none.
    path : str
        Where it was sent.
    fingerprint : str
        Hash of its fields and files.
    """

    user: str
    number: str
    path: str
    fingerprint: str


class Once:
    """Runs an action once for each form with the same content, and remembers its outcome.

    A form carries a random number. A double click, a reload or the back button sends the same number again, and gets
    the outcome of the first time. If the first time was refused or the content differs, the action runs again.
    Outcomes are remembered for each user apart, until the server stops.
    """

    def __init__(self) -> None:
        self._running: OrderedDict[FormKey, asyncio.Task[Outcome]] = OrderedDict()
        self._last: OrderedDict[tuple[str, str], Outcome] = OrderedDict()

    async def run(self, key: FormKey, action: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Outcome of the action of a form; its item ``done`` says whether it was accepted.

        Without a number in the form the action always runs.
        """
        if not key.number:
            return await action()
        task = self._running.get(key)
        if task is None or (task.done() and not _accepted(task)):
            # A task of its own: a browser that closes the connection does not interrupt the action.
            task = asyncio.ensure_future(_awaited(action))
            self._running[key] = task
            _limit(self._running)
        outcome = await asyncio.shield(task)
        self._last[key.user, key.number] = outcome
        _limit(self._last)
        return outcome

    def seen(self, user: str, number: str) -> Outcome | None:
        """Last outcome of a user's form with a number; None if it is not known."""
        return self._last.get((user, number))


def _accepted(task: asyncio.Task[Outcome]) -> bool:
    return not task.cancelled() and task.exception() is None and bool(task.result().get("done"))


def _limit(remembered: OrderedDict[Any, Any]) -> None:
    """Forget the oldest outcomes."""
    while len(remembered) > _MOST:
        remembered.popitem(last=False)


async def _awaited(action: Callable[[], Awaitable[Outcome]]) -> Outcome:
    return await action()
