"""State of a tournament as its log tells it, read again only where the log has grown."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from scenarios.tournament.host.messages import Notice, notices
from scenarios.tournament.rules.folder import Submission, Tournament
from scenarios.tournament.rules.log import LogEntry
from scenarios.tournament.rules.settings import Phase

Stamp = tuple[tuple[int, ...], ...]
"""Fingerprint of the files on which public pages depend."""


@dataclass(frozen=True)
class State:
    """State of a tournament at the end of its log.

    Attributes
    ----------
    tournament : Tournament
        The tournament, to be read only.
    entries : list of LogEntry
        All entries of the log.
    """

    tournament: Tournament
    entries: list[LogEntry]

    @property
    def hash(self) -> str:
        """Hash of the last entry, which names the state."""
        return self.entries[-1].hash if self.entries else ""

    @cached_property
    def phase(self) -> Phase:
        """Current phase."""
        return self.tournament.phase(self.entries)

    @cached_property
    def until(self) -> datetime | None:
        """End of the current phase; None once the tournament is closed."""
        return self.tournament.until(self.entries, self.phase)

    @cached_property
    def ends(self) -> list[tuple[Phase, datetime]]:
        """Each phase with its end, in order."""
        return [
            (phase, end)
            for phase in Phase
            if self.tournament.settings.until(phase) is not None
            and (end := self.tournament.until(self.entries, phase)) is not None
        ]

    @cached_property
    def tables(self) -> dict[str, Submission]:
        """Table of each team that is in force."""
        return self.tournament.tables(self.entries)

    @cached_property
    def attacks(self) -> dict[tuple[str, str], Submission]:
        """Correspondence tables that are in force, by attacker and target."""
        return self.tournament.attacks(self.entries)

    @cached_property
    def candidates_published(self) -> bool:
        """Whether the candidate files are published, which they are once the first phase was closed."""
        return any(entry.kind == "advanced" for entry in self.entries)

    @cached_property
    def published_tables(self) -> dict[str, Submission]:
        """Published table of each team; while an earlier phase is open again, those from before it."""
        return self.tournament.tables(self._until_published)

    @cached_property
    def published_attacks(self) -> dict[tuple[str, str], Submission]:
        """Correspondence tables that count against the published tables, by attacker and target."""
        return self.tournament.attacks(self._until_published)

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """Title of each team; its name where it has none."""
        return self.tournament.titles(self.entries)

    @cached_property
    def disqualified(self) -> Mapping[str, str]:
        """Reason of each disqualification, by team."""
        return self.tournament.disqualified(self.entries)

    @cached_property
    def notices(self) -> list[Notice]:
        """Messages and decisions of the host, oldest first."""
        return list(notices(self.tournament, self.entries))

    @cached_property
    def submissions(self) -> dict[str, list[tuple[Submission, LogEntry]]]:
        """All accepted submissions of each team, oldest first, with their log entries."""
        by_team: dict[str, list[tuple[Submission, LogEntry]]] = {team: [] for team in self.tournament.settings.teams}
        by_number = {entry.number: entry for entry in self.entries}
        for submission in self.tournament.accepted(self.entries):
            by_team[submission.team].append((submission, by_number[submission.number]))
        return by_team

    @cached_property
    def _until_published(self) -> list[LogEntry]:
        """The entries without the submissions since tables were published last; decisions of the host remain."""
        last, phase = 0, Phase.ANONYMIZE
        for number, entry in enumerate(self.entries, start=1):
            if entry.kind in ("advanced", "reopened"):
                phase = Phase(entry.details.get("to") or entry.details["phase"])
            if phase in (Phase.ATTACK, Phase.CLOSED):
                last = number
        decisions = [entry for entry in self.entries[last:] if entry.kind not in ("submitted", "taken")]
        return [*self.entries[:last], *decisions]

    def used(self, team: str) -> int:
        """Bytes that the host keeps of a team's files; equal files count once."""
        return sum({one.content: entry.details["bytes"] for one, entry in self.submissions[team]}.values())


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
        self._entries: list[LogEntry] = []
        self._size = 0
        self._settings: tuple[int, ...] | None = None
        # Stamp and state are replaced together, since `known` reads them without the lock.
        self._known: tuple[Stamp, State] | None = None

    def stamp(self) -> Stamp:
        """Fingerprint of the files on which public pages depend; it changes whenever one of them does."""
        host, public = self._folder / "host", self._folder / "public"
        files = (
            host / "log.jsonl",
            self._folder / "tournament.toml",
            *(public / name for name in ("standings.csv", "matrix.csv")),
        )
        return tuple(_stat(path) for path in files)

    def known(self, stamp: Stamp) -> State | None:
        """State of a stamp if it was read before; it waits for nothing, so that the event loop may ask."""
        known = self._known
        return known[1] if known is not None and known[0] == stamp else None

    def state(self) -> State:
        """Current state. Only lines that were added to the log are parsed; all of it is verified.

        Raises
        ------
        ValueError
            If the log was changed by others than the tournament's commands, or the settings are damaged or contradict
            it.
        """
        with self._lock:
            stamp, known = self.stamp(), self._known
            if known is not None and known[0] == stamp:
                return known[1]
            if self._settings != stamp[1]:
                self._tournament, self._settings = Tournament(self._folder), stamp[1]
            self._read()
            state = State(self._tournament, list(self._entries))
            # Settings and log may contradict each other.
            _ = state.phase
            self._known = stamp, state
            return state

    def _read(self) -> None:
        """Read the entries that were added."""
        head = self._tournament.log.head()
        with self._tournament.log.path.open("rb") as file:
            file.seek(self._size)
            added = file.read(max(0, head.size - self._size))
        entries = [LogEntry(**json.loads(line)) for line in added.splitlines()] if added else []
        linked = [*self._entries[-1:], *entries]
        continues = all(later.previous == earlier.hash for earlier, later in pairwise(linked))
        if head.size < self._size or not continues or not linked or linked[-1].hash != head.hash:
            # The log was replaced, for example by a backup.
            self._entries, self._size = self._tournament.log.entries(), head.size
            return
        self._entries = [*self._entries, *entries]
        self._size = head.size


def _stat(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns
