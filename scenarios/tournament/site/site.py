"""What the pages of a tournament's site share, one request with its visitor, and forms that are carried out once."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from scenarios.tournament.host.scoring_queue import ScoringQueue
from scenarios.tournament.rules import Tournament, last_number
from scenarios.tournament.site.account_store import Role, User, form_token
from scenarios.tournament.site.accounts import Accounts, Passwords, Rates
from scenarios.tournament.site.journal import Journal, LiveUpdates, SiteState
from scenarios.tournament.site.posted_form import PostedForm, clear_uploads
from scenarios.tournament.site.refusal_error import noticing_damage
from scenarios.tournament.site.timed_protocol import ARRIVED
from scenarios.tournament.site.workers import Workers

# Actions that run once, however often their form is sent.

# Turns of teams: what a team does is carried out in the order in which it arrives.

PATIENCE = 1.0
"""Longest time in seconds that a decision of the host waits for uploads in work; they count in any case."""
Answer = TypeVar("Answer")


class Turns:
    """Lets actions of one team wait for each other, so that the last upload counts even if an earlier one takes longer.

    Parameters
    ----------
    teams : iterable of str
        All teams.
    """

    def __init__(self, teams: Iterable[str]) -> None:
        self._locks = {team: asyncio.Lock() for team in sorted(teams)}

    def of(self, team: str) -> asyncio.Lock:
        """Wait for what the team began before; later actions of the team wait for the end of the block."""
        return self._locks[team]

    @asynccontextmanager
    async def after(self, team: str, first: Awaitable[Answer]) -> AsyncIterator[Answer]:
        """Like `of`, for an action that does something first, without waiting for its turn; yields the outcome of that.

        The place among the team's actions is taken before.
        """
        lock = self._locks[team]
        taken = asyncio.ensure_future(lock.acquire())
        try:
            outcome = await first
            await taken
            yield outcome
        finally:
            _give_back(lock, taken)

    @asynccontextmanager
    async def of_all(self) -> AsyncIterator[None]:
        """Wait for what all teams began before, at most `PATIENCE`; their later actions wait for the end of the block.

        A team that sends very many files delays the host by no more than that. Other teams are waited for all the same.
        """
        waiting = [(lock, asyncio.ensure_future(lock.acquire())) for lock in self._locks.values()]
        try:
            await asyncio.wait([taken for _, taken in waiting], timeout=PATIENCE)
            yield
        finally:
            for lock, taken in waiting:
                _give_back(lock, taken)


def _give_back(lock: asyncio.Lock, taken: asyncio.Future[Any]) -> None:
    """Release a lock that was taken, or no longer wait for it."""
    if not taken.done():
        taken.cancel()
    elif not taken.cancelled():
        lock.release()


_MOST_BYTES = 16 << 20
"""Bytes of outcomes that are remembered."""
_OVERHEAD = 1000
"""Bytes that an outcome takes beyond its own, at most."""
FormOutcome = dict[str, Any]


class FormKey(NamedTuple):
    """What tells a form that is sent again from another one.

    Attributes
    ----------
    user : str
        Name of the user.
    number : str
        Random number in the form; empty if it has none.
    path : str
        Where it was sent.
    fingerprint : str
        Hash of its fields and files.
    """

    user: str
    number: str
    path: str
    fingerprint: str


class Once:
    """Runs an action once for each form with the same content, and remembers its outcome.

    A form carries a random number. A double click, a reload or the back button sends the same number again, and gets
    the outcome of the first time. If the first time was refused or the content differs, the action runs again.
    Outcomes are remembered for each user apart, until the server stops or newer ones take their room.

    Parameters
    ----------
    most_bytes : int
        Bytes that all outcomes together take at most; the last one is remembered in any case.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._running: dict[FormKey, asyncio.Task[FormOutcome]] = {}
        # Outcomes of forms that were accepted, and the last outcome of each number, as bytes, whose number is known.
        self._kept: OrderedDict[FormKey | tuple[str, str], bytes] = OrderedDict()
        self._most_bytes, self._bytes = most_bytes, 0

    async def run(self, key: FormKey, action: Callable[[], Awaitable[FormOutcome]]) -> FormOutcome:
        """FormOutcome of the action of a form; its item ``done`` says whether it was accepted.

        Without a number in the form the action always runs.
        """
        if not key.number:
            return await action()
        done = self._known(key)
        if done is None:
            task = self._running.get(key)
            if task is None:
                # A task of its own: a browser that closes the connection does not interrupt the action.
                task = self._running[key] = asyncio.ensure_future(self._carried_out(key, action))
            return await asyncio.shield(task)
        self._keep((key.user, key.number), done)
        return done

    def seen(self, user: str, number: str) -> FormOutcome | None:
        """Last outcome of a user's form with a number; None if it is not known."""
        return self._known((user, number))

    async def _carried_out(self, key: FormKey, action: Callable[[], Awaitable[FormOutcome]]) -> FormOutcome:
        try:
            outcome = await action()
        finally:
            del self._running[key]
        if outcome.get("done"):
            self._keep(key, outcome)
        self._keep((key.user, key.number), outcome)
        return outcome

    def _known(self, key: FormKey | tuple[str, str]) -> FormOutcome | None:
        kept = self._kept.get(key)
        return None if kept is None else pickle.loads(kept)  # noqa: S301 (this process wrote it)

    def _keep(self, key: FormKey | tuple[str, str], outcome: FormOutcome) -> None:
        """Remember an outcome, and forget the oldest ones that exceed the room."""
        data = pickle.dumps(outcome)
        self._bytes += len(data) + _OVERHEAD
        former = self._kept.pop(key, None)
        if former is not None:
            self._bytes -= len(former) + _OVERHEAD
        self._kept[key] = data
        while self._bytes > self._most_bytes and len(self._kept) > 1:
            self._bytes -= len(self._kept.popitem(last=False)[1]) + _OVERHEAD


