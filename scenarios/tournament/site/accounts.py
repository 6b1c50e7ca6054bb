"""Log-in: passwords, sessions, known browsers, and rate limits."""

from __future__ import annotations

import sqlite3
import threading
import time
import unicodedata
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from metrics.columns import Sentence, refuse, require
from scenarios.tournament.site.account_store import (
    FILE,
    AccountPart,
    AccountStore,
    Invitations,
    User,
    new_token,
    token_hash,
    user_of,
)
from scenarios.tournament.site.refusal_error import RefusalError, found, refuse_if

# Rate limits by counting recent attempts.

_MOST_KEYS = 10_000
"""Number of keys beyond which old ones are forgotten."""
_FORGOTTEN = 3600.0
"""Seconds after which an attempt may be forgotten; no limit is about a longer time."""


@dataclass(frozen=True)
class RateLimit:
    """Largest number of attempts within a time.

    Attributes
    ----------
    most : int
        Number of attempts.
    within : timedelta
        The time.
    """

    most: int
    within: timedelta


class Rates:
    """Counts recent attempts by key, such as a user and an address of the site, until the server stops.

    Times are those of a clock that nobody sets, so that a clock that is set back locks nobody out. A database would
    write to the disk at each upload, and a hundred simultaneous uploads would wait for its lock.

    Parameters
    ----------
    seconds : callable, optional
        The monotonic clock, in seconds.
    """

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._times: dict[str, deque[float]] = {}

    def admit(self, limits: Mapping[str, RateLimit]) -> timedelta | None:
        """Count one attempt under several keys at once; if one of them is exhausted, return how long to wait."""
        with self._lock:
            moment = self._seconds()
            if len(self._times) > _MOST_KEYS:
                self._times = {key: times for key, times in self._times.items() if times[-1] > moment - _FORGOTTEN}
            exhausted = (
                (self._times[key][0], limit)
                for key, limit in limits.items()
                if len(self._times.get(key, ())) == limit.most
            )
            wait = max((first + limit.within.total_seconds() - moment for first, limit in exhausted), default=0.0)
            if wait > 0:
                return timedelta(seconds=wait)
            for key, limit in limits.items():
                self._times.setdefault(key, deque(maxlen=limit.most)).append(moment)
        return None

    def forget(self, key: str) -> None:
        """Forget the attempts under a key, after one succeeded."""
        with self._lock:
            self._times.pop(key, None)


# Hashing of passwords by Argon2id.

SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 200
"""Fewest and most characters of a password."""


class Passwords:
    """Hashes and checks passwords.

    Parameters
    ----------
    hasher : PasswordHasher, optional
        Parameters of Argon2id; the default is that of argon2-cffi (RFC 9106, low memory: 64 MiB, three passes).

    References
    ----------
    A. Biryukov, D. Dinu, D. Khovratovich, S. Josefsson (2021), RFC 9106, section 4.
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._dummy = self._hasher.hash("a password that nobody has")

    def hash(self, password: str) -> str:
        """Hash of a password, with its own random salt."""
        return self._hasher.hash(_normalized(password))

    def verify(self, stored: str | None, password: str) -> bool:
        """Whether a password has the stored hash.

        Without a stored hash, a dummy hash is checked and the answer is False. Time therefore does not reveal whether
        the account exists.
        """
        try:
            matches = self._hasher.verify(stored or self._dummy, _normalized(password))
        except (VerificationError, InvalidHashError):
            return False
        return matches and stored is not None


def check_password(password: str, repeated: str, name: str) -> None:
    """Check a new password."""
    require(
        SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD,
        Sentence(
            "a password has {shortest} to {longest} characters, this one has {count}",
            shortest=SHORTEST_PASSWORD,
            longest=LONGEST_PASSWORD,
            count=len(password),
        ),
    )
    refuse(
        len(set(password)) < 4 or password.casefold().replace(name.casefold(), "") == "",
        Sentence("the password is too easy to guess; take several words, for example"),
    )
    refuse(password != repeated, Sentence("the two passwords differ; write the same one twice"))


def _normalized(password: str) -> str:
    """One form for the same characters, however a keyboard composes them."""
    return unicodedata.normalize("NFKC", password)


# Browsers in which users have logged in before, whose attempts to log in are counted apart.

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
        query = "SELECT 1 FROM devices WHERE hash = ? AND name = ? AND since >= ?"
        return bool(token) and self._store.row(query, token_hash(token), name, _oldest(now)) is not None

    def remember(self, token: str, name: str, now: datetime) -> str:
        """Remember that a user has logged in; return the browser's cookie, a new one if it had none of ours."""
        with self._store.transaction() as database:
            database.execute("DELETE FROM devices WHERE since < ?", (_oldest(now),))
            ours = database.execute("SELECT 1 FROM devices WHERE hash = ?", (token_hash(token),)).fetchone()
            token = token if ours else new_token()
            database.execute(
                "INSERT OR REPLACE INTO devices VALUES (?, ?, ?)", (token_hash(token), name, now.timestamp())
            )
        return token


def _oldest(now: datetime) -> float:
    return (now - LIFETIME).timestamp()


# Sessions of users who have logged in.

