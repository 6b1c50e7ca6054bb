"""The application of a tournament's site, and the server that runs it."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import resource
import shutil
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from multiprocessing.util import get_temp_dir
from pathlib import Path
from urllib.parse import quote

import uvicorn
from anyio import to_thread
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from metrics.columns import Sentence, refuse
from scenarios.running.workers.interrupts import Terminated, terminable
from scenarios.tournament.host.scoring_queue import ScoringQueue
from scenarios.tournament.rules import LANGUAGE, LANGUAGES, preferred, site_locked
from scenarios.tournament.site.account_store import GUEST, Role, User, new_token, same_form_token
from scenarios.tournament.site.accounts import LIFETIME, RateLimit
from scenarios.tournament.site.deciding import close_phases, resumed
from scenarios.tournament.site.jobs import ACTIONS
from scenarios.tournament.site.journal import LiveUpdates
from scenarios.tournament.site.pages import host_pages, public_pages, team_pages
from scenarios.tournament.site.pages import team_pages as presentation_pages
from scenarios.tournament.site.pages.answers import damage_refusal, refused
from scenarios.tournament.site.posted_form import NO_FILES, UploadLimits, posted_form
from scenarios.tournament.site.refusal_error import DamagedFolderError, RefusalError, noticing_damage, refuse_if
from scenarios.tournament.site.site import FORM, SESSION, TONGUE, Handler, Site, Visit, read_cookie, set_cookie
from scenarios.tournament.site.timed_protocol import TimedProtocol

# The guard before every address: session, access, form token, refusals, cookies.

# An address of the site, and who may use it.


class Access(Enum):
    """Who may use an address."""

    EVERYBODY = Sentence("everybody")
    MEMBERS = Sentence("the teams and the host")
    OWNER = Sentence("the team that the address names, and the host")
    TEAM = Sentence("the team that the address names")
    HOST = Sentence("the host")

    def allows(self, user: User, team: str | None) -> bool:
        """Whether a user may use an address that names `team`, if any."""
        own = user.role is Role.TEAM and user.name == team
        return {
            Access.EVERYBODY: True,
            Access.MEMBERS: user.role in (Role.TEAM, Role.HOST),
            Access.OWNER: own or user.role is Role.HOST,
            Access.TEAM: own,
            Access.HOST: user.role is Role.HOST,
        }[self]


@dataclass(frozen=True)
class Endpoint:
    """An address of the site.

    Attributes
    ----------
    method : {"GET", "POST"}
        The method; a POST must carry the token of its form.
    path : str
        Path with parameters in braces, as Starlette reads it.
    access : Access
        Who may use it.
    handler : callable
        Called with a `Visit`, returns the response.
    limits : UploadLimits
        Limits of the files of its form.
    forms : bool
        Whether a guest sees a form on this page and needs a cookie for it.
    rate : RateLimit or None
        How often a user may use it.
    """

    method: str
    path: str
    access: Access
    handler: Handler
    limits: UploadLimits = NO_FILES
    forms: bool = False
    rate: RateLimit | None = None


def guarded(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """Function for Starlette that lets only permitted visitors reach an address."""

    async def respond(request: Request) -> Response:
        site: Site = request.app.state.site
        chosen = _choose_language(request)
        visit, fresh = Visit(request, site, GUEST), False
        async with AsyncExitStack() as stack:
            try:
                with noticing_damage(site.folder):
                    visit, fresh = await _identified(request, endpoint)
                    _check_access(endpoint, visit)
                    _check_rate(endpoint, visit)
                    if endpoint.method == "POST":
                        form = posted_form(request, site.uploads, endpoint.limits)
                        visit = replace(visit, form=await stack.enter_async_context(form))
                        _check_form_token(visit)
                        if endpoint.access in (Access.TEAM, Access.HOST):
                            # A damaged folder is noticed before a worker process fails on it.
                            await site.state()
                    response = await endpoint.handler(visit)
            except DamagedFolderError as damage:
                response = refused(visit, damage_refusal(visit, damage))
            except RefusalError as refusal:
                response = _redirected(visit, refusal) or refused(visit, refusal)
        if visit.user is not GUEST:
            response.headers.setdefault("Cache-Control", "no-store")
        if fresh:
            set_cookie(response, visit.site, FORM, visit.cookie)
            response.headers["Cache-Control"] = "no-store"
        if chosen:
            set_cookie(response, site, TONGUE, chosen, lasts=LIFETIME)
        return response

    return respond


def _choose_language(request: Request) -> str:
    """Answer this request in the visitor's language; return the one that the address chooses, if it does."""
    chosen = request.query_params.get("language", "")
    known = read_cookie(request, request.app.state.site, TONGUE)
    LANGUAGE.set(preferred(chosen if chosen in LANGUAGES else known, request.headers.get("accept-language", "")))
    return chosen if chosen in LANGUAGES else ""


