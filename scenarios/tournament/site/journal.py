"""State of a tournament as its log tells it, read again only where the log has grown, and news of it for open pages."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from anyio import to_thread

from scenarios.tournament.host.decisions import Notice, current_rules, notices
from scenarios.tournament.rules import Phase, State, Tournament, built_in_names, file_stamp

Stamp = tuple[tuple[int, ...], ...]
"""Fingerprint of the files on which public pages depend."""


class SiteState(State):
    """State of a tournament at the end of its log, with what the site shows of it."""

    @cached_property
    def candidates_published(self) -> bool:
        """Whether the candidate files are published, which they are once the first phase was closed."""
        return any(entry.kind == "advanced" for entry in self.entries)

    @cached_property
    def names(self) -> dict[str, str]:
        """Titles of the teams, and what pages call the built-in attacks."""
        return {**self.titles, **built_in_names()}

    @cached_property
    def notices(self) -> list[Notice]:
        """Messages and decisions of the host, oldest first."""
        return notices(self.tournament, self.entries)

    @cached_property
    def rules(self) -> str:
        """The page of rules with the deadlines as they are now."""
        return current_rules(self.tournament, self.entries)

    @cached_property
    def published(self) -> State:
        """The state without the submissions since tables were published last; decisions of the host remain."""
        last, phase = 0, Phase.ANONYMIZE
        for number, entry in enumerate(self.entries, start=1):
            phase = Phase(entry.opens or phase)
            if phase.published:
                last = number
        decisions = [entry for entry in self.entries[last:] if entry.kind not in ("submitted", "taken")]
        return State(self.tournament, [*self.entries[:last], *decisions])


class Journal:
    """Reads the state of a tournament; several threads may ask at once.

    Parameters
    ----------
    folder : Path
        The tournament's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._tournament = Tournament(folder)
        self._settings: tuple[int, ...] | None = None
        # Stamp and state are replaced together, since `known` reads them without the lock.
        self._known: tuple[Stamp, SiteState] | None = None

    def stamp(self) -> Stamp:
        """Fingerprint of the files on which public pages depend; it changes whenever one of them does."""
        names = ("host/log.jsonl", "tournament.toml", "public/standings.csv", "public/matrix.csv")
        return tuple(file_stamp(self._folder / name) for name in names)

    def known(self, stamp: Stamp) -> SiteState | None:
        """State of a stamp if it was read before; it waits for nothing, so that the event loop may ask."""
        known = self._known
        return known[1] if known is not None and known[0] == stamp else None

    def state(self) -> SiteState:
        """Current state. Only lines that were added to the log are parsed; all of it is verified."""
        with self._lock:
            stamp, known = self.stamp(), self._known
            if known is not None and known[0] == stamp:
                return known[1]
            if self._settings != stamp[1]:
                self._tournament, self._settings = Tournament(self._folder), stamp[1]
            state = SiteState(self._tournament, self._tournament.log.entries())
            # Settings and log may contradict each other.
            _ = state.phase
            self._known = stamp, state
            return state


# Server-sent events, which tell open pages that something has changed.

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
