"""The guard before every address: session, access, form token, refusals, cookies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from enum import Enum
from urllib.parse import quote

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from scenarios.tournament.site.members.account_store import new_token, same_form_token
from scenarios.tournament.site.members.attempts import RateLimit
from scenarios.tournament.site.members.cookies import FORM, SESSION, read_cookie, set_cookie
from scenarios.tournament.site.members.user import GUEST, Role, User
from scenarios.tournament.site.pages.answers import damage_refusal, refused
from scenarios.tournament.site.posted_form import NO_FILES, UploadLimits, posted_form
from scenarios.tournament.site.refusal_error import DamagedFolderError, RefusalError, noticing_damage, refuse_if
from scenarios.tournament.site.site import Site
from scenarios.tournament.site.visit import Handler, Visit

# An address of the site, and who may use it.


class Access(Enum):
    """Who may use an address."""

    EVERYBODY = "everybody"
    MEMBERS = "the teams and the host"
    OWNER = "the team that the address names, and the host"
    TEAM = "the team that the address names"
    HOST = "the host"

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
        return response

    return respond


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
    if endpoint.access.allows(visit.user, team):
        if team is not None and team not in visit.site.teams:
            raise RefusalError(404, "there is no such team")
        return
    refuse_if(visit.user.role is Role.GUEST, 401, "log in first")
    raise RefusalError(403, f"only {endpoint.access.value} may see this page")


def _check_rate(endpoint: Endpoint, visit: Visit) -> None:
    """Refuse a user who does the same too often; the body of the request is not read."""
    if endpoint.rate is None:
        return
    wait = visit.site.rates.admit(visit.user.name, endpoint.path, endpoint.rate, visit.site.clock())
    if wait is not None:
        raise RefusalError.too_many("requests", wait)


def _check_form_token(visit: Visit) -> None:
    refuse_if(
        not visit.cookie or not same_form_token(visit.cookie, visit.form.fields.get("form_token", "")),
        403,
        "the form is too old or comes from another site; load the page again and repeat",
    )


def _redirected(visit: Visit, refusal: RefusalError) -> Response | None:
    """Redirection of a guest's browser to the log-in page, and from there back."""
    if refusal.status != 401 or visit.wants_json or visit.request.method != "GET":
        return None
    return RedirectResponse(f"/log-in?then={quote(visit.request.url.path, safe='')}", status_code=303)
