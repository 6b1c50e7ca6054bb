"""A tournament's site for tests: visitors with browsers of their own, and a clock that tests move."""

import re
import shutil
from contextlib import contextmanager
from datetime import timedelta

from argon2 import PasswordHasher
from starlette.testclient import TestClient
from tournament_tools import START, Played, opened

from scenarios.tournament.rules.folder import Tournament, csv_bytes
from scenarios.tournament.site.accounts import Passwords
from scenarios.tournament.site.application import application
from scenarios.tournament.site.site import Site

TEAMS = ("kyoto", "osaka", "nara")
PASSWORD = "correct horse battery"
HOUR = timedelta(hours=1)
ORIGINALS = 10
"""Rows of a table; 12 would cost twice as much as 10 or 13 to score, since matchings of up to 12 are enumerated."""
JSON = {"Accept": "application/json"}


class Clock:
    """The server's clock, which tests set."""

    def __init__(self, now=START + HOUR):
        self.now = now

    def __call__(self):
        return self.now


class Visitor:
    """A visitor with a browser: cookies, and the tokens of forms."""

    def __init__(self, client):
        self.client = client

    def get(self, path, **given):
        return self.client.get(path, **given)

    def token(self, page="/log-in"):
        """Token of the forms that this browser sees."""
        found = re.search(r'name="form_token" value="([^"]+)"', self.get(page).text)
        return found[1] if found else ""

    def post(self, path, data=None, *, page="/account", files=None, token=None, **given):
        fields = {"form_token": self.token(page) if token is None else token, **(data or {})}
        return self.client.post(path, data=fields, files=files, **given)

    def stream(self, path, chunks, **headers):
        """Post a body chunk by chunk, as the server receives it; return status and answer.

        The test client itself reads a whole body before it calls the application.
        """
        request = self.client.build_request("POST", path, headers=headers)
        waiting, sent = iter(chunks), []
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "scheme": "http",
            "headers": [(key.lower(), value) for key, value in request.headers.raw],
            "client": ("testclient", 50000),
            "server": ("testserver", 80),
        }

        async def receive():
            chunk = next(waiting, None)
            return {"type": "http.request", "body": chunk or b"", "more_body": chunk is not None}

        async def send(message):
            sent.append(message)

        self.client.portal.call(self.client.app, scope, receive, send)
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)

    def upload(self, team, *contents, names=None, data=None, **given):
        files = [
            ("file", (names[n] if names else f"{team}_anonymized.csv", content, "text/csv"))
            for n, content in enumerate(contents)
        ]
        return self.post(f"/team/{team}/upload", data, files=files, headers=JSON, **given)


class Served:
    """A tournament with its site."""

    def __init__(self, folder, **given):
        self.clock = Clock()
        self.seconds = 0.0
        self.folder = folder
        passwords = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        given = {"seconds": lambda: self.seconds, **given}
        self.site = Site(folder, processes=0, passwords=passwords, clock=self.clock, **given)
        self.app = application(self.site)
        self.played = Played(Tournament(folder))
        self.portal = None

    def visitor(self):
        client = TestClient(self.app, follow_redirects=False)
        # One event loop serves all visitors, as in the server.
        client.portal = self.portal
        return Visitor(client)

    def invitation(self, name):
        return "/invitation/" + self.site.accounts.invitations.issue(name, self.clock())

    def member(self, name):
        """A visitor who has set a password, and so has logged in."""
        visitor, path = self.visitor(), self.invitation(name)
        answer = visitor.post(path, {"password": PASSWORD, "repeated": PASSWORD}, page=path)
        assert answer.status_code == 303, answer.text
        return visitor

    def table(self, team, **changed):
        """A valid table as CSV."""
        return csv_bytes(self.played.frame(team).assign(**changed))

    def log(self):
        return self.played.tournament.log.entries()


@contextmanager
def served(prepared, folder, **given):
    """The site of a copy of a prepared tournament."""
    shutil.copytree(prepared, folder)
    one = Served(folder, **given)
    with TestClient(one.app) as running:
        one.portal = running.portal
        yield one


def prepare(folder):
    """A tournament in the first phase."""
    return opened(folder, TEAMS, originals=ORIGINALS, candidates=2 * ORIGINALS).tournament.folder


def prepare_attacks(folder):
    """A tournament in the attack phase, without a table of nara."""
    cup = opened(folder, TEAMS, originals=ORIGINALS, candidates=2 * ORIGINALS)
    for team in ("kyoto", "osaka"):
        cup.hand_in(team, cup.frame(team))
    cup.publish()
    return cup.tournament.folder
