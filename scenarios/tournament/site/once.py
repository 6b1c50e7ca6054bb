"""Actions that run once, however often their form is sent."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

_MOST = 5000
"""Number of outcomes that are remembered."""


class Once:
    """Runs an action once for each form, and remembers its outcome.

    A form carries a random number. A double click, a reload or the back button sends the same number again, and gets
    the outcome of the first time. Outcomes are remembered for each user apart, until the server stops.
    """

    def __init__(self) -> None:
        self._outcomes: OrderedDict[tuple[str, str], asyncio.Task[dict[str, Any]]] = OrderedDict()

    async def run(
        self, user: str, number: str, action: Callable[[], Awaitable[dict[str, Any]]]
    ) -> tuple[dict[str, Any], bool]:
        """Outcome of an action, and whether this call ran it; with an empty number it always runs.

        An action that raises is forgotten, so the form may be sent again.
        """
        if not number:
            return await action(), True
        key = user, number[:64]
        running = self._outcomes.get(key)
        if running is not None:
            return await asyncio.shield(running), False
        # A task of its own: a browser that closes the connection does not interrupt the action.
        task = asyncio.ensure_future(_awaited(action))
        self._outcomes[key] = task
        while len(self._outcomes) > _MOST:
            self._outcomes.popitem(last=False)
        try:
            return await asyncio.shield(task), True
        except Exception:
            self._outcomes.pop(key, None)
            raise

    def seen(self, user: str, number: str) -> dict[str, Any] | None:
        """Outcome that is remembered for a user; None if there is none or it is not known yet."""
        task = self._outcomes.get((user, number[:64]))
        if task is None or not task.done() or task.cancelled() or task.exception() is not None:
            return None
        return task.result()


async def _awaited(action: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    return await action()
