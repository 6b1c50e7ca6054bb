r"""The log of a tournament: an append-only hash chain in a file.

Line n is JSON with its number, time, kind, details, the hash of line n - 1 and its own hash. The latter is SHA-256 of
the line without that hash. Changing, dropping or inserting a line requires rewriting all later lines. Whoever has noted
the last hash (the host may publish it) detects that, too. A line counts once it ends in a line break. A line that a
crash left unfinished is no entry, and the next append overwrites it.

Times in the log never decrease. What a line records may have arrived before the line above it was written: files wait
for each other while they are validated, and a clock may be set back. Such a line has the time of the line above, and
its details say when it ``arrived``.

A tournament of 200 teams has 40,000 lines. A checkpoint file beside the log holds the hash of all bytes verified so
far, and the few entries on which later commands depend. An append then hashes the file instead of parsing every line.
If the bytes differ, or the checkpoint is damaged or missing, all lines are verified. The checkpoint is trusted for
nothing else: the first `Log.entries` reads and verifies every line.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from metrics.columns import write_atomically
from scenarios.tables.toml.toml_file import read_bytes

# Errors about the tournament's own files.


class DamagedFileError(ValueError):
    """One of the tournament's own files is missing, damaged or changed; the message names it."""


@contextmanager
def tournament_files() -> Iterator[None]:
    """Let errors of a block that reads the tournament's own files say that these are damaged."""
    try:
        yield
    except ValueError as error:
        raise DamagedFileError(str(error)) from error


read_host_file = tournament_files()(read_bytes)
"""Content of one of the tournament's own files."""


@contextmanager
def named_file(path: Path) -> Iterator[None]:
    """Let errors of the system name a file; those of a write, such as a full disk, name none by themselves."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def locked_file(path: Path, *, wait: bool = True) -> Iterator[int]:
    """Hold the lock of a file, which ends with this process at the latest; the block gets the file's descriptor."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield handle
    finally:
        os.close(handle)