async def _identified(request: Request, endpoint: Endpoint) -> tuple[Visit, bool]:
    """The visit with its user, and whether the guest needs a new cookie for forms."""
    site: Site = request.app.state.site
    session = read_cookie(request, site, SESSION)
    if session:
        user = await to_thread.run_sync(site.accounts.user, session, site.clock())
        if user is not None:
            return Visit(request, site, user, session), False
    cookie = read_cookie(request, site, FORM)
    fresh = endpoint.forms and not cookie and request.method == "GET"
    return Visit(request, site, GUEST, new_token() if fresh else cookie), fresh


def _check_access(endpoint: Endpoint, visit: Visit) -> None:
    """Refuse visitors who may not use an address; the body of their request is not read."""
    team = visit.request.path_params.get("team")
    allowed = endpoint.access.allows(visit.user, team)
    refuse_if(not allowed and visit.user.role is Role.GUEST, 401, Sentence("log in first"))
    refuse_if(not allowed, 403, Sentence("only {who} may see this page", who=endpoint.access.value))
    refuse_if(team is not None and team not in visit.site.teams, 404, Sentence("there is no such team"))


def _check_rate(endpoint: Endpoint, visit: Visit) -> None:
    """Refuse a user who does the same too often; the body of the request is not read."""
    if endpoint.rate is None:
        return
    wait = visit.site.rates.admit({f"{endpoint.path} {visit.user.name}": endpoint.rate})
    if wait is not None:
        raise RefusalError.too_many(Sentence("requests"), wait)


def _check_form_token(visit: Visit) -> None:
    refuse_if(
        not visit.cookie or not same_form_token(visit.cookie, visit.form.fields.get("form_token", "")),
        403,
        Sentence("the form is too old or comes from another site; load the page again and repeat"),
    )


def _redirected(visit: Visit, refusal: RefusalError) -> Response | None:
    """Redirection of a guest's browser to the log-in page, and from there back."""
    if refusal.status != 401 or visit.wants_json or visit.request.method != "GET":
        return None
    return RedirectResponse(f"/log-in?then={quote(visit.request.url.path, safe='')}", status_code=303)


# All addresses of the site, and who may use each.

