r"""The log of a tournament: an append-only file in which every line holds the hash of the one before.

Line n is JSON with its number, moment, kind, details, the hash of line n - 1 and its own hash, SHA-256 of the line
without it. Who changes, drops or inserts a line must rewrite all that follow; who has noted the last hash (the host may
publish it) sees that too. A line counts once it ends in a line break: what a crash left half written is no entry, and
the next append takes its place.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

GENESIS = "0" * 64


@dataclass(frozen=True)
class Entry:
    """One line of the log.

    Attributes
    ----------
    number : int
        Counted from 1.
    time : str
        When, ISO 8601.
    kind : str
        What happened: ``opened``, ``submitted``, ``advanced``, ``scored``.
    details : dict
        About it.
    previous, hash : str
        Hashes of the line before and of this one.
    """

    number: int
    time: str
    kind: str
    details: dict[str, Any]
    previous: str
    hash: str


class Log:
    """The log in a file.

    Parameters
    ----------
    path : Path
        Where it lies; a lock file of the same name with ``.lock`` lies beside it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the tournament: nobody else appends meanwhile, and the lock ends with the process that holds it."""
        handle = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def entries(self) -> list[Entry]:
        """All entries.

        Raises
        ------
        ValueError
            If the chain is broken; names the first line that does not hold.
        """
        entries: list[Entry] = []
        previous = GENESIS
        for number, line in enumerate(self._lines(), start=1):
            entry = _read(line)
            if entry is None or (entry.number, entry.previous) != (number, previous) or entry.hash != _hash(entry):
                raise ValueError(f"{self.path}, line {number}: was changed after it was written")
            entries.append(entry)
            previous = entry.hash
        return entries

    def append(self, kind: str, details: Mapping[str, Any], now: datetime) -> Entry:
        """Append an entry, safe on the disk when this returns; the lock must be held.

        Raises
        ------
        OSError
            If it cannot be written; the log is then as it was.
        """
        entries = self.entries()
        previous = entries[-1].hash if entries else GENESIS
        entry = Entry(len(entries) + 1, now.isoformat(timespec="seconds"), kind, dict(details), previous, "")
        whole = b"".join(line + b"\n" for line in self._lines())
        line = json.dumps({**_content(entry), "hash": _hash(entry)}, sort_keys=True, ensure_ascii=False) + "\n"
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            os.ftruncate(handle, len(whole))
            try:
                _write(handle, line.encode(), len(whole))
                os.fsync(handle)
            except BaseException:
                os.ftruncate(handle, len(whole))
                raise
        finally:
            os.close(handle)
        return Entry(entry.number, entry.time, kind, entry.details, previous, _hash(entry))

    def _lines(self) -> list[bytes]:
        """Complete lines; what follows the last line break is no entry."""
        try:
            return self.path.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return []


def _write(handle: int, data: bytes, offset: int) -> None:
    while data:
        written = os.pwrite(handle, data, offset)
        data, offset = data[written:], offset + written


def _content(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in ("number", "time", "kind", "details", "previous")}


def _hash(entry: Entry) -> str:
    text = json.dumps(_content(entry), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(line: bytes) -> Entry | None:
    try:
        return Entry(**json.loads(line))
    except (ValueError, TypeError):
        return None
