"""Private database of accounts, invitations and sessions."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from metrics.files import PRIVATE

FILE = "accounts.db"
_WAIT = 10.0
"""Seconds to wait for another process that writes."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS passwords (name TEXT PRIMARY KEY, hash TEXT NOT NULL, changed REAL NOT NULL);
CREATE TABLE IF NOT EXISTS invitations (
    hash BLOB PRIMARY KEY, name TEXT NOT NULL, expires REAL NOT NULL, used INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS sessions (
    hash BLOB PRIMARY KEY, name TEXT NOT NULL, started REAL NOT NULL, seen REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS devices (
    hash BLOB NOT NULL, name TEXT NOT NULL, since REAL NOT NULL, PRIMARY KEY (hash, name)
);
CREATE TABLE IF NOT EXISTS attempts (key BLOB NOT NULL, at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS attempts_by_key ON attempts (key, at);
"""


class AccountStore:
    """Database of the site's accounts in one file that only its owner can read.

    It holds hashes of passwords, invitations and sessions, never themselves. Several processes may use it at once.

    Parameters
    ----------
    path : Path
        The file; it is created if there is none.

    Raises
    ------
    ValueError
        If the file is a link, is damaged, or can be read by others.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writing = threading.Lock()
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, PRIVATE)
        except OSError as error:
            raise ValueError(f"{path}: cannot be opened ({error.strerror})") from None
        try:
            mode = os.fstat(handle).st_mode & 0o777
        finally:
            os.close(handle)
        if mode & 0o077:
            raise ValueError(f"{path}: may be read by other users; `chmod 600 {path}` mends that")
        try:
            with closing(self._connection()) as database:
                database.executescript(_SCHEMA)
        except sqlite3.OperationalError as error:
            # The disk is full or read-only, for example, and the accounts are as they were.
            raise ValueError(f"{path}: cannot be used ({error})") from None
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{path}: is damaged ({error}); remove it and invite everybody again") from None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction, which no other one overlaps; it is rolled back if its block raises."""
        # SQLite lets waiting writers try again at random, so that under load one may never succeed; a lock is fair.
        with self._writing, closing(self._connection()) as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:
                database.rollback()
                raise
            database.commit()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection to read from."""
        with closing(self._connection()) as database:
            yield database

    def _connection(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None)
