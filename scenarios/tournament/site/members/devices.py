"""Browsers in which users have logged in before, whose attempts to log in are counted apart."""

from __future__ import annotations

from datetime import datetime, timedelta

from scenarios.tournament.site.members.account_store import AccountPart, new_token, token_hash

LIFETIME = timedelta(days=180)


class Devices(AccountPart):
    """Browsers by a secret cookie; the database holds its hash and the users who logged in with it.

    Whoever guesses a password elsewhere, behind the same address or another one, uses up no attempts of such a browser
    (OWASP, "Slow down online guessing attacks with device cookies").

    Parameters
    ----------
    store : AccountStore
        The database.
    """

    def knows(self, token: str, name: str, now: datetime) -> bool:
        """Whether a user has logged in in the browser with this cookie."""
        if not token:
            return False
        query = "SELECT 1 FROM devices WHERE hash = ? AND name = ? AND since >= ?"
        return self._store.row(query, token_hash(token), name, _oldest(now)) is not None

    def remember(self, token: str, name: str, now: datetime) -> str:
        """Remember that a user has logged in; return the browser's cookie, a new one if it had none of ours."""
        with self._store.transaction() as database:
            database.execute("DELETE FROM devices WHERE since < ?", (_oldest(now),))
            ours = database.execute("SELECT 1 FROM devices WHERE hash = ?", (token_hash(token),)).fetchone()
            token = token if ours else new_token()
            row = (token_hash(token), name, now.timestamp())
            database.execute("INSERT OR REPLACE INTO devices VALUES (?, ?, ?)", row)
        return token


def _oldest(now: datetime) -> float:
    return (now - LIFETIME).timestamp()