# Cache of pages that many visitors see.

_MOST = 500
"""Number of pages that are kept."""


class PageCache:
    """Keeps a page as long as the state on which it depends; simultaneous visitors wait for one rendering."""

    def __init__(self) -> None:
        self._pages: dict[Hashable, tuple[Hashable, asyncio.Future[bytes]]] = {}

    async def get(self, name: Hashable, state: Hashable, render: Callable[[], Awaitable[bytes]]) -> bytes:
        """The page of a name and state; it is rendered once for each state."""
        kept = self._pages.get(name)
        if kept is None or kept[0] != state:
            if len(self._pages) >= _MOST:
                self._pages.clear()
            kept = state, asyncio.ensure_future(render())
            self._pages[name] = kept
        try:
            return await asyncio.shield(kept[1])
        except BaseException:
            if kept[1].done() and self._pages.get(name) is kept:
                del self._pages[name]
            raise


Arguments = ParamSpec("Arguments")
Outcome = TypeVar("Outcome")
_HASHED_AT_ONCE = 2
"""Passwords that are hashed at once; each takes 64 MiB of memory."""


class Site:
    """What the pages of a tournament's site share.

    Parameters
    ----------
    folder : Path
        The tournament's folder.
    processes : int
        Number of worker processes; 0 uses threads.
    secure : bool
        Whether visitors come by TLS, here or at a proxy.
    passwords : Passwords, optional
        Hashes passwords.
    scoring : ScoringQueue, optional
        Scores in the background; by default nothing does.
    clock : callable, optional
        Returns the current time with a time zone; deadlines hold by it.
    seconds : callable, optional
        The monotonic clock, by which rates are limited.
    advances : bool
        Whether each phase is closed at its end; otherwise the host closes it.

    Raises
    ------
    ValueError
        If there is no tournament, or its settings or accounts are damaged.
    """

    def __init__(
        self,
        folder: Path,
        *,
        processes: int = 2,
        secure: bool = False,
        passwords: Passwords | None = None,
        scoring: ScoringQueue | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        seconds: Callable[[], float] = time.monotonic,
        advances: bool = False,
    ) -> None:
        tournament = Tournament(folder)
        self.folder = tournament.folder
        self.settings = tournament.settings
        self.teams = frozenset(tournament.settings.teams)
        self.scoring, self.scores = scoring or ScoringQueue(self.folder), scoring is not None
        self.secure, self.clock, self.advances = secure, clock, advances
        self.rates = Rates(seconds)
        self.accounts = Accounts(tournament.host, tournament.settings.teams, passwords, self.rates)
        self.journal = Journal(self.folder)
        self.workers = Workers(processes, "scenarios.tournament.site.jobs")
        self.once = Once()
        self.turns = Turns(self.teams)
        self.previewing: set[str] = set()
        self._last_upload = max(time.time_ns(), last_number(tournament))
        self.pages = PageCache()
        self.updates = LiveUpdates(self.journal)
        self.uploads = tournament.host / "uploads"
        clear_uploads(self.uploads)
        self._hashing = ThreadPoolExecutor(_HASHED_AT_ONCE, "passwords")

    async def state(self) -> SiteState:
        """Current state of the tournament."""
        with noticing_damage(self.folder):
            known = self.journal.known(self.journal.stamp())
            return await to_thread.run_sync(self.journal.state) if known is None else known

    async def work(
        self,
        job: Callable[Concatenate[Path, Arguments], Outcome],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Outcome:
        """Outcome of a job in a worker process; its first argument is the tournament's folder."""
        with noticing_damage(self.folder):
            return await self.workers.outcome(job, self.folder, *args, **kwargs)

    def next_upload(self) -> int:
        """Number of an upload that has just arrived, larger than those of all before it."""
        self._last_upload += 1
        return self._last_upload

    async def hashing(self, function: Callable[..., Outcome], *args: object) -> Outcome:
        """Outcome of a function that hashes passwords; few of them run at once, since each takes much memory."""
        return await asyncio.get_running_loop().run_in_executor(self._hashing, function, *args)

    def stop(self) -> None:
        """End all workers."""
        self.scoring.stop()
        self.workers.stop()
        self._hashing.shutdown(wait=False, cancel_futures=True)


# One request with its visitor.


@dataclass(frozen=True)
class Visit:
    """One request, with what is known about its visitor.

    Attributes
    ----------
    request : Request
        The request.
    site : Site
        The site.
    user : User
        The visitor; a guest if nobody has logged in.
    cookie : str
        Secret cookie from which the tokens of forms are derived; empty if pages without forms only are visited.
    form : PostedForm
        The posted form; empty for other requests.
    """

    request: Request
    site: Site
    user: User
    cookie: str = ""
    form: PostedForm = field(default_factory=lambda: PostedForm({}))

    @property
    def arrived(self) -> datetime:
        """When the last byte of the request arrived, by the server's clock; the body must have been read."""
        now = asyncio.get_running_loop().time()
        return self.site.clock() - timedelta(seconds=now - self.request.scope.get(ARRIVED, now))

    @property
    def wants_json(self) -> bool:
        """Whether the answer is for a script."""
        accepted = self.request.headers.get("accept", "")
        return "application/json" in accepted and "text/html" not in accepted

    @property
    def form_token(self) -> str:
        """Token that the page's forms send back."""
        return form_token(self.cookie) if self.cookie else ""

    @property
    def form_key(self) -> FormKey:
        """What tells this form, sent again, from another one."""
        return FormKey(self.user.name, self.form.text("once")[:64], self.request.url.path, self.form.fingerprint)

    def outcome(self) -> dict[str, Any] | None:
        """Outcome of the form whose number the address names as ``seen``; None if it is not known."""
        return self.site.once.seen(self.user.name, self.request.query_params.get("seen", ""))

    @property
    def team(self) -> str:
        """Team that the address names."""
        return str(self.request.path_params["team"])

    @property
    def is_host(self) -> bool:
        """Whether the visitor is the host."""
        return self.user.role is Role.HOST

    @property
    def address(self) -> str:
        """The visitor's network address, for rate limits."""
        client = self.request.client
        return client.host if client else "unknown"


Handler = Callable[[Visit], Awaitable[Response]]


# Cookies of the site.

SESSION, FORM, DEVICE, TONGUE = "session", "form", "browser", "language"


def cookie_name(site: Site, kind: str) -> str:
    """Name of a cookie. With TLS its prefix makes browsers refuse one that another host or page without TLS sets."""
    return f"__Host-{kind}" if site.secure else f"tokumei-{kind}"


def read_cookie(request: Request, site: Site, kind: str) -> str:
    """Content of a cookie; empty if the browser sent none."""
    return request.cookies.get(cookie_name(site, kind), "")[:200]


def set_cookie(response: Response, site: Site, kind: str, content: str, *, lasts: timedelta | None = None) -> None:
    """Set a cookie that scripts cannot read and that other sites' requests do not carry.

    It ends with the browser unless `lasts` says when.
    """
    response.set_cookie(
        cookie_name(site, kind),
        content,
        max_age=None if lasts is None else round(lasts.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=site.secure,
        path="/",
    )


def remove_cookie(response: Response, site: Site, kind: str) -> None:
    """Remove a cookie."""
    response.delete_cookie(cookie_name(site, kind), httponly=True, samesite="lax", secure=site.secure, path="/")
