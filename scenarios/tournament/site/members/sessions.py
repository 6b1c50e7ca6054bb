"""Sessions of users who have logged in."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from datetime import datetime, timedelta

from scenarios.tournament.site.members.account_store import AccountStore
from scenarios.tournament.site.members.secret_token import new_token, token_hash

IDLE, LONGEST = timedelta(hours=12), timedelta(days=7)
"""A session ends when it was idle for the first time, and at the latest after the second."""
_TOUCH = timedelta(minutes=5)
"""How much the recorded moment of the last visit may lag, so that most visits write nothing."""


class Sessions:
    """Sessions in the database; it holds the hashes of their tokens only.

    Parameters
    ----------
    store : AccountStore
        The database.
    """

    def __init__(self, store: AccountStore) -> None:
        self._store = store

    def start(self, name: str, now: datetime) -> str:
        """Start a session and return its token. Sessions that have expired are removed."""
        token = new_token()
        moment = now.timestamp()
        with self._store.transaction() as database:
            database.execute(
                "DELETE FROM sessions WHERE seen < ? OR started < ?",
                (moment - IDLE.total_seconds(), moment - LONGEST.total_seconds()),
            )
            database.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", (token_hash(token), name, moment, moment))
        return token

    def name(self, token: str, now: datetime) -> str | None:
        """Name of the user of a session; None if there is no such session or it has expired."""
        moment, key = now.timestamp(), token_hash(token)
        with self._store.reading() as database:
            row = database.execute(
                "SELECT name, seen FROM sessions WHERE hash = ? AND seen >= ? AND started >= ?",
                (key, moment - IDLE.total_seconds(), moment - LONGEST.total_seconds()),
            ).fetchone()
        if row is None:
            return None
        if moment - row[1] > _TOUCH.total_seconds():
            # Pages are shown even if the disk is full or read-only.
            with suppress(sqlite3.OperationalError), self._store.transaction() as database:
                database.execute("UPDATE sessions SET seen = ? WHERE hash = ?", (moment, key))
        return str(row[0])

    def end(self, token: str) -> None:
        """End a session."""
        with self._store.transaction() as database:
            database.execute("DELETE FROM sessions WHERE hash = ?", (token_hash(token),))

    def end_all(self, name: str) -> None:
        """End all sessions of a user."""
        with self._store.transaction() as database:
            database.execute("DELETE FROM sessions WHERE name = ?", (name,))