ENDPOINTS = (
    Endpoint("GET", "/", Access.EVERYBODY, partial(public_pages.board_page, name="board")),
    Endpoint("GET", "/screen", Access.EVERYBODY, partial(public_pages.board_page, name="screen")),
    Endpoint("GET", "/rules", Access.EVERYBODY, public_pages.rules_page),
    Endpoint("GET", "/boards/{name}", Access.EVERYBODY, public_pages.board_file),
    Endpoint("GET", "/published.zip", Access.MEMBERS, public_pages.published_files),
    Endpoint("GET", "/published/{of}/{kind}", Access.MEMBERS, public_pages.published_file),
    Endpoint("GET", "/live", Access.EVERYBODY, public_pages.live),
    Endpoint("GET", "/health", Access.EVERYBODY, host_pages.health),
    Endpoint("GET", "/static/{name}", Access.EVERYBODY, public_pages.static_file),
    Endpoint("GET", "/log-in", Access.EVERYBODY, public_pages.log_in_page, forms=True),
    Endpoint("POST", "/log-in", Access.EVERYBODY, public_pages.log_in),
    Endpoint("GET", "/invitation/{token}", Access.EVERYBODY, public_pages.invitation_page, forms=True),
    Endpoint("POST", "/invitation/{token}", Access.EVERYBODY, public_pages.accept_invitation),
    Endpoint("GET", "/account", Access.MEMBERS, public_pages.account_page),
    Endpoint("POST", "/log-out", Access.MEMBERS, public_pages.log_out),
    Endpoint("GET", "/team/{team}", Access.OWNER, team_pages.team_page),
    Endpoint("GET", "/team/{team}/kit.zip", Access.OWNER, team_pages.kit),
    Endpoint("GET", "/team/{team}/report", Access.OWNER, team_pages.report),
    Endpoint("GET", "/team/{team}/submissions/{number}", Access.OWNER, team_pages.submitted_file),
    Endpoint(
        "POST",
        "/team/{team}/upload",
        Access.TEAM,
        team_pages.upload,
        limits=team_pages.UPLOADS,
        rate=team_pages.UPLOAD_RATE,
    ),
    Endpoint(
        "POST",
        "/team/{team}/preview",
        Access.TEAM,
        team_pages.preview,
        limits=team_pages.ONE_TABLE,
        rate=team_pages.PREVIEW_RATE,
    ),
    Endpoint("POST", "/team/{team}/take", Access.TEAM, team_pages.take_older, rate=team_pages.UPLOAD_RATE),
    Endpoint("GET", "/presentations", Access.EVERYBODY, presentation_pages.presentations_page),
    Endpoint("GET", "/presentations/{of}", Access.EVERYBODY, presentation_pages.presentation_page),
    Endpoint(
        "POST",
        "/presentations/{of}/points",
        Access.MEMBERS,
        presentation_pages.change_points,
        rate=presentation_pages.PRESENT_RATE,
    ),
    Endpoint("GET", "/presentations/{of}/picture", Access.EVERYBODY, presentation_pages.presentation_picture),
    Endpoint("GET", "/team/{team}/presentation", Access.OWNER, presentation_pages.draft_page),
    Endpoint("GET", "/team/{team}/presentation/picture", Access.OWNER, presentation_pages.draft_picture),
    Endpoint(
        "POST",
        "/team/{team}/present",
        Access.TEAM,
        presentation_pages.change_presentation,
        limits=presentation_pages.PICTURE,
        rate=presentation_pages.PRESENT_RATE,
    ),
    Endpoint("GET", "/host", Access.HOST, host_pages.host_page),
    *(
        Endpoint("POST", f"/host/{action}", Access.HOST, partial(host_pages.decision, action=action))
        for action in ACTIONS
    ),
    Endpoint("POST", "/host/admit", Access.HOST, host_pages.admit_late, limits=host_pages.LATE_FILES),
    Endpoint("POST", "/host/score-again", Access.HOST, host_pages.score_again),
    Endpoint("GET", "/host/export.zip", Access.HOST, host_pages.export, rate=host_pages.EXPORT_RATE),
    Endpoint("POST", "/host/invite", Access.HOST, host_pages.invite, rate=host_pages.INVITATION_RATE),
)


# Security headers of every response.

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
ONLY_TLS = "max-age=31536000"
"""A browser that has come by TLS comes by TLS only for a year."""


