"""Accounts of a tournament's site: log-in, invitations, sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from scenarios.tournament.site.account_store import FILE, AccountStore
from scenarios.tournament.site.attempts import Attempts, RateLimit
from scenarios.tournament.site.invitations import Invitations
from scenarios.tournament.site.passwords import Passwords, check_password
from scenarios.tournament.site.refusal_error import RefusalError
from scenarios.tournament.site.sessions import Sessions
from scenarios.tournament.site.user import User, user_of

_QUARTER = timedelta(minutes=15)
BY_NAME_AND_ADDRESS = RateLimit(10, _QUARTER)
BY_NAME = RateLimit(100, _QUARTER)
"""Generous, since anybody could exhaust it to lock a team out."""
BY_ADDRESS = RateLimit(200, _QUARTER)
"""Generous, since a whole class may share one address."""


class Accounts:
    """Accounts of the host and the teams.

    Parameters
    ----------
    folder : Path
        The host's folder.
    teams : sequence of str
        Names of the teams.
    passwords : Passwords, optional
        Hashes passwords.

    Raises
    ------
    ValueError
        If the database is damaged or can be read by others.
    """

    def __init__(self, folder: Path, teams: Sequence[str], passwords: Passwords | None = None) -> None:
        self._store = AccountStore(folder / FILE)
        self._teams = teams
        self._passwords = passwords or Passwords()
        self.invitations = Invitations(self._store)
        self.sessions = Sessions(self._store)
        self.attempts = Attempts(self._store)

    def user(self, token: str, now: datetime) -> User | None:
        """User of a session; None if it has ended, or if its team is gone."""
        name = self.sessions.name(token, now)
        return None if name is None else user_of(name, self._teams)

    def log_in(self, name: str, password: str, address: str, now: datetime) -> str:
        """Check name and password; return the token of a new session.

        The refusal is the same for a wrong name and a wrong password, and takes the same time.

        Raises
        ------
        RefusalError
            If they do not match, or after too many attempts.
        """
        user = user_of(name[:100], self._teams)
        known_name = user.name if user else name[:100].strip().casefold()
        self._admit(known_name, address, now)
        stored = self._stored(user.name) if user else None
        if not self._passwords.verify(stored, password[:1000]) or user is None:
            raise RefusalError(401, "name or password is wrong; if the password is lost, ask the host for a new link")
        self.attempts.forget([f"log-in {known_name} {address}"])
        return self.sessions.start(user.name, now)

    def accept(self, token: str, password: str, repeated: str, address: str, now: datetime) -> str:
        """Use an invitation: set the password, and return the token of a new session.

        A double click sends the same form twice. The second one logs in if the password matches the first one's.

        Raises
        ------
        RefusalError
            If the invitation is unknown, expired or used, the password is too weak, or after too many attempts.
        """
        invited = self.invitations.find(token, now)
        if invited is None:
            raise RefusalError(404, "this link is not valid (any more); ask the host for a new one")
        name, used = invited
        if not used:
            try:
                check_password(password, repeated, name)
            except ValueError as error:
                raise RefusalError(422, str(error)) from None
            if self.invitations.redeem(token, self._passwords.hash(password), now) is not None:
                return self.sessions.start(name, now)
        self._admit(name, address, now)
        if not self._passwords.verify(self._stored(name), password[:1000]):
            raise RefusalError(409, "this link was used already; log in, or ask the host for a new one")
        return self.sessions.start(name, now)

    def _admit(self, name: str, address: str, now: datetime) -> None:
        """Count an attempt to log in."""
        keys = {
            f"log-in {name} {address}": BY_NAME_AND_ADDRESS,
            f"log-in {name}": BY_NAME,
            f"log-in from {address}": BY_ADDRESS,
        }
        wait = self.attempts.admit(keys, now)
        if wait is not None:
            raise RefusalError.too_many("attempts to log in", wait)

    def _stored(self, name: str) -> str | None:
        with self._store.reading() as database:
            row = database.execute("SELECT hash FROM passwords WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])
