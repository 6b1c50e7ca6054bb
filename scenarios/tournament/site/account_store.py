"""Users of the site: a private database of their accounts, and the invitations by which they set passwords."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader

from metrics.columns import PRIVATE, Sentence, refuse, write_atomically
from scenarios.tournament.rules import LANGUAGE, Tournament, translated, worded

# People who visit the site, and their roles.


class Role(StrEnum):
    """Role of a visitor, which says what the visitor may see and do."""

    HOST = "host"
    TEAM = "team"
    GUEST = "guest"


@dataclass(frozen=True)
class User:
    """A visitor.

    Attributes
    ----------
    name : str
        Name by which a team or the host logs in; empty for a guest.
    role : Role
        The role.
    """

    name: str
    role: Role


GUEST = User("", Role.GUEST)


def host_name(teams: Sequence[str]) -> str:
    """Name by which the host logs in: ``host``, or ``_host`` if a team bears that name."""
    return "_host" if "host" in {team.casefold() for team in teams} else "host"


def user_of(name: str, teams: Sequence[str]) -> User | None:
    """User with a log-in name; capital and small letters are equal. None if there is no such user."""
    folded = name.strip().casefold()
    if folded == host_name(teams):
        return User(folded, Role.HOST)
    return next((User(team, Role.TEAM) for team in teams if team.casefold() == folded), None)


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
        with os.fdopen(handle):
            mode = os.fstat(handle).st_mode
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


# Inviting the host and the teams to set their passwords.

# One-time invitations, by which members set a password.

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
            database.execute(
                "INSERT INTO invitations (hash, name, expires) VALUES (?, ?, ?)",
                (token_hash(token), name, (now + lifetime).timestamp()),
            )
        return token

    def find(self, token: str, now: datetime) -> tuple[str, bool] | None:
        """Name of the invited user, and whether the invitation was used; None if there is none that is still valid."""
        query = "SELECT name, used FROM invitations WHERE hash = ? AND expires >= ?"
        row = self._store.row(query, token_hash(token), now.timestamp())
        return None if row is None else (row[0], bool(row[1]))

    def redeem(self, token: str, password_hash: str, now: datetime) -> str | None:
        """Use an invitation: store the password's hash, end all sessions of the user and forget the user's browsers."""
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


# Sheet of invitations to print.


@dataclass(frozen=True)
class Invitation:
    """An invitation as it is handed to its user.

    Attributes
    ----------
    name, title : str
        Log-in name, and title of the team.
    address : str
        The one-time link.
    until : datetime
        Until when it is valid, in UTC.
    """

    name: str
    title: str
    address: str
    until: datetime

    @property
    def line(self) -> str:
        """The invitation as a line of text."""
        return f"{self.name}\t{self.address}\tuntil {self.until:%Y-%m-%d %H:%M} UTC"


def invitations_page(title: str, invitations: Sequence[Invitation], language: str = "en") -> str:
    """A page to print, which each user gets a part of; its links lead to pages in the same language."""
    loader, words = PackageLoader("scenarios.tournament.site"), ["jinja2.ext.i18n"]
    environment = Environment(loader=loader, autoescape=True, extensions=words, finalize=worded)
    environment.install_gettext_callables(translated, translated, newstyle=True)  # type: ignore[attr-defined]
    sheet, context = environment.get_template("invitation_sheet.html"), copy_context()
    context.run(LANGUAGE.set, language)
    return context.run(sheet.render, title=title, invitations=invitations, language=language) + "\n"


_ADDRESS = "site.address"


def invite(
    folder: Path, names: Sequence[str], now: datetime, *, address: str, lifetime: timedelta = LIFETIME
) -> list[Invitation]:
    """Issue a one-time link for each user; earlier unused links of these users end."""
    tournament = Tournament(folder)
    base = urlsplit(address)
    refuse(
        base.scheme not in ("http", "https") or not base.netloc or base.path not in ("", "/") or base.query,
        f"--url must be the address of the site such as https://cup.example.org, got {address!r}",
    )
    host = host_name(tournament.settings.teams)
    for name in names:
        if name != host:
            tournament.team_folder(name)
    titles = tournament.state().titles
    invitations = Invitations(AccountStore(tournament.host / FILE))
    return [
        Invitation(
            name,
            Sentence("Host") if name == host else titles[name],
            f"{base.scheme}://{base.netloc}/invitation/{invitations.issue(name, now, lifetime)}",
            now + lifetime,
        )
        for name in names
    ]


def team_accounts(folder: Path, now: datetime) -> dict[str, str]:
    """State of each team's account, as in `Invitations.states`; empty for a team without password and valid link."""
    tournament = Tournament(folder)
    states = Invitations(AccountStore(tournament.host / FILE)).states(now)
    return {team: states.get(team, "") for team in tournament.settings.teams}


def skipped(accounts: Mapping[str, str]) -> str:
    """What keeps teams from a further link, in words; empty if nothing does."""
    counts = Counter(accounts.values())
    return ", ".join(
        f"{counts[state]} {'has' if counts[state] == 1 else 'have'} {what}"
        for state, what in (("has a password", "a password"), ("invited", "a valid link"))
        if counts[state]
    )


def remember_address(folder: Path, address: str) -> None:
    """Keep the address where the site listens, to which later invitations lead."""
    write_atomically(folder / "host" / _ADDRESS, address.encode(), mode=PRIVATE)


def served_address(folder: Path) -> str | None:
    """Address where the site listened last; None if it never did."""
    try:
        return (folder / "host" / _ADDRESS).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None


def without_password(folder: Path, now: datetime) -> list[str]:
    """The host and teams that have no password yet, in this order."""
    tournament = Tournament(folder)
    states = Invitations(AccountStore(tournament.host / FILE)).states(now)
    users = [host_name(tournament.settings.teams), *tournament.settings.teams]
    return [name for name in users if states.get(name) != "has a password"]
