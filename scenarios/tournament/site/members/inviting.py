"""Inviting the host and the teams to set their passwords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from jinja2 import Environment

from metrics.columns import PRIVATE, refuse, write_atomically
from scenarios.tournament.rules.folder import Tournament
from scenarios.tournament.site.members.account_store import FILE, AccountPart, AccountStore, new_token, token_hash
from scenarios.tournament.site.members.user import host_name

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


# Sheet of invitations to print.

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Invitations: {{ title }}</title>
<style>
body { font: 14pt/1.5 system-ui, sans-serif; margin: 2rem; }
section { break-inside: avoid; border: 1px solid; padding: 1rem; margin-bottom: 1.5rem; }
code { overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>Invitations</h1>
<p>{{ title }}</p>
{% for one in invitations %}
<section>
<h2>{{ one.title }}</h2>
<p>You log in as <strong>{{ one.name }}</strong>. Set your password here:</p>
<p><code>{{ one.address }}</code></p>
<p>The link works once, until {{ one.until.strftime("%Y-%m-%d %H:%M") }} UTC. Do not hand it on.</p>
</section>
{% endfor %}
</body>
</html>
"""


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


def invitations_page(title: str, invitations: Sequence[Invitation]) -> str:
    """A page to print, which each user gets a part of."""
    template = Environment(autoescape=True).from_string(_PAGE)
    return template.render(title=title, invitations=invitations) + "\n"


_ADDRESS = "site.address"


def invite(
    folder: Path, names: Sequence[str], now: datetime, *, address: str, lifetime: timedelta = LIFETIME
) -> list[Invitation]:
    """Issue a one-time link for each user; earlier unused links of these users end.

    Parameters
    ----------
    folder : Path
        The tournament's folder.
    names : sequence of str
        Teams, or the host's log-in name.
    now : datetime
        Current time, with a time zone.
    address : str
        Address of the site, such as ``https://cup.example.org``.
    lifetime : timedelta
        How long the links are valid.

    Raises
    ------
    ValueError
        If there is no such user, or the address is none of a site.
    """
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
            "Host" if name == host else titles[name],
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
    """What keeps teams from a further link, in words; empty if nothing does.

    Parameters
    ----------
    accounts : mapping of str to str
        State of each account; see `team_accounts`.
    """
    parts = []
    for state, what in (("has a password", "a password"), ("invited", "a valid link")):
        count = sum(one == state for one in accounts.values())
        parts += [f"{count} {'has' if count == 1 else 'have'} {what}"] if count else []
    return ", ".join(parts)


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
