"""One-time invitations, by which members set a password."""

from __future__ import annotations

from datetime import datetime, timedelta

from scenarios.tournament.site.members.account_store import AccountPart, new_token, token_hash

LIFETIME = timedelta(days=14)


class Invitations(AccountPart):
    """One-time invitations in the database; it holds their hashes only.

    Parameters
    ----------
    store : AccountStore
        The database.
    """

    def issue(self, name: str, now: datetime, lifetime: timedelta = LIFETIME) -> str:
        """Issue an invitation for a user and return its token. The user's earlier unused invitations end."""
        token = new_token()
        with self._store.transaction() as database:
            database.execute(
                "DELETE FROM invitations WHERE (name = ? AND used = 0) OR expires < ?", (name, now.timestamp())
            )
            row = (token_hash(token), name, (now + lifetime).timestamp())
            database.execute("INSERT INTO invitations (hash, name, expires) VALUES (?, ?, ?)", row)
        return token

    def find(self, token: str, now: datetime) -> tuple[str, bool] | None:
        """Name of the invited user, and whether the invitation was used; None if there is none that is still valid."""
        query = "SELECT name, used FROM invitations WHERE hash = ? AND expires >= ?"
        row = self._store.row(query, token_hash(token), now.timestamp())
        return None if row is None else (row[0], bool(row[1]))

    def redeem(self, token: str, password_hash: str, now: datetime) -> str | None:
        """Use an invitation: store the password's hash, end all sessions of the user and forget the user's browsers.

        Returns
        -------
        str or None
            Name of the user; None if the invitation is unknown, expired or used.
        """
        with self._store.transaction() as database:
            row = database.execute(
                "UPDATE invitations SET used = 1 WHERE hash = ? AND used = 0 AND expires >= ? RETURNING name",
                (token_hash(token), now.timestamp()),
            ).fetchone()
            if row is None:
                return None
            database.execute(
                "INSERT OR REPLACE INTO passwords VALUES (?, ?, ?)", (row[0], password_hash, now.timestamp())
            )
            database.execute("DELETE FROM sessions WHERE name = ?", row)
            database.execute("DELETE FROM devices WHERE name = ?", row)
        return str(row[0])

    def states(self, now: datetime) -> dict[str, str]:
        """State of each user who has an account or an invitation: ``has a password`` or ``invited``."""
        with self._store.reading() as database:
            invited = database.execute(
                "SELECT name FROM invitations WHERE used = 0 AND expires >= ?", (now.timestamp(),)
            )
            states = {name: "invited" for (name,) in invited}
            return states | {name: "has a password" for (name,) in database.execute("SELECT name FROM passwords")}
