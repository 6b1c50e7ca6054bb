"""Private database of accounts, invitations and sessions."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from metrics.columns import PRIVATE, refuse

# Random tokens of sessions, invitations and forms, and their hashes.


def new_token() -> str:
    """A random token of 256 bits, in letters that may stand in a URL."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> bytes:
    """Hash of a token, shape (32,) bytes. The token has 256 random bits, so a fast hash suffices."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def form_token(cookie: str) -> str:
    """Token that a form must send back, derived from the browser's secret cookie (a keyed hash)."""
    return hmac.new(cookie.encode("utf-8", "replace"), b"form", hashlib.sha256).hexdigest()


def same_form_token(cookie: str, sent: str) -> bool:
    """Whether a form sent the token of its browser's cookie; compared in constant time."""
    return hmac.compare_digest(form_token(cookie).encode(), sent.encode("utf-8", "replace"))


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
        refuse(mode & 0o077, f"{path}: may be read by other users; `chmod 600 {path}` mends that")
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

    def write(self, query: str, *values: object) -> None:
        """Carry out one statement that changes something."""
        with self.transaction() as database:
            database.execute(query, values)

    def row(self, query: str, *values: object) -> tuple[Any, ...] | None:
        """First row of a query; None without any."""
        with self.reading() as database:
            found: tuple[Any, ...] | None = database.execute(query, values).fetchone()
        return found

    def _connection(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None)


class AccountPart:
    """A part of what the store of accounts holds.

    Parameters
    ----------
    store : AccountStore
        The store.
    """

    def __init__(self, store: AccountStore) -> None:
        self._store = store