def file_stamp(path: Path) -> tuple[int, ...]:
    """Fingerprint of a file's state, which changes whenever the file does; empty without a file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


GENESIS = "0" * 64
CHECKPOINT_EVERY = 64
"""Number of lines between checkpoints, and so the largest number of lines that are parsed one by one."""


@dataclass(frozen=True)
class LogEntry:
    """One line of the log.

    Attributes
    ----------
    number : int
        Number of the line, from 1.
    time : str
        Time, ISO 8601; no earlier than that of the line before.
    kind : str
        Event: ``opened``, ``submitted``, ``taken``, ``advanced``, ``extended``, ``reopened``, ``disqualified``,
        ``readmitted``, ``titled``, ``messaged``, ``presented``, ``adopted``.
    details : dict
        Details of the event.
    previous, hash : str
        Hashes of the previous line and of this one.
    """

    number: int
    time: str
    kind: str
    details: dict[str, Any]
    previous: str
    hash: str

    @property
    def arrived(self) -> str:
        """When the file or decision arrived, ISO 8601, which is what counts for deadlines; never after `time`."""
        return str(self.details.get("arrived", self.time))

    @property
    def opens(self) -> str:
        """Phase that begins with it; empty if none does."""
        return str(self.details.get("to") or self.details["phase"]) if self.kind in ("advanced", "reopened") else ""

    @property
    def lasting(self) -> bool:
        """Whether later commands depend on it: true of all but the many correspondence tables."""
        return self.details.get("against") is None or "late" in self.details


@dataclass(frozen=True)
class Head:
    """End of a verified log.

    Attributes
    ----------
    size : int
        Number of bytes of its complete lines.
    number : int
        Number of the last entry; 0 if there is none.
    hash : str
        Hash of the last entry.
    lasting : tuple of LogEntry
        Entries on which later commands depend.
    sent : dict of str to int
        Bytes of all files that each team submitted, equal files counted every time.
    time : str
        Time of the last entry, ISO 8601; empty if there is none.
    """

    size: int = 0
    number: int = 0
    hash: str = GENESIS
    lasting: tuple[LogEntry, ...] = ()
    sent: dict[str, int] = field(default_factory=dict)
    time: str = ""

    def after(self, entry: LogEntry, size: int) -> Head:
        """The head after a further entry of `size` bytes."""
        lasting = (*self.lasting, entry) if entry.lasting else self.lasting
        sent = self.sent
        if entry.kind == "submitted" and "bytes" in entry.details:
            team = entry.details["team"]
            sent = {**sent, team: sent.get(team, 0) + entry.details["bytes"]}
        return Head(self.size + size, entry.number, entry.hash, lasting, sent, entry.time)


class Log:
    """Log in a file.

    Parameters
    ----------
    path : Path
        The file. Its lock and checkpoint files have the same name with ``.lock`` and ``.checkpoint`` appended.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._checkpoint = path.with_name(path.name + ".checkpoint")
        self._cached: tuple[Any, Head, Any] = None, Head(), hashlib.sha256()
        self._parsed: tuple[Head, Any, list[LogEntry]] = Head(), hashlib.sha256(), []

    def locked(self) -> AbstractContextManager[int]:
        """Lock the tournament, so that no other process appends; see `locked_file`."""
        return locked_file(self.path.with_name(f"{self.path.name}.lock"))

    def entries(self) -> list[LogEntry]:
        """All entries, verified; only lines are parsed that were added since the last call."""
        data, (head, digest, known) = self.complete(), self._parsed
        if not _begins(data, head, digest):
            head, digest, known = Head(), hashlib.sha256(), []
        digest, entries = digest.copy(), [*known]
        for line in data[head.size :].splitlines(keepends=True):
            entry = self._following(head, line)
            entries.append(entry)
            head = Head(head.size + len(line), entry.number, entry.hash)
            digest.update(line)
        self._parsed = head, digest, entries
        return entries

    def head(self) -> Head:
        """End of the log; only lines are parsed that were added since the last call, or after the checkpoint."""
        stamp = self.stamp()
        known, head, digest = self._cached
        if known == stamp:
            return head
        data = self.complete()
        if not head.size or not _begins(data, head, digest):
            head, digest = self._verified(data)
        digest = digest.copy()
        for line in data[head.size :].splitlines(keepends=True):
            head = head.after(self._following(head, line), len(line))
            digest.update(line)
        self._cached = (stamp, head, digest)
        return head

    def append(self, kind: str, details: Mapping[str, Any], now: datetime) -> LogEntry:
        """Append an entry, safe on the disk when this returns; the lock must be held."""
        head = self.head()
        time, details = now.isoformat(timespec="seconds"), dict(details)
        if head.time and datetime.fromisoformat(time) < datetime.fromisoformat(head.time):
            time, details["arrived"] = head.time, time
        entry = LogEntry(head.number + 1, time, kind, details, head.hash, "")
        entry = replace(entry, hash=_hash(entry))
        line = json.dumps(vars(entry), sort_keys=True, ensure_ascii=False).encode() + b"\n"
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        with named_file(self.path):
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
        """Update the cached head, and from time to time the checkpoint."""
        digest = self._cached[2]
        digest.update(line)
        self._cached = (self.stamp(), head, digest)
        if head.number % CHECKPOINT_EVERY == 0:
            content = {
                **vars(head),
                "lasting": [vars(entry) for entry in head.lasting],
                "sha256": digest.hexdigest(),
            }
            # The entry is accepted even if the disk has no room for a checkpoint.
            with suppress(OSError):
                write_atomically(self._checkpoint, json.dumps(content).encode())

    def _verified(self, data: bytes) -> tuple[Head, Any]:
        """The checkpoint's head and running hash if the log still begins with the same bytes; else an empty head."""
        try:
            content = json.loads(self._checkpoint.read_bytes())
            checkpoint_hash = content.pop("sha256")
            sent = {str(team): int(count) for team, count in content["sent"].items()}
            lasting = tuple(LogEntry(**one) for one in content["lasting"])
            head = Head(**{**content, "lasting": lasting, "sent": sent, "time": str(content["time"])})
            digest = hashlib.sha256(data[: head.size])
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return Head(), hashlib.sha256()
        return (head, digest) if digest.hexdigest() == checkpoint_hash else (Head(), hashlib.sha256())

    def _following(self, head: Head, line: bytes) -> LogEntry:
        try:
            entry = LogEntry(**json.loads(line))
        except (ValueError, TypeError):
            entry = None
        expected = (head.number + 1, head.hash)
        if entry is None or (entry.number, entry.previous) != expected or entry.hash != _hash(entry):
            raise DamagedFileError(f"{self.path}, line {head.number + 1}: was changed after it was written")
        return entry

    def complete(self) -> bytes:
        """Complete lines, up to the last line break."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return b""
        return data[: data.rfind(b"\n") + 1]

    def stamp(self) -> tuple[int, ...]:
        """Fingerprint of the file's state; see `file_stamp`."""
        return file_stamp(self.path)


def _begins(data: bytes, head: Head, digest: Any) -> bool:
    """Whether a log begins with the bytes up to a head, given their running hash."""
    return len(data) >= head.size and hashlib.sha256(data[: head.size]).digest() == digest.digest()


def _write(handle: int, data: bytes, offset: int) -> None:
    while data:
        written = os.pwrite(handle, data, offset)
        data, offset = data[written:], offset + written


def _hash(entry: LogEntry) -> str:
    content = {name: value for name, value in vars(entry).items() if name != "hash"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
