"""Actions that run once, however often their form is sent."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar

# Turns of teams: what a team does is carried out in the order in which it arrives.

PATIENCE = 1.0
"""Longest time in seconds that a decision of the host waits for uploads in work; they count in any case."""
Answer = TypeVar("Answer")


class Turns:
    """Lets actions of one team wait for each other, so that the last upload counts even if an earlier one takes longer.

    Parameters
    ----------
    teams : iterable of str
        All teams.
    """

    def __init__(self, teams: Iterable[str]) -> None:
        self._locks = {team: asyncio.Lock() for team in sorted(teams)}

    def of(self, team: str) -> asyncio.Lock:
        """Wait for what the team began before; later actions of the team wait for the end of the block."""
        return self._locks[team]

    @asynccontextmanager
    async def after(self, team: str, first: Awaitable[Answer]) -> AsyncIterator[Answer]:
        """Like `of`, for an action that does something first, without waiting for its turn; yields the outcome of that.

        The place among the team's actions is taken before.
        """
        lock = self._locks[team]
        taken = asyncio.ensure_future(lock.acquire())
        try:
            outcome = await first
            await taken
            yield outcome
        finally:
            _give_back(lock, taken)

    @asynccontextmanager
    async def of_all(self) -> AsyncIterator[None]:
        """Wait for what all teams began before, at most `PATIENCE`; their later actions wait for the end of the block.

        A team that sends very many files delays the host by no more than that. Other teams are waited for all the same.
        """
        waiting = [(lock, asyncio.ensure_future(lock.acquire())) for lock in self._locks.values()]
        try:
            await asyncio.wait([taken for _, taken in waiting], timeout=PATIENCE)
            yield
        finally:
            for lock, taken in waiting:
                _give_back(lock, taken)


def _give_back(lock: asyncio.Lock, taken: asyncio.Future[Any]) -> None:
    """Release a lock that was taken, or no longer wait for it."""
    if not taken.done():
        taken.cancel()
    elif not taken.cancelled():
        lock.release()


_MOST_BYTES = 16 << 20
"""Bytes of outcomes that are remembered."""
_OVERHEAD = 1000
"""Bytes that an outcome takes beyond its JSON, at most."""
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
    Outcomes are remembered for each user apart, until the server stops or newer ones take their room.

    Parameters
    ----------
    most_bytes : int
        Bytes that all outcomes together take at most; the last one is remembered in any case.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._running: dict[FormKey, asyncio.Task[Outcome]] = {}
        # Outcomes of forms that were accepted, and the last outcome of each number, as JSON, whose size is known.
        self._kept: OrderedDict[FormKey | tuple[str, str], bytes] = OrderedDict()
        self._most_bytes, self._bytes = most_bytes, 0

    async def run(self, key: FormKey, action: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Outcome of the action of a form; its item ``done`` says whether it was accepted.

        Without a number in the form the action always runs.
        """
        if not key.number:
            return await action()
        done = self._known(key)
        if done is None:
            task = self._running.get(key)
            if task is None:
                # A task of its own: a browser that closes the connection does not interrupt the action.
                task = self._running[key] = asyncio.ensure_future(self._carried_out(key, action))
            return await asyncio.shield(task)
        self._keep((key.user, key.number), done)
        return done

    def seen(self, user: str, number: str) -> Outcome | None:
        """Last outcome of a user's form with a number; None if it is not known."""
        return self._known((user, number))

    async def _carried_out(self, key: FormKey, action: Callable[[], Awaitable[Outcome]]) -> Outcome:
        try:
            outcome = await action()
        finally:
            del self._running[key]
        if outcome.get("done"):
            self._keep(key, outcome)
        self._keep((key.user, key.number), outcome)
        return outcome

    def _known(self, key: FormKey | tuple[str, str]) -> Outcome | None:
        kept = self._kept.get(key)
        return None if kept is None else json.loads(kept)

    def _keep(self, key: FormKey | tuple[str, str], outcome: Outcome) -> None:
        """Remember an outcome, and forget the oldest ones that exceed the room."""
        data = json.dumps(outcome).encode()
        self._bytes += len(data) + _OVERHEAD
        former = self._kept.pop(key, None)
        if former is not None:
            self._bytes -= len(former) + _OVERHEAD
        self._kept[key] = data
        while self._bytes > self._most_bytes and len(self._kept) > 1:
            self._bytes -= len(self._kept.popitem(last=False)[1]) + _OVERHEAD
