"""Turns of teams: what a team does is carried out in the order in which it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

PATIENCE = 1.0
"""Longest time in seconds that a decision of the host waits for uploads in work; they count in any case."""
Outcome = TypeVar("Outcome")


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
    async def after(self, team: str, first: Awaitable[Outcome]) -> AsyncIterator[Outcome]:
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
