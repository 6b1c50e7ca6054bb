"""Uploads that arrived and are not decided yet.

A file counts by the moment and the phase in which its last byte arrived, however long its check waits. The site
therefore records an upload durably before it is checked, and removes the record once all of its files are accepted or
refused. What is left after a crash is checked by the next server, or by the next command that depends on it.

The name of a record gives its order, team and phase; its first line is JSON, and the files follow.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from metrics.columns import PRIVATE, UNFINISHED, Sentence, refuse, write_atomically
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.rules.log import LogEntry, named_file
from scenarios.tournament.rules.settings import Phase

MOST_WAITING = 256 << 20
"""Most bytes of a team that wait to be checked."""


class TooManyBytesError(ValueError):
    """An upload would exceed what may wait of a team."""


@dataclass(frozen=True)
class Arrival:
    """An upload that arrived.

    Attributes
    ----------
    path : Path
        Its record.
    team : str
        The team.
    phase : Phase
        Phase in which it arrived.
    arrived : datetime
        When its last byte arrived.
    chosen : str
        Team that the client chose as the target of attacks; empty if it chose none.
    token : str
        Random name, by which the log tells which files of it were accepted.
    """

    path: Path
    team: str
    phase: Phase
    arrived: datetime
    chosen: str
    token: str

    def name_of(self, number: int) -> str:
        """Name of one of its files in the log."""
        return f"{self.token}.{number}"

    def files(self) -> list[tuple[str, bytes]]:
        """Its files: the name that the client gave, and the content."""
        head, _, body = self.path.read_bytes().partition(b"\n")
        contents, start = [], 0
        for name, size in json.loads(head)["files"]:
            contents.append((name, body[start : start + size]))
            start += size
        return contents


def record(
    tournament: Tournament,
    number: int,
    team: str,
    chosen: str,
    files: Sequence[tuple[str, bytes]],
    arrived: datetime,
    now: datetime,
) -> Arrival:
    """Record an upload; it is safe on the disk when this returns."""
    folder = tournament.host / "arrivals"
    folder.mkdir(mode=0o700, exist_ok=True)
    size = sum(len(data) for _, data in files)
    waits = sum(_size(path) for path in _paths(tournament) if path.name.split(".")[1] == team)
    refuse(
        waits + size > MOST_WAITING,
        Sentence("{waits} MiB of {team} wait to be checked; send this once they are", waits=waits >> 20, team=team),
        TooManyBytesError,
    )
    phase, token = phase_at(tournament, tournament.log.head().lasting, arrived, now), secrets.token_hex(8)
    one = Arrival(folder / f"{number:020d}.{team}.{phase}.{token}", team, phase, arrived, chosen, token)
    head = {"arrived": arrived.isoformat(), "chosen": chosen, "files": [(name, len(data)) for name, data in files]}
    with named_file(one.path):
        content = b"".join([json.dumps(head).encode(), b"\n", *(data for _, data in files)])
        write_atomically(one.path, content, mode=PRIVATE, durable=True)
    return one


def phase_at(tournament: Tournament, entries: Sequence[LogEntry], arrived: datetime, now: datetime) -> Phase:
    """Phase in which an upload arrived that is recorded `now`: what the host decided in between came after it.

    Decisions of before by a clock that was set back since have later times than `now`, and are no such ones.
    """
    before = [entry for entry in entries if (moved := moment_of_move(entry)) is None or not arrived < moved <= now]
    return tournament.state(before).phase


def moment_of_move(entry: LogEntry) -> datetime | None:
    """When the host closed a phase or opened it again; None for other entries. Earlier versions noted seconds only."""
    return datetime.fromisoformat(entry.details.get("moment", entry.arrived)) if entry.opens else None


def arrivals(tournament: Tournament) -> list[Arrival]:
    """Uploads that are not decided yet, in the order of their arrival; unreadable records are left out."""
    found = []
    for path in _paths(tournament):
        with suppress(OSError, ValueError, KeyError), path.open("rb") as file:
            head: dict[str, Any] = json.loads(file.readline())
            _, team, phase, token = path.name.split(".")
            found.append(
                Arrival(path, team, Phase(phase), datetime.fromisoformat(head["arrived"]), head["chosen"], token)
            )
    return found


def undecided_tables(tournament: Tournament) -> set[str]:
    """Teams of which an upload waits that may have a table in it."""
    return {one.team for one in arrivals(tournament) if one.phase is not Phase.ATTACK}


def accepted_arrivals(entries: Sequence[LogEntry]) -> frozenset[str]:
    """Names of the files of uploads that were accepted; see `Arrival.name_of`."""
    return frozenset(entry.details["arrival"] for entry in entries if "arrival" in entry.details)


def last_number(tournament: Tournament) -> int:
    """Largest number of an upload that waits; 0 if none does."""
    return max((int(path.name.partition(".")[0]) for path in _paths(tournament)), default=0)


def _paths(tournament: Tournament) -> list[Path]:
    """Records, in order; unfinished ones are none."""
    try:
        names = os.listdir(tournament.host / "arrivals")
    except FileNotFoundError:
        return []
    complete = (name for name in names if name.count(".") == 3 and not name.endswith(UNFINISHED))
    return [tournament.host / "arrivals" / name for name in sorted(complete)]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
