r"""The log of a tournament: an append-only file in which every line holds the hash of the one before.

Line n is JSON with its number, moment, kind, details, the hash of line n - 1 and its own hash, SHA-256 of the line
without it. Who changes, drops or inserts a line must rewrite all that follow; who has noted the last hash (the host may
publish it) sees that too. A line counts once it ends in a line break: what a crash left half written is no entry, and
the next append takes its place.

A tournament of 200 teams has 40,000 lines. A checkpoint beside the log holds the hash of all bytes that were verified
last and the few entries that later commands depend on, so that an append hashes the file instead of reading every line.
Where the bytes are no longer those, or the checkpoint is damaged or gone, all lines are verified. It is never trusted
for more: `Log.entries` reads and verifies every line.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

GENESIS = "0" * 64
CHECKPOINT_EVERY = 64
"""Lines after which the checkpoint is written anew; so many are read one by one at most."""


@dataclass(frozen=True)
class LogEntry:
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

    @property
    def lasting(self) -> bool:
        """Whether later commands depend on it: all but correspondence tables, of which there are many."""
        return self.details.get("against") is None


@dataclass(frozen=True)
class Head:
    """Where a verified log ends.

    Attributes
    ----------
    size : int
        Bytes of its complete lines.
    number : int
        Number of the last entry, 0 where there is none.
    hash : str
        Hash of the last entry.
    lasting : tuple of LogEntry
        Entries that later commands depend on.
    """

    size: int = 0
    number: int = 0
    hash: str = GENESIS
    lasting: tuple[LogEntry, ...] = ()

    def after(self, entry: LogEntry, size: int) -> Head:
        """The head once an entry of `size` bytes follows."""
        lasting = (*self.lasting, entry) if entry.lasting else self.lasting
        return Head(self.size + size, entry.number, entry.hash, lasting)


class Log:
    """The log in a file.

    Parameters
    ----------
    path : Path
        Where it lies; a lock file and a checkpoint of the same name with ``.lock`` and ``.checkpoint`` lie beside it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._checkpoint = path.with_name(path.name + ".checkpoint")
        self._known: tuple[Any, Head, Any] | None = None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the tournament: nobody else appends meanwhile, and the lock ends with the process that holds it."""
        handle = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def entries(self) -> list[LogEntry]:
        """All entries.

        Raises
        ------
        ValueError
            If the chain is broken; names the first line that does not hold.
        """
        entries: list[LogEntry] = []
        head = Head()
        for line in self._complete().splitlines(keepends=True):
            entry = self._following(head, line)
            entries.append(entry)
            head = Head(head.size + len(line), entry.number, entry.hash)
        return entries

    def head(self) -> Head:
        """Where the log ends; only what follows the checkpoint is read line by line.

        Raises
        ------
        ValueError
            If the chain is broken; names the first line that does not hold.
        """
        stamp = self._stamp()
        if self._known is not None and self._known[0] == stamp:
            return self._known[1]
        data = self._complete()
        head, digest = self._verified(data)
        for line in data[head.size :].splitlines(keepends=True):
            head = head.after(self._following(head, line), len(line))
            digest.update(line)
        self._known = (stamp, head, digest)
        return head

    def append(self, kind: str, details: Mapping[str, Any], now: datetime) -> LogEntry:
        """Append an entry, safe on the disk when this returns; the lock must be held.

        Raises
        ------
        OSError
            If it cannot be written; the log is then as it was.
        """
        head = self.head()
        entry = LogEntry(head.number + 1, now.isoformat(timespec="seconds"), kind, dict(details), head.hash, "")
        entry = replace(entry, hash=_hash(entry))
        line = _line(entry)
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            os.ftruncate(handle, head.size)
            try:
                _write(handle, line, head.size)
                os.fsync(handle)
            except BaseException:
                os.ftruncate(handle, head.size)
                raise
        finally:
            os.close(handle)
        self._appended(head.after(entry, len(line)), line)
        return entry

    def _appended(self, head: Head, line: bytes) -> None:
        """Remember the new end."""
        if self._known is None:
            return
        digest = self._known[2]
        digest.update(line)
        self._known = (self._stamp(), head, digest)
        if head.number % CHECKPOINT_EVERY == 0:
            lasting = [{**_content(entry), "hash": entry.hash} for entry in head.lasting]
            content = {**vars(head), "lasting": lasting, "sha256": digest.hexdigest()}
            unfinished = self._checkpoint.with_name(self._checkpoint.name + ".part")
            # The entry is accepted whether or not there is room for a checkpoint.
            with suppress(OSError):
                handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(content, file)
                os.replace(unfinished, self._checkpoint)

    def _verified(self, data: bytes) -> tuple[Head, Any]:
        """The checkpoint's head where these bytes begin as those that it was made of, and their running hash."""
        try:
            content = json.loads(self._checkpoint.read_bytes())
            told = content.pop("sha256")
            head = Head(**{**content, "lasting": tuple(LogEntry(**entry) for entry in content["lasting"])})
            digest = hashlib.sha256(data[: head.size])
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return Head(), hashlib.sha256()
        return (head, digest) if digest.hexdigest() == told else (Head(), hashlib.sha256())

    def _following(self, head: Head, line: bytes) -> LogEntry:
        entry = _read(line)
        place = (head.number + 1, head.hash)
        if entry is None or (entry.number, entry.previous) != place or entry.hash != _hash(entry):
            raise ValueError(f"{self.path}, line {head.number + 1}: was changed after it was written")
        return entry

    def _complete(self) -> bytes:
        """Complete lines; what follows the last line break is no entry."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return b""
        return data[: data.rfind(b"\n") + 1]

    def _stamp(self) -> tuple[int, ...] | None:
        """Changes whenever the file does."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _line(entry: LogEntry) -> bytes:
    text = json.dumps({**_content(entry), "hash": entry.hash}, sort_keys=True, ensure_ascii=False)
    return (text + "\n").encode()


def _write(handle: int, data: bytes, offset: int) -> None:
    while data:
        written = os.pwrite(handle, data, offset)
        data, offset = data[written:], offset + written


def _content(entry: LogEntry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in ("number", "time", "kind", "details", "previous")}


def _hash(entry: LogEntry) -> str:
    text = json.dumps(_content(entry), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(line: bytes) -> LogEntry | None:
    try:
        return LogEntry(**json.loads(line))
    except (ValueError, TypeError):
        return None