IDLE, LONGEST = timedelta(hours=12), timedelta(days=7)
"""A session ends when it was idle for the first time, and at the latest after the second."""
_TOUCH = timedelta(minutes=5)
"""How much the recorded moment of the last visit may lag, so that most visits write nothing."""


class Sessions(AccountPart):
    """Sessions in the database; it holds the hashes of their tokens only.

    Parameters
    ----------
    store : AccountStore
        The database.
    """

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
        query = "SELECT name, seen FROM sessions WHERE hash = ? AND seen >= ? AND started >= ?"
        row = self._store.row(query, key, moment - IDLE.total_seconds(), moment - LONGEST.total_seconds())
        if row is None:
            return None
        if moment - row[1] > _TOUCH.total_seconds():
            # Pages are shown even if the disk is full or read-only.
            with suppress(sqlite3.OperationalError):
                self._store.write("UPDATE sessions SET seen = ? WHERE hash = ?", moment, key)
        return str(row[0])

    def end(self, token: str) -> None:
        """End a session."""
        self._store.write("DELETE FROM sessions WHERE hash = ?", token_hash(token))

    def end_all(self, name: str) -> None:
        """End all sessions of a user."""
        self._store.write("DELETE FROM sessions WHERE name = ?", name)


_QUARTER = timedelta(minutes=15)
BY_NAME_AND_PLACE = RateLimit(10, _QUARTER)
"""Attempts at one account from one place: a browser in which the user has logged in before, or else an address.

There is no limit of an account at all places or of a place for all accounts: others could exhaust it to lock users out.
"""
UNKNOWN_BY_ADDRESS = RateLimit(200, _QUARTER)
"""Attempts with names that nobody has, from one address; each takes as long as any other."""


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
    rates : Rates, optional
        Counts attempts to log in.

    Raises
    ------
    ValueError
        If the database is damaged or can be read by others.
    """

    def __init__(
        self, folder: Path, teams: Sequence[str], passwords: Passwords | None = None, rates: Rates | None = None
    ) -> None:
        self._store = AccountStore(folder / FILE)
        self._teams = teams
        self._passwords = passwords or Passwords()
        self.invitations = Invitations(self._store)
        self.sessions = Sessions(self._store)
        self.rates = rates or Rates()
        self.devices = Devices(self._store)

    def user(self, token: str, now: datetime) -> User | None:
        """User of a session; None if it has ended, or if its team is gone."""
        name = self.sessions.name(token, now)
        return None if name is None else user_of(name, self._teams)

    def log_in(self, name: str, password: str, address: str, now: datetime, device: str = "") -> str:
        """Check name and password; return the token of a new session.

        The refusal is the same for a wrong name and a wrong password, and takes the same time. `device` is the cookie
        of the browser, if it has one; see `Devices`.
        """
        user = user_of(name[:100], self._teams)
        known_name = user.name if user else name[:100].strip().casefold()
        place = self._admit(known_name, address, now, device, exists=user is not None)
        stored = self._stored(user.name) if user else None
        if not self._passwords.verify(stored, password[:1000]) or user is None:
            raise RefusalError(
                401, Sentence("name or password is wrong; if the password is lost, ask the host for a new link")
            )
        self.rates.forget(place)
        return self.sessions.start(user.name, now)

    def accept(self, token: str, password: str, repeated: str, address: str, now: datetime, device: str = "") -> str:
        """Use an invitation: set the password, and return the token of a new session.

        A double click sends the same form twice. The second one logs in if the password matches the first one's.
        """
        name, used = found(
            self.invitations.find(token, now), Sentence("this link is not valid (any more); ask the host for a new one")
        )
        if not used:
            try:
                check_password(password, repeated, name)
            except ValueError as error:
                raise RefusalError(422, str(error)) from None
            if self.invitations.redeem(token, self._passwords.hash(password), now) is not None:
                return self.sessions.start(name, now)
        self._admit(name, address, now, device)
        refuse_if(
            not self._passwords.verify(self._stored(name), password[:1000]),
            409,
            Sentence("this link was used already; log in, or ask the host for a new one"),
        )
        return self.sessions.start(name, now)

    def _admit(self, name: str, address: str, now: datetime, device: str, *, exists: bool = True) -> str:
        """Count an attempt to log in; return the key under which those at this account from this place are counted."""
        known = exists and self.devices.knows(device, name, now)
        place = f"log-in {name} " + (f"in browser {device}" if known else network(address))
        limits = {place: BY_NAME_AND_PLACE}
        if not exists:
            limits[f"log-in of nobody from {network(address)}"] = UNKNOWN_BY_ADDRESS
        wait = self.rates.admit(limits)
        if wait is not None:
            raise RefusalError.too_many(
                Sentence("attempts to log in with this name from here"),
                wait,
                Sentence("a new link of the host lets you in at once"),
            )
        return place

    def _stored(self, name: str) -> str | None:
        row = self._store.row("SELECT hash FROM passwords WHERE name = ?", name)
        return None if row is None else str(row[0])


def network(address: str) -> str:
    """What tells an address from others: of IPv6 its network of 64 bits, since whoever has one address has them all."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))