class SecurityHeaders:
    """Adds the security headers to every response; a response may bring a content security policy of its own.

    Parameters
    ----------
    app : ASGIApp
        The application.
    secure : bool
        Whether visitors come by TLS.
    """

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self.app = app
        self.headers = {**HEADERS, **({"Strict-Transport-Security": ONLY_TLS} if secure else {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                policy = headers.get("Content-Security-Policy", POLICY)
                headers.update({**self.headers, "Content-Security-Policy": policy})
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


_STATUS = {
    404: Sentence("there is no such page"),
    405: Sentence("this page cannot be used that way"),
    500: Sentence("the server failed; its output says why"),
}


def application(site: Site) -> SecurityHeaders:
    """The application of a site, whose responses all carry the security headers."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if site.scores:
            site.scoring.start()
        tasks = [asyncio.create_task(site.updates.watch()), *await resumed(site)]
        if site.advances:
            tasks.append(asyncio.create_task(close_phases(site)))
        try:
            yield
        finally:
            site.updates.stop()
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            await to_thread.run_sync(site.stop)

    app = Starlette(
        routes=[
            Route(
                endpoint.path, guarded(endpoint), methods=[endpoint.method], name=f"{endpoint.method} {endpoint.path}"
            )
            for endpoint in ENDPOINTS
        ],
        exception_handlers={HTTPException: _failed, Exception: _failed},
        lifespan=lifespan,
    )
    app.state.site = site
    # Outside everything else, so that answers to unexpected errors have the headers, too.
    return SecurityHeaders(app, secure=site.secure)


async def _failed(request: Request, error: Exception) -> Response:
    """Answer to a path or method that does not exist, or to an unexpected error, of which no detail is named."""
    _choose_language(request)
    status = error.status_code if isinstance(error, HTTPException) else 500
    message = _STATUS.get(status, Sentence("the request cannot be understood"))
    # Each method has a route of its own, so no single route knows all methods of a path.
    routes = (route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE)
    methods = sorted({method for route in routes for method in route.methods})
    headers = {"Allow": ", ".join(methods)} if status == 405 else None
    return refused(Visit(request, request.app.state.site, GUEST), RefusalError(status, message, headers=headers))


# Starting the server of a tournament's site.

# Addresses at which a site may listen.


def parsed_address(text: str) -> tuple[str, int]:
    """Host and port of an address such as ``127.0.0.1:8000`` or ``[::1]:8000``."""
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    refuse(
        not colon or not port.isdecimal() or int(port) > 65535 or not host or (":" in host and not bracketed),
        f"--address must be HOST:PORT such as 127.0.0.1:8000 or [::1]:8000, got {text!r}",
    )
    return host.removeprefix("[").removesuffix("]"), int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host name or address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_exposure(host: str, *, proxy: str | None, certificate: Path | None, key: Path | None) -> None:
    """Refuse an address that others can reach unless visitors come by TLS."""
    refuse((certificate is None) != (key is None), "TLS needs both --tls-certificate and --tls-key")
    refuse(
        certificate is not None and proxy is not None,
        "use either --trust-proxy, if a proxy does TLS, or --tls-certificate with --tls-key",
    )
    refuse(
        certificate is None and proxy is None and not is_loopback(host),
        f"{host} can be reached by others, and passwords would cross the network unencrypted; use --tls-certificate "
        "with --tls-key, or --trust-proxy behind a proxy that does TLS, or 127.0.0.1",
    )
    if certificate is not None and key is not None:
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as error:
            raise ValueError(f"{certificate} and {key}: cannot be used for TLS ({error})") from None


# The folder of a server's sockets, which a killed server leaves behind and the next one removes.

_LONGEST = 4096
"""Longest name in bytes."""
_PREFIX = "pymp-"
"""How Python begins the name of such a folder."""


@contextmanager
def temporary_folder_named(handle: int) -> Iterator[None]:
    """Name the folder in a file while the server runs; remove the one that the file names still.

    The file also names itself, since a copy of it names the folder of a server that may still run.
    """
    own = str(os.fstat(handle).st_ino)
    file, _, name = os.fsdecode(os.pread(handle, _LONGEST, 0)).partition(" ")
    former = Path(name)
    if file == own and former.is_absolute() and former.name.startswith(_PREFIX) and not former.is_symlink():
        shutil.rmtree(former, ignore_errors=True)
    os.ftruncate(handle, 0)
    os.pwrite(handle, os.fsencode(f"{own} {get_temp_dir()}"), 0)
    try:
        yield
    finally:
        # Python removes the folder itself when it ends in order.
        os.ftruncate(handle, 0)


# Server of a tournament's site.


class SiteServer(uvicorn.Server):
    """Server of a site that ends live connections when it stops; uvicorn waits for them and then cuts them off.

    Parameters
    ----------
    config : uvicorn.Config
        Configuration of the server.
    updates : LiveUpdates
        The live connections of the site.
    """

    def __init__(self, config: uvicorn.Config, updates: LiveUpdates) -> None:
        super().__init__(config)
        self._updates = updates

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all connections and stop."""
        self._updates.stop()
        await super().shutdown(sockets)


_GRACE = 5
"""Seconds that open connections have to end when the server stops."""
_CONNECTIONS = 4096
"""Largest number of open connections; an open board takes one, and its page another one for a moment."""
_OTHER_FILES = 256
"""Files that the server opens besides connections."""


def serve(
    folder: Path,
    address: str,
    *,
    proxy: str | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    processes: int = 2,
    advances: bool = True,
    scoring: ScoringQueue | None = None,
    announce: Callable[[int], None] = lambda _: None,
) -> None:
    """Serve the site of a tournament until the process is interrupted; SIGTERM ends it without an error."""
    host, port = parsed_address(address)
    check_exposure(host, proxy=proxy, certificate=certificate, key=key)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise ValueError(f"{address}: cannot be used ({error.strerror})") from None
    with listening, served_once(folder):
        secure = proxy is not None or certificate is not None
        site = Site(folder, processes=processes, secure=secure, scoring=scoring, advances=advances)
        config = server_config(site, proxy=proxy, certificate=certificate, key=key)
        announce(listening.getsockname()[1])
        # The server raises a signal again once it has stopped. Python must end by itself even so, since a process that
        # dies of SIGTERM leaves the semaphores of its workers behind.
        with suppress(Terminated), terminable():
            SiteServer(config, site.updates).run(sockets=[listening])


def server_config(
    site: Site, *, proxy: str | None = None, certificate: Path | None = None, key: Path | None = None
) -> uvicorn.Config:
    """Configuration of the server of a site; see `serve`."""
    return uvicorn.Config(
        application(site),
        http=TimedProtocol,
        limit_concurrency=_connections(),
        # Addresses hold the tokens of invitations.
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=proxy is not None,
        forwarded_allow_ips=proxy or [],
        ssl_certfile=certificate,
        ssl_keyfile=key,
        timeout_graceful_shutdown=_GRACE,
    )


def _connections() -> int:
    """Largest number of connections, after this process may open as many files as the system permits."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _CONNECTIONS + _OTHER_FILES
    limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    if now != resource.RLIM_INFINITY and now < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))
    return max(limit - _OTHER_FILES, limit // 2)


@contextmanager
def served_once(folder: Path) -> Iterator[None]:
    """Hold the lock of a tournament's site, so that no second server runs; it ends with this process at the latest."""
    with ExitStack() as held:
        try:
            handle = held.enter_context(site_locked(folder))
        except BlockingIOError:
            raise ValueError(f"{folder}: is served already by another process") from None
        except (FileNotFoundError, NotADirectoryError):
            raise ValueError(f"{folder}: is no tournament; `tokumei tournament init {folder}` makes one") from None
        except OSError as error:
            raise ValueError(
                f"{error.filename or folder}: cannot be written ({error.strerror}); the server needs to write there"
            ) from None
        with temporary_folder_named(handle):
            yield
