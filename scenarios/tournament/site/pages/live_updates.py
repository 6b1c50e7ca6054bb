"""Server-sent events, which tell open pages that something has changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from anyio import to_thread

from scenarios.tournament.site.journal import Journal

EVERY = 1.0
"""Seconds between two looks at the files."""
_HEARTBEAT = 20.0
"""Seconds after which a silent connection gets a comment, so that proxies keep it."""
MOST = 2000
"""Largest number of open connections."""


class LiveUpdates:
    """Watches a tournament's files and tells all open pages when they change.

    One task looks at the files, however many pages are open.

    Parameters
    ----------
    journal : Journal
        Its stamp changes whenever a page would.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._version = 0
        self._changed = asyncio.Event()
        self._stopped = False
        self.listeners = 0

    async def watch(self) -> None:
        """Look at the files until the task is cancelled."""
        stamp = None
        while True:
            with suppress(OSError):
                latest = await to_thread.run_sync(self._journal.stamp)
                if latest != stamp:
                    stamp = latest
                    self._tell()
            await asyncio.sleep(EVERY)

    def stop(self) -> None:
        """End all connections."""
        self._stopped = True
        self._tell()

    def _tell(self) -> None:
        self._version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def events(self) -> AsyncIterator[str]:
        """Events of one connection: a line whenever something has changed."""
        self.listeners += 1
        try:
            yield "retry: 3000\n\n"
            while not self._stopped:
                changed = self._changed
                try:
                    await asyncio.wait_for(changed.wait(), _HEARTBEAT)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if not self._stopped:
                    yield f"event: changed\ndata: {self._version}\n\n"
        finally:
            self.listeners -= 1
